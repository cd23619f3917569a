/* Programs of the language as models. */
#include <string.h>

#include "driver/model.h"
#include "lang/lower/lowering.h"

bool wick_model_is_program(wick_span bytes)
{
  static const char *const item[] = {"use", "type", "struct", "fn", "op"};
  const char *at = (const char *)bytes.at, *end = at + bytes.nbytes;
  while (at < end && (strchr(" \t\r\n", *at) || *at == '/')) {
    bool comment = *at == '/';
    if (comment && (end - at < 2 || at[1] != '/')) return false;
    while (comment && at < end && *at != '\n') at++;
    if (at < end) at++;
  }
  for (size_t i = 0; i < WICK_COUNT(item); i++) {
    size_t n = strlen(item[i]);
    if ((size_t)(end - at) > n && memcmp(at, item[i], n) == 0 && at[n] == ' ') return true;
  }
  return false;
}

static wick_status language_lower(const wick_model *m, const wick_given *g, wick_types *t,
                                  wick_lang_program *p, wick_arena *mem, wick_text *sources,
                                  bool *out_described, const wick_func **out_main)
{
  wick_lang_module *file;
  wick_lowering_options o = {.entry = m->entry,
                             .nsize = g->nsize,
                             .sizes = g->sizes,
                             .nrange = g->nrange,
                             .ranges = g->ranges,
                             .mem = mem};
  WICK_TRY(wick_lang_program_load(p, m->path, &file));
  WICK_TRY(wick_lang_problems(&p->sources));
  wick_lang_resolve(p);
  wick_lang_infer(p, t);
  WICK_TRY(wick_lang_problems(&p->sources));
  for (uint32_t i = 1; sources && i < p->sources.list.n; i++) {
    const wick_lang_source *s = &p->sources.list.at[i];
    wick_text_printf(sources, "file %s %u\n", s->path, s->nbytes);
    wick_text_addn(sources, s->text, s->nbytes);
  }
  return wick_lang_lower(p, t, file, &o, out_described, out_main);
}

wick_status wick_model_lower(const wick_model *m, const wick_given *given, wick_module *module,
                             wick_arena *mem, wick_arena *tmp, wick_text *out_sources,
                             bool *out_described, const wick_func **out_main)
{
  static const wick_given nothing;
  wick_lang_program p;
  wick_types t;
  wick_lang_program_begin(&p, tmp);
  wick_types_begin_in(&t, module, tmp);
  wick_status s = language_lower(m, given ? given : &nothing, &t, &p, mem, out_sources,
                                 out_described, out_main);
  wick_types_end(&t);
  return s;
}
