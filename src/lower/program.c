/* Pointwise functions in float32: each row's formula in postfix notation, and its translation into
 * the program that kernel program_f32 runs. What a row computes is said by its `map`; that the
 * formula says the same is tested over all rows.
 *
 * In a formula, a, b, c are the first arguments of the schema, tensors or numbers; $name another
 * argument, $name|x one that may be absent; other words are numbers or operators. */
#include "lower/float.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_RANK = 6, MAX_CONSTANTS = 255, OPERANDS = 3 };

static const struct {
    const char *word;
    CtnFloatOp op;
} words[] = {
    {"a", CTN_FLOAT_A},
    {"b", CTN_FLOAT_B},
    {"c", CTN_FLOAT_C},
    {"dup", CTN_FLOAT_DUPLICATE},
    {"+", CTN_FLOAT_ADD},
    {"-", CTN_FLOAT_SUB},
    {"*", CTN_FLOAT_MUL},
    {"/", CTN_FLOAT_DIV},
    {"max", CTN_FLOAT_MAX},
    {"min", CTN_FLOAT_MIN},
    {"fmax", CTN_FLOAT_FMAX},
    {"fmin", CTN_FLOAT_FMIN},
    {"=", CTN_FLOAT_EQ},
    {"<", CTN_FLOAT_LT},
    {"<=", CTN_FLOAT_LE},
    {"and", CTN_FLOAT_AND},
    {"or", CTN_FLOAT_OR},
    {"copysign", CTN_FLOAT_COPYSIGN},
    {"?", CTN_FLOAT_SELECT},
    {"not", CTN_FLOAT_NOT},
    {"neg", CTN_FLOAT_NEG},
    {"abs", CTN_FLOAT_ABS},
    {"signbit", CTN_FLOAT_SIGNBIT},
    {"floor", CTN_FLOAT_FLOOR},
    {"trunc", CTN_FLOAT_TRUNC},
    {"round", CTN_FLOAT_ROUND},
    {"sqrt", CTN_FLOAT_SQRT},
    {"exp", CTN_FLOAT_EXP},
    {"log", CTN_FLOAT_LOG},
    {"expm1", CTN_FLOAT_EXPM1},
    {"log1p", CTN_FLOAT_LOG1P},
    {"tanh", CTN_FLOAT_TANH},
    {"sigmoid", CTN_FLOAT_SIGMOID},
    {"erf", CTN_FLOAT_ERF},
    {"erfc", CTN_FLOAT_ERFC},
    {"fmod", CTN_FLOAT_FMOD},
    {"pow", CTN_FLOAT_POW},
    {"atan2", CTN_FLOAT_ATAN2},
    {"log2", CTN_FLOAT_LOG2},
    {"log10", CTN_FLOAT_LOG10},
    {"sin", CTN_FLOAT_SIN},
    {"cos", CTN_FLOAT_COS},
    {"tan", CTN_FLOAT_TAN},
    {"asin", CTN_FLOAT_ASIN},
    {"acos", CTN_FLOAT_ACOS},
    {"atan", CTN_FLOAT_ATAN},
    {"sinh", CTN_FLOAT_SINH},
    {"cosh", CTN_FLOAT_COSH},
    {"asinh", CTN_FLOAT_ASINH},
    {"acosh", CTN_FLOAT_ACOSH},
    {"atanh", CTN_FLOAT_ATANH},
};

#define PI "3.141592653589793"
#define SOFTPLUS(x) x " 0 max " x " abs neg exp log1p +" /* log(1 + exp(x)) without overflow */
#define HARD "a 3 + 0 max 6 min"
#define LARGER "a abs b abs max"
#define WITHIN "a $eps|-inf max 1 $eps|-inf - min" /* between eps and 1 - eps */
#define OTHER_SIGN "a b fmod 0 = not b 0 < a b fmod 0 < = not and"
#define UNLESS_NAN(x) "a a = " x " a ?"

