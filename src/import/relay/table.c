/* Finding operators, checking their calls, and writing members from templates. */
#include "import/relay/table.h"

#include <stdlib.h>
#include <string.h>

#include "import/relay/state.h"

const relay_row *const wick_relay_kinds[] = {
    wick_relay_elementwise, wick_relay_shapes,  wick_relay_reductions, wick_relay_indices,
    wick_relay_nn,          wick_relay_windows, wick_relay_images,     wick_relay_quantized,
    wick_relay_vision,      wick_relay_boxes,   wick_relay_sparse,     NULL};

const relay_row *wick_relay_find(const char *name)
{
  for (const relay_row *const *kind = wick_relay_kinds; *kind; kind++)
    for (const relay_row *row = *kind; row->name; row++)
      if (strcmp(row->name, name) == 0) return row;
  return NULL;
}

/* ---- attributes ---- */

/* Those that only say how TVM computes an operator, or what its types are. */
static const char table_ignored[] =
    " attrs_type_key out_dtype auto_scheduler_rewritten_layout "
    "meta_schedule_original_shape channels units kernel_layout_hint span ";

/* Finds a word of a list, or its beginning up to `=`; *out_only: what comes after that. */
static bool table_has(const char *list, const char *word, const char **out_only, size_t *nonly)
{
  size_t n = strlen(word);
  *out_only = NULL;
  for (const char *at = list; at && *at;) {
    size_t length = strcspn(at, " ");
    if (length >= n && memcmp(at, word, n) == 0 && (length == n || at[n] == '=')) {
      if (length > n) *out_only = at + n + 1, *nonly = length - n - 1;
      return true;
    }
    at += length;
    at += *at == ' ';
  }
  return false;
}

/* Whether a template has {name:...}. */
static bool table_in_template(const char *expr, const char *name)
{
  const char *at = expr;
  size_t n = strlen(name);
  while (at && (at = strchr(at, '{')))
    if (strncmp(++at, name, n) == 0 && at[n] == ':') return true;
  return false;
}

static void table_check_attribute(relay_parser *p, const relay_row *row, const wick_ast *n)
{
  const char *only;
  size_t nonly = 0;
  if (table_in_template(row->expr, n->name)) return;
  if (!table_has(row->attrs, n->name, &only, &nonly)) {
    if (!table_has(table_ignored, n->name, &only, &nonly))
      wick_lang_report(&p->p->sources, n->name_at, "the attribute `%s` of `%s` is not supported",
                       n->name, row->name);
    return;
  }
  const wick_ast *v = n->kid[0];
  const char *given = v->kind == WICK_AST_STRING ? v->name
                      : v->kind == WICK_AST_INT || v->kind == WICK_AST_BOOL
                          ? wick_str_printf(p->mem, "%lld", (long long)v->i)
                          : "";
  if (only && (strlen(given) != nonly || memcmp(given, only, nonly) != 0))
    wick_lang_report(&p->p->sources, n->at, "the attribute `%s` of `%s` may only be %.*s", n->name,
                     row->name, (int)nonly, only);
}

/* ---- members ---- */

/* Replaces {name:default} by the attribute. */
static const char *table_expand(relay_member *m, const char *expr)
{
  wick_text t = wick_text_begin(m->mem);
  for (; *expr; expr++) {
    if (*expr != '{') {
      wick_text_char(&t, *expr);
      continue;
    }
    size_t name = strcspn(expr + 1, ":"), end = strcspn(expr, "}");
    const char *key = wick_str_dupn(m->mem, expr + 1, name),
               *dflt = wick_str_dupn(m->mem, expr + 2 + name, end - name - 2);
    const wick_ast *v = wick_relay_attr(m, key);
    int64_t ints[RELAY_MOST_INTS];
    if (!v)
      wick_text_add(&t, dflt);
    else if (v->kind == WICK_AST_TUPLE)
      wick_text_add(&t, wick_relay_tuple(m, wick_relay_ints(m, key, ints), ints));
    else if (v->kind == WICK_AST_FLOAT || strpbrk(dflt, "."))
      wick_text_add(&t, wick_relay_float(m, wick_relay_real(m, key, 0)));
    else if (v->kind == WICK_AST_BOOL)
      wick_text_add(&t, v->i ? "true" : "false");
    else
      wick_text_printf(&t, "%lld", (long long)wick_relay_int(m, key, 0));
    expr += end;
  }
  return t.at;
}

