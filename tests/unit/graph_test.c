/* The graph: building, taking apart, order, evaluation, kernel calls, and the verifier's rules,
 * each shown to see what it is for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"

typedef struct {
    C *c;
    Graph *g;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->c = c_new();
    f->g = graph_new(f->c, "test");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    c_free(((Fixture *)*state)->c);
    free(*state);
    return 0;
}

static Type f32(int rank, ...) {
    Type t = {.dtype = DT_F32, .rank = rank};
    va_list args;
    va_start(args, rank);
    for (int d = 0; d < rank; d++)
        t.dim[d] = va_arg(args, int);
    va_end(args);
    return t;
}

static Value *input(Graph *g, const char *name, Type t) {
    Value *v = value_new(g, name, t);
    v->role = ROLE_INPUT;
    Arg *all = NEW_ARRAY(g->c, Arg, g->input_count + 1);
    for (int i = 0; i < g->input_count; i++)
        all[i] = g->input[i];
    all[g->input_count++] = arg_value(v);
    g->input = all;
    return v;
}

static void set_output(Graph *g, Value *v) {
    g->output = NEW(g->c, Arg);
    g->output[0] = arg_value(v);
    g->output_count = 1;
}

static Array *floats(C *c, const Type *t, const float *x) {
    Array *a = array_new(c, t->dtype, t->rank, t->dim);
    memcpy(a->data, x, (size_t)array_bytes(a));
    return a;
}

static Value *relu(Graph *g, Node *before, Value *v) {
    return node_value(g, before, "aten::relu", ARGS(arg_value(v)));
}

static Value *add(Graph *g, Node *before, Value *a, Value *b) {
    return node_value(g, before, "aten::add.Tensor", ARGS(arg_value(a), arg_value(b)));
}

/* Archive nodes 0..count-1, all live. */
static void set_archive(Graph *g, int count) {
    g->archive = NEW_ARRAY(g->c, ArchiveNode, count);
    g->archive_count = count;
    for (int i = 0; i < count; i++)
        g->archive[i] = (ArchiveNode){.name = c_format(g->c, "a%d", i), .into = -1};
}

static void set_origins(Graph *g, Node *n, int count, const int *id) {
    n->origins = (Origins){count, c_memdup(g->c, id, sizeof *id * (size_t)count)};
}

/* ---- building ----------------------------------------------------------------------------- */

