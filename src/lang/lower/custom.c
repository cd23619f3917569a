#include "lang/lower/custom.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "lang/lower/state.h"

struct wick_custom {
  wick_lang_program p;
  wick_types t;
  lowering s;
  wick_lang_module *file;
};

wick_status wick_custom_load(const char *path, uint32_t nknown, const wick_lang_source *known,
                             wick_module *module, wick_arena *mem, wick_arena *tmp,
                             wick_custom **out)
{
  wick_custom *c = wick_new(tmp, wick_custom, 1);
  wick_lang_program_begin(&c->p, tmp);
  c->p.nknown = nknown, c->p.known = known;
  WICK_TRY(wick_lang_program_load(&c->p, path, &c->file));
  WICK_TRY(wick_lang_problems(&c->p.sources));
  wick_lang_resolve(&c->p);
  wick_types_begin_in(&c->t, module, tmp);
  wick_lang_infer(&c->p, &c->t);
  wick_status bad = wick_lang_problems(&c->p.sources);
  c->s = (lowering){.p = &c->p, .t = &c->t, .module = module, .mem = mem, .tmp = tmp};
  if (bad)
    wick_types_end(&c->t);
  else
    *out = c;
  return bad;
}

void wick_custom_end(wick_custom *c)
{
  if (c) wick_types_end(&c->t);
}

const wick_lang_sources *wick_custom_sources(const wick_custom *c) { return &c->p.sources; }

/* ---- names ---- */

/* MatMulBias: mat_mul_bias, FFTConv: fft_conv. */
static const char *custom_name(wick_arena *mem, const char *name)
{
  wick_text t = wick_text_begin(mem);
  for (const char *p = name; *p; p++) {
    bool upper = isupper((unsigned char)*p),
         word =
             p > name && upper && (!isupper((unsigned char)p[-1]) || islower((unsigned char)p[1]));
    if (word && p[-1] != '_') wick_text_char(&t, '_');
    wick_text_char(&t, (char)tolower((unsigned char)*p));
  }
  return t.at ? t.at : "";
}

wick_lang_entity *wick_custom_find(wick_custom *c, const char *domain, const char *name, bool named)
{
  const char *own = custom_name(c->s.tmp, name);
  for (uint32_t pass = 0; pass < (named ? 2u : 1u); pass++)
    for (uint32_t i = 0; i < c->p.fns.n; i++) {
      wick_lang_entity *e = c->p.fns.at[i];
      const wick_ast *n = e->decl;
      if (e->at.source != c->file->source) continue;
      if (pass == 0 ? n->alias && strcmp(n->module, domain) == 0 && strcmp(n->alias, name) == 0
                    : !n->alias && strcmp(e->name, own) == 0)
        return e;
    }
  return NULL;
}

/* ---- calls ---- */

typedef struct custom_call {
  wick_custom *c;
  wick_lang_entity *fn;
  const wick_custom_node *node;
  lowering_frame *f;
  wick_ty *type; /* of the function at this use */
  wick_static *fixed;
  uint32_t narg;
  const lowered **arg;
} custom_call;

static const lowered *custom_fail(custom_call *k, const wick_ast *param, const char *fmt, ...)
    WICK_PRINTF(3, 4);
