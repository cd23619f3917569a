/* The registry: every entry is complete, and is named as ops.def says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "ops/elementwise/scalar.h"

static const char *const names[WICK_NOP] = {
    "",
#define OP(name) #name,
#include "ir/ops.def"
};

static void names_are_sorted(void **state)
{
  (void)state;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    assert_string_equal(wick_ops[op]->name, names[op]);
    assert_int_equal(wick_op_find(names[op], strlen(names[op])), op);
    if (op > 1) assert_true(strcmp(names[op - 1], names[op]) < 0);
  }
  assert_int_equal(wick_op_find("ad", 2), WICK_OP_none);
  assert_int_equal(wick_op_find("addx", 4), WICK_OP_none);
}

/* The attributes of all operators, in the order of ops.def: WICK_ATTR_op_name is `position`. */
static const struct {
  wick_opcode op;
  const char *name;
  int position;
} attributes[] = {
#define ATTR(op, name) {WICK_OP_##op, #name, WICK_ATTR_##op##_##name},
#include "ir/ops.def"
};

static void attributes_have_their_positions(void **state)
{
  (void)state;
  uint32_t n[WICK_NOP] = {0};
  for (uint32_t i = 0; i < WICK_COUNT(attributes); i++) {
    const wick_op *row = wick_ops[attributes[i].op];
    uint32_t k = n[attributes[i].op]++;
    if (k >= wick_op_nattr(row) || strcmp(row->attr[k].name, attributes[i].name) != 0)
      fail_msg("%s: ops.def names attribute %u \"%s\"", row->name, k, attributes[i].name);
    assert_int_equal(attributes[i].position, k);
  }
  for (wick_opcode op = 1; op < WICK_NOP; op++)
    if (n[op] != wick_op_nattr(wick_ops[op]))
      fail_msg("%s has %u attributes, ops.def names %u", wick_ops[op]->name,
               wick_op_nattr(wick_ops[op]), n[op]);
}

/* The first n attributes of both operators have the same names, because common code reads them. */
static const struct {
  wick_opcode a, b;
  uint32_t n;
} alike[] = {
#define ALIKE(n, a, b)                                                                             \
  {                                                                                                \
    WICK_OP_##a, WICK_OP_##b, n                                                                    \
  }
    ALIKE(2, map, fold),
    ALIKE(2, map, loop_nest),
    ALIKE(1, read, element_load),
    ALIKE(1, read, element_store),
    ALIKE(1, load, store),
    ALIKE(1, load, load_lanes),
    ALIKE(3, object_new, object_reuse),
    ALIKE(1, object_load, object_store),
    ALIKE(1, object_load, object_get_tensor),
    ALIKE(1, object_load, object_put_tensor),
    ALIKE(1, load, prefetch),
    ALIKE(1, call, kernel),
    ALIKE(1, call, vmap),
    ALIKE(1, kernel, launch),
    ALIKE(1, concat, interleave),
    ALIKE(3, argmax, argmin),
    ALIKE(3, cumsum, cumprod),
    ALIKE(1, scatter_elements, scatter_nd),
    ALIKE(1, depth_to_space, space_to_depth),
    ALIKE(1, softmax, log_softmax),
    ALIKE(1, softmax, hardmax),
    ALIKE(2, layer_norm, rms_norm),
    ALIKE(4, conv, conv_transpose),
    ALIKE(4, conv, conv_packed),
    ALIKE(4, conv, conv_weight_grad),
    ALIKE(5, conv_weight_grad, conv_weight_grad_packed),
    ALIKE(3, conv, max_pool),
    ALIKE(5, max_pool, avg_pool),
    ALIKE(5, max_pool, lp_pool),
    ALIKE(4, max_pool, max_unpool),
    ALIKE(4, max_pool, unpool),
    ALIKE(4, max_pool, col2im),
    ALIKE(2, roi_align, roi_max_pool),
    ALIKE(4, lstm, gru),
    ALIKE(4, lstm, rnn),
    ALIKE(7, lstm, lstm_step),
    ALIKE(5, gru, gru_step),
    ALIKE(2, reduce_sum, reduce_extremes),
    ALIKE(2, reduce_sum, reduce_l1),
    ALIKE(2, reduce_sum, reduce_l2),
    ALIKE(2, reduce_sum, reduce_log_sum),
    ALIKE(2, reduce_sum, reduce_log_sum_exp),
    ALIKE(2, reduce_sum, reduce_max),
    ALIKE(2, reduce_sum, reduce_mean),
    ALIKE(2, reduce_sum, reduce_min),
    ALIKE(2, reduce_sum, reduce_prod),
    ALIKE(2, reduce_sum, reduce_sum_square),
};

static void attributes_are_alike(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(alike); i++) {
    const wick_op *a = wick_ops[alike[i].a], *b = wick_ops[alike[i].b];
    for (uint32_t k = 0; k < alike[i].n; k++)
      if (!a->attr[k].name || !b->attr[k].name || strcmp(a->attr[k].name, b->attr[k].name) != 0)
        fail_msg("attribute %u of %s is not that of %s", k, a->name, b->name);
  }
}