static void names_are_made_unique(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    assert_string_equal(value_new(g, "x", f32(0))->name, "x");
    assert_string_equal(value_new(g, "x", f32(0))->name, "x_1");
    assert_string_equal(value_new(g, "x_2", f32(0))->name, "x_2");
    assert_string_equal(value_new(g, "x", f32(0))->name, "x_3");
    for (int i = 0; i < 1000; i++)
        value_new(g, "x", f32(0));
    for (int i = 0; i < g->value_count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(g->value[i]->name, g->value[k]->name);
}

static void defaults_are_filled_in_and_read_by_name(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    int64_t stride[2] = {2, 3}, out[2];
    Value *x = input(g, "x", f32(4, 1, 3, 8, 9)), *w = input(g, "w", f32(4, 5, 3, 3, 3));
    Node *n = node_new(g, NULL, "aten::conv2d",
                       ARGS(arg_value(x), arg_value(w), arg_none(), arg_ints(g->c, 2, stride)));
    assert_int_equal(n->arg_count, 7);
    assert_ptr_equal(node_in(n, "weight"), w);
    assert_false(node_has(n, "bias"));
    assert_null(node_in(n, "bias"));
    node_ints_spread(n, "stride", out, 2);
    assert_true(out[0] == 2 && out[1] == 3);
    node_ints_spread(n, "padding", out, 2);
    assert_true(out[0] == 0 && out[1] == 0);
    assert_int_equal(node_int(n, "groups"), 1);
    assert_int_equal(node_operand_count(n), 2);
    assert_true(node_is(n, "aten::conv2d"));
    assert_false(node_is(n, "aten::conv"));
}

static void one_int_stands_for_the_list(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    int64_t two = 2, three[3] = {1, 1, 1}, out[2];
    Value *x = input(g, "x", f32(4, 1, 3, 8, 9)), *w = input(g, "w", f32(4, 5, 3, 3, 3));
    Node *n = node_new(g, NULL, "aten::conv2d",
                       ARGS(arg_value(x), arg_value(w), arg_none(), arg_ints(g->c, 1, &two)));
    node_ints_spread(n, "stride", out, 2);
    assert_true(out[0] == 2 && out[1] == 2);
    n->arg[3] = arg_int(4);
    node_ints_spread(n, "stride", out, 2);
    assert_true(out[0] == 4 && out[1] == 4);
    n->arg[3] = arg_ints(g->c, 3, three);
    node_ints_spread(n, "stride", out, 2);
    assert_int_equal(diag_exit_code(g->c), DIAG_MODEL);
}

static void dims_wrap_and_stay_in_range(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Node *n = relu(g, NULL, input(g, "x", f32(2, 2, 3)))->def;
    assert_int_equal(dim_wrap(g->c, n, -1, 2), 1);
    assert_int_equal(dim_wrap(g->c, n, 1, 2), 1);
    assert_int_equal(dim_wrap(g->c, n, -1, 0), 0);
    assert_int_equal(diag_exit_code(g->c), 0);
    assert_int_equal(dim_wrap(g->c, n, 2, 2), 0);
    assert_int_equal(dim_wrap(g->c, n, INT64_MIN, 2), 0);
    assert_int_equal(diag_error_count(g->c), 2);
}

static void new_nodes_stand_for_what_they_rewrite(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Node *n = relu(g, NULL, input(g, "x", f32(1, 4)))->def;
    n->loc = (Loc){.file = "model.py", .line = 7, .node = "act"};
    set_origins(g, n, 2, (int[]){3, 5});
    rewrite_begin(g->c, n);
    Node *made = relu(g, n, node_operand(n, 0))->def;
    rewrite_end(g->c);
    assert_int_equal(made->origins.count, 2);
    assert_int_equal(made->origins.id[1], 5);
    assert_int_equal(made->loc.line, 7);
    assert_string_equal(made->name, "act_relu");
    assert_ptr_equal(made->next, n);
    assert_int_equal(relu(g, n, node_operand(n, 0))->def->origins.count, 0);
}

/* ---- taking apart ------------------------------------------------------------------------- */

static void a_fate_waits_for_the_last_that_stands_for_it(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4));
    set_archive(g, 2);
    Node *a = relu(g, NULL, x)->def, *b = relu(g, NULL, x)->def;
    set_origins(g, a, 2, (int[]){0, 1});
    set_origins(g, b, 1, (int[]){1});
    node_remove(g, a, FATE_FOLDED, "constant", b);
    assert_int_equal(g->archive[0].fate, FATE_FOLDED);
    assert_int_equal(g->archive[0].into, 1);
    assert_string_equal(g->archive[0].reason, "constant");
    assert_int_equal(g->archive[1].fate, FATE_LIVE);
    node_remove(g, b, FATE_REMOVED, "unused", NULL);
    assert_int_equal(g->archive[1].fate, FATE_REMOVED);
    assert_int_equal(g->archive[1].into, -1);
    assert_null(g->first);
    assert_null(g->last);
    assert_int_equal(g->node_count, 0);
}

static void merged_origins_keep_the_first_fate(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4));
    set_archive(g, 4);
    Node *conv = relu(g, NULL, x)->def, *act = relu(g, NULL, x)->def, *norm = relu(g, NULL, x)->def;
    set_origins(g, conv, 1, (int[]){2});
    set_origins(g, norm, 1, (int[]){0});
    set_origins(g, act, 2, (int[]){1, 3});
    origins_merge(g, act, norm, FATE_FOLDED);
    origins_merge(g, conv, act, FATE_FUSED);
    node_remove(g, act, FATE_REMOVED, NULL, NULL);
    assert_int_equal(conv->origins.count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(conv->origins.id[i], i);
    assert_int_equal(g->archive[0].fate, FATE_FOLDED);
    assert_int_equal(g->archive[1].fate, FATE_FUSED);
    assert_int_equal(g->archive[2].fate, FATE_LIVE);
    assert_int_equal(g->archive[3].into, 2);
}

static void sweep_takes_chains_and_spares_what_is_read(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4)), *kept = relu(g, NULL, x);
    Value *held = relu(g, NULL, x), *dead = add(g, NULL, kept, kept);
    relu(g, NULL, dead);
    set_output(g, kept);
    g->state = NEW(g->c, State);
    g->state[0] = (State){x, held, "h", -1};
    g->state_count = 1;
    assert_int_equal(graph_sweep(g), 2);
    assert_int_equal(g->node_count, 2);
    assert_int_equal(kept->user_count, 0);
    assert_int_equal(held->output_count, 1);
    assert_int_equal(x->user_count, 2);
}