/* By the operator's name without overload; where that is not enough, with a suffix that
 * formula_key adds. */
static const struct {
    const char *name, *formula;
} formulas[] = {
    {"aten::add", "a b $alpha * +"},
    {"aten::sub", "a b $alpha * -"},
    {"aten::subtract", "a b $alpha * -"},
    {"aten::rsub", "b a $alpha * -"},
    {"aten::mul", "a b *"},
    {"aten::multiply", "a b *"},
    {"aten::div", "a b /"},
    {"aten::divide", "a b /"},
    {"aten::true_divide", "a b /"},
    {"aten::floor_divide", "b 0 = a b / a a b fmod - b / " OTHER_SIGN " - round ?"},
    {"aten::div:trunc", "a b / trunc"},
    {"aten::fmod", "a b fmod"},
    {"aten::remainder", "a b fmod " OTHER_SIGN " b 0 ? +"},
    {"aten::pow", "a b pow"},
    {"aten::pow:2", "a a *"},
    {"aten::float_power", "a b pow"},
    {"aten::maximum", "a b max"},
    {"aten::max", "a b max"},
    {"aten::fmax", "a b fmax"},
    {"aten::minimum", "a b min"},
    {"aten::min", "a b min"},
    {"aten::fmin", "a b fmin"},
    {"aten::copysign", "a b copysign"},
    {"aten::heaviside", "a 0 = b 0 a < ?"},
    {"aten::atan2", "a b atan2"},
    {"aten::arctan2", "a b atan2"},
    {"aten::hypot",
     LARGER " 0 = 0 " LARGER " a " LARGER " / dup * b " LARGER " / dup * + sqrt * ?"},
    {"aten::logaddexp", "a b fmax abs inf = a b fmax a b fmax a b - abs neg exp log1p + ?"},
    {"aten::logaddexp2", "a b fmax abs inf = a b fmax a b fmax a b - abs -0.6931471805599453 * exp "
                         "log1p 1.4426950408889634 * + ?"},
    {"aten::xlogy", "b b = a 0 = 0 a b log * ? b ?"},
    {"aten::ldexp", "a 2 b pow *"},
    {"aten::lerp", "c abs 0.5 < a c b a - * + b b a - 1 c - * - ?"},
    {"aten::abs", "a abs"},
    {"aten::absolute", "a abs"},
    {"aten::neg", "a neg"},
    {"aten::negative", "a neg"},
    {"aten::square", "a a *"},
    {"aten::ceil", "a neg floor neg"},
    {"aten::floor", "a floor"},
    {"aten::round", "a round"},
    {"aten::trunc", "a trunc"},
    {"aten::fix", "a trunc"},
    {"aten::frac", "a a trunc -"},
    {"aten::sign", "0 a < a 0 < -"},
    {"aten::sgn", "0 a < a 0 < -"},
    {"aten::reciprocal", "1 a /"},
    {"aten::exp", "a exp"},
    {"aten::exp2", "2 a pow"},
    {"aten::special_exp2", "2 a pow"},
    {"aten::expm1", "a expm1"},
    {"aten::special_expm1", "a expm1"},
    {"aten::log", "a log"},
    {"aten::log2", "a log2"},
    {"aten::log10", "a log10"},
    {"aten::log1p", "a log1p"},
    {"aten::special_log1p", "a log1p"},
    {"aten::sqrt", "a sqrt"},
    {"aten::rsqrt", "1 a sqrt /"},
    {"aten::sin", "a sin"},
    {"aten::cos", "a cos"},
    {"aten::tan", "a tan"},
    {"aten::asin", "a asin"},
    {"aten::acos", "a acos"},
    {"aten::atan", "a atan"},
    {"aten::sinh", "a sinh"},
    {"aten::cosh", "a cosh"},
    {"aten::asinh", "a asinh"},
    {"aten::acosh", "a acosh"},
    {"aten::atanh", "a atanh"},
    {"aten::arcsin", "a asin"},
    {"aten::arccos", "a acos"},
    {"aten::arctan", "a atan"},
    {"aten::arcsinh", "a asinh"},
    {"aten::arccosh", "a acosh"},
    {"aten::arctanh", "a atanh"},
    {"aten::erf", "a erf"},
    {"aten::special_erf", "a erf"},
    {"aten::erfc", "a erfc"},
    {"aten::special_erfc", "a erfc"},
    {"aten::special_ndtr", "a -0.7071067811865476 * erfc 0.5 *"},
    {"aten::special_entr", "a 0 = 0 a 0 < -inf a a log * neg ? ?"},
    {"aten::sinc", "a 0 = 1 a " PI " * sin a " PI " * / ?"},
    {"aten::special_sinc", "a 0 = 1 a " PI " * sin a " PI " * / ?"},
    {"aten::angle", "a 0 < " PI " a a = 0 a ? ?"},
    {"aten::deg2rad", "a 0.017453292519943295 *"},
    {"aten::rad2deg", "a 57.29577951308232 *"},
    {"aten::logit", WITHIN " 1 " WITHIN " - / log"},
    {"aten::special_logit", WITHIN " 1 " WITHIN " - / log"},
    {"aten::nan_to_num", "a a = a inf = $posinf|3.4028234663852886e38 a -inf = "
                         "$neginf|-3.4028234663852886e38 a ? ? $nan|0 ?"},
    {"aten::signbit", "a signbit"},
    {"aten::isnan", "a a = not"},
    {"aten::isinf", "a abs inf ="},
    {"aten::isfinite", "a abs inf <"},
    {"aten::isposinf", "a inf ="},
    {"aten::isneginf", "a -inf ="},
    {"aten::logical_not", "a not"},
    {"aten::relu", "a 0 max"},
    {"aten::relu6", "a 0 max 6 min"},
    {"aten::silu", "a a sigmoid *"},
    {"aten::sigmoid", "a sigmoid"},
    {"aten::special_expit", "a sigmoid"},
    {"aten::tanh", "a tanh"},
    {"aten::gelu", "a 0.5 * a -0.7071067811865476 * erfc *"},
    {"aten::gelu:tanh", "a 0.5 * 1 a a a * a * 0.044715 * + 0.7978845608028654 * tanh + *"},
    {"aten::hardswish", HARD " a * 6 /"},
    {"aten::hardsigmoid", HARD " 6 /"},
    {"aten::hardtanh", "a $min_val max $max_val min"},
    {"aten::mish", "a " SOFTPLUS("a") " tanh *"},
    {"aten::softplus", "$threshold a $beta * < a " SOFTPLUS("a $beta *") " $beta / ?"},
    {"aten::elu", "0 a < a $scale * a $input_scale * expm1 $alpha * $scale * ?"},
    {"aten::celu", "0 a < a a $alpha / expm1 $alpha * ?"},
    {"aten::selu", "0 a < a a expm1 1.6732632423543772 * ? 1.0507009873554805 *"},
    {"aten::leaky_relu", "0 a < a a $negative_slope * ?"},
    {"aten::rrelu", "a 0 < a $lower $upper + * 2 / a ?"},
    {"aten::threshold", "a $threshold <= $value a ?"},
    {"aten::hardshrink", "a abs $lambd <= 0 a ?"},
    {"aten::softshrink", "$lambd a < a $lambd - a $lambd neg < a $lambd + " UNLESS_NAN("0") " ? ?"},
    {"aten::log_sigmoid", "a neg 0 max a abs neg exp log1p + neg"},
    {"aten::_prelu_kernel", "0 a < a a b * ?"},
    {"aten::clamp", "a $min|-inf max $max|inf min"},
    {"aten::clip", "a $min|-inf max $max|inf min"},
    {"aten::clamp_min", "a b max"},
    {"aten::clamp_max", "a b min"},
    {"aten::eq", "a b ="},
    {"aten::ne", "a b = not"},
    {"aten::not_equal", "a b = not"},
    {"aten::lt", "a b <"},
    {"aten::less", "a b <"},
    {"aten::le", "a b <="},
    {"aten::less_equal", "a b <="},
    {"aten::gt", "b a <"},
    {"aten::greater", "b a <"},
    {"aten::ge", "b a <="},
    {"aten::greater_equal", "b a <="},
    {"aten::isclose", "a b - abs inf < a b - abs $rtol b * abs $atol + <= and a b = or a a = b b = "
                      "or not $equal_nan and or"},
    {"aten::logical_and", "a b and"},
    {"aten::logical_or", "a b or"},
    {"aten::logical_xor", "a not b not = not"},
    {"aten::where", "a b c ?"},
    {"aten::masked_fill", "b c a ?"},
    {"aten::_to_copy", "a"},
    {"corten::requantize", "a"},
};