#define WHOLE(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) fail_msg("%s: %s", row->name, #condition);                                   \
  } while (0)

static uint32_t words(const char *s)
{
  uint32_t n = *s != 0;
  for (; *s; s++) n += *s == ' ';
  return n;
}

static void attributes_are_sane(void **state)
{
  (void)state;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    const wick_op *row = wick_ops[op];
    for (uint32_t i = 0; i < wick_op_nattr(row); i++) {
      const wick_attr_spec *a = &row->attr[i];
      WHOLE(a->kind != WICK_ATTR_NONE);
      for (uint32_t k = 0; k < i; k++) WHOLE(strcmp(a->name, row->attr[k].name) != 0);
      WHOLE(a->least <= a->most);
      WHOLE((a->kind == WICK_ATTR_ENUM) == (a->words != NULL));
      if (a->kind == WICK_ATTR_ENUM) WHOLE(a->dflt >= 0 && a->dflt < words(a->words));
      if (a->kind == WICK_ATTR_BOOL) WHOLE(a->dflt == 0 || a->dflt == 1);
      bool limited = a->least != 0 || a->most != 0,
           number = a->kind == WICK_ATTR_INT || a->kind == WICK_ATTR_FLOAT;
      if (limited && number && !a->required) WHOLE(a->dflt >= a->least && a->dflt <= a->most);
    }
  }
}

static void rows_are_whole(void **state)
{
  (void)state;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    const wick_op *row = wick_ops[op];
    WHOLE(row->doc && strlen(row->doc) >= 4);
    WHOLE(row->level != 0);
    WHOLE(row->nin[0] <= row->nin[1]);
    WHOLE(row->nout[0] <= row->nout[1]);
    WHOLE(row->nregion[0] <= row->nregion[1]);
    WHOLE(row->ulp >= 0);
    WHOLE(row->ulp == 0 || row->expand);
    WHOLE(!row->rearranges || row->rounding_transparent);
    WHOLE(!row->launched || (row->level == WICK_LOW && row->effect == WICK_EFFECT));
    WHOLE(!row->flops || row->scalar);
    WHOLE((row->view_of.map != NULL) == (row->view_of.kind >= WICK_VIEW_OF_OPERAND));
    /* Operators of the graph have a derivative, have an expansion that can be differentiated, or
     * say that they have none. Expansions into polynomials cannot be differentiated. */
    if (row->level & WICK_GRAPH) WHOLE(row->grad || (row->expand && !row->scalar));
    if (!(row->level & WICK_GRAPH)) WHOLE(!row->grad);
    /* The same for batches; branches and loops have code of their own, and functions with effects or
     * with other values than tensors are called row by row (graph/vmap). */
    bool apart = row->terminator || row->nregion[1] || !row->nin[1] || row->objects ||
                 row->effect == WICK_EFFECT;
    if (row->level & WICK_GRAPH && !apart) WHOLE(row->batch.run || row->scalar || row->expand);
    if (!(row->level & WICK_GRAPH)) WHOLE(!row->batch.run);
    if (!row->scalar) continue;
    WHOLE(row->eval && wick_ref_of(op) && wick_compute_of(op));
    WHOLE(row->nout[0] == 1 && row->nout[1] == 1 && row->nregion[1] == 0);
    WHOLE(row->nin[0] >= 1 && row->nin[0] == row->nin[1] && row->nin[1] <= 3);
    WHOLE(row->level & WICK_LOOP);
    WHOLE(row->typed == (row->scalar == WICK_RULE_TYPED));
    WHOLE(!row->expands || (row->expand && !(row->expands & ~row->elems)));
    WHOLE(!row->neutral || row->nin[0] == 2);
  }
}

/* The neutral elements of operators that folds combine by are neutral. */
static void neutral_elements_are(void **state)
{
  (void)state;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    const wick_op *row = wick_ops[op];
    if (!row->neutral) continue;
    for (wick_elem e = WICK_F64; e <= WICK_BOOL; e++) {
      if (!(row->elems & WICK_BIT(e))) continue;
      bool is_float = wick_elem_is_float(e);
      for (int x = -3; x <= 3; x++) {
        wick_scalar v =
            wick_round_elem(e, is_float ? (wick_scalar){.f = x} : (wick_scalar){.i = x});
        wick_scalar in[2] = {row->neutral(e), v}, r = wick_eval_scalar(op, NULL, e, e, in);
        WHOLE(is_float ? r.f == v.f : r.i == v.i);
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_sorted),     cmocka_unit_test(attributes_have_their_positions),
      cmocka_unit_test(attributes_are_alike), cmocka_unit_test(attributes_are_sane),
      cmocka_unit_test(rows_are_whole),       cmocka_unit_test(neutral_elements_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