static void a_node_that_reads_a_value_twice_is_one_user(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4)), *y = add(g, NULL, x, x);
    graph_index(g);
    assert_int_equal(x->user_count, 1);
    assert_ptr_equal(x->user[0], y->def);
}

static void replacing_reaches_lists_outputs_and_states(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4)), *y = input(g, "y", f32(1, 4));
    Value *list[2] = {x, y};
    Node *n = node_new(g, NULL, "aten::cat", ARGS(arg_values(g->c, 2, list), arg_int(0)));
    set_output(g, x);
    g->state = NEW(g->c, State);
    g->state[0] = (State){x, x, "h", -1};
    g->state_count = 1;
    value_replace(g, x, y);
    assert_ptr_equal(node_operand(n, 0), y);
    assert_ptr_equal(g->output[0].u.value, y);
    assert_ptr_equal(g->state[0].after, y);
    assert_ptr_equal(g->state[0].before, x);
}

static void sort_restores_the_order_of_dependence(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4));
    Node *a = relu(g, NULL, x)->def, *b = relu(g, NULL, a->out[0])->def;
    Node *d = add(g, NULL, b->out[0], a->out[0])->def;
    node_move_before(g, d, a);
    node_move_before(g, b, a);
    assert_true(graph_sort(g));
    assert_true(a->index < b->index && b->index < d->index);
    assert_ptr_equal(g->first, a);
    assert_ptr_equal(g->last, d);
    a->arg[0] = arg_value(d->out[0]);
    assert_false(graph_sort(g));
}

/* ---- evaluation --------------------------------------------------------------------------- */

static void pointwise_rows_broadcast(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *a = input(g, "a", f32(3, 2, 1, 3)), *b = input(g, "b", f32(2, 2, 1));
    Value *y = add(g, NULL, a, b);
    assert_int_equal(y->type.rank, 3);
    assert_int_equal(type_count(&y->type), 12);
    set_output(g, y);
    Env *e = env_new(g->c, g);
    env_set(e, a, floats(g->c, &a->type, (float[]){1, 2, 3, 4, 5, 6}));
    env_set(e, b, floats(g->c, &b->type, (float[]){10, 20}));
    graph_eval(g->c, g, e, false, NULL, NULL);
    static const float want[] = {11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26};
    assert_memory_equal(env_get(e, y)->data, want, sizeof want);
    env_free(e);
}

static void scalars_and_equal_shapes_take_the_same_values(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *a = input(g, "a", f32(1, 3)), *b = input(g, "b", f32(1, 3));
    Value *sum =
        node_value(g, NULL, "aten::add.Tensor", ARGS(arg_value(a), arg_value(b), arg_int(2)));
    Value *y = node_value(g, NULL, "aten::add.Tensor", ARGS(arg_value(sum), arg_float(0.5)));
    set_output(g, y);
    Env *e = env_new(g->c, g);
    env_set(e, a, floats(g->c, &a->type, (float[]){1, 2, 3}));
    env_set(e, b, floats(g->c, &b->type, (float[]){10, 20, 30}));
    graph_eval(g->c, g, e, false, NULL, NULL);
    static const float want[] = {21.5f, 42.5f, 63.5f};
    assert_memory_equal(env_get(e, y)->data, want, sizeof want);
    assert_null(env_get(e, sum)); /* freed after its last reader */
    env_free(e);
}

static void constants_with_grids_are_what_they_stand_for(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    C *c = g->c;
    int64_t dim[2] = {2, 2};
    Array *q = array_new(c, DT_I8, 2, dim);
    memcpy(q->data, (int8_t[]){1, 2, 3, 4}, 4);
    Value *w = value_constant(g, "w", q);
    w->type.dtype = DT_F32;
    w->grid = NEW(c, Grid);
    *w->grid = (Grid){DT_I8, 8, false, 2, NEW_ARRAY(c, Part, 2)};
    w->grid->part[0] = (Part){0, 0, 1, 0.5, 0};
    w->grid->part[1] = (Part){0, 1, 2, 2.0, 1};
    Value *y = relu(g, NULL, w);
    set_output(g, y);
    Env *e = env_new(c, g);
    graph_eval(c, g, e, false, NULL, NULL);
    static const float want[] = {0.5f, 1, 4, 6};
    assert_memory_equal(env_get(e, y)->data, want, sizeof want);
    env_free(e);
}

