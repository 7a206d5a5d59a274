/* Diagnostics: a list in the order of recording, printed as a compiler prints. Strings are copied
 * when recorded, so callers may pass what they like; control characters, which hostile archives may
 * put into any name, never reach the terminal. */
#include "base/base.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

C *c_new(void) {
    Arena *arena = arena_new();
    C *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fputs("corten: error: out of memory\n", stderr);
        exit(DIAG_MODEL);
    }
    c->arena = arena;
    return c;
}

void c_free(C *c) {
    if (c == NULL)
        return;
    arena_free(c->arena);
    free(c);
}

int c_try(C *c, void (*body)(C *, void *), void *user) {
    jmp_buf here;
    jmp_buf *outer = c->unwind;
    c->unwind = &here;
    if (setjmp(here) == 0)
        body(c, user);
    c->unwind = outer;
    return diag_exit_code(c);
}

static _Noreturn void unwind(C *c) {
    if (c->unwind != NULL)
        longjmp(*c->unwind, 1);
    diag_print(c, stderr, false, false);
    exit(diag_exit_code(c));
}

void c_progress(C *c, const char *what, double fraction) {
    if (c->progress != NULL && !c->progress(c->progress_user, what, fraction))
        c->stopped = true;
}

void c_stop_if_asked(C *c) {
    if (c->stopped)
        fatal(c, DIAG_STOPPED, NULL, "stopped");
}

static const char *copy(C *c, const char *s) {
    return s == NULL ? NULL : c_strdup(c, s);
}

static void record(C *c, DiagKind kind, bool warning, const Loc *loc, const char *format,
                   va_list args) {
    Diag *d = NEW(c, Diag);
    d->kind = kind;
    d->warning = warning;
    d->message = c_vformat(c, format, args);
    if (loc != NULL) {
        d->loc = *loc;
        d->loc.file = copy(c, loc->file);
        d->loc.source_text = copy(c, loc->source_text);
        d->loc.node = copy(c, loc->node);
        d->loc.op = copy(c, loc->op);
        d->loc.module = copy(c, loc->module);
        d->loc.output = copy(c, loc->output);
        d->loc.member = copy(c, loc->member);
    }
    if (c->last_diag == NULL)
        c->first_diag = d;
    else
        c->last_diag->next = d;
    c->last_diag = d;
    if (!warning)
        c->error_count++;
}

void diag_error(C *c, DiagKind kind, const Loc *loc, const char *format, ...) {
    assert(kind != DIAG_NOTE);
    va_list args;
    va_start(args, format);
    record(c, kind, false, loc, format, args);
    va_end(args);
}

void diag_warning(C *c, const Loc *loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record(c, DIAG_NOTE, true, loc, format, args);
    va_end(args);
}

void diag_detail(C *c, const char *format, ...) {
    Diag *d = c->last_diag;
    assert(d != NULL);
    va_list args;
    va_start(args, format);
    const char *line = c_vformat(c, format, args);
    va_end(args);
    d->detail = d->detail == NULL ? line : c_format(c, "%s\n%s", d->detail, line);
}

void fatal(C *c, DiagKind kind, const Loc *loc, const char *format, ...) {
    assert(kind != DIAG_NOTE);
    va_list args;
    va_start(args, format);
    record(c, kind, false, loc, format, args);
    va_end(args);
    unwind(c);
}

void diag_stop_if_errors(C *c) {
    if (c->error_count > 0)
        unwind(c);
}

int diag_error_count(const C *c) {
    return c->error_count;
}

const char *diag_withdraw(C *c, Diag *mark) {
    const Diag *first = mark ? mark->next : c->first_diag;
    for (const Diag *d = first; d != NULL; d = d->next)
        c->error_count -= !d->warning;
    *(mark ? &mark->next : &c->first_diag) = NULL;
    c->last_diag = mark;
    return first ? first->message : NULL;
}

