#include "graph/tabulate.h"

#include <stdlib.h>

#include "graph/group/assign.h"
#include "graph/match.h"
#include "ir/copy.h"

enum { TABULATE_NODES = 64, TABULATE_OPERANDS = 4, TABULATE_BYTES = 256 };

typedef struct tabulate {
  wick_match k;
  wick_copier c;
  wick_value x; /* the bytes that the function takes */
  uint32_t n;
  const wick_node *node[TABULATE_NODES]; /* of the function, users first */
} tabulate;

static wick_elem tabulate_elem(const tabulate *s, wick_value v)
{
  return wick_info_of(s->k.f, v)->elem;
}

static bool tabulate_is_byte(const tabulate *s, wick_value v)
{
  wick_elem e = tabulate_elem(s, v);
  return e == WICK_U8 || e == WICK_I8;
}

static bool tabulate_is_number(const tabulate *s, wick_value v)
{
  const wick_func *f = s->k.f;
  return wick_match_imm(&s->k, v) && wick_dim_is(wick_type_numel(f->module, wick_type_of(f, v)), 1);
}

static bool tabulate_has(const tabulate *s, const wick_node *n)
{
  for (uint32_t i = 0; i < s->n; i++)
    if (s->node[i] == n) return true;
  return false;
}

/* Adds n to the function. Returns false if it cannot be part of one. */
static bool tabulate_add(tabulate *s, const wick_node *n, wick_value like)
{
  if (tabulate_has(s, n)) return true;
  if (s->n == TABULATE_NODES || n->nout != 1 || n->nin > TABULATE_OPERANDS || !n->nin ||
      wick_op_of(n)->effect || !wick_group_is_scalar(s->k.f, n) ||
      !wick_match_same_shape(&s->k, n->first, like))
    return false;
  s->node[s->n++] = n;
  return true;
}

/* Returns true if the operator is one or two instructions. */
static bool tabulate_is_cheap(const wick_node *n)
{
  switch (n->op) {
  case WICK_OP_cast:
  case WICK_OP_add:
  case WICK_OP_sub:
  case WICK_OP_mul:
  case WICK_OP_max:
  case WICK_OP_min:
  case WICK_OP_neg:
  case WICK_OP_abs:
  case WICK_OP_relu:
  case WICK_OP_clip:
  case WICK_OP_where:
  case WICK_OP_round_even: return true;
  default: return false;
  }
}

/* Returns true if all users of the function's nodes, except of the last one, are in it. */
static bool tabulate_is_whole(const tabulate *s)
{
  const wick_uses *uses = &s->k.uses;
  for (uint32_t i = 1; i < s->n; i++) {
    uint32_t id = s->node[i]->first.id;
    for (uint32_t u = uses->first[id]; u < uses->first[id + 1]; u++)
      if (!tabulate_has(s, &s->k.f->node[uses->use[u]])) return false;
  }
  return true;
}

/* Finds the function that ends in n. */
static bool tabulate_hits(tabulate *s, const wick_node *n)
{
  s->n = 0, s->x = (wick_value){0};
  if (n->nout != 1 || !tabulate_is_byte(s, n->first) || !tabulate_add(s, n, n->first)) return false;
  bool pays = false;
  for (uint32_t i = 0; i < s->n; i++) {
    pays = pays || !tabulate_is_cheap(s->node[i]);
    for (uint32_t k = 0; k < s->node[i]->nin; k++) {
      wick_value v = s->node[i]->in[k];
      if (!v.id) return false;
      if (tabulate_is_number(s, v)) continue;
      const wick_node *d = wick_match_node(&s->k, v);
      if (tabulate_is_byte(s, v)) {
        if ((s->x.id && s->x.id != v.id) || !wick_match_same_shape(&s->k, v, n->first))
          return false;
        s->x = v;
      } else if (!d || !tabulate_add(s, d, n->first)) {
        return false;
      }
    }
  }
  return pays && s->x.id && tabulate_is_whole(s);
}

/* Returns a constant of all bytes, in the order of their bits. */
static wick_value tabulate_bytes(tabulate *s)
{
  wick_module *m = s->k.f->module;
  uint8_t *byte = wick_arena_alloc(&m->mem, TABULATE_BYTES, 64);
  wick_dim dim = wick_dim_const(TABULATE_BYTES);
  for (uint32_t i = 0; i < TABULATE_BYTES; i++) byte[i] = (uint8_t)i;
  wick_type type = wick_type_tensor(m, tabulate_elem(s, s->x), 1, &dim);
  return wick_build_constant(&s->c.b, wick_constant_add(m, "bytes", type, byte, TABULATE_BYTES));
}

static int tabulate_order(const void *a, const void *b)
{
  const wick_node *x = *(const wick_node *const *)a, *y = *(const wick_node *const *)b;
  return (x > y) - (x < y);
}

/* Returns the function's values for all bytes. */
static wick_value tabulate_table(tabulate *s)
{
  wick_builder *b = &s->c.b;
  wick_value made[TABULATE_NODES], bytes = tabulate_bytes(s);
  wick_dim dim = wick_dim_const(TABULATE_BYTES);
  qsort(s->node, s->n, sizeof *s->node, tabulate_order);
  for (uint32_t i = 0; i < s->n; i++) {
    const wick_node *n = s->node[i];
    wick_value in[TABULATE_OPERANDS];
    for (uint32_t k = 0; k < n->nin; k++) {
      wick_value v = n->in[k];
      in[k] = v.id == s->x.id ? bytes : (wick_value){0};
      for (uint32_t d = 0; d < i; d++)
        if (s->node[d]->first.id == v.id) in[k] = made[d];
      if (!in[k].id) in[k] = wick_build_reshape(b, s->c.to[v.id], 0, NULL); /* a number */
    }
    wick_type type = wick_type_tensor(b->module, tabulate_elem(s, n->first), 1, &dim);
    bool typed = wick_op_of(n)->typed;
    b->loc = n->loc;
    made[i] = wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL, typed, &type);
  }
  return made[s->n - 1];
}

static void tabulate_build(tabulate *s, const wick_node *n)
{
  wick_builder *b = &s->c.b;
  wick_value in[2] = {tabulate_table(s), {0}};
  in[1] = wick_build_cast(b, s->c.to[s->x.id], WICK_U8);
  b->loc = n->loc;
  wick_value y = wick_build(b, WICK_OP_gather, 2, in, NULL, 0, NULL);
  const wick_value_info *old = &s->k.f->value[n->first.id];
  s->c.to[n->first.id] = y;
  if (y.id) wick_build_name(b, y, old->name, old->relation);
}

wick_status wick_pass_tabulate(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  tabulate s = {.k = wick_match_begin(f, pass->mem), .c = wick_copy_begin(f, pass->mem)};
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (!s.c.b.status && tabulate_hits(&s, &f->node[i]))
      tabulate_build(&s, &f->node[i]);
    else
      wick_copy_node(&s.c, &f->node[i]);
  }
  return wick_copy_finish(&s.c, out);
}
