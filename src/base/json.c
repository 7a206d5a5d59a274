/* JSON roots that are released with the arena, however the work ends; diagnostics as JSON. */
#include "base/base.h"

#include <jansson.h>

void json_release(void *root) {
    json_decref(root);
}

static json_t *one_json(const Diag *d) {
    const Loc *at = &d->loc;
    return json_pack("{s:s?, s:s?, s:s?, s:i, s:s?, s:s?, s:s?, s:s?, s:s?, s:I}", "message",
                     d->message, "detail", d->detail, "file", at->file, "line", at->line, "source",
                     at->source_text, "node", at->node, "module", at->module, "output", at->output,
                     "member", at->member, "byte", (json_int_t)at->byte);
}

json_t *diag_json(const C *c, bool warnings) {
    json_t *list = json_array();
    for (const Diag *d = c->first_diag; d; d = d->next)
        if (d->warning == warnings && !diag_is_repeated(c, d))
            json_array_append_new(list, one_json(d));
    return list;
}