static const lowered *custom_fail(custom_call *k, const wick_ast *param, const char *fmt, ...)
{
  char text[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return wick_lowering_fail(&k->c->s, param ? param->at : k->fn->at, "%s", text);
}

/* What the annotation says of an attribute that the node leaves out. */
static bool custom_default(custom_call *k, const char *name, wick_custom_attr *out)
{
  const wick_ast *n = k->fn->decl, *list = n->nkid > 3 ? n->kid[3] : NULL;
  for (uint32_t i = 0; list && i < list->nkid; i++) {
    const wick_ast *v = list->kid[i]->kind == WICK_AST_NAMED ? list->kid[i]->kid[0] : NULL;
    if (!v || strcmp(list->kid[i]->name, name) != 0) continue;
    const wick_ast *number = v->kind == WICK_AST_UNARY ? v->kid[0] : v;
    *out = (wick_custom_attr){.name = name, .real = number->kind == WICK_AST_FLOAT};
    if (number->kind != WICK_AST_BOOL)
      return wick_lang_static(&k->c->p, &k->c->t, k->fn->typed, v, &out->value);
    int64_t i64 = number->i;
    out->value = (wick_static){.known = true, .n = 1, .f = (double)i64};
    out->value.ints = wick_dup(k->c->s.tmp, int64_t, &i64, 1);
    return true;
  }
  return false;
}

static void custom_attribute(custom_call *k, uint32_t i)
{
  const wick_ast *param = k->fn->decl->kid[0]->kid[i];
  const wick_custom_attr *a = NULL;
  wick_custom_attr given;
  for (uint32_t j = 0; j < k->node->nattr && !a; j++)
    if (strcmp(k->node->attr[j].name, param->name) == 0) a = &k->node->attr[j];
  if (!a && custom_default(k, param->name, &given)) a = &given;
  if (!a) {
    custom_fail(k, param, "the node has no attribute `%s`, which `%s` needs", param->name,
                k->fn->name);
    return;
  }
  const wick_ty *t = wick_ty_of(k->type->arg[i]);
  const wick_ty *e = t->kind == WICK_TY_TENSOR ? wick_ty_of(t->arg[0]) : NULL;
  bool known = e && e->kind == WICK_TY_ELEM, word = known && e->elem == WICK_STRING,
       real = known && wick_elem_is_float(e->elem);
  const char *is = a->unfit ? a->unfit : a->value.word ? "text" : a->real ? "a float" : NULL;
  if (a->unfit || (known && (a->value.word != NULL) != word) || (known && a->real && !real))
    custom_fail(k, param, "the attribute `%s` of the node is %s, expected %s", param->name,
                is ? is : "a number",
                known ? wick_ty_text(&k->c->t, k->type->arg[i]) : "numbers or text");
  k->fixed[i] = a->value;
}

/* A missing operand: the parameter is an Option. */
static wick_ty *custom_option(const custom_call *k, uint32_t i)
{
  wick_ty *t = wick_ty_of(k->type->arg[i]);
  bool is = t->kind == WICK_TY_DATA && strcmp(t->data->name, "Option") == 0 && t->n == 1 &&
            t->data->nctor == 2;
  return is ? t : NULL;
}

static const lowered *custom_construct(custom_call *k, wick_ty *type, const char *ctor,
                                       const lowered *x)
{
  lowering *s = &k->c->s;
  lowered_code code = {0};
  for (uint32_t i = 0; i < 2; i++)
    if (strcmp(type->data->ctor[i]->name, ctor) == 0) code.entity = type->data->ctor[i];
  lowered *fn = wick_lowering_new(s, LOWERED_FN, NULL, 0);
  fn->code = wick_dup(s->tmp, lowered_code, &code, 1);
  const wick_ast place = {.kind = WICK_AST_NAME};
  return wick_lowering_call(s, k->f, &place, fn, x ? 1 : 0, &x, NULL, type);
}

/* Makes the types of the parameters those of the inputs. */
static void custom_types(custom_call *k)
{
  const wick_ast *list = k->fn->decl->kid[0];
  wick_types *t = &k->c->t;
  for (uint32_t i = 0, at = 0; i < list->nkid && !k->c->s.failed; i++) {
    wick_clash clash;
    if (list->kid[i]->flag) continue;
    wick_value v = at < k->node->nin ? k->node->in[at] : (wick_value){0};
    uint32_t number = at++;
    wick_ty *option = custom_option(k, i);
    if (!v.id && !option) {
      custom_fail(k, list->kid[i], "the node has no input %u, the parameter `%s` of `%s`", number,
                  list->kid[i]->name, k->fn->name);
      continue;
    }
    if (!v.id) continue;
    if (wick_built_info(k->f->b, v)->kind != WICK_TENSOR) {
      custom_fail(k, list->kid[i], "input %u of the node is no tensor", number);
      continue;
    }
    wick_ty *given = wick_lowering_ty(&k->c->s, wick_built_type(k->f->b, v)),
            *want = option ? option->arg[0] : k->type->arg[i];
    const char *text = wick_ty_text(t, want);
    if (!wick_unify(t, given, want, &clash))
      custom_fail(k, list->kid[i], "input %u of the node is %s, the parameter `%s` of `%s` is %s",
                  number, wick_ty_text(t, given), list->kid[i]->name, k->fn->name, text);
  }
}

static void custom_arguments(custom_call *k)
{
  const wick_ast *list = k->fn->decl->kid[0];
  lowering *s = &k->c->s;
  for (uint32_t i = 0, at = 0; i < list->nkid && !s->failed; i++) {
    if (list->kid[i]->flag) continue;
    wick_value v = at < k->node->nin ? k->node->in[at] : (wick_value){0};
    wick_ty *option = custom_option(k, i);
    at++;
    const lowered *x = v.id ? wick_lowering_tensor(s, k->f, v) : NULL;
    if (option && !wick_lowering_has_type(s, option))
      custom_fail(k, list->kid[i],
                  "the type of the missing input `%s` does not follow from the others",
                  list->kid[i]->name);
    else
      k->arg[k->narg++] = option ? custom_construct(k, option, x ? "Some" : "None", x) : x;
  }
}

static void custom_check(custom_call *k)
{
  const wick_ast *list = k->fn->decl->kid[0];
  uint32_t most = 0, nin = k->node->nin;
  while (nin && !k->node->in[nin - 1].id) nin--;
  for (uint32_t i = 0; i < list->nkid; i++) most += !list->kid[i]->flag;
  if (nin > most)
    custom_fail(k, NULL, "the node has %u inputs, `%s` takes %u", nin, k->fn->name, most);
  for (uint32_t j = 0; j < k->node->nattr && !k->c->s.failed; j++) {
    bool known = false;
    for (uint32_t i = 0; i < list->nkid && !known; i++)
      known = list->kid[i]->flag && strcmp(list->kid[i]->name, k->node->attr[j].name) == 0;
    if (!known)
      custom_fail(k, NULL,
                  "the node has an attribute `%s`, `%s` has no static parameter of this name",
                  k->node->attr[j].name, k->fn->name);
  }
}

static void custom_results(custom_call *k, const lowered *x, wick_value *out)
{
  lowering_values all = {0};
  lowering *s = &k->c->s;
  if (x->kind == LOWERED_FN) custom_fail(k, NULL, "`%s` gives a function", k->fn->name);
  if (!s->failed) wick_lowering_flatten(s, x, &all);
  for (uint32_t i = 0; i < all.n && !s->failed; i++)
    if (wick_built_info(k->f->b, all.at[i])->kind != WICK_TENSOR)
      custom_fail(k, NULL, "`%s` gives what is no tensor", k->fn->name);
  if (!s->failed && k->node->nout > all.n)
    custom_fail(k, NULL, "the node has %u outputs, `%s` gives %u", k->node->nout, k->fn->name,
                all.n);
  for (uint32_t i = 0; i < k->node->nout && !s->failed; i++) out[i] = all.at[i];
}

wick_status wick_custom_call(wick_custom *c, wick_lang_entity *fn, const wick_custom_node *node,
                             wick_builder *b, wick_value *out)
{
  char here;
  uint32_t nparam = fn->decl->kid[0]->nkid;
  lowering_frame f = {.b = b, .typed = fn->typed, .placed = true};
  custom_call k = {.c = c, .fn = fn, .node = node, .f = &f};
  c->s.stack = &here;
  c->s.failed = NULL, c->p.sources.problems.n = 0;
  k.fixed = wick_new(c->s.tmp, wick_static, nparam + 1u);
  k.arg = wick_new(c->s.tmp, const lowered *, nparam + 1u);
  wick_ty_begin_copy(&c->t);
  k.type = wick_ty_of(wick_ty_copy(&c->t, fn->scheme->type));
  custom_check(&k);
  if (!c->s.failed) custom_types(&k);
  bool any = false;
  for (uint32_t i = 0; i < nparam && !c->s.failed; i++)
    if (fn->decl->kid[0]->kid[i]->flag) custom_attribute(&k, i), any = true;
  if (!c->s.failed) custom_arguments(&k);
  if (c->s.failed) return c->s.failed;
  lowered_code code = {.entity = fn};
  lowered *known = wick_lowering_new(&c->s, LOWERED_FN, NULL, 0);
  known->code = wick_dup(c->s.tmp, lowered_code, &code, 1);
  const lowered *x =
      wick_lowering_call(&c->s, &f, fn->decl, known, k.narg, k.arg, any ? k.fixed : NULL, NULL);
  while (!c->s.failed && c->s.next < c->s.instances.n) {
    lowering_instance *i = c->s.instances.at[c->s.next++];
    if (!i->begun) wick_lowering_body(&c->s, i);
  }
  if (!c->s.failed) custom_results(&k, x, out);
  return c->s.failed;
}