static const char *formula_named(const char *name) {
    for (size_t i = 0; i < COUNT_OF(formulas); i++)
        if (text_equal(formulas[i].name, name))
            return formulas[i].formula;
    return NULL;
}

bool program_exists(const Op *op) {
    return formula_named(op_schema(op)->name) != NULL;
}

/* An argument decides between formulas of one operator. NULL: it has none of its own. */
static const char *formula_of(const Node *n) {
    const char *name = op_schema(n->op)->name;
    double exponent;
    if (node_takes(n, "rounding_mode") && node_has(n, "rounding_mode"))
        return formula_named(text_equal(node_string(n, "rounding_mode"), "floor")
                                 ? "aten::floor_divide"
                                 : "aten::div:trunc");
    if (node_takes(n, "approximate") && text_equal(node_string(n, "approximate"), "tanh"))
        return formula_named("aten::gelu:tanh");
    if (node_takes(n, "decimals") && node_int(n, "decimals") != 0)
        return NULL;
    const Arg *power = node_takes(n, "exponent") ? node_arg(n, "exponent") : NULL;
    if (power && (power->kind == ARG_VALUE
                      ? value_is_scalar_constant(power->u.value, &exponent) && exponent == 2
                      : node_double(n, "exponent") == 2))
        return formula_named("aten::pow:2");
    return formula_named(name);
}

