/* Prints types and dimensions. */
#include <string.h>

#include "ir/grammar.h"
#include "ir/lex.h"
#include "ir/print.h"

/* ---- dimensions ---- */

static void print_type_symbol_name(wick_printer *p, const char *name)
{
  if (wick_is_word(name) && !wick_keyword_find(wick_dim_words, name, strlen(name)))
    wick_text_add(p->out, name);
  else
    wick_text_quoted(p->out, name);
}

static uint32_t *print_type_bound(wick_printer *p, const char *name)
{
  uint32_t id = wick_names_add(&p->symbols, name, strlen(name));
  while (p->atom.n <= id) wick_push(p->symbols.mem, &p->atom, 0);
  return &p->atom.at[id];
}

void wick_print_bind(wick_printer *p, uint32_t atom)
{
  if (p->ranges) *print_type_bound(p, wick_dim_atom(p->m->dims, atom)->name) = atom + 1;
}

static void print_type_symbol(void *arg, uint32_t atom, wick_text *out)
{
  wick_printer *p = arg;
  const wick_atom *a = wick_dim_atom(p->m->dims, atom);
  print_type_symbol_name(p, a->name);
  if (!p->ranges || *print_type_bound(p, a->name) == atom + 1) return;
  wick_print_bind(p, atom);
  wick_text_char(out, '[');
  wick_text_int(out, a->lo);
  wick_text_add(out, "..");
  if (a->hi != INT64_MAX) wick_text_int(out, a->hi);
  wick_text_char(out, ']');
}

void wick_print_dim(wick_printer *p, wick_dim d)
{
  wick_dim_print_with(p->m->dims, d, print_type_symbol, p, p->out);
}

static void print_type_dims(wick_printer *p, const wick_dim *dim, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    if (i) wick_text_char(p->out, ',');
    wick_print_dim(p, dim[i]);
  }
}

/* Prints an axis. Its symbol's range follows from the extent, so that only the name is printed. */
void wick_print_axis(wick_printer *p, const wick_axis *a)
{
  wick_dim_form form = wick_dim_get(p->m->dims, a->sym);
  if (!wick_dim_is_symbol(p->m->dims, a->sym)) {
    wick_text_char(p->out, '?');
    return;
  }
  uint32_t atom = form.term[0].atom[0];
  print_type_symbol_name(p, wick_dim_atom(p->m->dims, atom)->name);
  wick_text_char(p->out, ':');
  wick_print_dim(p, a->extent);
  wick_print_bind(p, atom);
}

/* ---- types ---- */

static void print_type_any(wick_printer *p, wick_type type, int depth);

static void print_type_items(wick_printer *p, uint32_t n, const wick_type *item, int depth)
{
  for (uint32_t i = 0; i < n; i++) {
    if (i) wick_text_char(p->out, ',');
    print_type_any(p, item[i], depth + 1);
  }
}

static void print_type_any(wick_printer *p, wick_type type, int depth)
{
  const wick_type_info *t = wick_type_get(p->m, type);
  if (!type.id || depth > WICK_TEXT_DEPTH) {
    wick_text_char(p->out, '?');
    return;
  }
  switch (t->kind) {
  case WICK_TUPLE:
  case WICK_REF:
    wick_text_add(p->out, t->kind == WICK_REF ? "ref<" : "tuple<");
    print_type_items(p, t->nitem, t->item, depth);
    wick_text_char(p->out, '>');
    return;
  case WICK_FN:
    wick_text_add(p->out, "fn<(");
    print_type_items(p, t->ntake, t->item, depth);
    wick_text_add(p->out, ") -> (");
    print_type_items(p, t->nitem - t->ntake, t->item + t->ntake, depth);
    wick_text_add(p->out, ")>");
    return;
  case WICK_DATA:
    wick_text_char(p->out, '@');
    wick_text_name(p->out, wick_data_get(p->m, type)->name);
    return;
  case WICK_SCALAR:
    wick_text_add(p->out, wick_elem_name(t->elem));
    if (t->lanes != 1) wick_text_printf(p->out, "x%u", t->lanes);
    return;
  case WICK_BUFFER:
  case WICK_TENSOR: break;
  }
  if (t->kind == WICK_BUFFER) wick_text_add(p->out, "buffer<");
  wick_text_add(p->out, wick_elem_name(t->elem));
  wick_text_char(p->out, '[');
  print_type_dims(p, t->dim, t->rank);
  if (t->kind == WICK_BUFFER && t->stride)
    wick_text_char(p->out, ':'), print_type_dims(p, t->stride, t->rank);
  wick_text_char(p->out, ']');
  if (t->kind == WICK_BUFFER)
    wick_text_printf(p->out, ",%s>", wick_keyword_of(wick_space_words, (int)t->space));
}

void wick_print_type(wick_printer *p, wick_type t) { print_type_any(p, t, 0); }

void wick_type_print(const wick_module *m, wick_type t, wick_text *out)
{
  wick_printer p = {.m = m, .out = out};
  wick_print_type(&p, t);
}
