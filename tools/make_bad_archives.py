#!/usr/bin/env python3
"""Writes tests/bad/<name>.pt2: one good archive, spoilt in one way each.

What Corten must say of each is beside it, in <name>.err, and is kept by hand: the exit code on the
first line, then the diagnostics as they are printed. Needs no torch, and gives the same bytes each
time.
"""
import copy
import io
import json
import pathlib
import struct
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "bad"
MODEL = "models/model.json"
WEIGHTS = "data/weights/model_weights_config.json"


def tensor(name):
    return {"as_tensor": {"name": name}}


def meta(sizes, strides=None, dtype=7, offset=0):
    if strides is None:
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step *= max(size, 1)
    return {"dtype": dtype, "sizes": [{"as_int": s} for s in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": s} for s in strides],
            "storage_offset": {"as_int": offset}, "layout": 7}


def node(target, name, inputs, line=None, text=None, module=None):
    metadata = {}
    if line:
        metadata["stack_trace"] = (
            f'File "model.py", line {line}, in forward\n    {text}\n'
            '  File "torch/nn/functional.py", line 9, in call\n    return call()')
    if module:
        metadata["nn_module_stack"] = f"L__self__,,model.Net;L__self__{module},{module},model.Sub"
    return {"target": target, "name": name, "metadata": metadata,
            "inputs": [{"name": key, "arg": arg, "kind": 1} for key, arg in inputs],
            "outputs": [tensor(name)], "is_hop_single_tensor_return": None}


class Archive:
    """y = relu(conv(x, w) + 1) with in-place steps: small, but with every part of an archive."""

    def __init__(self):
        graph = {
            "inputs": [tensor("p_w"), tensor("x")],
            "outputs": [tensor("relu_")],
            "nodes": [
                node("torch.ops.aten.conv2d.default", "conv2d",
                     [("input", tensor("x")), ("weight", tensor("p_w"))],
                     11, "y = self.conv(x)", "conv"),
                node("torch.ops.aten.add_.Tensor", "add_",
                     [("self", tensor("conv2d")), ("other", {"as_float": 1.0})], 12, "y += 1.0"),
                node("torch.ops.aten.relu_.default", "relu_", [("self", tensor("add_"))],
                     13, "return F.relu_(y)"),
            ],
            "tensor_values": {
                "p_w": meta([4, 2, 3, 3]), "x": meta([1, 2, 5, 5]), "conv2d": meta([1, 4, 3, 3]),
                "add_": meta([1, 4, 3, 3]), "relu_": meta([1, 4, 3, 3])},
            "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {},
            "custom_obj_values": {}, "is_single_tensor_return": False}
        signature = {
            "input_specs": [
                {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "conv.weight"}},
                {"user_input": {"arg": tensor("x")}}],
            "output_specs": [{"user_output": {"arg": tensor("relu_")}}]}
        self.model = {
            "graph_module": {"graph": graph, "signature": signature, "module_call_graph": []},
            "opset_version": {"aten": 10}, "range_constraints": {},
            "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
            "torch_version": "2.14.1"}
        self.weights = {"config": {"conv.weight": {
            "path_name": "weight_0", "is_param": True, "use_pickle": False,
            "tensor_meta": meta([4, 2, 3, 3])}}}
        self.members = {"data/weights/weight_0": struct.pack("<72f", *[i / 72 for i in range(72)]),
                        "byteorder": b"little"}
        self.texts = {}  # members of JSON that replace those made from the fields above

    @property
    def graph(self):
        return self.model["graph_module"]["graph"]

    @property
    def signature(self):
        return self.model["graph_module"]["signature"]

    @property
    def nodes(self):
        return self.graph["nodes"]

    @property
    def values(self):
        return self.graph["tensor_values"]

    @property
    def weight(self):
        return self.weights["config"]["conv.weight"]

    def both(self, description):
        """The weight's description, in the graph and beside the data."""
        self.values["p_w"] = copy.deepcopy(description)
        self.weight["tensor_meta"] = copy.deepcopy(description)

    def bytes(self):
        members = dict(self.members)
        members[WEIGHTS] = json.dumps(self.weights).encode()
        members[MODEL] = json.dumps(self.model).encode()
        members.update(self.texts)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            for name, data in members.items():
                if data is not None:
                    z.writestr(zipfile.ZipInfo("net/" + name, (1980, 1, 1, 0, 0, 0)), data)
        return out.getvalue()


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


# ---- the zip


@case
def not_a_zip(a):
    return b"import torch\nprint('this is a script')\n"


@case
def empty_file(a):
    return b""