static void count_seen(void *user, const Value *v, const Array *a) {
    assert_int_equal(array_count(a), type_count(&v->type));
    (*(int *)user)++;
}

static void every_output_is_seen_and_a_second_run_starts_anew(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 2)), *y = relu(g, NULL, add(g, NULL, x, x));
    set_output(g, y);
    Env *e = env_new(g->c, g);
    int seen = 0;
    for (int run = 1; run <= 2; run++) {
        env_set(e, x, floats(g->c, &x->type, (float[]){(float)run, -1}));
        graph_eval(g->c, g, e, true, count_seen, &seen);
        assert_true(((const float *)env_get(e, y)->data)[0] == (float)(2 * run));
        assert_int_equal(seen, 2 * run);
    }
    env_free(e);
}

static void eval_unset(C *c, void *user) {
    Graph *g = user;
    graph_eval(c, g, env_new(c, g), false, NULL, NULL);
}

static void a_fatal_in_an_eval_function_unwinds_whole(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Arena *arena = g->c->arena;
    set_output(g, relu(g, NULL, input(g, "x", f32(1, 2))));
    assert_int_equal(c_try(g->c, eval_unset, g), DIAG_BUG);
    assert_ptr_equal(g->c->arena, arena);
    assert_non_null(strstr(g->c->first_diag->message, "x is read before it is computed"));
}

/* ---- calls -------------------------------------------------------------------------------- */

static Grid *grid8(C *c) {
    Grid *grid = NEW(c, Grid);
    *grid = (Grid){DT_I8, 8, false, 1, NEW(c, Part)};
    grid->part[0] = (Part){-1, 0, 0, 0.1, 0};
    return grid;
}

static void strides_follow_the_order(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *v = value_new(g, "x", f32(4, 1, 3, 4, 5));
    static const int8_t last[4] = {0, 2, 3, 1};
    int64_t stride[MAX_RANK];
    assert_true(value_order_is_identity(v));
    memcpy(v->order, last, 4);
    value_strides(v, stride);
    assert_true(stride[1] == 1 && stride[3] == 3 && stride[2] == 15 && stride[0] == 60);
    assert_false(value_order_is_identity(v));
    v->type.dim[1] = 1;
    assert_true(value_order_is_identity(v));
    assert_int_equal(value_bytes(v), 80);
    v->grid = grid8(g->c);
    assert_int_equal(value_bytes(v), 20);
}

static void aliases_of_aliases_are_the_memory_itself(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *a = value_new(g, "a", f32(1, 16)), *b = value_new(g, "b", f32(1, 8));
    Value *v = value_new(g, "v", f32(1, 2));
    value_alias(g, b, a, 16);
    value_alias(g, v, b, 8);
    assert_ptr_equal(value_buffer(g, v), value_buffer(g, a));
    assert_int_equal(v->buffer_offset, 24);
    assert_int_equal(g->buffer_count, 1);
}

static void references_are_kept_by_field(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    C *c = g->c;
    Value *x = input(g, "layer.0", f32(1, 4)), *y = relu(g, NULL, x);
    x->grid = y->grid = grid8(c);
    Call *call = call_new(c, g, y->def, CTN_KERNEL_table_s8);
    CtnTableS8Args *a = call->args;
    assert_int_equal(a->input, CTN_NONE);
    int8_t table[256] = {0};
    call_in(call, &a->input, x);
    call_out(call, &a->output, y);
    Buffer *b = call_const(call, &a->table, "table", DT_I8, table, sizeof table, 1);
    assert_int_equal(call->ref_count, 3);
    assert_true(call->ref[1].writes && !call->ref[0].writes);
    assert_string_equal(call->ref[0].buffer->name, "layer_0");
    assert_ptr_not_equal(b->data, table);
    call_in_at(call, &a->input, x, 2);
    assert_int_equal(call->ref_count, 3);
    assert_int_equal(call->ref[0].offset, 2);
    call_absent(call, &a->table);
    assert_int_equal(call->ref_count, 2);
    assert_int_equal(a->table, CTN_NONE);
}

