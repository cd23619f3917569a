/* Programs of the language as models. */
#include <string.h>

#include "driver/model.h"
#include "import/relay/relay.h"
#include "lang/lower/custom.h"
#include "lang/lower/lowering.h"

static bool language_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool wick_is_program(const void *bytes, size_t nbytes)
{
  static const char *const item[] = {"use", "type", "struct", "fn", "op"};
  const char *at = bytes, *end = at ? at + nbytes : NULL;
  if (at && wick_relay_is_text(at, nbytes)) return true;
  while (at < end && (language_is_blank(*at) || *at == '/')) {
    bool comment = *at == '/';
    if (comment && (end - at < 2 || at[1] != '/')) return false;
    while (comment && at < end && *at != '\n') at++;
    if (at < end) at++;
  }
  if (end - at > 6 && memcmp(at, "@onnx(", 6) == 0) return true;
  for (size_t i = 0; i < WICK_COUNT(item); i++) {
    size_t n = strlen(item[i]);
    if ((size_t)(end - at) > n && memcmp(at, item[i], n) == 0 && language_is_blank(at[n]))
      return true;
  }
  return false;
}

/* Keeps the texts of the files. Returns all of them, on which the cache depends. */
static wick_span language_keep(wick_model *m, const wick_lang_sources *sources)
{
  uint32_t n = sources->list.n - 1;
  wick_text all = wick_text_begin(&m->mem);
  wick_lang_source *own = wick_new(&m->mem, wick_lang_source, n);
  for (uint32_t i = 0; i < n; i++) {
    const wick_lang_source *s = &sources->list.at[i + 1];
    own[i] = (wick_lang_source){.path = wick_str_dup(&m->mem, s->path),
                                .text = wick_dup(&m->mem, char, s->text, s->nbytes + 1u),
                                .nbytes = s->nbytes};
    wick_text_printf(&all, "file %s %u\n", s->path, s->nbytes);
    wick_text_addn(&all, s->text, s->nbytes);
  }
  m->nsource = n, m->source = own;
  return (wick_span){(const unsigned char *)all.at, all.n};
}

wick_status wick_model_custom(wick_model *m, wick_module *module, wick_arena *mem, wick_arena *tmp,
                              wick_custom **out)
{
  *out = NULL;
  if (!m->context->options.ops) return NULL;
  WICK_TRY(wick_custom_load(m->context->options.ops, m->nsource, m->source, module, mem, tmp, out));
  if (!m->nsource) m->ops = language_keep(m, wick_custom_sources(*out));
  return NULL;
}

static wick_status language_lower(wick_model *m, const wick_given *given, wick_types *t,
                                  wick_lang_program *p, wick_arena *mem, const wick_func **out_main)
{
  static const wick_given nothing;
  const wick_given *g = given ? given : &nothing;
  wick_lang_module *file;
  wick_lowering_options o = {.entry = m->entry,
                             .nsize = g->nsize,
                             .sizes = g->sizes,
                             .nrange = g->nrange,
                             .ranges = g->ranges,
                             .mem = mem};
  const wick_lang_source text = {
      .path = m->path, .text = (const char *)m->bytes.at, .nbytes = (uint32_t)m->bytes.nbytes};
  p->nknown = m->nsource, p->known = m->source;
  if (!m->nsource && m->bytes.at) p->nknown = 1, p->known = &text;
  WICK_TRY(wick_lang_program_load(p, m->path, &file));
  WICK_TRY(wick_lang_problems(&p->sources));
  if (!m->nsource) m->bytes = language_keep(m, &p->sources);
  wick_lang_resolve(p);
  wick_lang_infer(p, t);
  WICK_TRY(wick_lang_problems(&p->sources));
  return wick_lang_lower(p, t, file, &o, given ? NULL : &m->described, out_main);
}

wick_status wick_model_lower(wick_model *m, const wick_given *given, wick_module *module,
                             wick_arena *mem, wick_arena *tmp, const wick_func **out_main)
{
  wick_lang_program p;
  wick_types t;
  wick_lang_program_begin(&p, tmp);
  p.reader = &wick_relay_reader;
  wick_types_begin_in(&t, module, tmp);
  wick_status s = language_lower(m, given, &t, &p, mem, out_main);
  wick_types_end(&t);
  return s;
}
