/* report.html: its data are report.json and what explains it, no name of an archive is markup in
 * it, and verify adds what it has found to a page of ours and to no other. */
#include "flow/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MODEL "pains/shared_silu_inplace.pt2"
#define DATA "pains/shared_silu_inplace.npz"

static const char *compiled(const char *name) {
    const char *out = flow_path("%s", name);
    assert_code(flow_compile(MODEL, DATA, "cortex-m4", out), 0);
    return out;
}

static const char *page(const char *out) {
    return file_text(flow_text("%s/report.html", out));
}

static json_t *page_data(const char *html) {
    static const char mark[] = "id=\"data\">";
    const char *start = strstr(html, mark);
    assert_non_null(start);
    start += strlen(mark);
    json_error_t error;
    json_t *data = json_loadb(start, (size_t)(strstr(start, "</script>") - start), 0, &error);
    if (!data)
        fail_msg("line %d: %s", error.line, error.text);
    return data;
}

static Said verified(const char *out) {
    return flow_run(corten_verify, (CortenOptions){.model = out, .input = DATA, .quiet = true});
}

static void page_holds_the_report_itself(void **state) {
    (void)state;
    const char *out = compiled("itself");
    json_t *data = page_data(page(out));
    json_t *report = json_load_file(flow_text("%s/report.json", out), 0, NULL);
    assert_true(json_equal(json_object_get(data, "report"), report));
    assert_true(json_is_null(json_object_get(data, "verify")));
    json_decref(report);
    json_decref(data);
}

/* -q is for the terminal: what a model is warned of belongs to what is known of it. */
static void warnings_that_quiet_hides_are_in_the_report(void **state) {
    (void)state;
    const char *out = flow_path("warned"), *zeros = flow_path("zeros.npz");
    ArrayList list = flow_arrays(DATA);
    Array *x = list.item[0].array;
    memset(x->data, 0, (size_t)array_bytes(x));
    npz_write(flow_c(), zeros, &(ArrayList){1, &(NamedArray){"in0", x}});
    CortenOptions o = {.model = MODEL, .calibrate = &zeros, .calibrate_count = 1, .out = out};
    o.target = "cortex-m4";
    o.quiet = true;
    Said said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_string_equal(said.messages, "");
    const json_t *warning = json_array_get(json_object_get(flow_report(out), "warnings"), 0);
    const char *message = json_string_value(json_object_get(warning, "message"));
    assert_says(message, "is zero in all calibration samples");
    assert_says(page(out), message);
    assert_says(flow_run(corten_report, (CortenOptions){.model = out}).results, message);
    o.quiet = false;
    said = flow_run(corten_compile, o);
    assert_says(said.messages, message);
    assert_silent_on(said.results, message);
    assert_int_equal(json_array_size(json_object_get(flow_report(compiled("fine")), "warnings")),
                     0);
}

/* One record per node of the archive; edges lead back; values have grids, and histograms that count
 * every number that calibration saw. */
static void details_explain_the_nodes(void **state) {
    (void)state;
    json_t *data = page_data(page(compiled("details")));
    json_t *details = json_object_get(data, "details"), *o, *r;
    json_t *sources = json_object_get(details, "sources");
    size_t i, k, tables = json_array_size(json_object_get(details, "tables"));
    assert_int_equal(json_array_size(sources), 4);
    json_array_foreach(sources, i, o) json_array_foreach(json_object_get(o, "reads"), k, r)
        assert_true(json_integer_value(r) < (json_int_t)i && json_integer_value(r) >= -1);
    assert_int_equal(tables, 2);
    int seen = 0;
    json_array_foreach(json_object_get(details, "values"), i, o) {
        json_t *bins = json_object_get(o, "bins");
        if (!bins)
            continue;
        json_int_t sum = 0, elements = 1;
        json_array_foreach(json_array_get(bins, 2), k, r) sum += json_integer_value(r);
        json_array_foreach(json_object_get(o, "shape"), k, r) elements *= json_integer_value(r);
        assert_true(sum > 0 && sum % elements == 0);
        assert_true(json_array_size(json_object_get(o, "parts")) == 1);
        seen++;
    }
    assert_true(seen >= 4);
    json_decref(data);
}

