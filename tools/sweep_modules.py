"""The modules of tools/sweep_exports.py: the blocks that models of sound, pictures, sensors and text are
built of, small. cases() gives name, module, and a function that makes one list of arguments."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Fn(nn.Module):
    """A function as a module, with what it needs as submodules."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, (nn.Module, nn.Parameter)):
                setattr(self, name, part)
            else:
                self.register_buffer(name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def randn(*shape):
    return lambda: (torch.randn(*shape),)


class Mlp(nn.Module):
    def __init__(self, d, act=F.gelu):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), act

    def forward(self, x):
        return self.b(self.act(self.a(x)))


class Attention(nn.Module):
    """Written out by hand, with a mask of the given kind."""

    def __init__(self, d=32, heads=4, mask="none", length=12):
        super().__init__()
        self.qkv, self.out, self.heads, self.mask = nn.Linear(d, 3 * d), nn.Linear(d, d), heads, mask
        self.register_buffer("causal", torch.tril(torch.ones(length, length)).bool())
        self.register_buffer("bias", torch.triu(torch.full((length, length), float("-inf")), 1))

    def forward(self, x, keep=None):
        b, t, d = x.shape
        q, k, v = (p.view(b, t, self.heads, d // self.heads).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        s = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        if self.mask == "fill":
            s = s.masked_fill(~self.causal[:t, :t], float("-inf"))
        elif self.mask == "fill_":
            s.masked_fill_(~self.causal[:t, :t], -1e9)
        elif self.mask == "where":
            s = torch.where(self.causal, s, torch.tensor(torch.finfo(torch.float32).min))
        elif self.mask == "bias":
            s = s + self.bias
        elif self.mask == "keep":
            s = s + (1 - keep[:, None, None, :]) * -10000.0
        elif self.mask == "keep_bool":
            s = s.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d=32, **how):
        super().__init__()
        self.n1, self.n2, self.att, self.mlp = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d, **how), Mlp(d)

    def forward(self, x, *more):
        x = x + self.att(self.n1(x), *more)
        return x + self.mlp(self.n2(x))


class Sdpa(nn.Module):
    def __init__(self, causal, d=32, heads=4):
        super().__init__()
        self.q, self.kv, self.heads, self.causal = nn.Linear(d, d), nn.Linear(d, 2 * d), heads, causal

    def forward(self, x, mask=None):
        q, (k, v) = self.q(x), self.kv(x).split(x.shape[-1], -1)
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal).transpose(1, 2).flatten(2)