int diag_exit_code(const C *c) {
    for (const Diag *d = c->first_diag; d != NULL; d = d->next) {
        if (!d->warning)
            return (int)d->kind;
    }
    return 0;
}

static void print_char(FILE *f, char ch) {
    unsigned char byte = (unsigned char)ch;
    if (byte == '\t')
        fputc(' ', f);
    else
        fputc(byte < 0x20 || byte == 0x7f ? '?' : byte, f);
}

static void print_text(FILE *f, const char *s) {
    for (; *s != '\0'; s++)
        print_char(f, *s);
}

/* `text` on lines of its own, each indented by four spaces. */
static void print_indented(FILE *f, const char *text) {
    fputs("    ", f);
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '\n')
            fputs("\n    ", f);
        else
            print_char(f, *s);
    }
    fputc('\n', f);
}

static void print_head(FILE *f, const Diag *d, bool colour) {
    const char *bold = colour ? "\033[1m" : "";
    const char *tint = !colour ? "" : d->warning ? "\033[1;35m" : "\033[1;31m";
    const char *reset = colour ? "\033[0m" : "";
    fputs(bold, f);
    print_text(f, d->loc.file != NULL ? d->loc.file : "corten");
    if (d->loc.file != NULL && d->loc.line > 0)
        fprintf(f, ":%d", d->loc.line);
    fprintf(f, ":%s %s%s:%s ", reset, tint, d->warning ? "warning" : "error", reset);
    fputs(bold, f);
    print_text(f, d->message);
    fprintf(f, "%s\n", reset);
}

static void print_source(FILE *f, const char *text) {
    while (*text == ' ' || *text == '\t')
        text++;
    if (*text == '\0')
        return;
    print_indented(f, text);
}

static void print_node(FILE *f, const Loc *loc) {
    const char *separator = "";
    fputs("    ", f);
    if (loc->node != NULL) {
        fputs("node ", f);
        print_text(f, loc->node);
        separator = " ";
    }
    if (loc->module != NULL && loc->module[0] != '\0') {
        fprintf(f, "%sin ", separator);
        print_text(f, loc->module);
        separator = ", ";
    } else if (loc->node != NULL) {
        separator = ", ";
    }
    if (loc->output != NULL) {
        fprintf(f, "%soutput ", separator);
        print_text(f, loc->output);
    }
    fputc('\n', f);
}

static void print_place(FILE *f, const Loc *loc) {
    fputs("    at ", f);
    if (loc->member != NULL)
        print_text(f, loc->member);
    if (loc->byte > 0)
        fprintf(f, "%sbyte %" PRId64, loc->member != NULL ? ", " : "", loc->byte);
    fputc('\n', f);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_place(const Loc *a, const Loc *b) {
    return a->line == b->line && a->byte == b->byte && same_text(a->file, b->file) &&
           same_text(a->node, b->node) && same_text(a->module, b->module) &&
           same_text(a->output, b->output) && same_text(a->member, b->member);
}

bool diag_is_repeated(const C *c, const Diag *d) {
    for (const Diag *e = c->first_diag; e != d && e != NULL; e = e->next)
        if (e->warning == d->warning && same_text(e->message, d->message) &&
            same_text(e->detail, d->detail) && same_place(&e->loc, &d->loc))
            return true;
    return false;
}

void diag_print(const C *c, FILE *f, bool colour, bool quiet) {
    for (const Diag *d = c->first_diag; d != NULL; d = d->next) {
        if ((d->warning && quiet) || diag_is_repeated(c, d))
            continue;
        const Loc *loc = &d->loc;
        print_head(f, d, colour);
        if (loc->source_text != NULL)
            print_source(f, loc->source_text);
        if (loc->node != NULL || (loc->module != NULL && loc->module[0] != '\0'))
            print_node(f, loc);
        if (loc->member != NULL || loc->byte > 0)
            print_place(f, loc);
        if (d->detail != NULL)
            print_indented(f, d->detail);
    }
}
