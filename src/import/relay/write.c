/* Writing members: operands, attributes, text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "import/relay/table.h"
#include "ir/element.h"

/* ---- operands ---- */

const wick_lang_operand *wick_relay_operand(const relay_member *m, uint32_t k)
{
  static const wick_lang_operand none;
  return k < m->use->n ? &m->use->operand[k] : &none;
}
bool wick_relay_is_float(const relay_member *m, uint32_t k)
{
  return wick_elem_is_float(wick_relay_elem(m, k));
}
uint32_t wick_relay_rank(const relay_member *m, uint32_t k)
{
  return wick_relay_operand(m, k)->rank;
}
wick_elem wick_relay_elem(const relay_member *m, uint32_t k)
{
  return wick_relay_operand(m, k)->elem;
}

const char *wick_relay_letter(uint32_t k)
{
  static const char *const letter[RELAY_MOST_OPERANDS] = {"a", "b", "c", "d", "e", "f",
                                                          "g", "h", "i", "j", "k", "l"};
  return letter[k < RELAY_MOST_OPERANDS ? k : RELAY_MOST_OPERANDS - 1];
}

const char *wick_relay_size(relay_member *m, uint32_t k, uint32_t i)
{
  const wick_lang_operand *x = wick_relay_operand(m, k);
  if (i < x->rank && x->dim[i] >= 0) return wick_relay_text(m, "%lld", (long long)x->dim[i]);
  m->sized |= 1u << k;
  return wick_relay_text(m, "%s_%u", wick_relay_letter(k), i);
}

int64_t wick_relay_known(relay_member *m, uint32_t k, uint32_t i)
{
  const wick_lang_operand *x = wick_relay_operand(m, k);
  if (i < x->rank && x->dim[i] >= 0) return x->dim[i];
  wick_relay_fail(m, "size %u of operand %u must be a number here", i, k + 1);
  return 1;
}

/* ---- attributes ---- */

const wick_ast *wick_relay_attr(const relay_member *m, const char *name)
{
  const wick_ast *n = m->use->node;
  for (uint32_t i = 1; i < n->nkid; i++)
    if (n->kid[i]->kind == WICK_AST_NAMED && strcmp(n->kid[i]->name, name) == 0)
      return n->kid[i]->kid[0];
  return NULL;
}

static bool write_number(const wick_ast *n, int64_t *i, double *f)
{
  if (n->kind != WICK_AST_INT && n->kind != WICK_AST_FLOAT && n->kind != WICK_AST_BOOL)
    return false;
  bool real = n->kind == WICK_AST_FLOAT;
  *f = real ? n->f : (double)n->i;
  *i = !real ? n->i : n->f > -9e18 && n->f < 9e18 ? (int64_t)n->f : 0;
  return true;
}

int64_t wick_relay_int(const relay_member *m, const char *name, int64_t dflt)
{
  const wick_ast *n = wick_relay_attr(m, name);
  double f;
  int64_t i = dflt;
  if (n && n->kind == WICK_AST_TUPLE && n->nkid == 1) n = n->kid[0];
  return n && write_number(n, &i, &f) ? i : dflt;
}

double wick_relay_real(const relay_member *m, const char *name, double dflt)
{
  const wick_ast *n = wick_relay_attr(m, name);
  double f = dflt;
  int64_t i;
  return n && write_number(n, &i, &f) ? f : dflt;
}

const char *wick_relay_word(const relay_member *m, const char *name, const char *dflt)
{
  const wick_ast *n = wick_relay_attr(m, name);
  return n && n->kind == WICK_AST_STRING ? n->name : dflt;
}

/* Lists within lists are joined. */
static void write_flat(const wick_ast *n, int64_t *out, int *count)
{
  double f;
  for (uint32_t i = 0; i < n->nkid && *count < RELAY_MOST_INTS; i++) {
    if (n->kid[i]->kind == WICK_AST_TUPLE)
      write_flat(n->kid[i], out, count);
    else if (write_number(n->kid[i], &out[*count], &f))
      ++*count;
  }
}

