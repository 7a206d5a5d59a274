/* Words of the text form: the tables that printing and parsing share, and a scanner that never
 * reads past the text's end and fails with file and line. */
#include "graph/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INLINE_LIMIT 16 /* elements of constants within the text */

const char *const role_words[] = {[ROLE_NONE] = "",
                                  [ROLE_INPUT] = "input",
                                  [ROLE_PARAMETER] = "parameter",
                                  [ROLE_BUFFER] = "buffer",
                                  [ROLE_CONSTANT] = "constant"};
const char *const fate_words[] = {
    [FATE_LIVE] = "live",     [FATE_KERNEL] = "kernel", [FATE_FUSED] = "fused",
    [FATE_FOLDED] = "folded", [FATE_MOVED] = "moved",   [FATE_REMOVED] = "removed"};
const char *const stage_words[] = {[STAGE_IMPORTED] = "imported",
                                   [STAGE_FUNCTIONAL] = "functional",
                                   [STAGE_CORE] = "core",
                                   [STAGE_QUANTIZED] = "quantized"};

Array *value_data(const Value *v) {
    return v->constant ? v->constant : v->initial;
}

bool constant_is_inline(const Value *v) {
    const Array *a = value_data(v);
    Type stored = type_make(value_storage(v), v->type.rank, v->type.dim);
    Type is = type_make(a->dtype, a->rank, a->dim);
    return type_equal(&stored, &is) && array_count(a) <= INLINE_LIMIT;
}

Loc implied_loc(const Graph *g, const Node *n) {
    bool known = n->origins.count > 0 && n->origins.id[0] < g->archive_count;
    return known ? g->archive[n->origins.id[0]].loc : (Loc){0};
}

bool loc_equal(const Loc *a, const Loc *b) {
    return text_equal(a->file, b->file) && a->line == b->line &&
           text_equal(a->source_text, b->source_text) && text_equal(a->node, b->node) &&
           text_equal(a->module, b->module) && text_equal(a->output, b->output) &&
           text_equal(a->member, b->member) && a->byte == b->byte;
}

const char *constant_member(C *c, const char *prefix, const Value *v) {
    return c_format(c, "%s%s", prefix, v->name);
}

const char *histogram_member(C *c, const char *prefix, const Value *v) {
    return c_format(c, "%s%s:histogram", prefix, v->name);
}

const char *patches_member(C *c, const char *prefix, const Node *n) {
    return c_format(c, "%s%s:patches", prefix, n->name);
}

bool has_patches(const Node *n) {
    return n->patches && n->patches->rows > 0;
}

void text_add_quoted(Text *t, const char *s) {
    text_add(t, "\"");
    for (; *s; s++) {
        unsigned char ch = (unsigned char)*s;
        if (ch == '"' || ch == '\\')
            text_add(t, "\\%c", ch);
        else if (ch < 0x20 || ch == 0x7f)
            text_add(t, "\\x%02x", ch);
        else
            text_add_bytes(t, s, 1);
    }
    text_add(t, "\"");
}

static void mark_arg(char *mark, const Arg *a) {
    if (a->kind == ARG_VALUE && !mark[a->u.value->id])
        mark[a->u.value->id] = VALUE_READ;
    for (int i = 0; a->kind == ARG_LIST && i < a->u.list.count; i++)
        mark_arg(mark, &a->u.list.item[i]);
}

char *values_marked(C *c, const Graph *g) {
    char *mark = NEW_ARRAY(c, char, g->value_count);
    for (const Node *n = g->first; n; n = n->next) {
        for (int i = 0; i < n->arg_count; i++)
            mark_arg(mark, &n->arg[i]);
        for (int i = 0; i < n->out_arg_count; i++)
            mark[n->out_arg[i]->id] = VALUE_READ;
    }
    for (int i = 0; i < g->input_count; i++)
        mark_arg(mark, &g->input[i]);
    for (int i = 0; i < g->output_count; i++)
        mark_arg(mark, &g->output[i]);
    for (int i = 0; i < g->state_count; i++)
        mark[g->state[i].before->id] = mark[g->state[i].after->id] = VALUE_READ;
    for (const Node *n = g->first; n; n = n->next)
        for (int k = 0; k < n->out_count; k++)
            mark[n->out[k]->id] = VALUE_DEFINED;
    return mark;
}

/* ---- reading words ------------------------------------------------------------------------ */

bool text_is_word(char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_' || ch == '.';
}

void scan_fail(const Scanner *s, const char *format, ...) {
    Loc loc = {.file = s->file, .line = 1};
    for (const char *q = s->text; q < s->p; q++)
        loc.line += *q == '\n';
    va_list args;
    va_start(args, format);
    const char *message = c_vformat(s->c, format, args);
    va_end(args);
    fatal(s->c, DIAG_INPUT, &loc, "%s", message);
}