class Se(nn.Module):
    def __init__(self, c, r=4, gate=torch.sigmoid, inplace=False):
        super().__init__()
        self.a, self.b, self.gate, self.inplace = nn.Conv2d(c, c // r, 1), nn.Conv2d(c // r, c, 1), gate, inplace

    def forward(self, x):
        s = self.gate(self.b(F.relu(self.a(F.adaptive_avg_pool2d(x, 1)), inplace=self.inplace)))
        return x.mul_(s) if self.inplace else x * s


class Cbam(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 3, padding=1)
        self.mlp = nn.Sequential(nn.Linear(c, c // 4), nn.ReLU(), nn.Linear(c // 4, c))
        self.spatial = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        x = F.relu(self.stem(x))
        a, m = x.mean((2, 3)), x.amax((2, 3))
        x = x * torch.sigmoid(self.mlp(a) + self.mlp(m))[:, :, None, None]
        s = torch.cat([x.mean(1, keepdim=True), x.max(1, keepdim=True)[0]], 1)
        return x * torch.sigmoid(self.spatial(s))


class LayerNorm2d(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(c)), nn.Parameter(torch.zeros(c))

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class ConvNext(nn.Module):
    def __init__(self, c=16, scale=1e-1, permute=True):
        super().__init__()
        self.dw, self.permute = nn.Conv2d(c, c, 7, padding=3, groups=c), permute
        self.norm = nn.LayerNorm(c) if permute else LayerNorm2d(c)
        self.mlp = Mlp(c) if permute else nn.Sequential(nn.Conv2d(c, 2 * c, 1), nn.GELU(), nn.Conv2d(2 * c, c, 1))
        self.gamma = nn.Parameter(scale * torch.ones(c))

    def forward(self, x):
        y = self.dw(x)
        if self.permute:
            y = (self.gamma * self.mlp(self.norm(y.permute(0, 2, 3, 1)))).permute(0, 3, 1, 2)
        else:
            y = self.gamma.view(1, -1, 1, 1) * self.mlp(self.norm(y))
        return x + y


class Grn(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3)
        self.gamma, self.beta = nn.Parameter(torch.randn(c)), nn.Parameter(torch.randn(c))

    def forward(self, x):
        x = F.gelu(self.conv(x)).permute(0, 2, 3, 1)
        g = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        n = g / (g.mean(-1, keepdim=True) + 1e-6)
        return self.gamma * (x * n) + self.beta + x


class UNet(nn.Module):
    def __init__(self, up="transpose", c=8):
        super().__init__()
        def double(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                                 nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        self.up, self.d1, self.d2, self.d3 = up, double(3, c), double(c, 2 * c), double(2 * c, 4 * c)
        self.t2 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2) if up == "transpose" else nn.Conv2d(4 * c, 2 * c, 1)
        self.t1 = nn.ConvTranspose2d(2 * c, c, 2, 2) if up == "transpose" else nn.Conv2d(2 * c, c, 1)
        self.u2, self.u1, self.head = double(4 * c, 2 * c), double(2 * c, c), nn.Conv2d(c, 2, 1)

    def grown(self, layer, x):
        x = layer(x)
        return x if self.up == "transpose" else F.interpolate(x, scale_factor=2, mode=self.up,
                                                              **({} if self.up == "nearest" else {"align_corners": True}))

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        y = self.d3(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([self.grown(self.t2, y), b], 1))
        y = self.u1(torch.cat([a, self.grown(self.t1, y)], 1))
        return self.head(y)


class Tcn(nn.Module):
    """A stream: frames come one after the other, the past of each layer is kept in a buffer."""

    def __init__(self, c=8, layers=3, how="roll"):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(c, c, 3, dilation=2 ** i) for i in range(layers))
        self.how = how
        for i in range(layers):
            self.register_buffer(f"past{i}", torch.zeros(1, c, 2 * 2 ** i))

    def forward(self, x):
        for i, conv in enumerate(self.convs):
            past = getattr(self, f"past{i}")
            whole = torch.cat([past, x], 2)
            if self.how == "copy":
                past.copy_(whole[:, :, x.shape[2]:])
            elif self.how == "slice":
                past[:] = whole[:, :, -past.shape[2]:]
            x = x + F.relu(conv(whole))
        return x


class Denoiser(nn.Module):
    def __init__(self, kind=nn.GRU, state=False):
        super().__init__()
        self.inp, self.rnn, self.out, self.state = nn.Linear(22, 24), kind(24, 24, batch_first=True), nn.Linear(24, 22), state

    def forward(self, x, h=None):
        y = torch.tanh(self.inp(x))
        y, h = self.rnn(y, h)
        y = torch.sigmoid(self.out(y))
        return (x * y, h) if self.state else x * y


class MobileVit(nn.Module):
    def __init__(self, c=16, d=24, patch=2):
        super().__init__()
        self.local = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.SiLU(inplace=True), nn.Conv2d(c, d, 1, bias=False))
        self.block, self.out, self.fuse, self.patch = Block(d), nn.Conv2d(d, c, 1), nn.Conv2d(2 * c, c, 3, padding=1), patch

    def forward(self, x):
        y, p = self.local(x), self.patch
        b, d, h, w = y.shape
        y = y.reshape(b * d * h // p, p, w // p, p).transpose(1, 2).reshape(b, d, h * w // p // p, p * p)
        y = self.block(y.transpose(1, 3).reshape(b * p * p, -1, d))
        y = y.view(b, p * p, h * w // p // p, d).transpose(1, 3).reshape(b * d * h // p, w // p, p, p)
        y = y.transpose(1, 2).reshape(b, d, h, w)
        return self.fuse(torch.cat([x, F.silu(self.out(y))], 1))


class Detector(nn.Module):
    """A head as YOLO's: boxes by an expectation over bins, scores, anchors, one tensor."""

    def __init__(self, split="split", c=16, bins=8, classes=5):
        super().__init__()
        self.split, self.bins, self.classes = split, bins, classes
        self.stem = nn.Sequential(nn.Conv2d(3, c, 3, 2, 1), nn.SiLU(inplace=True))
        self.both, self.box, self.cls = (nn.Conv2d(c, 4 * bins + classes, 1), nn.Conv2d(c, 4 * bins, 1), nn.Conv2d(c, classes, 1))
        y, x = torch.meshgrid(torch.arange(8.0) + 0.5, torch.arange(8.0) + 0.5, indexing="ij")
        self.register_buffer("anchor", torch.stack([x, y]).reshape(1, 2, 64))
        self.register_buffer("steps", torch.arange(float(bins)))

    def forward(self, x):
        f = self.stem(x)
        if self.split == "cat":
            y = torch.cat([self.box(f), self.cls(f)], 1).flatten(2)
        else:
            y = self.both(f).flatten(2)
        box, score = y.split((4 * self.bins, self.classes), 1)
        box = (box.view(1, 4, self.bins, -1).softmax(2) * self.steps.view(1, 1, -1, 1)).sum(2)
        lt, rb = box.chunk(2, 1)
        a, b = self.anchor - lt, self.anchor + rb
        return torch.cat(((a + b) / 2 * 2, (b - a) * 2, score.sigmoid()), 1)


class Ssd(nn.Module):
    def __init__(self, c=16, anchors=3, classes=4):
        super().__init__()
        self.stem, self.classes = nn.Conv2d(3, c, 3, 2, 1), classes
        self.head = nn.Conv2d(c, anchors * (classes + 5), 1)

    def forward(self, x):
        y = self.head(F.relu6(self.stem(x)))
        b, _, h, w = y.shape
        y = y.view(b, 3, self.classes + 5, h, w).permute(0, 1, 3, 4, 2).contiguous()
        xy, wh, conf = torch.sigmoid(y[..., 0:2]), torch.exp(y[..., 2:4]) * 10, torch.sigmoid(y[..., 4:])
        return torch.cat([xy.view(b, -1, 2), wh.view(b, -1, 2), conf.view(b, -1, self.classes + 1)], -1)


class YoloV5(nn.Module):
    """In-place decoding through views, as exported with inplace = True."""

    def __init__(self, c=8, no=9, na=3):
        super().__init__()
        self.m, self.no, self.na = nn.Conv2d(c, no * na, 1), no, na
        g = torch.stack(torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="xy"), 2)
        self.register_buffer("grid", g.expand(1, na, 6, 6, 2) - 0.5)
        self.register_buffer("anchor", torch.tensor([[10., 13], [16, 30], [33, 23]]).view(1, na, 1, 1, 2))

    def forward(self, x):
        y = self.m(x).view(1, self.na, self.no, 6, 6).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 + self.grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchor
        return y.view(1, -1, self.no)


class Gates(nn.Module):
    """Parts of one product, read apart, of unlike sizes."""

    def __init__(self, how, layer="conv", gains=(1.0, 0.02)):
        super().__init__()
        self.how = how
        self.conv = nn.Conv2d(4, 8, 3, padding=1) if layer == "conv" else nn.Linear(4, 8)
        with torch.no_grad():
            self.conv.weight[4:] *= gains[1] / gains[0]
            self.conv.bias[4:] *= gains[1] / gains[0]
            if gains[0] != 1:
                self.conv.weight *= gains[0]

    def forward(self, x):
        y = self.conv(x)
        d = 1 if isinstance(self.conv, nn.Conv2d) else -1
        if self.how == "chunk":
            return tuple(y.chunk(2, d))
        if self.how == "split":
            a, b = y.split([4, 4], d)
            return a * torch.sigmoid(b), torch.relu(b)
        if self.how == "slice":
            return y[:, :4] + 1, y[:, 4:].exp()
        if self.how == "select":
            return y[:, 0], y[:, 4], y[:, 7]
        if self.how == "unread":
            return y[:, 4:] * 2
        if self.how == "unbind":
            p = y.unflatten(d, (2, 4)).unbind(d if d == 1 else -2)
            return p[0], p[1]
        if self.how == "narrow":
            return F.relu(y.narrow(d, 4, 4))
        if self.how == "reshape":
            y = y.reshape(1, 2, 4, -1)
            return y[:, 0], y[:, 1]
        if self.how == "permute":
            y = y.permute(0, 2, 3, 1)
            return y[..., :4], y[..., 4:]
        return y


class WaveNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.dil, self.res, self.skip = nn.Conv1d(c, 2 * c, 3, padding=2, dilation=2), nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 1)

    def forward(self, x):
        a, b = self.dil(x).chunk(2, 1)
        z = torch.tanh(a) * torch.sigmoid(b)
        return x + self.res(z), self.skip(z)


class Rotary(nn.Module):
    def __init__(self, d=16, t=10):
        super().__init__()
        f = torch.outer(torch.arange(float(t)), 10000 ** (-torch.arange(0, d, 2) / d))
        self.register_buffer("cos", f.cos().repeat(1, 2))
        self.register_buffer("sin", f.sin().repeat(1, 2))
        self.q = nn.Linear(d, d)

    def forward(self, x):
        q = self.q(x)
        a, b = q.chunk(2, -1)
        return q * self.cos + torch.cat([-b, a], -1) * self.sin


def rms(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w


def masked_reader(read, fill=float("-inf"), how="masked_fill"):
    def forward(m, x, keep):
        s = m.lin(x)
        if how == "masked_fill":
            s = s.masked_fill(~keep, fill)
        elif how == "where":
            s = torch.where(keep, s, fill)
        elif how == "add":
            s = s + torch.where(keep, 0.0, fill)
        elif how == "mul":
            s = s + (1 - keep.float()) * fill
        return read(s)
    return forward


def keep_of(*shape):
    def make():
        keep = torch.rand(*shape) > 0.3
        keep[..., 0] = True
        return keep
    return make


def with_keep(x, keep):
    return lambda: (torch.randn(*x), keep_of(*keep)())


def masked_cases():
    readers = {"softmax": lambda s: s.softmax(-1), "softmax1": lambda s: s.softmax(1), "log_softmax": lambda s: s.log_softmax(-1),
               "sigmoid": torch.sigmoid, "amax": lambda s: s.amax(-1), "max": lambda s: s.max(-1), "argmax": lambda s: s.argmax(-1),
               "exp": torch.exp, "amax1": lambda s: s.amax(1), "logsumexp": lambda s: s.logsumexp(-1),
               "topk": lambda s: s.topk(2, -1)[0], "relu": torch.relu, "softplus": F.softplus, "tanh": torch.tanh,
               "maxpool": lambda s: F.max_pool1d(s, 2), "softmax_by_hand": lambda s: (lambda e: e / e.sum(-1, keepdim=True))(torch.exp(s - s.amax(-1, keepdim=True)))}
    for name, read in readers.items():
        for how in ("masked_fill", "where", "add", "mul"):
            for fill in (float("-inf"), -1e9, -1e4):
                if how == "mul" and fill == float("-inf"):
                    continue
                label = {float("-inf"): "inf", -1e9: "1e9", -1e4: "1e4"}[fill]
                yield (f"mask_{name}_{how}_{label}", Fn(masked_reader(read, fill, how), lin=nn.Linear(8, 8)),
                       with_keep((1, 6, 8), (1, 6, 8)))


def cases():
    torch.manual_seed(0)
    yield from blocks()
    yield from gates()
    yield from norms()
    yield from movements()
    yield from einsums()
    yield from kinds_of_inputs()
    yield from masked_cases()


def blocks():
    for mask in ("none", "fill", "fill_", "where", "bias"):
        yield f"block_{mask}", Block(mask=mask), randn(1, 12, 32)
    yield "block_keep", Block(mask="keep"), lambda: (torch.randn(1, 12, 32), keep_of(1, 12)().float())
    yield "block_keep_bool", Block(mask="keep_bool"), lambda: (torch.randn(1, 12, 32), keep_of(1, 12)())
    yield "sdpa", Sdpa(False), randn(1, 12, 32)
    yield "sdpa_causal", Sdpa(True), randn(1, 12, 32)
    yield "sdpa_bool", Sdpa(False), lambda: (torch.randn(1, 12, 32), keep_of(1, 1, 12, 12)())
    yield "sdpa_float", Sdpa(False), lambda: (torch.randn(1, 12, 32), torch.randn(1, 1, 12, 12))
    yield "mha", Fn(lambda m, x: m.a(x, x, x, need_weights=False)[0], a=nn.MultiheadAttention(32, 4, batch_first=True)), randn(1, 10, 32)
    yield "mha_weights", Fn(lambda m, x: m.a(x, x, x), a=nn.MultiheadAttention(32, 4, batch_first=True)), randn(1, 10, 32)
    yield ("mha_padding", Fn(lambda m, x, k: m.a(x, x, x, key_padding_mask=k, need_weights=False)[0],
                             a=nn.MultiheadAttention(32, 4, batch_first=True)), lambda: (torch.randn(1, 10, 32), ~keep_of(1, 10)()))
    yield "encoder_layer", nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), randn(1, 10, 32)
    yield "encoder_norm_first", nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True, activation="gelu"), randn(1, 10, 32)
    yield "decoder_layer", nn.TransformerDecoderLayer(32, 4, 64, batch_first=True), lambda: (torch.randn(1, 6, 32), torch.randn(1, 10, 32))
    yield "se", nn.Sequential(nn.Conv2d(3, 16, 3), nn.SiLU(), Se(16)), randn(1, 3, 12, 12)
    yield "se_inplace", nn.Sequential(nn.Conv2d(3, 16, 3), nn.Hardswish(inplace=True), Se(16, gate=F.hardsigmoid, inplace=True)), randn(1, 3, 12, 12)
    yield "cbam", Cbam(), randn(1, 3, 12, 12)
    yield "convnext", ConvNext(), randn(1, 16, 12, 12)
    yield "convnext_1e-6", ConvNext(scale=1e-6), randn(1, 16, 12, 12)
    yield "convnext_2d", ConvNext(permute=False), randn(1, 16, 12, 12)
    yield "convnext_stem", nn.Sequential(nn.Conv2d(3, 16, 4, 4), LayerNorm2d(16), ConvNext(), ConvNext(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(16), nn.Linear(16, 5)), randn(1, 3, 32, 32)
    yield "grn", Grn(), randn(1, 3, 10, 10)
    for up in ("transpose", "nearest", "bilinear"):
        yield f"unet_{up}", UNet(up), randn(1, 3, 16, 16)
    yield "tcn_copy", Tcn(how="copy"), randn(1, 8, 4)
    yield "tcn_slice", Tcn(how="slice"), randn(1, 8, 4)
    yield "gru", Denoiser(), randn(1, 8, 22)
    yield "lstm", Denoiser(nn.LSTM), randn(1, 8, 22)
    yield "rnn", Denoiser(nn.RNN), randn(1, 8, 22)
    yield "gru_state", Denoiser(state=True), lambda: (torch.randn(1, 4, 22), torch.tanh(torch.randn(1, 1, 24)))
    yield "lstm_state", Denoiser(nn.LSTM, True), lambda: (torch.randn(1, 4, 22), (torch.tanh(torch.randn(1, 1, 24)), torch.randn(1, 1, 24)))
    yield "bilstm", Fn(lambda m, x: m.r(x)[0], r=nn.LSTM(8, 12, 2, bidirectional=True)), randn(10, 1, 8)
    yield "bigru", Fn(lambda m, x: m.r(x), r=nn.GRU(8, 12, 2, bidirectional=True, batch_first=True)), randn(1, 10, 8)
    yield "lstm_proj", Fn(lambda m, x: m.r(x)[0], r=nn.LSTM(8, 12, proj_size=6)), randn(10, 1, 8)
    yield "cells", Fn(lambda m, x, h: m.g(m.l(x, (h, h))[0], m.r(x, h)), l=nn.LSTMCell(8, 8), g=nn.GRUCell(8, 8), r=nn.RNNCell(8, 8)), lambda: (torch.randn(1, 8), torch.tanh(torch.randn(1, 8)))
    yield "mobilevit", MobileVit(), randn(1, 16, 8, 8)
    yield "detector_split", Detector(), randn(1, 3, 16, 16)
    yield "detector_cat", Detector("cat"), randn(1, 3, 16, 16)
    yield "ssd", Ssd(), randn(1, 3, 12, 12)
    yield "yolov5", YoloV5(), randn(1, 8, 6, 6)
    yield "wavenet", WaveNet(), randn(1, 8, 20)
    yield "separable", nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(True), nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6(True), nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16)), randn(1, 3, 16, 16)
    yield "glu", nn.Sequential(nn.Conv1d(4, 8, 3), nn.GLU(1), nn.Conv1d(4, 4, 1)), randn(1, 4, 12)
    yield "swiglu", Fn(lambda m, x: m.c(F.silu(m.a(x)) * m.b(x)), a=nn.Linear(16, 32, False), b=nn.Linear(16, 32, False), c=nn.Linear(32, 16, False)), randn(1, 6, 16)
    yield "geglu", Fn(lambda m, x: (lambda a, b: m.c(a * F.gelu(b)))(*m.a(x).chunk(2, -1)), a=nn.Linear(16, 64), c=nn.Linear(32, 16)), randn(1, 6, 16)
    yield "rotary", Rotary(), randn(1, 10, 16)
    yield "conformer_conv", nn.Sequential(nn.Conv1d(8, 16, 1), nn.GLU(1), nn.Conv1d(8, 8, 7, padding=3, groups=8), nn.BatchNorm1d(8), nn.SiLU(), nn.Conv1d(8, 8, 1)), randn(1, 8, 20)
    yield "linear_attention", Fn(lambda m, x: (lambda q, k, v: torch.einsum("btd,bde->bte", q, torch.einsum("btd,bte->bde", k, v)) / (q @ k.sum(1, keepdim=True).transpose(1, 2)))(F.elu(m.q(x)) + 1, F.elu(m.k(x)) + 1, m.v(x)), q=nn.Linear(8, 8), k=nn.Linear(8, 8), v=nn.Linear(8, 8)), randn(1, 12, 8)
    yield "eca", Fn(lambda m, x: x * torch.sigmoid(m.c(x.mean((2, 3)).unsqueeze(1)).squeeze(1))[..., None, None], c=nn.Conv1d(1, 1, 3, padding=1, bias=False)), randn(1, 8, 6, 6)
    yield "attention_pool", Fn(lambda m, x: (torch.softmax(m.w(torch.tanh(m.a(x))), 1) * x).sum(1), a=nn.Linear(16, 8), w=nn.Linear(8, 1)), randn(1, 12, 16)
    yield "stat_pool", Fn(lambda m, x: torch.cat([x.mean(-1), x.std(-1)], 1)), randn(1, 8, 20)
    yield "asp", Fn(lambda m, x: (lambda w: (lambda mu: torch.cat([mu, torch.sqrt(((x ** 2) * w).sum(2) - mu ** 2).clamp(1e-4)], 1))((x * w).sum(2)))(torch.softmax(m.b(torch.tanh(m.a(x))), 2)), a=nn.Conv1d(8, 4, 1), b=nn.Conv1d(4, 8, 1)), randn(1, 8, 20)
    yield "ghost", Fn(lambda m, x: (lambda y: torch.cat([y, m.b(y)], 1)[:, :7])(F.relu(m.a(x))), a=nn.Conv2d(3, 4, 1), b=nn.Conv2d(4, 4, 3, padding=1, groups=4)), randn(1, 3, 8, 8)
    yield "shufflenet", Fn(lambda m, x: (lambda a, b: torch.cat([a, m.c(b)], 1).view(1, 2, 4, 8, 8).transpose(1, 2).reshape(1, 8, 8, 8))(*x.chunk(2, 1)), c=nn.Sequential(nn.Conv2d(4, 4, 1), nn.ReLU(True))), randn(1, 8, 8, 8)
    yield "residual_inplace", Fn(lambda m, x: F.relu_(m.b(F.relu_(m.a(x))).add_(x)), a=nn.Conv2d(4, 4, 3, padding=1), b=nn.Conv2d(4, 4, 3, padding=1)), randn(1, 4, 8, 8)
    yield "fpn", Fn(lambda m, x, y: (m.o(F.interpolate(m.b(y), size=x.shape[-2:], mode="nearest") + m.a(x)), m.b(y)), a=nn.Conv2d(4, 8, 1), b=nn.Conv2d(6, 8, 1), o=nn.Conv2d(8, 8, 3, padding=1)), lambda: (torch.randn(1, 4, 8, 8), torch.randn(1, 6, 4, 4))
    yield "aspp", Fn(lambda m, x: torch.cat([m.a(x), m.b(x), F.interpolate(m.c(F.adaptive_avg_pool2d(x, 1)), size=(8, 8), mode="bilinear", align_corners=False)], 1), a=nn.Conv2d(4, 4, 1), b=nn.Conv2d(4, 4, 3, padding=3, dilation=3), c=nn.Conv2d(4, 4, 1)), randn(1, 4, 8, 8)
    yield "sppf", Fn(lambda m, x: (lambda a: (lambda b: torch.cat([x, a, b, m.p(b)], 1))(m.p(a)))(m.p(x)), p=nn.MaxPool2d(5, 1, 2)), randn(1, 4, 8, 8)
    yield "autoencoder", nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 64), nn.Sigmoid(), nn.Unflatten(1, (1, 8, 8))), randn(1, 1, 8, 8)
    yield "super_resolution", nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.Tanh(), nn.Conv2d(8, 9, 3, padding=1), nn.PixelShuffle(3)), randn(1, 1, 8, 8)
    yield "spectral", Fn(lambda m, x: torch.log(torch.clamp(m.c(x).pow(2), min=1e-5)), c=nn.Conv1d(1, 16, 16, 8, bias=False)), randn(1, 1, 128)
    yield "magnitude", Fn(lambda m, x: torch.sqrt(m.r(x) ** 2 + m.i(x) ** 2 + 1e-8), r=nn.Conv1d(1, 8, 16, 8, bias=False), i=nn.Conv1d(1, 8, 16, 8, bias=False)), randn(1, 1, 128)
    yield "embedding_sum", Fn(lambda m, t: m.o(m.e(t).mean(1)), e=nn.Embedding(20, 16), o=nn.Linear(16, 4)), lambda: (torch.randint(0, 20, (1, 7)),)
    yield "text_cnn", Fn(lambda m, t: m.o(F.relu(m.c(m.e(t).transpose(1, 2))).amax(2)), e=nn.Embedding(20, 16), c=nn.Conv1d(16, 8, 3), o=nn.Linear(8, 4)), lambda: (torch.randint(0, 20, (1, 9)),)
    yield "gpt", Fn(lambda m, t: m.b(m.e(t) + m.p[: t.shape[1]]) @ m.e.weight.t(), e=nn.Embedding(20, 32), p=nn.Parameter(torch.randn(12, 32)), b=Block(mask="fill")), lambda: (torch.randint(0, 20, (1, 12)),)