@case
def truncated(a):
    data = a.bytes()
    return data[:len(data) // 2]


@case
def damaged_weight(a):
    data = bytearray(a.bytes())
    at = data.index(b"net/data/weights/weight_0") + 60
    data[at] ^= 0xff
    return bytes(data)


@case
def no_model(a):
    a.texts[MODEL] = None


@case
def big_endian(a):
    a.members["byteorder"] = b"big"


# ---- the JSON


@case
def json_cut(a):
    a.texts[MODEL] = json.dumps(a.model).encode()[:400]


@case
def json_list_on_top(a):
    a.texts[MODEL] = b"[1, 2, 3]"


@case
def json_duplicate_key(a):
    a.texts[MODEL] = b'{"graph_module": {}, "graph_module": {}}'


@case
def json_nested_10000(a):
    a.texts[MODEL] = b'{"graph_module": ' + b"[" * 10000 + b"]" * 10000 + b"}"


@case
def json_number_too_large(a):
    text = json.dumps(a.model)
    a.texts[MODEL] = text.replace('"as_float": 1.0', '"as_int": 92233720368547758080').encode()


@case
def other_schema_version(a):
    a.model["schema_version"]["major"] = 9


@case
def nodes_is_an_object(a):
    a.graph["nodes"] = {}


@case
def node_is_a_string(a):
    a.nodes[1] = "add_"


@case
def node_without_target(a):
    del a.nodes[2]["target"]


@case
def argument_without_union(a):
    a.nodes[0]["inputs"][1]["arg"] = {}


@case
def argument_is_a_list(a):
    a.nodes[0]["inputs"][1]["arg"] = [1]


@case
def tensor_without_name(a):
    a.nodes[0]["inputs"][0]["arg"] = {"as_tensor": {"label": "x"}}


@case
def sizes_of_strings(a):
    a.values["x"]["sizes"][0] = {"as_int": "one"}


# ---- the signature


@case
def signature_lacks_an_input(a):
    del a.signature["input_specs"][0]


@case
def signature_names_another_input(a):
    a.signature["input_specs"][1]["user_input"]["arg"] = tensor("z")


@case
def signature_lacks_the_output(a):
    a.signature["output_specs"] = []


@case
def input_without_type(a):
    del a.values["x"]


@case
def output_without_type(a):
    del a.values["conv2d"]


@case
def no_tensor_values(a):
    del a.graph["tensor_values"]


@case
def region_with_a_nameless_input(a):
    region_of_another_size(a)
    graph = a.nodes[2]["inputs"][1]["arg"]["as_graph"]["graph"]
    graph["inputs"] = [{"as_tensor": {}}]


@case
def custom_object_input(a):
    a.signature["input_specs"][0] = {"custom_obj": {"arg": {"name": "p_w", "class_fqn": "a.B"},
                                                    "custom_obj_name": "b"}}


# ---- the weights


@case
def weight_missing(a):
    a.members["data/weights/weight_0"] = None


@case
def weight_not_listed(a):
    a.weights["config"] = {}


@case
def weight_short(a):
    a.members["data/weights/weight_0"] = a.members["data/weights/weight_0"][:100]


@case
def weight_pickled(a):
    a.weight["use_pickle"] = True


@case
def weight_of_another_shape(a):
    a.weight["tensor_meta"] = meta([4, 3, 3, 2])


@case
def weight_of_another_dtype(a):
    a.weight["tensor_meta"]["dtype"] = 8


@case
def dtype_code_unknown(a):
    a.values["x"]["dtype"] = 99


@case
def dtype_complex(a):
    a.both(meta([4, 2, 3, 3], dtype=10))


@case
def sizes_overflow(a):
    a.both(meta([1 << 62, 4, 1 << 40, 3], [1, 1, 1, 1]))


@case
def sizes_huge_with_stride_0(a):
    a.both(meta([1 << 20, 1 << 20, 3, 3], [0, 0, 0, 0]))


@case
def size_negative(a):
    a.both(meta([4, -2, 3, 3], [18, 9, 3, 1]))


@case
def stride_negative(a):
    a.both(meta([4, 2, 3, 3], [18, 9, -3, 1]))


@case
def stride_reaches_outside(a):
    a.both(meta([4, 2, 3, 3], [18, 9, 3, 100]))


@case
def stride_overflow(a):
    a.both(meta([4, 2, 3, 3], [1 << 62, 1 << 62, 3, 1]))


@case
def offset_reaches_outside(a):
    a.both(meta([4, 2, 3, 3], offset=1))


@case
def offset_huge(a):
    a.both(meta([4, 2, 3, 3], offset=(1 << 63) - 1))


@case
def rank_9(a):
    a.both(meta([1] * 9))


@case
def strides_missing_one(a):
    a.both(meta([4, 2, 3, 3], [18, 9, 3]))


# ---- the nodes


@case
def operators_unknown(a):
    a.nodes[1]["target"] = "torch.ops.aten.adds_.Tensor"
    a.nodes[2]["target"] = "torch.ops.my_ops.frobnicate.default"
    extra = node("torch.ops.my_ops.frobnicate.default", "frobnicate_1",
                 [("self", tensor("relu_"))], 14, "return frob(frob(y))")
    a.values["frobnicate_1"] = meta([1, 4, 3, 3])
    a.nodes.append(extra)


@case
def target_empty(a):
    a.nodes[2]["target"] = ""


@case
def name_undefined(a):
    a.nodes[1]["inputs"][0]["arg"] = tensor("conv3d")


@case
def cycle(a):
    a.nodes[0]["inputs"][0]["arg"] = tensor("relu_")


@case
def name_defined_twice(a):
    a.nodes[1]["outputs"] = [tensor("conv2d")]
    a.nodes[2]["inputs"][0]["arg"] = tensor("conv2d")


@case
def node_names_equal(a):
    a.nodes[1]["name"] = "conv2d"


@case
def output_undefined(a):
    a.graph["outputs"] = [tensor("sigmoid")]


@case
def output_type_false(a):
    a.values["conv2d"] = meta([1, 4, 300, 300])


@case
def output_count_false(a):
    a.nodes[0]["outputs"].append(tensor("more"))
    a.values["more"] = meta([1])


@case
def argument_of_another_kind(a):
    a.nodes[0]["inputs"].append({"name": "stride", "arg": {"as_string": "two"}, "kind": 1})


@case
def argument_unknown(a):
    a.nodes[0]["inputs"].append({"name": "speed", "arg": {"as_int": 2}, "kind": 2})


@case
def argument_given_twice(a):
    a.nodes[0]["inputs"].append({"name": "weight", "arg": tensor("p_w"), "kind": 2})


@case
def argument_missing(a):
    del a.nodes[0]["inputs"][1]


@case
def argument_none(a):
    a.nodes[0]["inputs"][1]["arg"] = {"as_none": True}


@case
def number_is_written(a):
    a.nodes[2]["inputs"][0]["arg"] = {"as_float": 1.0}


# ---- what cannot be compiled


@case
def size_dynamic(a):
    symbol = {"as_expr": {"expr_str": "Symbol('s77', positive=True, integer=True)",
                          "hint": {"as_int": 5}}}
    for name in ("x", "conv2d", "add_", "relu_"):
        a.values[name]["sizes"][0] = symbol
    a.model["range_constraints"] = {"s77": {"min_val": 1, "max_val": 16}}


@case
def size_depends_on_data(a):
    symbol = {"as_expr": {"expr_str": "Symbol('u0', integer=True)", "hint": None}}
    a.values["conv2d"]["sizes"][2] = symbol


@case
def number_depends_on_data(a):
    a.nodes.insert(1, {"target": "torch.ops.aten.item.default", "name": "item", "metadata": {},
                       "inputs": [{"name": "self", "arg": tensor("conv2d"), "kind": 1}],
                       "outputs": [{"as_sym_float": {"as_name": "item"}}]})
    a.nodes[2]["inputs"][1]["arg"] = {"as_sym_float": {"as_name": "item"}}


@case
def loop_as_graph(a):
    body = {"as_graph": {"name": "body", "graph": {}}}
    loop = node("torch.ops.higher_order.while_loop", "while_loop", [("", body), ("", body)],
                14, "return while_loop(cond, body, (y,))")
    a.nodes[2] = loop
    loop["outputs"] = [tensor("relu_")]


@case
def region_of_another_size(a):
    region = {"as_graph": {"name": "submod_1", "graph": {
        "inputs": [tensor("a"), tensor("b")], "outputs": [tensor("a")], "nodes": [],
        "tensor_values": {}}}}
    a.nodes[2]["target"] = "torch.ops.higher_order.wrap_with_set_grad_enabled"
    a.nodes[2]["inputs"] = [{"name": "", "arg": arg, "kind": 1}
                            for arg in ({"as_bool": False}, region, tensor("add_"))]


@case
def several_findings(a):
    operators_unknown(a)
    weight_short(a)
    dtype_code_unknown(a)
    argument_of_another_kind(a)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, spoil in CASES.items():
        archive = Archive()
        data = spoil(archive)
        (FOLDER / f"{name}.pt2").write_bytes(archive.bytes() if data is None else data)


if __name__ == "__main__":
    main()
