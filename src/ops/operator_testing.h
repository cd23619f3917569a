/* For tests of rows: a table line gives a node by text, and what inference and reference make of
 * it.
 *
 *   {"conv", "f32[1,1,3]: 1 2 3; f32[1,1,2]: 1 1", "pad=[1,0]", "f32[1,1,3]: 1 3 5"}
 *
 * Operands are separated by `;`: a type with its elements, a type alone (elements are made up), a
 * type with `=` and elements (a constant, whose contents inference knows), or `_` (missing). What
 * is wanted: the results' types, with elements where they are to be compared; "error: ..." (of
 * inference), "fails: ..." (of the run): the end of the message.
 *
 * Every line that runs also runs by its stages: its group nested without a schedule, the loops
 * interpreted; the results are those of the reference, exactly for integers, within the tolerance
 * for floats. Rows that are defined by other rows are run so where row_expand is set. */
#ifndef WICK_OPS_OPERATOR_TESTING_H
#define WICK_OPS_OPERATOR_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "loop/interpret.h"
#include "loop/nest.h"
#include "ops/elementwise/scalar.h"
#include "ops/evaluate.h"
#include "ops/ref.h"
#include "ops/to_stages.h"

typedef struct row_case {
  const char *op, *in, *attr, *want;
  double tolerance; /* of results; 0: by the element type */
} row_case;

enum { ROW_MOST = 8 };

/* Makes a function's rows without stages those of their definition; NULL: such rows are left out.
 */
static wick_pass_run *row_expand;

/* One operand or result of a line. */
typedef struct row_item {
  const char *type, *data; /* data: NULL, or the elements' text */
  bool constant, missing;
} row_item;

typedef struct row_test {
  wick_guard guard;
  wick_arena mem, tmp, scratch;
  wick_module *m;
  const row_case *line;
  row_item in[ROW_MOST], out[ROW_MOST];
  uint32_t nin, nout;
  const wick_func *f;
  uint32_t nparam;
  wick_tensor param[ROW_MOST], result[ROW_MOST];
  uint32_t random;
  bool fails, failed; /* the run is to fail; the stages have */
} row_test;

static inline void row_wrong(const row_test *t, const char *what, const char *got)
{
  print_error("%s | %s | %s\n  %s: %s\n  expected: %s\n", t->line->op, t->line->in, t->line->attr,
              what, got, t->line->want);
  fail();
}

static inline uint32_t row_items(row_test *t, const char *text, row_item *item)
{
  uint32_t n = 0;
  while (*text) {
    size_t len = strcspn(text, ";");
    char *s = wick_str_dupn(&t->mem, text + strspn(text, " "), len - strspn(text, " "));
    item[n] = (row_item){.type = s, .missing = *s == '_'};
    size_t at = strcspn(s, ":="); /* ranges of dimensions have neither */
    if (at < strlen(s)) {
      item[n].constant = s[at] == '=';
      s[at] = 0;
      item[n].data = s + at + 1;
    }
    n++;
    text += len + (text[len] == ';');
  }
  return n;
}

/* The line as the text of a module. */
static inline const char *row_text(row_test *t)
{
  wick_text text = wick_text_begin(&t->mem), nodes = wick_text_begin(&t->mem),
            params = wick_text_begin(&t->mem);
  t->nparam = 0;
  for (uint32_t i = 0; i < t->nin; i++) {
    const row_item *x = &t->in[i];
    if (x->missing) continue;
    if (!x->constant) {
      wick_text_printf(&params, "%s%%i%u: %s", t->nparam++ ? ", " : "", i, x->type);
      continue;
    }
    wick_text_printf(&text, "constant @c%u : %s = [", i, x->type);
    bool first = true;
    for (const char *p = x->data + strspn(x->data, " "); *p; p += strspn(p, " ")) {
      size_t n = strcspn(p, " ");
      wick_text_add(&text, first ? "" : ", ");
      wick_text_addn(&text, p, n);
      first = false;
      p += n;
    }
    wick_text_add(&text, "]\n");
    wick_text_printf(&nodes, "  %%i%u = const @c%u : %s\n", i, i, x->type);
  }
  wick_text types = wick_text_begin(&t->mem);
  for (uint32_t k = 0; k < t->nout; k++)
    wick_text_printf(&types, "%s%s", k ? ", " : "", t->out[k].type);
  wick_text_printf(&text, "graph @f(%s) -> (%s) {\n%s  ", params.at, types.at, nodes.at);
  for (uint32_t k = 0; k < t->nout; k++) wick_text_printf(&text, "%s%%r%u", k ? ", " : "", k);
  wick_text_printf(&text, " = %s", t->line->op);
  for (uint32_t i = 0; i < t->nin; i++) {
    wick_text_add(&text, i ? ", " : " ");
    if (t->in[i].missing)
      wick_text_add(&text, "_");
    else
      wick_text_printf(&text, "%%i%u", i);
  }
  if (*t->line->attr) wick_text_printf(&text, " {%s}", t->line->attr);
  wick_text_printf(&text, " : %s\n  return ", types.at);
  for (uint32_t k = 0; k < t->nout; k++) wick_text_printf(&text, "%s%%r%u", k ? ", " : "", k);
  wick_text_add(&text, "\n}\n");
  return text.at;
}