static void tables_are_those_of_the_kernels(void **state) {
    (void)state;
    json_t *data = page_data(page(compiled("tables")));
    json_t *table = json_array_get(json_object_get(json_object_get(data, "details"), "tables"), 0);
    json_t *entry = json_object_get(table, "entry"), *function = json_object_get(table, "function");
    double low = json_real_value(json_object_get(table, "low")),
           step = json_real_value(json_object_get(table, "step")),
           scale = json_real_value(json_object_get(table, "scale"));
    assert_string_equal(json_string_value(json_array_get(json_object_get(table, "body"), 0)),
                        "silu");
    for (size_t i = 0; i < json_array_size(entry); i++) {
        double x = low + step * (double)i, y = x / (1 + exp(-x));
        double q = (double)(json_integer_value(json_array_get(entry, i)) -
                            json_integer_value(json_object_get(table, "zero_point")));
        assert_true(fabs(json_number_value(json_array_get(function, i)) - y) < 1e-4);
        if (q + (double)json_integer_value(json_object_get(table, "zero_point")) > -128 &&
            q + (double)json_integer_value(json_object_get(table, "zero_point")) < 127)
            assert_true(fabs(q * scale - y) < 0.51 * scale);
    }
    json_decref(data);
}

static void names_of_an_archive_are_no_markup(void **state) {
    (void)state;
    const char *out = flow_path("hostile");
    assert_code(flow_compile("browser/hostile.pt2", "browser/hostile.npz", "cortex-m4", out), 0);
    const char *html = page(out);
    assert_silent_on(html, "<img");
    assert_silent_on(html, "<script>window");
    assert_silent_on(html, "<!--");
    json_t *data = page_data(html);
    json_t *node = json_array_get(json_object_get(json_object_get(data, "report"), "nodes"), 1);
    assert_says(json_string_value(json_object_get(node, "name")), "</script><script>");
    json_decref(data);
}

static void page_asks_no_network(void **state) {
    (void)state;
    const char *html = page(compiled("network"));
    assert_says(html, "default-src 'none'");
    assert_silent_on(html, "src=\"");
    assert_silent_on(html, "https:");
    assert_silent_on(html, "url(");
}

static void verify_adds_what_it_found(void **state) {
    (void)state;
    const char *out = compiled("verified"), *before = page(out);
    assert_code(verified(out), 0);
    json_t *data = page_data(page(out)), *found = json_object_get(data, "verify");
    assert_true(json_is_array(json_object_get(found, "output_sqnr_db")));
    json_decref(data);
    const char *once = page(out);
    assert_code(verified(out), 0);
    assert_string_equal(once, page(out)); /* takes the place of the earlier */
    assert_true(strlen(once) > strlen(before));
}

static void verify_leaves_other_pages_alone(void **state) {
    (void)state;
    const char *out = compiled("foreign_page"), *path = flow_text("%s/report.html", out);
    unlink(path);
    assert_code(verified(out), 0);
    assert_false(file_exists(path));
    text_write(path, "<html>mine</html>");
    assert_code(verified(out), 0);
    assert_string_equal(file_text(path), "<html>mine</html>");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_holds_the_report_itself),
        cmocka_unit_test(warnings_that_quiet_hides_are_in_the_report),
        cmocka_unit_test(details_explain_the_nodes),
        cmocka_unit_test(tables_are_those_of_the_kernels),
        cmocka_unit_test(names_of_an_archive_are_no_markup),
        cmocka_unit_test(page_asks_no_network),
        cmocka_unit_test(verify_adds_what_it_found),
        cmocka_unit_test(verify_leaves_other_pages_alone),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