def gates():
    for how in ("chunk", "split", "slice", "select", "unread", "unbind", "narrow", "reshape", "permute"):
        yield f"gates_{how}", Gates(how), randn(1, 4, 8, 8)
    for how in ("chunk", "split", "unbind", "narrow"):
        yield f"gates_linear_{how}", Gates(how, "linear"), randn(1, 6, 4)
    yield "gates_unread_large", Gates("unread", gains=(30.0, 0.1)), randn(1, 4, 8, 8)
    yield "gates_lanes", Fn(lambda m, x: x[..., :2] * 1, ), lambda: (torch.cat([torch.randn(1, 8, 2), 100 * torch.randn(1, 8, 2)], -1),)
    yield "gates_index_select", Fn(lambda m, x: m.c(x)[:, [4, 6]], c=Gates("").conv), randn(1, 4, 8, 8)
    yield "gates_matmul", Fn(lambda m, x: (x @ m.w).split([4, 4], -1), w=nn.Parameter(torch.cat([torch.randn(4, 4), 0.02 * torch.randn(4, 4)], 1))), randn(1, 6, 4)
    yield "gates_relu", Fn(lambda m, x: F.relu(m.c(x)).chunk(2, 1), c=Gates("").conv), randn(1, 4, 8, 8)
    yield "gates_norm", Fn(lambda m, x: m.n(x).split([2, 6], -1), n=(lambda n: (n.weight.data.mul_(torch.tensor([10., 10] + 6 * [0.1])), n)[1])(nn.LayerNorm(8))), randn(1, 6, 8)