/* ---- translation ---------------------------------------------------------------------------- */

typedef struct {
    const Node *node;
    Text code; /* pairs of bytes */
    float constant[MAX_CONSTANTS];
    int constant_count;
    CtnFloatOp last; /* the highest operator */
    bool used[OPERANDS];
} Program;

static void add_op(Program *p, CtnFloatOp op, int index) {
    uint8_t pair[2] = {(uint8_t)op, (uint8_t)index};
    text_add_bytes(&p->code, pair, 2);
    p->last = op > p->last ? op : p->last;
}

static void add_constant(Program *p, double x) {
    float f = (float)x;
    int i = 0;
    while (i < p->constant_count && memcmp(&p->constant[i], &f, sizeof f) != 0)
        i++;
    assert(i < MAX_CONSTANTS);
    if (i == p->constant_count)
        p->constant[p->constant_count++] = f;
    add_op(p, CTN_FLOAT_CONSTANT, i);
}

/* An argument's number. */
static double number_of(const Arg *arg) {
    double x = 0;
    if (arg->kind == ARG_VALUE)
        value_is_scalar_constant(arg->u.value, &x);
    return arg->kind == ARG_INT     ? (double)arg->u.i
           : arg->kind == ARG_FLOAT ? arg->u.f
           : arg->kind == ARG_BOOL  ? arg->u.b
                                    : x;
}

static void add_operand(Program *p, int k) {
    const Arg *arg = &p->node->arg[k];
    double x;
    if (arg->kind != ARG_VALUE || value_is_scalar_constant(arg->u.value, &x)) {
        add_constant(p, number_of(arg));
        return;
    }
    p->used[k] = true;
    add_op(p, (CtnFloatOp)(CTN_FLOAT_A + k), 0);
}

