/* --memory: buffers and constants in the memories of a chip, and what the arena shares. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DIGITS "../examples/digits_silu"

static const char chip[] =
    "{\"memories\": ["
    "{\"name\": \"dtcm\", \"bytes\": \"1K\", \"section\": \".bss.dtcm\"},"
    "{\"name\": \"itcm\", \"bytes\": 3000, \"read_only\": true, \"section\": \".itcm\","
    " \"load\": \"flash\"},"
    "{\"name\": \"sram\", \"bytes\": \"64K\", \"wait_states\": 1, \"section\": \".bss.sram\"},"
    "{\"name\": \"flash\", \"wait_states\": 4, \"read_only\": true, \"section\": \".model\"}]}";

static CortenOptions digits_options(const char *cpu, const char *out) {
    static const char *data;
    data = flow_first(DIGITS "/calib.npz", 8);
    return (CortenOptions){.model = DIGITS "/digits_silu.pt2",
                           .calibrate = &data,
                           .calibrate_count = 1,
                           .target = cpu,
                           .out = out};
}

static const char *placed(const char *cpu, const char *memory) {
    static int count;
    const char *out = flow_path("placed%d", count++);
    CortenOptions o = digits_options(cpu, out);
    o.memory_text = memory;
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static Said refused(const char *memory, const char *const *limits, int limits_count) {
    CortenOptions o = digits_options("cortex-m4", flow_path("refused"));
    o.memory_text = memory;
    o.limits = limits;
    o.limits_count = limits_count;
    return flow_run(corten_compile, o);
}

static long long number(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

static const json_t *named(const json_t *list, const char *name) {
    size_t i;
    json_t *o;
    json_array_foreach(list, i, o) {
        if (strcmp(json_string_value(json_object_get(o, "name")), name) == 0)
            return o;
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static const json_t *memory_of(const char *out, const char *name) {
    return named(json_object_get(flow_report(out), "memories"), name);
}

/* ---- what goes where ----------------------------------------------------------------------- */

static double heat(const json_t *constant) {
    return json_real_value(json_object_get(constant, "accesses_per_byte"));
}

static void hotter_constants_are_in_the_faster_memory_unless_they_have_no_room(void **state) {
    (void)state;
    const char *out = placed("cortex-m4", chip);
    const json_t *fast = memory_of(out, "itcm"), *slow = memory_of(out, "flash");
    long long room = number(fast, "limit") - number(fast, "bytes");
    assert_in_range(number(fast, "bytes"), 1, number(fast, "limit"));
    double coldest = 1e30;
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(fast, "placed"), i, o) {
        coldest = heat(o) < coldest ? heat(o) : coldest;
    }
    json_array_foreach(json_object_get(slow, "placed"), i, o) {
        if (heat(o) > coldest && number(o, "bytes") + 16 <= room)
            fail_msg("%s should be in the faster memory",
                     json_string_value(json_object_get(o, "name")));
    }
    assert_int_equal(number(slow, "images"), number(fast, "constants"));
}

static void buffers_lie_within_the_limits_of_their_memories(void **state) {
    (void)state;
    const json_t *report = flow_report(placed("cortex-m55", chip));
    size_t i;
    json_t *b;
    int slow = 0;
    json_array_foreach(json_object_get(json_object_get(report, "memory"), "buffers"), i, b) {
        const json_t *memory = named(json_object_get(report, "memories"),
                                     json_string_value(json_object_get(b, "memory")));
        assert_true(number(b, "offset") + number(b, "bytes") <= number(memory, "arena"));
        assert_true(number(memory, "bytes") <= number(memory, "limit"));
        slow += strcmp(json_string_value(json_object_get(b, "memory")), "sram") == 0;
    }
    assert_true(slow > 0); /* 1K is not enough for all */
}