void scan_expected(Scanner *s, const char *needed) {
    scan_space(s);
    size_t length = 0;
    while (length < 24 && text_is_word(s->p[length]))
        length++;
    if (!*s->p)
        scan_fail(s, "the text ends, %s is needed", needed);
    scan_fail(s, "found '%.*s', %s is needed", length ? (int)length : 1, s->p, needed);
}

static void scan_blanks(Scanner *s) {
    while (*s->p == ' ' || *s->p == '\t' || *s->p == '\r')
        s->p++;
}

void scan_space(Scanner *s) {
    for (;;) {
        scan_blanks(s);
        if (*s->p == ';')
            while (*s->p && *s->p != '\n')
                s->p++;
        if (*s->p != '\n')
            return;
        s->p++;
    }
}

bool scan_end(Scanner *s) {
    scan_space(s);
    return !*s->p;
}

bool scan_char(Scanner *s, char ch) {
    scan_space(s);
    if (*s->p != ch)
        return false;
    s->p++;
    return true;
}

void scan_need(Scanner *s, char ch) {
    char needed[4] = {'\'', ch, '\'', 0};
    if (!scan_char(s, ch))
        scan_expected(s, needed);
}

static bool word_here(Scanner *s, const char *word) {
    size_t length = strlen(word);
    if (strncmp(s->p, word, length) != 0 || text_is_word(s->p[length]))
        return false;
    s->p += length;
    return true;
}

bool scan_word(Scanner *s, const char *word) {
    scan_space(s);
    return word_here(s, word);
}

bool scan_attribute(Scanner *s, const char *word) {
    scan_blanks(s);
    return word_here(s, word);
}

int scan_attribute_of(Scanner *s, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (*words[i] && scan_attribute(s, words[i]))
            return i;
    return -1;
}

bool scan_attribute_string(Scanner *s, const char **out) {
    scan_blanks(s);
    if (*s->p != '"')
        return false;
    *out = scan_string(s);
    return true;
}

static int hex_digit(char ch) {
    return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

const char *scan_string(Scanner *s) {
    scan_space(s);
    if (*s->p != '"')
        scan_expected(s, "a string");
    Text t = text_new(s->c);
    for (s->p++; *s->p != '"'; s->p++) {
        char ch = *s->p;
        if (ch == 0 || ch == '\n')
            scan_fail(s, "the string has no end");
        if (ch == '\\' && s->p[1] == 'x') {
            int high = hex_digit(s->p[2]), low = high < 0 ? -1 : hex_digit(s->p[3]);
            if (low < 0 || high * 16 + low == 0)
                scan_fail(s, "two hexadecimal digits other than 00 are needed after \\x");
            ch = (char)(high * 16 + low);
            s->p += 3;
        } else if (ch == '\\' && s->p[1]) {
            ch = *++s->p;
        }
        text_add_bytes(&t, &ch, 1);
    }
    s->p++;
    return text_string(&t);
}

const char *scan_name(Scanner *s) {
    scan_space(s);
    if (*s->p == '"')
        return scan_string(s);
    const char *start = s->p;
    while (text_is_word(*s->p))
        s->p++;
    if (s->p == start)
        scan_expected(s, "a name");
    return c_strndup(s->c, start, (size_t)(s->p - start));
}

const char *scan_operator(Scanner *s) {
    scan_space(s);
    const char *start = s->p;
    while (text_is_word(*s->p) || *s->p == ':')
        s->p++;
    if (s->p == start)
        scan_expected(s, "an operator");
    return c_strndup(s->c, start, (size_t)(s->p - start));
}

int64_t scan_int(Scanner *s, int64_t low, int64_t high) {
    scan_space(s);
    char *end;
    errno = 0;
    long long i = strtoll(s->p, &end, 10);
    if (end == s->p || text_is_word(*end))
        scan_expected(s, "an integer");
    if (errno == ERANGE || i < low || i > high)
        scan_fail(s, "%.*s is out of range (%lld to %lld)", (int)(end - s->p), s->p, (long long)low,
                  (long long)high);
    s->p = end;
    return i;
}

double scan_float(Scanner *s) {
    scan_space(s);
    char *end;
    double f = strtod(s->p, &end);
    if (end == s->p || text_is_word(*end))
        scan_expected(s, "a number");
    s->p = end;
    return f;
}

bool scan_is_number(Scanner *s) {
    scan_space(s);
    const char *q = s->p + (*s->p == '-');
    return (*q >= '0' && *q <= '9') || *q == '.' || strncmp(q, "inf", 3) == 0 ||
           strncmp(q, "nan", 3) == 0;
}

Arg scan_number(Scanner *s) {
    scan_space(s);
    const char *q = s->p + (*s->p == '-');
    while (*q >= '0' && *q <= '9')
        q++;
    if (q > s->p && !text_is_word(*q) && q[-1] != '-')
        return arg_int(scan_int(s, INT64_MIN, INT64_MAX));
    return arg_float(scan_float(s));
}