static void constants_are_stored_in_their_order(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    int64_t dim[2] = {2, 3};
    Array *a = array_new(g->c, DT_I8, 2, dim);
    memcpy(a->data, (int8_t[]){1, 2, 3, 4, 5, 6}, 6);
    Value *v = value_constant(g, "k", a);
    v->order[0] = 1;
    v->order[1] = 0;
    static const int8_t want[] = {1, 4, 2, 5, 3, 6};
    assert_memory_equal(value_buffer(g, v)->data, want, sizeof want);
}

static void the_sole_fused_reader_is_the_epilogue(void **state) {
    Graph *g = ((Fixture *)*state)->g;
    Value *x = input(g, "x", f32(1, 4)), *y = add(g, NULL, x, x), *z = relu(g, NULL, y);
    set_output(g, z);
    graph_index(g);
    assert_null(node_epilogue(y->def));
    assert_ptr_equal(node_result(y->def), y);
    z->def->fused = true;
    assert_ptr_equal(node_epilogue(y->def), z->def);
    assert_ptr_equal(node_result(y->def), z);
    relu(g, NULL, y);
    graph_index(g);
    assert_null(node_epilogue(y->def));
}

/* ---- the verifier ------------------------------------------------------------------------- */

/* x -> add -> relu -> output, one archive node each, nothing broken. */
static Graph *sound_graph(C *c, Stage stage) {
    Graph *g = graph_new(c, "sound");
    Value *x = input(g, "x", f32(1, 4)), *y = add(g, NULL, x, x), *z = relu(g, NULL, y);
    set_archive(g, 2);
    set_origins(g, y->def, 1, (int[]){0});
    set_origins(g, z->def, 1, (int[]){1});
    set_output(g, z);
    g->stage = stage;
    if (stage >= STAGE_QUANTIZED)
        x->grid = y->grid = z->grid = grid8(c);
    return g;
}

static void break_list(Graph *g) {
    g->node_count++;
}
static void break_def(Graph *g) {
    g->last->out[0]->def = g->first;
}
static void break_order(Graph *g) {
    node_move_before(g, g->last, g->first);
}
static void break_role(Graph *g) {
    g->input[0].u.value->role = ROLE_NONE;
}
static void break_kind(Graph *g) {
    g->last->arg[0] = arg_string("x");
}
static void break_none(Graph *g) {
    g->last->arg[0] = arg_none();
}
static void break_type(Graph *g) {
    g->last->out[0]->type.dtype = DT_NONE;
}
static void break_permutation(Graph *g) {
    g->last->out[0]->order[0] = 3;
}
static void break_constant(Graph *g) {
    int64_t dim = 3;
    g->input[0].u.value->constant = array_new(g->c, DT_F32, 1, &dim);
}
static void break_scale(Graph *g) {
    Grid *grid = grid8(g->c);
    grid->part[0].scale = 0;
    g->last->out[0]->grid = grid;
}
static void break_parts(Graph *g) {
    Grid *grid = grid8(g->c);
    grid->part_count = 2;
    grid->part = NEW_ARRAY(g->c, Part, 2);
    grid->part[0] = (Part){0, 0, 1, 1, 0};
    grid->part[1] = (Part){0, 2, 4, 1, 0};
    g->last->out[0]->grid = grid;
}
static void break_origins(Graph *g) {
    g->last->origins.count = 0;
}
static void break_write(Graph *g) {
    g->last->writes = true;
}
static void break_quantized(Graph *g) {
    g->last->out[0]->grid = NULL;
}
static void break_quantized_input(Graph *g) {
    g->input[0].u.value->grid = NULL;
}

static const struct {
    Stage stage;
    void (*break_it)(Graph *);
    const char *rule;
} breaks[] = {
    {STAGE_IMPORTED, break_list, "nodes and values are linked"},
    {STAGE_IMPORTED, break_def, "nodes and values are linked"},
    {STAGE_IMPORTED, break_order, "a value is defined before it is read"},
    {STAGE_IMPORTED, break_role, "a value is defined before it is read"},
    {STAGE_IMPORTED, break_kind, "arguments match the schema"},
    {STAGE_IMPORTED, break_none, "arguments match the schema"},
    {STAGE_IMPORTED, break_type, "values have types"},
    {STAGE_IMPORTED, break_permutation, "values have types"},
    {STAGE_IMPORTED, break_constant, "values have types"},
    {STAGE_IMPORTED, break_scale, "grids are whole"},
    {STAGE_IMPORTED, break_parts, "grids are whole"},
    {STAGE_IMPORTED, break_origins, "every node of the archive is accounted for"},
    {STAGE_FUNCTIONAL, break_write, "no node writes an operand"},
    {STAGE_QUANTIZED, break_quantized, "float values have grids or are kept"},
    {STAGE_QUANTIZED, break_quantized_input, "float values have grids or are kept"},
};

