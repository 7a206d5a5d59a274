/* Where a node comes from: the user's Python line out of the stack trace, and the module path. */
#include "import/pt2.h"

#include <stdlib.h>
#include <string.h>

/* Whether a file belongs to torch itself, or is code that torch made ("<eval_with_key>.5"). A frame
 * is the user's when no folder of its path is named torch; only when no such frame exists is a
 * folder of that name outside of a package folder, which may be the user's own, taken too. */
static bool is_torch_file(const char *path, size_t length, bool narrow) {
    const char *mark = narrow ? "-packages/torch/" : "/torch/";
    return (length > 0 && path[0] == '<') || (length >= 6 && strncmp(path, "torch/", 6) == 0) ||
           memmem(path, length, mark, strlen(mark)) != NULL;
}

static const char *skip_spaces(const char *s) {
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    return s;
}

static const char *line_end(const char *s) {
    const char *end = strchr(s, '\n');
    return end ? end : s + strlen(s);
}

typedef struct {
    const char *path, *text; /* into the trace, not terminated; text may be NULL */
    size_t path_length, text_length;
    int line;
} Frame;

/* Parses `File "path", line 12, in forward` at `s`, and the source line below it. */
static bool frame_parse(const char *s, Frame *out) {
    static const char file[] = "File \"", line[] = "\", line ";
    s = skip_spaces(s);
    if (strncmp(s, file, strlen(file)) != 0) {
        return false;
    }
    s += strlen(file);
    const char *end = line_end(s);
    const char *quote = memmem(s, (size_t)(end - s), line, strlen(line));
    if (!quote) {
        return false;
    }
    long number = strtol(quote + strlen(line), NULL, 10);
    *out = (Frame){.path = s, .path_length = (size_t)(quote - s)};
    out->line = number > 0 && number < INT32_MAX ? (int)number : 0;
    if (*end == '\n') {
        const char *text = skip_spaces(end + 1);
        size_t length = (size_t)(line_end(text) - text);
        if (length > 0 && strncmp(text, file, strlen(file)) != 0) {
            out->text = text;
            out->text_length = length;
        }
    }
    return true;
}

/* The last frame that is not torch's. */
static bool frame_find(const char *trace, bool narrow, Frame *out) {
    bool found = false;
    for (const char *s = trace; *s != '\0';) {
        Frame frame;
        if (frame_parse(s, &frame) && !is_torch_file(frame.path, frame.path_length, narrow)) {
            *out = frame;
            found = true;
        }
        s = line_end(s);
        s += *s == '\n';
    }
    return found;
}

/* The innermost entry of "key,path,type;key,path,type": its path, without the "@1" of a second
 * call of the same module. */
static const char *module_path(C *c, const char *stack) {
    const char *last = strrchr(stack, ';');
    const char *start = strchr(last ? last + 1 : stack, ',');
    if (!start) {
        return NULL;
    }
    start++;
    size_t length = strcspn(start, ",@");
    return length > 0 ? c_strndup(c, start, length) : NULL;
}

/* Only the file's own name: the folder is that of the machine that exported the model. */
static const char *file_name(C *c, const char *path, size_t length) {
    size_t start = length;
    while (start > 0 && path[start - 1] != '/' && path[start - 1] != '\\') {
        start--;
    }
    return c_strndup(c, path + start, length - start);
}

Loc loc_read(Pt2 *p, const json_t *metadata, const char *node) {
    Loc loc = {.node = node};
    const char *stack = json_string_value(json_object_get(metadata, "nn_module_stack"));
    const char *trace = json_string_value(json_object_get(metadata, "stack_trace"));
    if (stack) {
        loc.module = module_path(p->c, stack);
    }
    Frame frame;
    if (trace && (frame_find(trace, false, &frame) || frame_find(trace, true, &frame))) {
        loc.file = file_name(p->c, frame.path, frame.path_length);
        loc.line = frame.line;
        if (frame.text) {
            loc.source_text = c_strndup(p->c, frame.text, frame.text_length);
        }
    }
    if (!loc.file) {
        loc.file = p->path;
    }
    return loc;
}