/* True where the line wants that kind of message, which then is the right one. */
static inline bool row_message(row_test *t, const char *kind, wick_status s)
{
  const char *want = t->line->want;
  size_t n = strlen(kind);
  bool wanted = strncmp(want, kind, n) == 0;
  if (!wanted && s) row_wrong(t, kind, s->message);
  if (!wanted) return false;
  if (!s) row_wrong(t, kind, "no error");
  const char *tail = want + n + 1;
  const char *got = s->message, *line = strchr(got, '\n');
  size_t ngot = line ? (size_t)(line - got) : strlen(got), ntail = strlen(tail);
  if (ngot < ntail || strncmp(got + ngot - ntail, tail, ntail) != 0) row_wrong(t, kind, got);
  return true;
}

/* Numbers that are small, of both signs, and the same in each run. */
static inline double row_number(row_test *t, wick_elem e)
{
  t->random = t->random * 1664525u + 1013904223u;
  uint32_t r = t->random >> 8;
  if (wick_elem_is_float(e)) return ((double)(r % 4001) - 2000) / 1000;
  if (e == WICK_BOOL) return r & 1;
  return wick_elem_class(e) == WICK_UINT ? r % 7 : (double)(r % 9) - 4;
}

/* Elements of a text, or made up; false where a dimension is not a number. */
static inline bool row_tensor(row_test *t, const wick_type_info *type, const char *data,
                              wick_tensor *out)
{
  *out = (wick_tensor){.elem = type->elem, .rank = type->rank};
  if (!wick_type_const_dims(type, out->dim)) return false;
  uint64_t n = wick_ref_numel(out);
  out->data = wick_arena_alloc(&t->mem, wick_elem_bytes(type->elem, n), 16);
  for (uint64_t k = 0; k < n; k++) {
    char *end = NULL;
    double f = data ? strtod(data, &end) : row_number(t, type->elem);
    if (data && end == data) row_wrong(t, "too few elements", type->rank ? "tensor" : "scalar");
    data = end;
    bool is_float = wick_elem_is_float(type->elem);
    wick_store_elem(type->elem, out->data, k,
                    is_float ? (wick_scalar){.f = f} : (wick_scalar){.i = (int64_t)f});
  }
  return true;
}

static inline double row_tolerance(wick_elem e)
{
  switch (e) {
  case WICK_F64: return 1e-12;
  case WICK_F32: return 2e-6;
  case WICK_F16: return 2e-3;
  case WICK_BF16: return 2e-2;
  default: return 0;
  }
}

static inline void row_compare(row_test *t, const char *what, const wick_tensor *got,
                               const wick_tensor *want, double tolerance)
{
  uint64_t n = wick_ref_numel(want);
  bool is_float = wick_elem_is_float(want->elem);
  if (tolerance == 0) tolerance = row_tolerance(want->elem);
  for (uint64_t k = 0; k < n; k++) {
    wick_scalar g = wick_load_elem(got->elem, got->data, k),
                w = wick_load_elem(want->elem, want->data, k);
    bool same = g.i == w.i;
    if (is_float)
      same = isnan(w.f)   ? isnan(g.f)
             : isinf(w.f) ? g.f == w.f
                          : fabs(g.f - w.f) <= tolerance * fmax(1, fabs(w.f));
    if (same) continue;
    char text[120];
    snprintf(text, sizeof text, "element %llu is %.9g, not %.9g", (unsigned long long)k,
             is_float ? g.f : (double)g.i, is_float ? w.f : (double)w.i);
    row_wrong(t, what, text);
  }
}

