/* Symbols for the sizes of inputs that a model leaves open. */
#include "import/kit/symbols.h"

#include <string.h>

/* Returns the name, with a number appended if it is taken already. */
static const char *symbols_untaken(wick_symbols *c, const char *name)
{
  wick_text t = wick_text_begin(c->tmp);
  wick_text_add(&t, name);
  size_t n = t.n;
  for (uint32_t k = c->taken.n; wick_names_find(&c->taken, t.at, t.n);
       k++) { /* not from 1: names may all be alike */
    t.at[t.n = n] = 0;
    wick_text_printf(&t, "_%u", k);
  }
  wick_names_add(&c->taken, t.at, t.n);
  return wick_intern(c->module, t.at);
}

/* Returns an expression for the sizes lo, lo + step, ... up to hi: step * symbol + rest. So
 * divisors of all sizes are divisors of the expression, too. */
static wick_dim symbols_steps(wick_symbols *c, const char *word, int64_t lo, int64_t hi,
                              int64_t step)
{
  wick_dims *t = c->module->dims;
  int64_t rest = lo % step;
  word = symbols_untaken(c, wick_str_printf(c->tmp, "%s_%lld", word, (long long)step));
  wick_dim sym = wick_dim_symbol(t, word, lo / step, (hi - rest) / step);
  return wick_dim_add(t, wick_dim_mul(t, sym, wick_dim_const(step)), wick_dim_const(rest));
}

/* Makes a symbol with the model's name, whatever characters it has. */
static wick_dim symbols_make(wick_symbols *c, const char *name)
{
  int64_t lo = 1, hi = WICK_IMPORT_LARGEST, step = 1;
  const char *word = symbols_untaken(c, name);
  for (uint32_t i = 0; c->options && i < c->options->nrange; i++) {
    const wick_import_range *r = &c->options->range[i];
    if (strcmp(r->name, word) == 0) lo = r->lo, hi = r->hi, step = r->step;
  }
  if (lo < hi && step > 1 && hi - lo < step) hi = lo;
  c->symbolic = c->symbolic || lo != hi;
  if (lo < hi && step > 1) return symbols_steps(c, word, lo, hi, step);
  return lo == hi ? wick_dim_const(lo) : wick_dim_symbol(c->module->dims, word, lo, hi);
}

/* Returns false for names such as "?", which mean an unknown size: two of them need not be
 * equal. */
static bool symbols_says_something(const char *name)
{
  for (const unsigned char *s = (const unsigned char *)name; *s; s++)
    if (*s >= 0x80 || (*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') ||
        (*s >= 'a' && *s <= 'z'))
      return true;
  return false;
}

wick_symbols wick_symbols_begin(wick_module *m, const wick_import_options *options, wick_arena *tmp)
{
  wick_symbols s = {.module = m, .options = options, .tmp = tmp};
  s.names = wick_names_begin(tmp);
  s.taken = wick_names_begin(tmp);
  wick_push(tmp, &s.dims, (wick_dim){0});
  return s;
}

wick_dim wick_symbols_get(wick_symbols *c, const char *text, const char *stem, uint32_t axis)
{
  if (!symbols_says_something(text)) {
    return symbols_make(c, wick_str_printf(c->tmp, "%s.%u", stem, axis));
  }
  uint32_t id = wick_names_add(&c->names, text, strlen(text));
  while (c->dims.n < id) wick_push(c->tmp, &c->dims, (wick_dim){0});
  if (id == c->dims.n) wick_push(c->tmp, &c->dims, symbols_make(c, text));
  return c->dims.at[id];
}
