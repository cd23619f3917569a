/* print, assert. Data is written by an instance for each type, which calls itself for fields of its
 * type: it says a line, or the message of an assertion, in parts. */
#include "lang/lower/state.h"
#include "runtime/kernel.h"

typedef struct say {
  lowering *s;
  lowering_frame *f;
  const wick_ast *n;
  wick_lang_entity *form; /* print or assert */
  wick_text text;         /* of the next node, with {} for each of its values */
  lowering_values in;
} say;

static say say_begin(lowering *s, lowering_frame *f, const wick_ast *n, wick_lang_entity *form)
{
  return (say){.s = s, .f = f, .n = n, .form = form, .text = wick_text_begin(s->tmp)};
}

/* Builds a node of what has been collected. */
static void say_flush(say *y, int64_t to)
{
  const wick_attr attr[] = {[WICK_ATTR_print_text] = {.s = wick_intern(y->s->module, y->text.at)},
                            [WICK_ATTR_print_strings] = {.n = 0},
                            [WICK_ATTR_print_to] = {.i = to}};
  if (to == WICK_SAY_LINE || y->text.n)
    wick_build(y->f->b, WICK_OP_print, y->in.n, y->in.at, attr, 0, NULL);
  (void)wick_lowering_ok(y->s, y->f);
  y->text = wick_text_begin(y->s->tmp), y->in.n = 0;
}

static void say_flush_part(say *y)
{
  say_flush(y, y->form->form == WICK_FORM_PRINT ? WICK_SAY_PART : WICK_SAY_MESSAGE);
}

/* Calls the instance that writes data of this type. */
static void say_data(say *y, const lowered *x)
{
  lowering *s = y->s;
  const lowered_code code = {.entity = y->form};
  lowered *fn = wick_lowering_new(s, LOWERED_FN, NULL, 0);
  fn->code = wick_dup(s->tmp, lowered_code, &code, 1);
  say_flush_part(y);
  lowering_instance *i =
      s->failed ? NULL
                : wick_lowering_instance(s, y->f, y->n->at, fn, 1, &x, NULL, s->t->unit, false);
  if (i) wick_lowering_call_instance(s, y->f, y->n, i, fn, 1, &x);
}

static void say_value(say *y, const lowered *x);

static void say_items(say *y, const char *name, uint32_t n, const lowered *const *item)
{
  if (name) wick_text_add(&y->text, name);
  if (name && !n) return;
  wick_text_char(&y->text, '(');
  for (uint32_t i = 0; i < n; i++) {
    if (i) wick_text_add(&y->text, ", ");
    say_value(y, item[i]);
  }
  wick_text_add(&y->text, n == 1 && !name ? ",)" : ")");
}

static void say_value(say *y, const lowered *x)
{
  const wick_ty *type = x->type ? wick_ty_of(x->type) : NULL;
  if (y->s->failed) return;
  if (x->kind == LOWERED_ITEMS) {
    say_items(y, type && type->kind == WICK_TY_DATA ? type->data->name : NULL, x->n, x->item);
  } else if (x->kind == LOWERED_FN || type->kind == WICK_TY_FN) {
    wick_text_add(&y->text, "<fn>");
  } else if (type->kind == WICK_TY_REF) {
    const lowered *held = wick_lowering_read(y->s, y->f, x);
    say_items(y, "Ref", 1, &held);
  } else if (type->kind == WICK_TY_DATA || type->kind == WICK_TY_COT) {
    say_data(y, x);
  } else {
    wick_text_add(&y->text, "{}");
    wick_push(y->s->tmp, &y->in, x->v);
  }
}