static void results_do_not_depend_on_memories(void **state) {
    (void)state;
    const char *data = flow_first(DIGITS "/test.npz", 16),
               *cpus[] = {"cortex-m0plus", "cortex-m55"};
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *plain = flow_path("plain_%s", cpus[i]);
        assert_code(flow_run(corten_compile, digits_options(cpus[i], plain)), 0);
        ArrayList a = flow_outputs(plain, data, NULL);
        ArrayList b = flow_outputs(placed(cpus[i], chip), data, NULL);
        assert_memory_equal(a.item[0].array->data, b.item[0].array->data,
                            (size_t)array_bytes(a.item[0].array));
    }
}

static void chip_agrees_bit_for_bit_over_several_memories(void **state) {
    (void)state;
    if (!flow_has("qemu-system-arm") || !flow_has("arm-none-eabi-gcc"))
        skip();
    const char *cpus[] = {"cortex-m0plus", "cortex-m55"};
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        Said said = flow_run(corten_verify, (CortenOptions){.model = placed(cpus[i], chip),
                                                            .input = DIGITS "/test.npz",
                                                            .limit = 4,
                                                            .on = "qemu"});
        assert_code(said, 0);
        assert_says(said.results, "bit for bit: yes");
    }
}

static void input_is_where_it_was_pinned(void **state) {
    (void)state;
    const char *text = flow_text("%.*s, \"place\": {\"x\": \"sram\"}}", (int)sizeof chip - 2, chip);
    const char *out = placed("cortex-m4", text);
    const json_t *memory = json_object_get(flow_report(out), "memory");
    const json_t *x = named(json_object_get(memory, "buffers"), "x");
    assert_string_equal(json_string_value(json_object_get(x, "memory")), "sram");
    assert_says(file_text(flow_text("%s/digits_silu.h", out)),
                "self->frame.base[DIGITS_SILU_SRAM] + DIGITS_SILU_INPUT0_OFFSET");
}

static long long section_bytes(const char *sizes, const char *name) {
    const char *line = strstr(sizes, flow_text("\n%s ", name));
    return line ? strtoll(line + strlen(name) + 2, NULL, 10) : 0;
}

static void sections_are_to_the_byte_what_the_report_says(void **state) {
    (void)state;
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    const char *out = placed("cortex-m4", chip);
    Said said = flow_shell("arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -O2 -I%s/runtime -c "
                           "%s/digits_silu.c -o %s/model.o && arm-none-eabi-size -A %s/model.o",
                           out, out, out, out);
    assert_code(said, 0);
    static const char *const kind[][3] = {{"dtcm", "arena", ".bss.dtcm"},
                                          {"sram", "arena", ".bss.sram"},
                                          {"itcm", "constants", ".itcm"},
                                          {"flash", "constants", ".model"}};
    for (size_t i = 0; i < COUNT_OF(kind); i++)
        assert_int_equal(section_bytes(said.results, kind[i][2]),
                         number(memory_of(out, kind[i][0]), kind[i][1]));
    assert_int_equal(section_bytes(said.results, ".bss"), 0);
}

