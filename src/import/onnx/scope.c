/* Binds names of the model to values, and derives the names in Wick. */
#include "import/onnx/import.h"

#include <string.h>

#include "base/shown.h"

const char *wick_onnx_name(const wick_onnx_context *c, wick_span name)
{
  enum { MOST = 120 };
  bool cut = name.nbytes > MOST;
  const char *text = wick_wire_text(c->tmp, (wick_span){name.at, cut ? MOST : name.nbytes});
  text = wick_str_shown(c->tmp, text);
  return cut ? wick_str_printf(c->tmp, "%s...", text) : text;
}

wick_onnx_scope *wick_onnx_scope_make(wick_onnx_context *c, const wick_onnx_opsets *opsets)
{
  wick_onnx_scope *s = wick_new(c->tmp, wick_onnx_scope, 1);
  s->names = wick_names_begin(c->tmp);
  s->opsets = opsets;
  wick_push(c->tmp, &s->bound, (wick_onnx_binding){0});
  return s;
}

bool wick_onnx_bind(wick_onnx_context *c, wick_span name, wick_onnx_binding b)
{
  wick_onnx_scope *s = c->scope;
  uint32_t id = wick_names_add(&s->names, (const char *)name.at, name.nbytes);
  if (id < s->bound.n) return id && s->bound.at[id].late;
  wick_push(c->tmp, &s->bound, b);
  return true;
}

/* A NUL ends a name, as it does in wick_names_add. */
static size_t scope_length(wick_span name)
{
  const unsigned char *nul = name.nbytes ? memchr(name.at, 0, name.nbytes) : NULL;
  return nul ? (size_t)(nul - name.at) : name.nbytes;
}

static wick_onnx_binding *scope_find(const wick_onnx_context *c, wick_span name)
{
  for (wick_onnx_scope *s = c->scope; s; s = s->around) {
    uint32_t id = wick_names_find(&s->names, (const char *)name.at, scope_length(name));
    if (id) return &s->bound.at[id];
  }
  return NULL;
}

void wick_onnx_rebind(wick_onnx_context *c, wick_span name, wick_value v)
{
  wick_onnx_binding *b = scope_find(c, name);
  if (b) *b = (wick_onnx_binding){.v = v};
}

const wick_onnx_binding *wick_onnx_find(const wick_onnx_context *c, wick_span name)
{
  return scope_find(c, name);
}

wick_onnx_binding wick_onnx_use(wick_onnx_context *c, wick_span name, const char *location,
                                const char *what)
{
  wick_onnx_binding *b = scope_find(c, name);
  if (!b) {
    const char *text = wick_onnx_name(c, name);
    wick_onnx_error(c, WICK_EPARSE, location, "%s \"%s\" is not defined before it is used", what,
                    text);
    wick_onnx_bind(c, name, (wick_onnx_binding){.late = true});
    return (wick_onnx_binding){0};
  }
  if (!b->v.id && b->why) {
    wick_onnx_error(c, WICK_EUNSUPPORTED, location, "%s \"%s\": %s", what, wick_onnx_name(c, name),
                    b->why);
    b->why = NULL;
  }
  return *b;
}

uint32_t wick_onnx_module_name(wick_onnx_context *c, wick_span name)
{
  const char *text = wick_wire_text(c->tmp, name);
  return wick_names_add(&c->module->names, text, strlen(text));
}

/* ---- dimensions ---- */

/* Returns the name, with a number appended if it is taken already. */
static const char *scope_untaken(wick_onnx_context *c, const char *name)
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
static wick_dim scope_steps(wick_onnx_context *c, const char *word, int64_t lo, int64_t hi,
                            int64_t step)
{
  wick_dims *t = c->module->dims;
  int64_t rest = lo % step;
  word = scope_untaken(c, wick_str_printf(c->tmp, "%s_%lld", word, (long long)step));
  wick_dim sym = wick_dim_symbol(t, word, lo / step, (hi - rest) / step);
  return wick_dim_add(t, wick_dim_mul(t, sym, wick_dim_const(step)), wick_dim_const(rest));
}

/* Makes a symbol with the model's name, whatever characters it has. */
static wick_dim scope_symbol(wick_onnx_context *c, const char *name)
{
  int64_t lo = 1, hi = WICK_ONNX_LARGEST, step = 1;
  const char *word = scope_untaken(c, name);
  for (uint32_t i = 0; c->options && i < c->options->nrange; i++) {
    const wick_onnx_range *r = &c->options->range[i];
    if (strcmp(r->name, word) == 0) lo = r->lo, hi = r->hi, step = r->step;
  }
  if (lo < hi && step > 1 && hi - lo < step) hi = lo;
  c->symbolic = c->symbolic || lo != hi;
  if (lo < hi && step > 1) return scope_steps(c, word, lo, hi, step);
  return lo == hi ? wick_dim_const(lo) : wick_dim_symbol(c->module->dims, word, lo, hi);
}

/* Returns false for names such as "?", which mean an unknown size: two of them need not be
 * equal. */
static bool scope_says_something(const char *name)
{
  for (const unsigned char *s = (const unsigned char *)name; *s; s++)
    if (*s >= 0x80 || (*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') ||
        (*s >= 'a' && *s <= 'z'))
      return true;
  return false;
}

wick_dim wick_onnx_symbol(wick_onnx_context *c, wick_span name, const char *stem, uint32_t axis)
{
  const char *text = wick_wire_text(c->tmp, name);
  if (!scope_says_something(text)) {
    return scope_symbol(c, wick_str_printf(c->tmp, "%s.%u", stem, axis));
  }
  uint32_t id = wick_names_add(&c->symbols, text, strlen(text));
  while (c->symbol_dims.n < id) wick_push(c->tmp, &c->symbol_dims, (wick_dim){0});
  if (id == c->symbol_dims.n) wick_push(c->tmp, &c->symbol_dims, scope_symbol(c, text));
  return c->symbol_dims.at[id];
}

/* ---- opsets ---- */

bool wick_onnx_domain_is_own(wick_span domain)
{
  return !domain.nbytes || wick_span_is(domain, "ai.onnx");
}

int64_t wick_onnx_opset_of(const wick_onnx_scope *s, wick_span domain)
{
  bool own = wick_onnx_domain_is_own(domain);
  for (size_t i = 0; i < s->opsets->n; i++) {
    wick_span d = s->opsets->at[i].domain;
    bool same = d.nbytes == domain.nbytes && (!d.nbytes || memcmp(d.at, domain.at, d.nbytes) == 0);
    if (same || (own && wick_onnx_domain_is_own(d))) return s->opsets->at[i].version;
  }
  return 0;
}