const lowered *wick_lowering_say_data(lowering *s, lowering_frame *f, const wick_ast *n,
                                      const lowered *fn, const lowered *x)
{
  say y = say_begin(s, f, n, fn->code->entity);
  bool cot = x->type->kind == WICK_TY_COT;
  wick_ty *type = cot ? wick_ty_of(x->type->arg[0]) : x->type;
  const lowered *unit = wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_build_open(f->b, WICK_OP_switch, 1, &x->v, NULL, 0, NULL);
  for (uint32_t k = 0; k < type->data->nctor; k++) {
    const wick_lang_entity *ctor = type->data->ctor[k];
    const wick_ctor *c = &wick_data_get(s->module, x->in)->ctor[k];
    const lowered **field = wick_new(s->tmp, const lowered *, ctor->decl->nkid + 1u);
    wick_value next = wick_region_begin(f->b, c->nfield, c->field);
    if (!wick_lowering_ok(s, f)) return unit;
    for (uint32_t i = 0; i < ctor->decl->nkid; i++) {
      wick_ty *t = wick_lang_field_type(s->t, type, k, i);
      field[i] = wick_lowering_unflatten(s, f, cot ? wick_lowering_cotangent(s, t) : t, &next);
    }
    say_items(&y, ctor->name, ctor->decl->nkid, field);
    say_flush_part(&y);
    wick_lowering_yield(s, f, n->at, unit, s->t->unit);
    if (!wick_lowering_ok(s, f)) return unit;
  }
  wick_build_close(f->b);
  (void)wick_lowering_ok(s, f);
  return unit;
}

static void say_values(say *y, uint32_t n, const lowered *const *x)
{
  for (uint32_t i = 0; i < n; i++) {
    if (i) wick_text_char(&y->text, ' ');
    say_value(y, x[i]);
  }
}

/* Whether values need more than one node. */
static bool say_is_long(uint32_t n, const lowered *const *x)
{
  bool is = false;
  for (uint32_t i = 0; i < n && !is; i++)
    is = (x[i]->kind == LOWERED_ONE && x[i]->type->kind != WICK_TY_TENSOR) ||
         (x[i]->kind == LOWERED_ITEMS && say_is_long(x[i]->n, x[i]->item));
  return is;
}

/* The message is said in parts before the assertion, if that does not hold. */
static void say_message(say *y, wick_value condition, uint32_t n, const lowered *const *x)
{
  lowering *s = y->s;
  wick_build_open(y->f->b, WICK_OP_if, 1, &condition, NULL, 0, NULL);
  for (uint32_t i = 0; i < 2 && wick_lowering_ok(s, y->f); i++) {
    wick_region_begin(y->f->b, 0, NULL);
    if (i) say_values(y, n, x);
    if (i) say_flush_part(y);
    wick_lowering_yield(s, y->f, y->n->at, wick_lowering_unit(s), s->t->unit);
  }
  if (wick_lowering_ok(s, y->f)) wick_build_close(y->f->b);
}

static void say_assert(say *y, wick_value condition, uint32_t n, const lowered *const *x)
{
  lowering *s = y->s;
  bool is_long = say_is_long(n, x);
  if (is_long) say_message(y, condition, n, x);
  wick_push(s->tmp, &y->in, condition);
  if (!is_long) say_values(y, n, x);
  if (s->failed) return;
  const wick_attr attr[] = {[WICK_ATTR_assert_message] = {.s = wick_intern(s->module, y->text.at)},
                            [WICK_ATTR_assert_strings] = {.n = 0}};
  wick_build(y->f->b, WICK_OP_assert, y->in.n, y->in.at, attr, 0, NULL);
  (void)wick_lowering_ok(s, y->f);
}

const lowered *wick_lowering_say(lowering *s, lowering_frame *f, const wick_ast *n,
                                 wick_lang_entity *form, uint32_t narg, const lowered *const *arg)
{
  say y = say_begin(s, f, n, form);
  if (form->form == WICK_FORM_PRINT) {
    say_values(&y, narg, arg);
    say_flush(&y, WICK_SAY_LINE);
  } else {
    say_assert(&y, arg[0]->v, narg - 1, arg + 1);
  }
  return wick_lowering_unit(s);
}