/* The line's operands, then its results by the reference. */
static inline bool row_evaluate(row_test *t)
{
  uint32_t p = 0;
  for (uint32_t k = 0; k < t->nout; k++) {
    int64_t dim[WICK_MAX_RANK];
    if (!wick_type_const_dims(wick_info_of(t->f, wick_return(t->f)->in[k]), dim)) return false;
  }
  for (uint32_t i = 0; i < t->nin; i++) {
    if (t->in[i].missing || t->in[i].constant) continue;
    if (!row_tensor(t, wick_info_of(t->f, (wick_value){p + 1}), t->in[i].data, &t->param[p]))
      return false;
    p++;
  }
  wick_status s = wick_evaluate(t->f, p, t->param, NULL, &t->mem, &t->tmp, &t->scratch, t->result);
  t->fails = row_message(t, "fails:", s);
  for (uint32_t k = 0; k < t->nout && !t->fails; k++) {
    wick_tensor want;
    if (!t->out[k].data) continue;
    row_tensor(t, wick_info_of(t->f, wick_return(t->f)->in[k]), t->out[k].data, &want);
    row_compare(t, "reference", &t->result[k], &want, t->line->tolerance);
  }
  return true;
}

/* Compares the elements of a part with those of its whole where the map says that they are; chosen:
 * the index of WICK_VIEW_CHOSEN. */
static inline void row_compare_part(row_test *t, const wick_view_map *map, const wick_tensor *part,
                                    const wick_tensor *whole, int64_t chosen)
{
  int64_t index[WICK_MAX_RANK] = {0};
  uint64_t k = 0;
  if (wick_ref_numel(part) == 0) return;
  do {
    int64_t at = 0;
    for (uint32_t d = 0; d < whole->rank; d++) {
      int64_t last = whole->dim[d] - 1, i = map->axis[d] == WICK_VIEW_CHOSEN
                                                ? wick_max_i64(0, wick_min_i64(chosen, last))
                                                : index[map->axis[d]];
      at = at * whole->dim[d] + map->begin[d].v + map->step[d] * i;
    }
    wick_scalar a = wick_load_elem(part->elem, part->data, k++),
                b = wick_load_elem(whole->elem, whole->data, (uint64_t)at);
    if (a.i != b.i) row_wrong(t, "view", "an element is not where its map says");
  } while (wick_ref_next(part->rank, part->dim, index));
}

/* The results and the operands are parts of each other as the column view_of says. */
static inline void row_view(row_test *t)
{
  const wick_node *n = &t->f->node[t->f->nnode - 2];
  const wick_view_of *view = &wick_op_of(n)->view_of;
  if (t->fails || !view->map) return;
  for (uint32_t k = 0; k < n->nin && n->in[k].id <= t->nparam; k++) {
    wick_view_map map = wick_view_map_of(t->f, n, k);
    const wick_tensor *x = &t->param[n->in[k].id - 1];
    if (view->kind == WICK_VIEW_OF_RESULT) {
      row_compare_part(t, &map, x, &t->result[0], 0);
      continue;
    }
    bool chosen = n->nin > 1 && n->in[1].id <= t->nparam;
    row_compare_part(t, &map, &t->result[0], x,
                     chosen ? wick_load_int(WICK_I64, t->param[n->in[1].id - 1].data, 0) : 0);
    return;
  }
}

