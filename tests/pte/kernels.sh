#!/bin/sh
# The dialect's own C++ kernels and CMSIS-NN for the host, from checkouts of ExecuTorch and of the CMSIS-NN
# that its backends/cortex_m/CMakeLists.txt names, as a library that registers them in the wheel's runtime:
# CORTEN_CORTEX_M_KERNELS=LIBRARY tests/pte/run.sh ... then runs every program with them.
# usage: kernels.sh VENV EXECUTORCH CMSIS_NN LIBRARY
set -eu
home=$("$1/bin/python" -W ignore -c 'import executorch; print(executorch.__path__[0])')
executorch=$2
cmsis=$3
library=$(realpath -m "$4")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$executorch")" "$work/executorch"
for source in "$executorch"/backends/cortex_m/ops/op_*.cpp; do
    op=$(basename "$source" .cpp)
    op=${op#op_}
    function=cortex_m::native::${op}_out
    {
        echo "#include \"$(realpath "$source")\""
        echo '#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>'
        case $op in
        *quantize_per_tensor) # two overloads
            echo 'namespace e = torch::executor; using S = executorch::aten::ScalarType;'
            echo 'static e::Tensor &one(e::KernelRuntimeContext &c, const e::Tensor &x, double s, int64_t z, int64_t a,'
            echo "    int64_t b, S d, e::Tensor &y) { return $function(c, x, s, z, a, b, d, y); }"
            function=one
            ;;
        esac
        echo "EXECUTORCH_LIBRARY(cortex_m, \"$op.out\", $function);"
    } >"$work/$op.cpp"
done
portable=$executorch/kernels/portable/cpu/util
for source in "$work"/*.cpp "$portable/broadcast_util.cpp" "$portable/kernel_ops_util.cpp" "$portable/repeat_util.cpp"; do
    c++ -std=c++17 -O1 -fPIC -w -DC10_USING_CUSTOM_GENERATED_MACROS -I"$home/include" \
        -I"$home/include/executorch/runtime/core/portable_type/c10" -I"$work" -I"$cmsis/Include" \
        -I"$executorch/backends/cortex_m/ops" -c "$source" -o "$work/$(basename "$source").o"
done
find "$cmsis/Source" -name '*.c' ! -name '*_f16*' ! -name '*_f32*' | while read -r source; do
    cc -O2 -fPIC -w -I"$cmsis/Include" -c "$source" -o "$work/$(basename "$source").o"
done
c++ -shared "$work"/*.o -L"$home/lib" -lexecutorch -Wl,-rpath,"$home/lib" -o "$library"