static void verify_graph(C *c, void *g) {
    (void)c;
    graph_verify(g, "some_pass");
}

static void every_rule_sees_what_it_is_for(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(breaks); i++) {
        C *c = c_new();
        Graph *g = sound_graph(c, breaks[i].stage);
        assert_int_equal(c_try(c, verify_graph, g), 0);
        breaks[i].break_it(g);
        assert_int_equal(c_try(c, verify_graph, g), DIAG_BUG);
        const char *message = c->first_diag->message;
        if (!strstr(message, breaks[i].rule) || !strstr(message, "after pass some_pass"))
            fail_msg("'%s' expected in: %s", breaks[i].rule, message);
        c_free(c);
    }
}

static void earlier_stages_and_kept_nodes_are_excused(void **state) {
    C *c = ((Fixture *)*state)->c;
    Graph *g = sound_graph(c, STAGE_IMPORTED);
    g->last->writes = true;
    graph_verify(g, "import");
    g = sound_graph(c, STAGE_QUANTIZED);
    for (Node *n = g->first; n; n = n->next) {
        n->float_kept = true;
        n->out[0]->grid = NULL;
    }
    g->input[0].u.value->grid = NULL;
    graph_verify(g, "quantize");
    g = sound_graph(c, STAGE_IMPORTED);
    node_remove(g, g->last, FATE_REMOVED, "unused", NULL);
    set_output(g, g->last->out[0]);
    graph_verify(g, "sweep");
}

/* ---- the verifier on calls ---------------------------------------------------------------- */

/* One table call per node, placed by hand: x at 0, y at 16, z over x. */
static Graph *planned_graph(C *c) {
    static const int8_t table[256] = {0};
    static const Variant plain = {.kernel = CTN_KERNEL_table_s8};
    Graph *g = sound_graph(c, STAGE_PLANNED);
    Value *from = g->input[0].u.value;
    for (Node *n = g->first; n; n = n->next) {
        Call *call = call_new(c, g, n, CTN_KERNEL_table_s8);
        CtnTableS8Args *a = call->args;
        call->variant = &plain;
        call_in(call, &a->input, from);
        call_out(call, &a->output, n->out[0]);
        call_const(call, &a->table, "table", DT_I8, table, sizeof table, 1)->region = CTN_WEIGHTS;
        from = n->out[0];
    }
    g->region = NEW_ARRAY(c, MemoryRegion, CTN_REGIONS);
    g->region[CTN_ARENA] = (MemoryRegion){.name = "arena", .kind = REGION_ARENA, .bytes = 32};
    g->region[CTN_WEIGHTS] =
        (MemoryRegion){.name = "weights", .kind = REGION_CONSTANTS, .bytes = 512};
    int weights = 0;
    for (int i = 0; i < g->buffer_count; i++)
        if (g->buffer[i]->kind == BUFFER_CONSTANT)
            g->buffer[i]->offset = 256 * weights++;
    Buffer *x = g->input[0].u.value->buffer, *y = g->first->out[0]->buffer;
    Buffer *z = g->last->out[0]->buffer;
    x->first_call = 0, x->last_call = 1;
    y->first_call = 1, y->last_call = 2, y->offset = 16;
    z->first_call = 2, z->last_call = 3;
    return g;
}

static void settle_references(Graph *g) {
    for (Call *call = g->first_call; call; call = call->next)
        for (int i = 0; i < call->ref_count; i++) {
            CallRef *r = &call->ref[i];
            uint32_t field = CTN_REF(r->buffer->region, r->buffer->offset + r->offset);
            memcpy((char *)call->args + r->field_offset, &field, sizeof field);
        }
}

