/* Compiles a model up to a level and prints the module. */
#include "driver/emit.h"

#include <string.h>

#include "driver/compile.h"
#include "ir/text.h"
#include "runtime/context.h"

typedef struct emit_level {
  const char *name, *pipeline;
  wick_level level;             /* the level of the functions that are printed */
  wick_codegen_output generate; /* for levels beyond loop */
} emit_level;

static const emit_level emit_levels[] = {
    {"graph", "graph", WICK_GRAPH, 0},         {"kernels", "kernels", WICK_GROUP, 0},
    {"low", "kernels", WICK_LOW, 0},           {"loop", "default", WICK_LOOP, 0},
    {"llvm", "default", 0, WICK_OUTPUT_LLVM},  {"asm", "default", 0, WICK_OUTPUT_ASSEMBLY},
    {"obj", "default", 0, WICK_OUTPUT_OBJECT},
};

const char *const wick_emit_levels[] = {"graph", "kernels", "low", "loop",
                                        "llvm",  "asm",     "obj", NULL};

typedef struct emit_state {
  wick_compilation c;
  const emit_level *level;
  const char *kernel;
  wick_arena *mem;
} emit_state;

/* Returns true if f is this kernel's group, or the loop function made from it. */
static bool emit_is(const wick_func *f, const char *kernel)
{
  size_t n = strlen(kernel);
  if (!kernel[0] || strncmp(f->name, kernel, n) != 0) return false;
  return !f->name[n] || (f->level == WICK_LOOP && strcmp(f->name + n, ".loop") == 0);
}

static bool emit_takes(const emit_state *s, const wick_func *f)
{
  wick_level wanted = s->level->level ? s->level->level : WICK_LOOP;
  const char *kernel = s->kernel;
  if (f->level != wanted) return false;
  if (!kernel) return true;
  if (wanted != WICK_GROUP) return emit_is(f, kernel);
  size_t n = strlen(kernel); /* a loop function's name also selects its group */
  const char *end = strstr(kernel, ".loop");
  return emit_is(f, kernel) || (end && strlen(f->name) == n - strlen(end) &&
                                strncmp(f->name, kernel, strlen(f->name)) == 0);
}

static wick_status emit_kernel_unknown(emit_state *s)
{
  wick_text names = wick_text_begin(&s->c.mem);
  const wick_module *m = s->c.module;
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (m->funcs.at[i]->level == WICK_GROUP)
      wick_text_printf(&names, "%s%s", names.n ? ", " : "", m->funcs.at[i]->name);
  return wick_fail(&s->c.mem, WICK_EINVAL, wick_path_base(s->c.model->path),
                   "there is no kernel \"%s\"; there are %s", s->kernel,
                   names.n ? names.at : "none");
}

static wick_status emit_generate(emit_state *s, uint32_t n, const char *const *only, wick_span *out)
{
  wick_codegen_options o = {.output = s->level->generate, .whole = true, .nonly = n, .only = only};
  wick_span *object;
  uint32_t nobject;
  WICK_TRY(wick_compile_objects(&s->c, &o, &object, &nobject));
  unsigned char *at = wick_arena_alloc(s->mem, object[0].nbytes, 16);
  memcpy(at, object[0].at, object[0].nbytes);
  *out = (wick_span){at, object[0].nbytes};
  return NULL;
}

static wick_status emit_work(emit_state *s, const wick_compile_options *options, wick_span *out)
{
  wick_lowered lowered;
  wick_text text = wick_text_begin(s->mem);
  if (s->kernel && (s->level->level == WICK_GRAPH || s->level->level == WICK_LOW))
    return wick_fail(&s->c.mem, WICK_EINVAL, NULL, "the level %s has no parts for kernels",
                     s->level->name);
  WICK_TRY(wick_compilation_take(&s->c, options));
  WICK_TRY(wick_compile_passes(&s->c, s->level->pipeline, &lowered));
  const wick_module *m = s->c.module;
  const char **only = wick_new(&s->c.mem, const char *, m->funcs.n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    if (!emit_takes(s, m->funcs.at[i])) continue;
    only[n++] = m->funcs.at[i]->name;
    if (s->level->level) wick_print_func(m->funcs.at[i], WICK_PRINT_LOCS | WICK_PRINT_NAMES, &text);
  }
  if (!n && s->kernel) return emit_kernel_unknown(s);
  if (!s->level->level) return emit_generate(s, n, only, out);
  *out = (wick_span){(const unsigned char *)text.at, text.n};
  return NULL;
}

static const emit_level *emit_find(const char *name)
{
  for (size_t i = 0; i < WICK_COUNT(emit_levels); i++)
    if (strcmp(emit_levels[i].name, name) == 0) return &emit_levels[i];
  return NULL;
}

wick_error *wick_emit(wick_model *model, const wick_compile_options *options, const char *level,
                      const char *kernel, wick_arena *mem, wick_span *out)
{
  wick_compile_options o;
  emit_state s = {.level = emit_find(level), .kernel = kernel, .mem = mem};
  if (!s.level)
    return wick_error_export(wick_fail(mem, WICK_EINVAL, NULL, "there is no level \"%s\"", level));
  wick_error *wrong = wick_options_take("wick_compile_options", &o, sizeof o, options);
  if (wrong) return wrong;
  wick_compilation_begin(&s.c, model);
  wick_error *e;
  if (setjmp(model->guard.where))
    e = wick_guard_error(&model->guard);
  else
    e = wick_error_export(emit_work(&s, &o, out));
  wick_compilation_free(&s.c);
  wick_arena_free(&model->tmp); /* the import puts errors there */
  return e;
}
