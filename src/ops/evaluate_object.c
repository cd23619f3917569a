/* The reference evaluator's operators on data, references and function values, and those that say
 * something. */
#include <string.h>

#include "ops/evaluate_state.h"
#include "runtime/kernel.h"

static evaluate_object *evaluate_make(evaluate *e, const evaluate_frame *fr, const wick_node *n,
                                      evaluate_datum *out)
{
  evaluate_object *o = evaluate_object_new(e, wick_type_of(fr->f, n->first), n->nin);
  for (uint32_t k = 0; k < n->nin; k++) o->item[k] = evaluate_retain(*evaluate_operand(fr, n, k));
  *out = (evaluate_datum){.object = o};
  return o;
}

static wick_status evaluate_switch(evaluate *e, evaluate_frame *fr, const wick_node *n,
                                   evaluate_datum *out)
{
  const evaluate_object *o = evaluate_operand(fr, n, 0)->object;
  int64_t only = n->attr[WICK_ATTR_switch_only].i;
  if (only >= 0 && only != o->ctor)
    return wick_fail(e->mem, WICK_EINTERNAL, evaluate_place(fr, n),
                     "the operand has constructor %u, but surely has %lld", o->ctor,
                     (long long)only);
  const wick_region *g = &n->region[o->ctor];
  for (uint32_t k = 0; k < g->nparam; k++) fr->value[g->first.id + k] = evaluate_retain(o->item[k]);
  return evaluate_yield(e, fr, g, out);
}

static void evaluate_ref_set(evaluate *e, const evaluate_frame *fr, const wick_node *n)
{
  evaluate_object *o = evaluate_operand(fr, n, 0)->object;
  for (uint32_t k = 0; k < o->nitem; k++) {
    evaluate_datum old = o->item[k];
    o->item[k] = evaluate_retain(*evaluate_operand(fr, n, 1 + k));
    evaluate_release(e, &old);
  }
}

/* Returns the text with the operands from `from` on in the places of {}, or after it. */
static const char *evaluate_says(const evaluate *e, const evaluate_frame *fr, const wick_node *n,
                                 const char *text, uint32_t from)
{
  wick_text out = wick_text_begin(e->scratch);
  uint32_t next = from;
  bool places = strstr(text, "{}") != NULL;
  for (const char *at = text; *at; at++) {
    if (at[0] == '{' && at[1] == '}' && next < n->nin)
      evaluate_text(e, evaluate_operand(fr, n, next++), &out), at++;
    else
      wick_text_char(&out, *at);
  }
  for (; !places && next < n->nin; next++) {
    if (out.n) wick_text_char(&out, ' ');
    evaluate_text(e, evaluate_operand(fr, n, next), &out);
  }
  return out.at;
}

static wick_status evaluate_assert(const evaluate *e, const evaluate_frame *fr, const wick_node *n)
{
  if (evaluate_true(evaluate_operand(fr, n, 0))) return NULL;
  const char *text = e->message.n ? e->message.at
                                  : evaluate_says(e, fr, n, n->attr[WICK_ATTR_assert_message].s, 1);
  return wick_fail(e->mem, WICK_EINVAL, evaluate_place(fr, n), "the assertion does not hold%s%s",
                   *text ? ": " : "", text);
}

static void evaluate_print(evaluate *e, const evaluate_frame *fr, const wick_node *n)
{
  int64_t to = n->attr[WICK_ATTR_print_to].i;
  wick_mark mark = wick_arena_mark(e->scratch);
  wick_text_add(to == WICK_SAY_MESSAGE ? &e->message : &e->line,
                evaluate_says(e, fr, n, n->attr[WICK_ATTR_print_text].s, 0));
  wick_arena_rewind(e->scratch, mark);
  if (to != WICK_SAY_LINE) return;
  if (e->options && e->options->print) e->options->print(e->options->arg, e->line.at);
  e->line = wick_text_begin(e->mem);
}

bool evaluate_objects(evaluate *e, evaluate_frame *fr, const wick_node *n, evaluate_datum *out,
                      wick_status *status)
{
  const evaluate_object *o = n->nin ? evaluate_operand(fr, n, 0)->object : NULL;
  *status = NULL;
  switch (n->op) {
  case WICK_OP_construct:
    evaluate_make(e, fr, n, out)->ctor = (uint32_t)n->attr[WICK_ATTR_construct_ctor].i;
    return true;
  case WICK_OP_closure:
    evaluate_make(e, fr, n, out)->callee = n->attr[WICK_ATTR_closure_callee].s;
    return true;
  case WICK_OP_ref_new: evaluate_make(e, fr, n, out); return true;
  case WICK_OP_switch: *status = evaluate_switch(e, fr, n, out); return true;
  case WICK_OP_apply:
    *status = evaluate_call(e, fr, n, o->callee, o->nitem, o->item, 1, out);
    return true;
  case WICK_OP_ref_get:
    for (uint32_t k = 0; k < o->nitem; k++) out[k] = evaluate_retain(o->item[k]);
    return true;
  case WICK_OP_ref_set: evaluate_ref_set(e, fr, n); return true;
  case WICK_OP_assert: *status = evaluate_assert(e, fr, n); return true;
  case WICK_OP_print: evaluate_print(e, fr, n); return true;
  default: return false;
  }
}