static void add_argument(C *c, Program *p, const char *word) {
    const char *bar = strchr(word, '|');
    const char *name = bar ? c_strndup(c, word, (size_t)(bar - word)) : word;
    if (bar && !node_has(p->node, name))
        add_constant(p, strtod(bar + 1, NULL));
    else
        add_constant(p, node_double(p->node, name));
}

static bool ends_with_one(const Program *p) {
    const uint8_t *code = (const uint8_t *)p->code.data;
    size_t length = p->code.length;
    return length >= 4 && code[length - 2] == CTN_FLOAT_CONSTANT &&
           p->constant[code[length - 1]] == 1.0f;
}

static void add_word(C *c, Program *p, const char *word) {
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(words[i].word, word) != 0)
            continue;
        if (words[i].op <= CTN_FLOAT_C)
            add_operand(p, (int)words[i].op);
        else if (words[i].op == CTN_FLOAT_MUL && ends_with_one(p))
            p->code.length -= 2; /* times one */
        else
            add_op(p, words[i].op, 0);
        return;
    }
    char *end = NULL;
    double x = *word == '$' ? 0 : strtod(word, &end);
    if (*word == '$')
        add_argument(c, p, word + 1);
    else if (*end == '\0')
        add_constant(p, x);
    else
        fatal(c, DIAG_BUG, NULL, "'%s' in a formula is no word", word);
}

static void translate(C *c, Program *p, const char *formula) {
    char *copy = c_strdup(c, formula), *rest = NULL;
    p->code = text_new(c);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        add_word(c, p, word);
}

/* The smallest kernel that has all of the program's operators. */
static int kernel_for(CtnFloatOp last) {
    return last <= CTN_FLOAT_SQRT      ? CTN_KERNEL_program_basic_f32
           : last <= CTN_FLOAT_SIGMOID ? CTN_KERNEL_program_exp_f32
           : last <= CTN_FLOAT_ERFC    ? CTN_KERNEL_program_erf_f32
                                       : CTN_KERNEL_program_f32;
}

void lower_program(C *c, Graph *g, Node *n) {
    Program p = {.node = n};
    const char *formula = formula_of(n);
    Value *out = n->out[0];
    if (!formula || out->type.rank > PROGRAM_RANK) {
        diag_error(c, DIAG_MODEL, &n->loc, "%s has no float form%s", node_operator(n),
                   formula ? ": kernels take up to 6 dimensions" : " with these arguments");
        return;
    }
    translate(c, &p, formula);
    Call *call = call_new(c, g, n, kernel_for(p.last));
    CtnProgramF32Args *a = call->args; /* all of these kernels share the argument list */
    uint32_t *field[OPERANDS] = {&a->a, &a->b, &a->c};
    int32_t *stride[OPERANDS] = {a->a_stride, a->b_stride, a->c_stride};
    int32_t *type[OPERANDS] = {&a->a_type, &a->b_type, &a->c_type};
    broadcast_strides(out, out, PROGRAM_RANK, a->dim, a->a_stride);
    for (int k = 0; k < PROGRAM_RANK; k++)
        a->a_stride[k] = 0;
    for (int k = 0; k < OPERANDS; k++) {
        Value *v = p.used[k] ? n->arg[k].u.value : NULL;
        *type[k] = v ? value_storage(v) : DT_F32;
        if (!v)
            continue;
        call_in(call, field[k], v);
        broadcast_strides(v, out, PROGRAM_RANK, a->dim, stride[k]);
    }
    call_out(call, &a->output, out);
    a->output_type = value_storage(out);
    a->length = (int32_t)p.code.length;
    call_const(call, &a->program, "program", DT_U8, p.code.data, a->length, 1);
    if (p.constant_count > 0)
        call_const(call, &a->constants, "constants", DT_F32, p.constant,
                   4 * (int64_t)p.constant_count, 4);
}