static void state_lies_beside_an_arena_and_counts_there(void **state) {
    (void)state;
    const char *data = "flow/counter.npz", *out = flow_path("state");
    CortenOptions o = {.model = "flow/counter.pt2",
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .memory_text = chip,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    const json_t *report = flow_report(out);
    assert_true(number(report, "state_bytes") > 0);
    assert_int_equal(number(memory_of(out, "dtcm"), "state"), number(report, "state_bytes"));
    assert_says(file_text(flow_text("%s/counter.c", out)),
                "#define COUNTER_STATE_SECTION __attribute__((section(\".bss.dtcm\")))");
}

/* ---- too little ---------------------------------------------------------------------------- */

static void memory_that_is_too_small_is_refused_with_what_takes_the_most(void **state) {
    (void)state;
    Said said = refused("{\"memories\": [{\"name\": \"sram\", \"bytes\": 1000},"
                        "{\"name\": \"flash\", \"bytes\": \"8K\", \"read_only\": true}]}",
                        NULL, 0);
    assert_code(said, 1);
    assert_says(said.messages, "memory sram needs ");
    assert_says(said.messages, "bytes, 1000 were allowed");
    assert_says(said.messages, "the peak is at ");
    assert_says(said.messages, "largest there, in bytes: ");
    assert_says(said.messages, "memory flash needs ");
    assert_says(said.messages, "bytes, 8192 were allowed");
    assert_says(said.messages, "largest constants, in bytes: ");
    assert_false(file_exists(flow_path("refused")));
}

/* Buffers in several memories take more in all than in one: --ram has as many of them leave the
 * slow one as it permits. */
static void ram_of_all_memories_together_needs_no_more_than_one_memory(void **state) {
    (void)state;
    const char *one = flow_path("one_memory");
    assert_code(flow_run(corten_compile, digits_options("cortex-m4", one)), 0);
    long long least = number(flow_report(one), "arena_bytes");
    long long most = number(flow_report(placed("cortex-m4", chip)), "arena_bytes");
    assert_true(least < most);
    for (long long ram = least; ram <= most; ram += 16) {
        CortenOptions o = digits_options("cortex-m4", flow_path("in_all"));
        o.memory_text = chip;
        o.ram = ram;
        assert_code(flow_run(corten_compile, o), 0);
        assert_in_range(number(flow_report(o.out), "arena_bytes"), 1, ram);
        assert_in_range(number(memory_of(o.out, "dtcm"), "arena"), 16, ram); /* not left empty */
    }
}

static void what_must_lie_together_lies_in_the_fastest_memory_that_holds_it(void **state) {
    (void)state;
    CortenOptions o = digits_options("cortex-m4", flow_path("together"));
    o.memory_text = "{\"memories\": ["
                    "{\"name\": \"dtcm\", \"bytes\": \"2K\"},"
                    "{\"name\": \"sram\", \"bytes\": \"64K\", \"wait_states\": 1},"
                    "{\"name\": \"ext\", \"bytes\": \"1M\", \"wait_states\": 8}],"
                    "\"place\": {\"x\": \"ext\"}}";
    o.io = "int8";
    o.ram = 3000; /* all but the input: no more than one memory needs, and more than dtcm has */
    assert_code(flow_run(corten_compile, o), 0);
    assert_int_equal(number(memory_of(o.out, "ext"), "arena"), 64);
    assert_in_range(number(memory_of(o.out, "sram"), "arena"), 2049, 3000 - 64);
    assert_in_range(number(flow_report(o.out), "arena_bytes"), 1, 3000);
}

static long long needed(CortenOptions o) {
    Said said = flow_run(corten_compile, o);
    assert_code(said, 1);
    const char *needs = strstr(said.messages, "needs ");
    assert_non_null(needs);
    return strtoll(needs + strlen("needs "), NULL, 10);
}

static void a_refusal_names_the_least_that_is_needed_with_what_was_pinned(void **state) {
    (void)state;
    CortenOptions o = digits_options("cortex-m4", flow_path("least"));
    o.memory_text = "{\"memories\": ["
                    "{\"name\": \"dtcm\", \"bytes\": \"3K\"},"
                    "{\"name\": \"sram\", \"bytes\": \"256K\", \"wait_states\": 1}],"
                    "\"place\": {\"*scratch\": \"dtcm\"}}";
    o.io = "int8";
    o.ram = 1;
    long long least = needed(o);
    o.ram = least - 1;
    assert_int_equal(needed(o), least);
    o.ram = least;
    assert_code(flow_run(corten_compile, o), 0);
}

static void limit_of_one_memory_can_be_given_as_an_option(void **state) {
    (void)state;
    const char *small[] = {"dtcm=512", "sram=256"}, *unknown[] = {"dtmc=1K", "sram=much"};
    Said said = refused(chip, small, 2);
    assert_code(said, 1);
    assert_says(said.messages, "memory sram needs ");
    assert_says(said.messages, "bytes, 256 were allowed");
    said = refused(chip, unknown, 2);
    assert_code(said, 2);
    assert_says(said.messages, "no memory is called dtmc; did you mean dtcm?");
    assert_says(said.messages, "\"sram=much\": MEMORY=BYTES is needed");
    said = flow_shell(CORTEN_EXE " compile " DIGITS "/digits_silu.pt2 -c " DIGITS
                                 "/calib.npz -t cortex-m4 -o %s --ram dtmc=64K",
                      flow_path("never"));
    assert_code(said, 2);
    assert_says(said.results, "no memory is called dtmc");
}

static void faults_of_the_file_are_told_together(void **state) {
    (void)state;
    Said said = refused("{\"memories\": [{\"name\": \"arena\"}, {\"name\": \"a-b\"},"
                        "{\"name\": \"sram\", \"bytes\": \"many\", \"wait_state\": 1},"
                        "{\"name\": \"rom\", \"read_only\": true, \"symbol\": \"mine\"},"
                        "{\"name\": \"tcm\", \"section\": \".t\", \"constants\": \".t\"}],"
                        "\"place\": {\"x\": \"sarm\"}, \"plaice\": {}}",
                        NULL, 0);
    assert_code(said, 3);
    assert_says(said.messages, "memory arena: the name is taken");
    assert_says(said.messages, "a memory needs a \"name\" of letters, digits and _");
    assert_says(said.messages, "memory sram: \"bytes\" must be");
    assert_says(said.messages, "unknown key \"wait_state\"; did you mean \"wait_states\"?");
    assert_says(said.messages, "memory rom is read-only");
    assert_says(said.messages, "into one section, .t");
    assert_says(said.messages, "no memory is called sarm; did you mean sram?");
    assert_says(said.messages, "unknown key \"plaice\"; did you mean \"place\"?");
    said = refused("{\"memories\": [\n{]", NULL, 0);
    assert_code(said, 3);
    assert_says(said.messages, "memory:2: error: not JSON");
}

static void more_memories_than_references_reach_are_refused(void **state) {
    (void)state;
    Said said =
        refused("{\"memories\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"},"
                "{\"name\": \"d\"}, {\"name\": \"e\"}, {\"name\": \"f\"}, {\"name\": \"g\"}]}",
                NULL, 0);
    assert_code(said, 3);
    assert_says(said.messages, "too many memories");
}

