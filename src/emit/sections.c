/* <name>.ld: what a linker script needs for a model whose memories have sections. Each memory's
 * output section goes to the region of the same name in capitals, which the script's MEMORY must
 * have. Constants that start-up code copies come with the addresses that it needs. */
#include "emit/names.h"

#include <string.h>

static void add_output_section(Text *t, C *c, const Graph *g, int region) {
    const MemoryRegion *r = &g->region[region];
    const Memory *m = &g->memory[r->memory];
    bool constants = r->kind == REGION_CONSTANTS, copied = constants && m->load;
    const char *prefix = c_format(c, "%s_%s", g->name, r->name);
    text_add(t, "    %s%s : ALIGN(16) {\n", r->section, constants ? "" : " (NOLOAD)");
    if (copied)
        text_add(t, "        %s_start = .;\n", prefix);
    text_add(t, "        *(%s)\n        . = ALIGN(16);\n", r->section);
    if (copied)
        text_add(t, "        %s_end = .;\n", prefix);
    text_add(t, "    } > %s", upper_name(c, m->name));
    if (copied)
        text_add(t, " AT > %s\n    %s_load = LOADADDR(%s);\n", upper_name(c, m->load), prefix,
                 r->section);
    else
        text_add(t, "\n");
}

/* Two regions may share a section: the state lies beside an arena. */
static bool is_first_of_section(const Graph *g, int region) {
    for (int r = 0; r < region; r++)
        if (region_is_used(g, r) && text_equal(g->region[r].section, g->region[region].section))
            return false;
    return true;
}

void emit_sections(C *c, const Graph *g, FileSet *out) {
    Text t = text_new(c);
    text_add(&t,
             "/* Memories of %s, made by corten %s. Include it in your linker script, inside of\n"
             " * SECTIONS and before what takes .bss and .rodata. */\n",
             g->name, CORTEN_VERSION);
    size_t head = t.length;
    for (int r = 0; r < CTN_REGIONS; r++)
        if (region_is_used(g, r) && g->region[r].section && is_first_of_section(g, r))
            add_output_section(&t, c, g, r);
    if (t.length > head)
        fileset_add(c, out, c_format(c, "%s.ld", g->name), t.data, t.length);
}