def norms():
    yield "bn", nn.Sequential(nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3)), randn(1, 4, 8, 8)
    yield "bn_last", nn.BatchNorm1d(8), randn(4, 8)
    yield "ln", nn.LayerNorm(16), randn(1, 6, 16)
    yield "ln_plain", nn.LayerNorm(16, elementwise_affine=False), randn(1, 6, 16)
    yield "ln_2d", nn.LayerNorm([4, 6]), randn(1, 3, 4, 6)
    yield "gn", nn.GroupNorm(2, 8), randn(1, 8, 5, 5)
    yield "in", nn.InstanceNorm2d(4, affine=True), randn(1, 4, 6, 6)
    yield "lrn", nn.LocalResponseNorm(3), randn(1, 6, 5, 5)
    yield "cross_map_lrn", nn.CrossMapLRN2d(3), randn(1, 6, 5, 5)
    yield "rms", nn.RMSNorm(16), randn(1, 6, 16)
    yield "rms_by_hand", Fn(lambda m, x: rms(x, m.w), w=nn.Parameter(torch.rand(16) + 0.5)), randn(1, 6, 16)
    yield "ln_by_hand", Fn(lambda m, x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)), randn(1, 6, 16)
    yield "ln_var", Fn(lambda m, x: (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)), randn(1, 6, 16)
    yield "ln_2d_by_hand", LayerNorm2d(8), randn(1, 8, 6, 6)
    yield "l2", Fn(lambda m, x: F.normalize(x, dim=-1)), randn(1, 16)
    yield "l2_1", Fn(lambda m, x: F.normalize(m.c(x), dim=1), c=nn.Conv2d(3, 8, 3)), randn(1, 3, 8, 8)
    yield "cosine", Fn(lambda m, a, b: F.cosine_similarity(a, b, dim=-1)), lambda: (torch.randn(8, 16), torch.randn(8, 16))
    yield "cosine_short", Fn(lambda m, a, b: F.cosine_similarity(a, b, dim=-1)), lambda: (torch.randn(8, 3), torch.randn(8, 3))
    yield "cosine_head", Fn(lambda m, x: F.linear(F.normalize(x), F.normalize(m.w)) * 8, w=nn.Parameter(torch.randn(5, 16))), randn(1, 16)
    yield "weight_norm", nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 6, 3)), randn(1, 4, 12)
    yield "weight_standard", Fn(lambda m, x: F.conv2d(x, (m.w - m.w.mean((1, 2, 3), keepdim=True)) / (m.w.std((1, 2, 3), keepdim=True) + 1e-5)), w=nn.Parameter(torch.randn(6, 4, 3, 3))), randn(1, 4, 8, 8)
    yield "softmax_1", nn.Softmax(1), randn(1, 10, 4, 4)
    yield "softmax_2d", nn.Softmax2d(), randn(1, 6, 4, 4)
    yield "log_softmax_0", nn.LogSoftmax(0), randn(5, 6)
    yield "softmin", nn.Softmin(-1), randn(1, 10)
    yield "logsumexp", Fn(lambda m, x: x.logsumexp(-1)), randn(1, 6, 10)
    yield "var_mean", Fn(lambda m, x: torch.var_mean(x, -1)), randn(1, 6, 10)
    yield "prod", Fn(lambda m, x: x.prod(-1)), randn(1, 6, 4)