static void constants_are_not_placed_where_only_runs_write(void **state) {
    (void)state;
    Said said =
        refused(flow_text("%.*s, \"place\": {\"*_packed\": \"sram\"}}", (int)sizeof chip - 2, chip),
                NULL, 0);
    assert_code(said, 1);
    assert_says(said.messages, "cannot be placed in memory sram, which takes no constants");
}

static void placement_that_nothing_has_the_name_of_is_a_warning(void **state) {
    (void)state;
    CortenOptions o = digits_options("cortex-m4", flow_path("warned"));
    o.memory_text =
        flow_text("%.*s, \"place\": {\"nobody\": \"sram\"}}", (int)sizeof chip - 2, chip);
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages, "place nobody: no buffer has such a name");
}

/* ---- the program's own memory -------------------------------------------------------------- */

static void arena_of_the_program_is_not_defined_again(void **state) {
    (void)state;
    const char *out = flow_path("extern");
    CortenOptions o = digits_options("cortex-m4", out);
    o.arena = "app_arena";
    assert_code(flow_run(corten_compile, o), 0);
    assert_says(file_text(flow_text("%s/digits_silu.h", out)), "extern uint8_t app_arena[];");
    assert_silent_on(file_text(flow_text("%s/digits_silu.c", out)), "uint8_t digits_silu_arena");
    const char *build = "cc -std=c11 -DCTN_EMULATE -Wall -Wextra -Werror -I" CORTEN_RUNTIME
                        " -I%s -I%s/runtime -c %s -o %s.o";
    const char *program = flow_path("own.c");
    const char *text = "#include \"digits_silu.h\"\n"
                       "CTN_ALIGN(16) uint8_t app_arena[DIGITS_SILU_ARENA_BYTES - %d];\n"
                       "int start(digits_silu_t *model);\n"
                       "int start(digits_silu_t *model) { return DIGITS_SILU_SETUP(model); }\n";
    text_write(program, flow_text(text, 0));
    assert_code(flow_shell(build, out, out, program, program), 0);
    text_write(program, flow_text(text, 16));
    Said said = flow_shell(build, out, out, program, program);
    assert_int_not_equal(said.code, 0);
}

