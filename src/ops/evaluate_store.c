/* Storage of the reference evaluator: blocks and objects with counts, and free lists. */
#include <string.h>

#include "ops/evaluate_state.h"
#include "ops/ref.h"
#include "ops/tensor_text.h"

/* ---- blocks ---- */

/* Returns the class of small blocks that hold nbytes; EVALUATE_CLASSES for large ones. */
static uint32_t evaluate_class(uint64_t nbytes)
{
  uint32_t c = 0;
  while (c < EVALUATE_CLASSES && (uint64_t)8 << c < nbytes) c++;
  return c;
}

/* Returns the smallest large block that is large enough, but not much too large; NULL: none. */
static evaluate_block *evaluate_take_large(evaluate *e, uint64_t nbytes)
{
  evaluate_block **best = NULL;
  for (evaluate_block **p = &e->large; *p; p = &(*p)->next)
    if ((*p)->nbytes >= nbytes && (*p)->nbytes / 2 <= nbytes + 4096 &&
        (!best || (*p)->nbytes < (*best)->nbytes))
      best = p;
  evaluate_block *b = best ? *best : NULL;
  if (best) *best = b->next;
  return b;
}

evaluate_block *evaluate_take(evaluate *e, uint64_t nbytes)
{
  uint32_t c = evaluate_class(nbytes);
  evaluate_block *b = c < EVALUATE_CLASSES ? e->small[c] : evaluate_take_large(e, nbytes);
  if (b && c < EVALUATE_CLASSES) e->small[c] = b->next;
  if (b) {
    memset(b->data, 0, nbytes);
  } else {
    uint64_t size = c < EVALUATE_CLASSES ? (uint64_t)8 << c : nbytes;
    b = wick_new(e->tmp, evaluate_block, 1);
    *b = (evaluate_block){.nbytes = size, .data = wick_arena_alloc(e->tmp, size, 64)};
  }
  b->refs = 1;
  return b;
}

static void evaluate_free(evaluate *e, evaluate_block *b)
{
  uint32_t c = evaluate_class(b->nbytes);
  evaluate_block **list = c < EVALUATE_CLASSES ? &e->small[c] : &e->large;
  b->next = *list;
  *list = b;
}

/* ---- objects ---- */

evaluate_object *evaluate_object_new(evaluate *e, wick_type type, uint32_t nitem)
{
  evaluate_object *o = nitem < EVALUATE_ITEMS ? e->objects[nitem] : NULL;
  if (o) {
    e->objects[nitem] = o->next;
  } else {
    o = wick_new(e->tmp, evaluate_object, 1);
    o->item = wick_new(e->tmp, evaluate_datum, nitem);
  }
  evaluate_datum *item = o->item;
  *o = (evaluate_object){.type = type, .refs = 1, .nitem = nitem, .item = item};
  return o;
}

evaluate_datum evaluate_retain(evaluate_datum d)
{
  if (d.block) d.block->refs++;
  if (d.object) d.object->refs++;
  for (uint32_t i = 0; i < d.nitem; i++) evaluate_retain(d.item[i]);
  return d;
}

/* Releases d. Objects that die are put before `dying`, whose first is returned: a long list would
 * exhaust the stack if its items were released by recursion. */
static evaluate_object *evaluate_let_go(evaluate *e, evaluate_datum *d, evaluate_object *dying)
{
  if (d->block && --d->block->refs == 0) evaluate_free(e, d->block);
  if (d->object && --d->object->refs == 0) {
    d->object->next = dying;
    dying = d->object;
  }
  for (uint32_t i = 0; i < d->nitem; i++) dying = evaluate_let_go(e, &d->item[i], dying);
  *d = (evaluate_datum){.nitem = 0};
  return dying;
}

void evaluate_release(evaluate *e, evaluate_datum *d)
{
  for (evaluate_object *dying = evaluate_let_go(e, d, NULL); dying;) {
    evaluate_object *o = dying;
    dying = o->next;
    for (uint32_t i = 0; i < o->nitem; i++) dying = evaluate_let_go(e, &o->item[i], dying);
    if (o->nitem >= EVALUATE_ITEMS) continue;
    o->next = e->objects[o->nitem];
    e->objects[o->nitem] = o;
  }
}

/* ---- text ---- */

static void evaluate_object_text(const evaluate *e, const evaluate_object *o, uint32_t depth,
                                 wick_text *out);

enum { EVALUATE_TEXT = 1 << 20, EVALUATE_TEXT_DEPTH = 10000 };

static void evaluate_item_text(const evaluate *e, const evaluate_datum *d, uint32_t depth,
                               wick_text *out)
{
  if (out->n > EVALUATE_TEXT || depth > EVALUATE_TEXT_DEPTH) {
    wick_text_add(out, "...");
  } else if (d->object) {
    evaluate_object_text(e, d->object, depth, out);
  } else if (d->tensor.data) {
    wick_tensor_text(&e->module->strings, &d->tensor, out);
  } else {
    wick_text_char(out, '(');
    for (uint32_t i = 0; i < d->nitem; i++) {
      if (i) wick_text_add(out, ", ");
      evaluate_item_text(e, &d->item[i], depth + 1, out);
    }
    wick_text_char(out, ')');
  }
}

static void evaluate_object_text(const evaluate *e, const evaluate_object *o, uint32_t depth,
                                 wick_text *out)
{
  wick_kind kind = wick_type_get(e->module, o->type)->kind;
  wick_text_add(out, kind == WICK_FN    ? "<fn>"
                     : kind == WICK_REF ? "Ref"
                                        : wick_data_get(e->module, o->type)->ctor[o->ctor].name);
  if (kind == WICK_FN || (kind == WICK_DATA && !o->nitem)) return;
  wick_text_char(out, '(');
  for (uint32_t i = 0; i < o->nitem; i++) {
    if (i) wick_text_add(out, ", ");
    evaluate_item_text(e, &o->item[i], depth + 1, out);
  }
  wick_text_char(out, ')');
}

void evaluate_text(const evaluate *e, const evaluate_datum *d, wick_text *out)
{
  evaluate_item_text(e, d, 0, out);
}