static void table_param(relay_member *m, uint32_t k, wick_text *t)
{
  const wick_lang_operand *x = wick_relay_operand(m, k);
  wick_text_printf(t, "%s%s", k ? ", " : "", wick_relay_letter(k));
  if (!(m->sized >> k & 1) || x->kind != WICK_OPERAND_TENSOR) return;
  wick_text_printf(t, ": %s%s", wick_elem_name(x->elem), x->rank ? "[" : "");
  for (uint32_t i = 0; i < x->rank; i++)
    wick_text_printf(t, "%s%s", i ? ", " : "", wick_relay_size(m, k, i));
  if (x->rank) wick_text_char(t, ']');
}

static const char *table_member(wick_lang_use *use)
{
  const relay_row *row = use->family->row;
  relay_member m = {.use = use, .row = row, .mem = use->mem};
  m.lets = wick_text_begin(m.mem);
  const char *result = row->expr ? table_expand(&m, row->expr) : row->write(&m);
  if (use->wrong || !result) return NULL;
  wick_text t = wick_text_begin(m.mem);
  wick_text_add(&t, "fn relay_");
  for (const char *c = row->name; *c; c++) wick_text_char(&t, *c == '.' ? '_' : *c);
  wick_text_char(&t, '(');
  for (uint32_t k = 0; k < use->n; k++) table_param(&m, k, &t);
  wick_text_printf(&t, ") {\n%s  %s\n}\n", m.lets.n ? m.lets.at : "", result);
  if (m.items) wick_text_add(&t, m.items);
  return t.at;
}

static wick_lang_entity *table_family(relay_parser *p, const relay_row *row)
{
  wick_lang_family f = {.name = row->name, .member = table_member, .row = row};
  return wick_lang_family_entity(p->p, wick_dup(p->mem, wick_lang_family, &f, 1));
}

/* ---- calls ---- */

static const relay_row *table_row(relay_parser *p, const relay_token *at, const char *name)
{
  const relay_row *row = wick_relay_find(name);
  if (row) return row;
  for (const relay_refused *r = wick_relay_refused; r->name; r++)
    if (strcmp(r->name, name) == 0) {
      wick_lang_report(&p->p->sources, relay_place(p, at), "the operator `%s` is not supported: %s",
                       name, r->why);
      return NULL;
    }
  wick_lang_report(&p->p->sources, relay_place(p, at), "there is no operator `%s`", name);
  return NULL;
}

wick_ast *wick_relay_operator(relay_parser *p, const relay_token *at, const char *name,
                              uint32_t begin, const relay_nodes *args)
{
  relay_nodes kids = {0}, fixed = {0};
  const char *without = wick_relay_static(p, begin, name, args, &fixed);
  if (without) name = without, args = &fixed;
  const relay_row *row = table_row(p, at, name);
  uint32_t n = 0;
  if (!row) return wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
  wick_push(p->mem, &kids, wick_relay_refer(p, begin, table_family(p, row)));
  for (uint32_t i = 0; i < args->n; i++) {
    n += args->at[i]->kind != WICK_AST_NAMED;
    if (args->at[i]->kind == WICK_AST_NAMED) table_check_attribute(p, row, args->at[i]);
    wick_push(p->mem, &kids, args->at[i]);
  }
  if (n < row->least || n > row->most)
    wick_lang_report(&p->p->sources, relay_place(p, at), "`%s` takes %u%s operand%s, found %u",
                     name, row->least, row->most > row->least ? " or more" : "",
                     row->least == 1 ? "" : "s", n);
  return wick_relay_node(p, WICK_AST_CALL, begin, kids.n, kids.at);
}

wick_ast *wick_relay_operator_value(relay_parser *p, const relay_token *at, const char *name,
                                    uint32_t begin)
{
  const relay_row *row = table_row(p, at, name);
  relay_nodes params = {0}, args = {0};
  if (!row) return wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
  for (uint32_t i = 0; i < row->least; i++) {
    const char *param = wick_relay_intern(p, wick_str_printf(p->mem, "%%a%u", i));
    wick_ast *type = NULL;
    wick_push(p->mem, &params, wick_relay_named(p, WICK_AST_PARAM, begin, param, 1, &type));
    wick_push(p->mem, &args, wick_relay_named(p, WICK_AST_NAME, begin, param, 0, NULL));
  }
  wick_ast *body = wick_relay_operator(p, at, name, begin, &args);
  wick_ast *kid[3] = {wick_relay_list(p, begin, &params), NULL,
                      wick_relay_node(p, WICK_AST_BLOCK, begin, 1, &body)};
  return wick_relay_node(p, WICK_AST_FN, begin, 3, kid);
}
