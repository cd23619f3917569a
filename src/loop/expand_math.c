/* Expands scalar operators in rounds, because an expansion may contain operators that are expanded
 * themselves. What procedures use often is expanded once, in a procedure of its own. */
#include "loop/expand_math.h"

#include <string.h>

#include "ir/call.h"
#include "ir/copy.h"

/* The nodes that a procedure for an elementary function must save. A call costs a program more time
 * than the function's code in its place, so that few uses have no procedure. */
enum { EXPAND_MATH_SAVED = 4000 };

/* An elementary function of single numbers that procedures use. */
typedef struct expand_math_use {
  wick_opcode op;
  wick_type in; /* of all operands */
  uint32_t count;
  const char *name; /* of its procedure; NULL: there is none */
} expand_math_use;

typedef wick_list(expand_math_use) expand_math_uses;

/* The type of the last operand decides, because it is data for every scalar operator. */
static bool expand_math_hits(const wick_op *op, wick_elem e)
{
  return op->scalar && op->expand && (!op->expands || op->expands & WICK_BIT(e));
}

/* Floats without arithmetic: the same operator on their arithmetic type, rounded at the end. */
static bool expand_math_widened(wick_builder *b, const wick_node *n, const wick_value *in,
                                wick_value *out)
{
  wick_elem e = wick_built_info(b, in[n->nin - 1])->elem, arith = wick_elem_storage[e].arith;
  if (!wick_elem_is_float(e) || arith == e) return false;
  wick_value wide[4];
  for (uint32_t i = 0; i < n->nin; i++)
    wide[i] = wick_built_info(b, in[i])->elem == e ? wick_build_cast(b, in[i], arith) : in[i];
  out[0] = wick_build(b, n->op, n->nin, wide, n->attr, 0, NULL);
  if (!b->status && wick_built_info(b, out[0])->elem == arith)
    out[0] = wick_build_cast(b, out[0], e);
  return true;
}

bool wick_expand_math_node(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  if (b->status || !n->nin || !in[n->nin - 1].id) return false;
  if (!expand_math_hits(wick_op_of(n), wick_built_info(b, in[n->nin - 1])->elem)) return false;
  if (!expand_math_widened(b, n, in, out)) wick_op_of(n)->expand(b, n, in, out);
  return true;
}

/* ---- functions that are used often ---- */

/* Returns whether n is a function of single numbers that a procedure could compute. */
static bool expand_math_can_share(const wick_func *f, const wick_node *n, wick_type *out_in)
{
  if (!wick_op_of(n)->scalar || !n->nin || n->nattr || n->nout != 1) return false;
  *out_in = wick_type_of(f, n->in[n->nin - 1]);
  const wick_type_info *t = wick_type_get(f->module, *out_in);
  if (t->lanes > 1 || !expand_math_hits(wick_op_of(n), t->elem)) return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (!wick_type_eq(wick_type_of(f, n->in[k]), *out_in)) return false;
  return true;
}

static expand_math_use *expand_math_find(const expand_math_uses *uses, wick_opcode op, wick_type in)
{
  for (uint32_t i = 0; i < uses->n; i++)
    if (uses->at[i].op == op && wick_type_eq(uses->at[i].in, in)) return &uses->at[i];
  return NULL;
}

static void expand_math_count(const wick_func *f, wick_arena *mem, expand_math_uses *uses)
{
  wick_type in;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!expand_math_can_share(f, n, &in)) continue;
    expand_math_use *use = expand_math_find(uses, n->op, in);
    if (use)
      use->count++;
    else
      wick_push(mem, uses, (expand_math_use){.op = n->op, .in = in, .count = 1});
  }
}

/* Returns the procedure that the node becomes a call of; NULL: it is expanded. */
static const char *expand_math_procedure(const wick_copier *c, const expand_math_uses *uses,
                                         const wick_node *n)
{
  wick_type in;
  if (!uses->n || !expand_math_can_share(c->f, n, &in)) return NULL;
  const expand_math_use *use = expand_math_find(uses, n->op, in);
  return use ? use->name : NULL;
}

/* ---- the function ---- */

static wick_status expand_math_once(const wick_func *f, const expand_math_uses *uses,
                                    wick_arena *mem, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value in[4], *to = &c.to[n->first.id];
    const wick_attr callee = {.s = expand_math_procedure(&c, uses, n)};
    for (uint32_t k = 0; k < n->nin && k < 4; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    if (callee.s)
      *to = wick_build(&c.b, WICK_OP_call, n->nin, in, &callee, 1, &f->value[n->first.id].type);
    else if (!wick_op_of(n)->scalar || !wick_expand_math_node(&c.b, n, in, to))
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}

static bool expand_math_wanted(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!wick_op_of(n)->scalar || !n->nin) continue;
    wick_elem e = wick_type_get(f->module, wick_type_of(f, n->in[n->nin - 1]))->elem;
    if (expand_math_hits(wick_op_of(n), e)) return true;
  }
  return false;
}

static wick_status expand_math_all(const wick_func *f, const expand_math_uses *uses,
                                   wick_arena *mem, wick_func **out)
{
  WICK_TRY(expand_math_once(f, uses, mem, out)); /* at least a copy: passes return new functions */
  while (expand_math_wanted(*out)) WICK_TRY(expand_math_once(*out, uses, mem, out));
  return NULL;
}

/* Builds the procedure of a function, and adds it to the module if it saves enough. */
static wick_status expand_math_share(wick_module *m, expand_math_use *use, wick_arena *mem)
{
  static const expand_math_uses none = {0};
  const wick_op *op = wick_ops[use->op];
  wick_builder b;
  wick_value in[4];
  wick_func *f;
  if (use->count < 2 || op->nin[0] > 4) return NULL;
  const char *elem = wick_elem_name(wick_type_get(m, use->in)->elem);
  wick_build_begin(&b, m, WICK_LOOP, wick_str_printf(mem, "math.%s.%s", op->name, elem), mem);
  b.procedure = true;
  for (uint32_t k = 0; k < op->nin[0]; k++) in[k] = wick_build_param(&b, use->in, WICK_IN, NULL);
  wick_value r = wick_build(&b, use->op, op->nin[0], in, NULL, 0, NULL);
  wick_build_return(&b, 1, &r);
  WICK_TRY(wick_build_end(&b, &f));
  WICK_TRY(expand_math_all(f, &none, mem, &f));
  if ((use->count - 1) * f->nnode < EXPAND_MATH_SAVED) return NULL;
  wick_module_set(m, f);
  use->name = f->name;
  return NULL;
}

/* Returns what the procedures of the module use; the first function of a run finds that. */
static wick_status expand_math_uses_of(const wick_pass_context *pass, wick_module *m,
                                       expand_math_uses **out)
{
  if (pass->memo && *pass->memo) {
    *out = *pass->memo;
    return NULL;
  }
  expand_math_uses *uses = wick_new(pass->mem, expand_math_uses, 1);
  *out = uses;
  if (!pass->memo) return NULL; /* of one function alone */
  *pass->memo = uses;
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (wick_func_is_procedure(m->funcs.at[i])) expand_math_count(m->funcs.at[i], pass->mem, uses);
  for (uint32_t i = 0; i < uses->n; i++) WICK_TRY(expand_math_share(m, &uses->at[i], pass->mem));
  return NULL;
}

wick_status wick_pass_expand_math(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  static const expand_math_uses none = {0};
  expand_math_uses *uses = NULL;
  if (wick_func_is_procedure(f)) WICK_TRY(expand_math_uses_of(pass, f->module, &uses));
  return expand_math_all(f, uses ? uses : &none, pass->mem, out);
}