static void arena_is_a_name_of_c_and_does_not_go_with_memories(void **state) {
    (void)state;
    CortenOptions o = digits_options("cortex-m4", flow_path("never"));
    o.arena = "app arena";
    o.memory_text = chip;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "the name of a C array of yours is needed");
    assert_says(said.messages, "--arena does not go with --memory");
}

static void bound_outputs_are_outside_of_the_arena_and_agree_with_the_chip(void **state) {
    (void)state;
    const char *out = flow_path("outputs");
    CortenOptions o = digits_options("cortex-m55", out);
    o.bind_outputs = true;
    assert_code(flow_run(corten_compile, o), 0);
    const json_t *report = flow_report(out);
    assert_int_equal(number(report, "output_bytes"), 16);
    size_t i;
    json_t *b;
    json_array_foreach(json_object_get(json_object_get(report, "memory"), "buffers"), i, b) {
        assert_string_not_equal(json_string_value(json_object_get(b, "kind")), "output");
    }
    const char *header = file_text(flow_text("%s/digits_silu.h", out));
    assert_says(header, "static inline int digits_silu_bind_outputs(");
    assert_says(header, "self->frame.base[CTN_OUTPUTS] + DIGITS_SILU_OUTPUT0_OFFSET");
    if (!flow_has("qemu-system-arm") || !flow_has("arm-none-eabi-gcc"))
        skip();
    Said said = flow_run(
        corten_verify,
        (CortenOptions){.model = out, .input = DIGITS "/test.npz", .limit = 4, .on = "qemu"});
    assert_code(said, 0);
    assert_says(said.results, "bit for bit: yes");
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hotter_constants_are_in_the_faster_memory_unless_they_have_no_room),
        cmocka_unit_test(buffers_lie_within_the_limits_of_their_memories),
        cmocka_unit_test(results_do_not_depend_on_memories),
        cmocka_unit_test(chip_agrees_bit_for_bit_over_several_memories),
        cmocka_unit_test(input_is_where_it_was_pinned),
        cmocka_unit_test(sections_are_to_the_byte_what_the_report_says),
        cmocka_unit_test(state_lies_beside_an_arena_and_counts_there),
        cmocka_unit_test(memory_that_is_too_small_is_refused_with_what_takes_the_most),
        cmocka_unit_test(ram_of_all_memories_together_needs_no_more_than_one_memory),
        cmocka_unit_test(what_must_lie_together_lies_in_the_fastest_memory_that_holds_it),
        cmocka_unit_test(a_refusal_names_the_least_that_is_needed_with_what_was_pinned),
        cmocka_unit_test(limit_of_one_memory_can_be_given_as_an_option),
        cmocka_unit_test(faults_of_the_file_are_told_together),
        cmocka_unit_test(more_memories_than_references_reach_are_refused),
        cmocka_unit_test(constants_are_not_placed_where_only_runs_write),
        cmocka_unit_test(placement_that_nothing_has_the_name_of_is_a_warning),
        cmocka_unit_test(arena_of_the_program_is_not_defined_again),
        cmocka_unit_test(arena_is_a_name_of_c_and_does_not_go_with_memories),
        cmocka_unit_test(bound_outputs_are_outside_of_the_arena_and_agree_with_the_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