int wick_relay_ints(const relay_member *m, const char *name, int64_t *out)
{
  const wick_ast *n = wick_relay_attr(m, name);
  double f;
  int count = 0;
  if (!n) return -1;
  if (n->kind != WICK_AST_TUPLE) return write_number(n, out, &f) ? 1 : -1;
  write_flat(n, out, &count);
  return count;
}

bool wick_relay_spread(relay_member *m, const char *name, uint32_t n, int64_t dflt, int64_t *out)
{
  int64_t given[RELAY_MOST_INTS] = {dflt};
  int count = wick_relay_ints(m, name, given);
  for (uint32_t i = 0; i < n; i++) out[i] = count > 1 ? given[i] : count ? given[0] : dflt;
  if (count <= 1 || (uint32_t)count == n) return true;
  wick_relay_fail(m, "the attribute `%s` has %d numbers, expected %u", name, count, n);
  return false;
}

int64_t wick_relay_axis(relay_member *m, const char *name, int64_t dflt, uint32_t rank)
{
  int64_t axis = wick_relay_int(m, name, dflt), n = rank;
  if (axis >= -n && axis < n) return axis < 0 ? axis + n : axis;
  wick_relay_fail(m, "%s %lld is outside of [%lld, %lld]", name, (long long)axis, (long long)-n,
                  (long long)n - 1);
  return 0;
}

/* ---- text ---- */

static char *write_vtext(relay_member *m, const char *fmt, va_list args)
{
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, again);
  va_end(again);
  char *out = wick_new(m->mem, char, (size_t)(n < 0 ? 0 : n) + 1);
  vsnprintf(out, (size_t)(n < 0 ? 0 : n) + 1, fmt, args);
  return out;
}

const char *wick_relay_fail(relay_member *m, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  if (!m->use->wrong) m->use->wrong = write_vtext(m, fmt, args);
  va_end(args);
  return NULL;
}

const char *wick_relay_text(relay_member *m, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *out = write_vtext(m, fmt, args);
  va_end(args);
  return out;
}

const char *wick_relay_let(relay_member *m, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *value = write_vtext(m, fmt, args), *name = wick_relay_text(m, "t%u", m->nlet++);
  va_end(args);
  wick_text_printf(&m->lets, "  let %s = %s\n", name, value);
  return name;
}

const char *wick_relay_tuple(relay_member *m, int n, const int64_t *at)
{
  wick_text t = wick_text_begin(m->mem);
  wick_text_char(&t, '(');
  for (int i = 0; i < n; i++) wick_text_printf(&t, "%s%lld", i ? ", " : "", (long long)at[i]);
  wick_text_add(&t, n == 1 ? ",)" : ")");
  return t.at;
}

const char *wick_relay_dims(relay_member *m, uint32_t n, const char *const *dim)
{
  wick_text t = wick_text_begin(m->mem);
  wick_text_char(&t, '(');
  for (uint32_t i = 0; i < n; i++) wick_text_printf(&t, "%s%s", i ? ", " : "", dim[i]);
  wick_text_add(&t, n == 1 ? ",)" : ")");
  return t.at;
}

const char *wick_relay_float(relay_member *m, double f)
{
  if (f - f < 0 || f - f > 0 || !(f - f >= 0)) /* an infinity or NaN */
    return f > 0 ? "(1.0 / 0.0)" : f < 0 ? "(-1.0 / 0.0)" : "(0.0 / 0.0)";
  char *text = wick_str_printf(m->mem, "%.17g", f);
  return strpbrk(text, ".e") ? text : wick_str_printf(m->mem, "%s.0", text);
}

const char *wick_relay_transpose(relay_member *m, const char *x, uint32_t n, const int64_t *perm)
{
  bool same = true;
  for (uint32_t i = 0; i < n; i++) same = same && perm[i] == i;
  return same
             ? x
             : wick_relay_text(m, "transpose(%s, perm = %s)", x, wick_relay_tuple(m, (int)n, perm));
}
