/* A model as text: wick_model_print. */
#include "driver/compile.h"
#include "ir/call.h"
#include "ir/text.h"

static wick_status model_text(wick_compilation *c, bool data, wick_text *out)
{
  const wick_func *main;
  WICK_TRY(wick_model_import(c->model, &c->given, c->module, &c->module->mem, &c->tmp, &main));
  wick_module_align(c->module);
  wick_module_keep_reached(c->module, "main", &c->tmp);
  *out = wick_text_begin(&c->mem);
  wick_print_module(c->module, data ? WICK_PRINT_ALL : WICK_PRINT_ALL & ~WICK_PRINT_DATA, out);
  return NULL;
}

wick_error *wick_model_print(wick_model *m, const wick_compile_options *options, bool data,
                             void (*print)(void *arg, const char *text, size_t nbytes), void *arg)
{
  if (!m || !print) return wick_invalid("wick_model_print: %s is NULL", m ? "print" : "model");
  wick_compile_options o;
  wick_error *e = wick_options_take("wick_compile_options", &o, sizeof o, options);
  if (e) return e;
  wick_compilation c;
  wick_text text;
  wick_compilation_begin(&c, m);
  if (setjmp(m->guard.where)) {
    e = wick_guard_error(&m->guard);
  } else {
    c.module = wick_module_create(&m->guard, wick_path_base(m->path));
    wick_status s = wick_compilation_take(&c, &o);
    e = wick_error_export(s ? s : model_text(&c, data, &text));
    if (!e) print(arg, text.at, text.n);
  }
  wick_compilation_free(&c);
  wick_arena_free(&m->tmp); /* the import puts errors there */
  return e;
}