def movements():
    def write_slices(m, x):
        y = torch.zeros(1, 4, 10)
        y[:, :, 2:-2] = x
        y[:, 0] += 1
        y[:, 1, ::2].mul_(2)
        return y
    def write_views(m, x):
        y = x.clone()
        a, b = y.view(2, 3, 4).unbind(0)
        a.add_(b)
        b.t().clamp_(min=0)
        y[0].neg_()
        return y, a
    yield "write_slices", Fn(write_slices), randn(1, 4, 6)
    yield "write_views", Fn(write_views), randn(6, 4)
    yield "roll", Fn(lambda m, x: m.c(torch.roll(x, (1, -2), (2, 3))), c=nn.Conv2d(3, 4, 3)), randn(1, 3, 8, 8)
    yield "windows", Fn(lambda m, x: x.view(1, 2, 4, 2, 4, 3).permute(0, 1, 3, 2, 4, 5).reshape(4, 16, 3).flip(1)), randn(1, 8, 8, 3)
    yield "unfold", Fn(lambda m, x: F.unfold(x, 3, padding=1).transpose(1, 2) @ m.w, w=nn.Parameter(torch.randn(18, 4))), randn(1, 2, 6, 6)
    yield "fold", Fn(lambda m, x: F.fold(F.unfold(x, 2, stride=1), (6, 6), 2)), randn(1, 2, 6, 6)
    for mode in ("reflect", "replicate", "circular", "constant"):
        yield f"pad_{mode}", Fn(lambda m, x, mode=mode: m.c(F.pad(x, (1, 2, 2, 1), mode=mode)), c=nn.Conv2d(3, 4, 3)), randn(1, 3, 8, 8)
    yield "same", nn.Conv2d(3, 4, 4, padding="same", dilation=2), randn(1, 3, 9, 9)
    yield "reflect_conv", nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), randn(1, 3, 8, 8)
    yield "index_list", Fn(lambda m, x: x[:, [2, 0, 1]][..., ::2]), randn(1, 3, 6, 6)
    yield "index_tensor", Fn(lambda m, x, i: x[0, i]), lambda: (torch.randn(1, 9, 4), torch.randint(0, 9, (5,)))
    yield "gather_last", Fn(lambda m, x, i: x.gather(1, i.view(1, 1, 1).expand(1, 1, 4))), lambda: (torch.randn(1, 9, 4), torch.randint(0, 9, (1,)))
    yield "where_const", Fn(lambda m, x: torch.where(x > 0, x, 0.1 * x) + torch.where(x > 1, 1.0, 0.0)), randn(1, 20)
    yield "tril", Fn(lambda m, x: x.tril() + x.triu(1) * 2), randn(1, 6, 6)
    yield "ceil_pool", Fn(lambda m, x: (F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), F.max_pool2d(x, 3, 2, ceil_mode=True), F.lp_pool2d(x.relu() + 0.1, 2, 2))), randn(1, 3, 8, 8)
    yield "adaptive", Fn(lambda m, x: (F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_max_pool2d(x, (3, 2)))), randn(1, 3, 8, 8)
    yield "resize", Fn(lambda m, x: (F.interpolate(x, (9, 7), mode="bilinear"), F.interpolate(x, scale_factor=1.5, mode="nearest"), F.interpolate(x, (5, 5), mode="nearest-exact"))), randn(1, 3, 6, 6)
    yield "bicubic", Fn(lambda m, x: F.interpolate(x, scale_factor=2, mode="bicubic")), randn(1, 3, 6, 6)
    yield "area", Fn(lambda m, x: F.interpolate(x, (4, 3), mode="area")), randn(1, 3, 8, 8)
    yield "transpose_conv", nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), randn(1, 4, 5, 5)
    yield "conv3d", nn.Sequential(nn.Conv3d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2), nn.ConvTranspose3d(4, 2, 2, 2)), randn(1, 2, 4, 6, 6)
    yield "prelu", nn.Sequential(nn.Conv2d(3, 6, 3), nn.PReLU(6)), randn(1, 3, 8, 8)
    yield "rrelu", nn.RReLU(), randn(1, 20)
    yield "rank0", Fn(lambda m, x: x.mean() + x.amax()), randn(1, 20)
    yield "rank6", Fn(lambda m, x: x.permute(0, 5, 3, 1, 2, 4).sum((1, 3)) * 2), randn(1, 2, 3, 2, 3, 2)
    yield "resize_", Fn(lambda m, x: x.clone().resize_(3, 8) + 1), randn(4, 6)
    yield "as_strided", Fn(lambda m, x: x.as_strided((1, 4, 3), (12, 2, 1)) * 2), randn(1, 3, 4)
    yield "as_strided_view", Fn(lambda m, x: (x + 0)[1:].as_strided((2, 3), (3, 1)) * 2), randn(3, 4)
    yield "cumsum", Fn(lambda m, x: x.cumsum(-1)), randn(1, 4, 10)
    yield "bool_addr", Fn(lambda m, a, b, c: torch.addr(a, b, c)), lambda: (torch.rand(3, 4) > 0.5, torch.rand(3) > 0.5, torch.rand(4) > 0.5)
    yield "clamp_tensor", Fn(lambda m, x: torch.clamp(x, m.lo, m.hi), lo=-torch.rand(6), hi=torch.rand(6)), randn(1, 4, 6)


