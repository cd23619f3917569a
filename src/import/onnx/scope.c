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

wick_dim wick_onnx_symbol(wick_onnx_context *c, wick_span name, const char *stem, uint32_t axis)
{
  return wick_symbols_get(&c->symbols, wick_wire_text(c->tmp, name), stem, axis);
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
  return own ? 0 : WICK_ONNX_OPSET;
}