static void break_unwritten(Graph *g) {
    g->last->out[0]->buffer = NULL;
}
static void break_variant(Graph *g) {
    g->first_call->variant = NULL;
}
static void break_reference(Graph *g) {
    g->first_call->ref[0].offset = 4;
}
static void break_constant_write(Graph *g) {
    g->first_call->ref[2].writes = true;
}
static void break_fused(Graph *g) {
    g->last->fused = true;
    call_absent(g->first_call, &((CtnTableS8Args *)g->first_call->args)->table);
}
static void break_region(Graph *g) {
    g->region[CTN_ARENA].bytes = 16;
}
static void break_align(Graph *g) {
    g->last->out[0]->buffer->offset = 4;
}
static void break_field(Graph *g) {
    ((CtnTableS8Args *)g->last_call->args)->input = 8;
}
static void break_overlap(Graph *g) {
    g->input[0].u.value->buffer->last_call = 3;
}

static const struct {
    void (*break_it)(Graph *);
    const char *rule;
} planned_breaks[] = {
    {break_unwritten, "what is read is computed"},
    {break_variant, "calls are complete"},
    {break_reference, "calls are complete"},
    {break_constant_write, "calls are complete"},
    {break_fused, "what is fused is applied"},
    {break_region, "buffers lie in their regions"},
    {break_align, "buffers lie in their regions"},
    {break_field, "buffers lie in their regions"},
    {break_overlap, "what lives at once shares no memory"},
};

static void every_rule_on_calls_sees_what_it_is_for(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(planned_breaks); i++) {
        C *c = c_new();
        Graph *g = planned_graph(c);
        settle_references(g);
        assert_int_equal(c_try(c, verify_graph, g), 0);
        planned_breaks[i].break_it(g);
        assert_int_equal(c_try(c, verify_graph, g), DIAG_BUG);
        if (!strstr(c->first_diag->message, planned_breaks[i].rule))
            fail_msg("'%s' expected in: %s", planned_breaks[i].rule, c->first_diag->message);
        c_free(c);
    }
}

static void an_output_may_follow_an_operand_at_the_distance_that_plan_found(void **state) {
    C *c = ((Fixture *)*state)->c;
    Graph *g = planned_graph(c);
    Buffer *z = g->last->out[0]->buffer;
    z->over = node_operand(g->last, 0)->buffer;
    z->offset = 16;
    settle_references(g);
    graph_verify(g, "plan");
    z->over_distance = 16;
    assert_int_equal(c_try(c, verify_graph, g), DIAG_BUG);
}

static void bodies_are_verified_with_their_own_rules(void **state) {
    C *c = ((Fixture *)*state)->c;
    Graph *g = sound_graph(c, STAGE_IMPORTED), *body = sound_graph(c, STAGE_IMPORTED);
    body->archive_count = 0; /* its nodes keep the origins they were made with */
    g->last->body = body;
    graph_verify(g, "tables");
    break_kind(body);
    assert_int_equal(c_try(c, verify_graph, g), DIAG_BUG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(names_are_made_unique),
        TEST(defaults_are_filled_in_and_read_by_name),
        TEST(one_int_stands_for_the_list),
        TEST(dims_wrap_and_stay_in_range),
        TEST(new_nodes_stand_for_what_they_rewrite),
        TEST(a_fate_waits_for_the_last_that_stands_for_it),
        TEST(merged_origins_keep_the_first_fate),
        TEST(sweep_takes_chains_and_spares_what_is_read),
        TEST(a_node_that_reads_a_value_twice_is_one_user),
        TEST(replacing_reaches_lists_outputs_and_states),
        TEST(sort_restores_the_order_of_dependence),
        TEST(pointwise_rows_broadcast),
        TEST(scalars_and_equal_shapes_take_the_same_values),
        TEST(constants_with_grids_are_what_they_stand_for),
        TEST(every_output_is_seen_and_a_second_run_starts_anew),
        TEST(a_fatal_in_an_eval_function_unwinds_whole),
        TEST(strides_follow_the_order),
        TEST(aliases_of_aliases_are_the_memory_itself),
        TEST(references_are_kept_by_field),
        TEST(constants_are_stored_in_their_order),
        TEST(the_sole_fused_reader_is_the_epilogue),
        TEST(every_rule_sees_what_it_is_for),
        TEST(bodies_are_verified_with_their_own_rules),
        TEST(earlier_stages_and_kept_nodes_are_excused),
        TEST(every_rule_on_calls_sees_what_it_is_for),
        TEST(an_output_may_follow_an_operand_at_the_distance_that_plan_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