/* Node n by its stages; value: the tensors of g's values. */
static inline void row_run_node(row_test *t, const wick_func *g, const wick_node *n,
                                wick_tensor *value)
{
  wick_func *group = NULL;
  wick_kernel_info k;
  wick_status s = wick_group_of_node(g, n, "group", &t->mem, &group);
  if (!s) s = wick_verify_func(group, &t->tmp);
  if (!s) s = wick_nest(group, wick_schedule_begin(group, &t->mem), NULL, &t->mem, &t->tmp, &k);
  if (!s) s = wick_verify_func(k.loop, &t->tmp);
  if (s) row_wrong(t, "stages", s->message);
  wick_interpret_arg arg[2 * ROW_MOST + 2] = {{0}};
  uint32_t narg = 0;
  for (uint32_t i = 0; i < n->nout; i++) {
    wick_tensor *out = &value[n->first.id + i];
    const wick_type_info *type = wick_info_of(g, (wick_value){n->first.id + i});
    *out = (wick_tensor){.elem = type->elem, .rank = type->rank};
    wick_type_const_dims(type, out->dim);
    uint64_t nbytes = wick_elem_bytes(out->elem, wick_ref_numel(out));
    out->data = wick_arena_alloc(&t->mem, nbytes, 16);
    memset(out->data, 0xfd, nbytes);
    arg[narg++] = (wick_interpret_arg){out->data, wick_ref_numel(out), 0};
  }
  for (uint32_t i = 0; i < n->nin; i++)
    if (n->in[i].id) {
      const wick_tensor *in = &value[n->in[i].id];
      arg[narg++] = (wick_interpret_arg){in->data, wick_ref_numel(in), 0};
    }
  arg[narg + 1].number = k.tasks.v;
  s = wick_interpret(k.loop, narg + 2, arg, &t->mem, &t->tmp);
  if (s && t->fails && (s->code == WICK_ERANGE || s->code == WICK_EINVAL))
    t->failed = true;
  else if (s)
    row_wrong(t, "stages", s->message);
}

static inline void row_run(row_test *t)
{
  wick_func *expanded = NULL;
  wick_status s =
      row_expand ? row_expand(&(wick_pass_context){.mem = &t->mem, .tmp = &t->tmp}, t->f, &expanded)
                 : NULL;
  const wick_func *g = expanded ? expanded : t->f;
  wick_opcode op = wick_op_find(t->line->op, strlen(t->line->op));
  if (!row_expand && !wick_compute_of(op)) return;
  if (!s) s = wick_verify_func(g, &t->tmp);
  if (s) row_wrong(t, "expanded", s->message);
  wick_tensor *value = wick_new(&t->mem, wick_tensor, g->nvalue + 1);
  for (uint32_t i = 0; i < t->nparam; i++) value[i + 1] = t->param[i];
  for (uint32_t i = 0; i + 1 < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (n->op != WICK_OP_const) {
      row_run_node(t, g, n, value);
      continue;
    }
    wick_tensor *out = &value[n->first.id];
    const wick_imm *imm = wick_const_imm(n);
    row_tensor(t, wick_info_of(g, n->first), NULL, out);
    for (uint64_t k = 0; k < wick_ref_numel(out); k++)
      wick_store_elem(out->elem, out->data, k,
                      wick_elem_is_float(out->elem) ? (wick_scalar){.f = imm->f}
                                                    : (wick_scalar){.i = imm->i});
    if (imm->constant) out->data = (void *)(uintptr_t)wick_constant_get(t->m, imm->constant)->data;
  }
  if (t->fails && !t->failed) row_wrong(t, "stages", "no error");
  for (uint32_t k = 0; k < t->nout && !t->fails; k++)
    row_compare(t, "stages", &value[wick_return(g)->in[k].id], &t->result[k], t->line->tolerance);
}

static inline bool row_begin(row_test *t, const row_case *line)
{
  *t = (row_test){.guard = {.allocator = wick_allocator_malloc()}, .line = line, .random = 1};
  t->mem = wick_arena_make(&t->guard);
  t->tmp = wick_arena_make(&t->guard);
  t->scratch = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
  t->nin = row_items(t, line->in, t->in);
  bool failing = strncmp(line->want, "error:", 6) == 0 || strncmp(line->want, "fails:", 6) == 0;
  if (failing)
    t->nout = 1, t->out[0] = (row_item){.type = "f32[]"};
  else
    t->nout = row_items(t, line->want, t->out);
  const char *type = strncmp(line->want, "fails:", 6) == 0 ? strstr(line->want, " -> ") : NULL;
  if (type) { /* "fails: message -> type" */
    row_case *copy = wick_dup(&t->mem, row_case, line, 1);
    copy->want = wick_str_dupn(&t->mem, line->want, (size_t)(type - line->want));
    t->line = copy;
    t->out[0].type = type + 4;
  }
  const char *text = row_text(t);
  wick_status s = wick_parse_module(t->m, "t", text, strlen(text), &t->tmp);
  if (row_message(t, "error:", s)) return false;
  t->f = wick_module_find(t->m, "f");
  return true;
}

static inline void row_end(row_test *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
  wick_arena_free(&t->scratch);
}

static inline void row_check(const row_case *line, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    row_test t;
    if (row_begin(&t, &line[i]) && row_evaluate(&t)) row_view(&t), row_run(&t);
    row_end(&t);
  }
}

#endif