def einsums():
    for k, (equation, *shapes) in enumerate([("bij,bjk->bik", (1, 4, 5), (1, 5, 6)), ("bhqd,bhkd->bhqk", (1, 2, 4, 8), (1, 2, 5, 8)),
                                             ("nchw,kc->nkhw", (1, 3, 4, 4), (5, 3)), ("ij,jk", (4, 5), (5, 6)), ("ii->i", (4, 4)),
                                             ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 3)), ("bi,bj->bij", (1, 4), (1, 5)),
                                             ("bij->b", (2, 3, 4)), ("bthd,hde->bte", (1, 3, 2, 4), (2, 4, 5)),
                                             ("ncvl,vw->ncwl", (1, 3, 5, 4), (5, 6)), ("ij,ij->", (3, 4), (3, 4)), ("bi,bij,bj->b", (1, 3), (1, 3, 4), (1, 4))]):
        yield f"einsum_{k}", Fn(lambda m, *x, equation=equation: torch.einsum(equation, *x)), lambda shapes=shapes: tuple(torch.randn(*s) for s in shapes)


class Takes(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(6, 4)

    def forward(self, given, more, scale=2.0):
        return {"sum": self.a(given["left"]) + self.b(given["right"]) * scale, "list": [more[0].relu(), more[1] + 1]}


def kinds_of_inputs():
    yield "dict_list", Takes(), lambda: ({"left": torch.randn(1, 4), "right": torch.randn(1, 6)}, [torch.randn(1, 3), torch.randn(1, 2)])
    yield "uint8", Fn(lambda m, x: m.c(x.float() / 255), c=nn.Conv2d(3, 4, 3)), lambda: (torch.randint(0, 256, (1, 3, 8, 8), dtype=torch.uint8),)
    yield "uint8_norm", Fn(lambda m, x: m.c((x.to(torch.float32) - 127.5) * (1 / 127.5)), c=nn.Conv2d(3, 4, 3)), lambda: (torch.randint(0, 256, (1, 3, 8, 8), dtype=torch.uint8),)
    yield "int64_math", Fn(lambda m, t: (t * 2 + 1, t // 3, t % 5, t.float() * 0.5)), lambda: (torch.randint(0, 50, (1, 6)),)
    yield "bool_math", Fn(lambda m, a, b: (a & b, a | ~b, a ^ b, a.float().mean(-1), a.sum(-1))), lambda: (torch.rand(2, 6) > 0.5, torch.rand(2, 6) > 0.5)
    yield "bool_mask", Fn(lambda m, x, k: (x * k).sum(1) / k.sum(1).clamp(min=1)), lambda: (torch.randn(1, 6, 4), keep_of(1, 6, 1)())
    yield "lengths", Fn(lambda m, x, n: (x * (torch.arange(6)[None, :, None] < n[:, None, None])).sum(1)), lambda: (torch.randn(1, 6, 4), torch.randint(1, 7, (1,)))
    yield "two_outputs", Fn(lambda m, x: (m.a(x), m.a(x).argmax(-1), x.topk(3)[0])[:2], a=nn.Linear(6, 4)), randn(1, 6)
    yield "int_cast", Fn(lambda m, x: ((x * 10).to(torch.int32), x.round().long(), (x > 0).to(torch.uint8))), randn(1, 20)
    yield "position", Fn(lambda m, t: m.e(t) + m.p(torch.arange(t.shape[1])), e=nn.Embedding(20, 8), p=nn.Embedding(16, 8)), lambda: (torch.randint(0, 20, (1, 9)),)
    yield "step_state", Fn(lambda m, x: (m.count.add_(1), x * m.count)[1], count=torch.zeros(1)), randn(1, 4)
