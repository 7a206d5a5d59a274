/* report.html: the page of html/ with its data in one block of JSON, a line per part, so that a
 * part can be exchanged. No '<' of the data reaches the markup: in JSON it stands within strings
 * only, where \u003c means the same. */
#include "report/report.h"

#include "report_page.h"

#include <jansson.h>
#include <string.h>

/* The parts, each on its line behind its key. */
static const char report_key[] = "\n{\"report\":", details_key[] = "\n,\"details\":",
                  end_key[] = "\n}\n";

/* What commands may add later, null at first. */
static const char *const later[] = {"verify", "sensitivity"};

static void add_escaped(Text *t, const char *json) {
    for (const char *p = json; *p;) {
        size_t plain = strcspn(p, "<\n");
        text_add_bytes(t, p, plain);
        p += plain;
        if (*p == '<')
            text_add(t, "\\u003c");
        p += *p != 0;
    }
}

void report_page(C *c, const Graph *g, const char *report, FileSet *out) {
    Text t = text_new(c);
    text_add_bytes(&t, page_head, sizeof page_head);
    text_add(&t, "%s", report_key);
    add_escaped(&t, report);
    text_add(&t, "%s", details_key);
    add_escaped(&t, report_details(c, g));
    for (int i = 0; i < (int)COUNT_OF(later); i++)
        text_add(&t, "\n,\"%s\":null", later[i]);
    text_add(&t, "%s", end_key);
    text_add_bytes(&t, page_tail, sizeof page_tail);
    fileset_add(c, out, "report.html", t.data, t.length);
}

const char *report_page_with(C *c, const char *page, const char *part, const char *found) {
    const char *line = c_format(c, "\n,\"%s\":", part), *key = strstr(page, line);
    const char *rest = key ? strchr(key + strlen(line), '\n') : NULL;
    if (!rest)
        return NULL;
    Text t = text_new(c);
    text_add_bytes(&t, page, (size_t)(key - page) + strlen(line));
    add_escaped(&t, found);
    text_add(&t, "%s", rest);
    return text_string(&t);
}
