/* wick compile: compiles a model to an artifact, or to a bundle for programs without Wick. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/shown.h"
#include "driver/emit.h"
#include "driver/report/error_report.h"

#include "command.h"
#include "interrupt.h"
#include "invocation.h"

typedef struct compile_state {
  wick_invocation invocation;
  const char *output, *name, *emit, *kernel;
  wick_words inputs;
  wick_invocation_image image;
  bool embed, json;
  uint64_t heap, recursion;
} compile_state;

static bool compile_is_artifact(const char *path)
{
  size_t n = strlen(path);
  return n > 5 && strcmp(path + n - 5, ".wick") == 0;
}

/* Reports the errors of the kernels that approximate, on these inputs, relative to f64. */
static wick_status compile_errors(compile_state *s, const wick_model_inputs *model_inputs,
                                  json_t *report)
{
  wick_invocation *j = &s->invocation;
  wick_compile_options o = wick_invocation_options(j, model_inputs);
  wick_error_report r;
  WICK_TRY(wick_invocation_take(
      j, wick_error_report_make(j->model, &o, j->compiled, model_inputs->data, &j->mem, &r)));
  json_t *list = json_array();
  for (uint32_t i = 0; i < r.n && report; i++)
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o, s:o}", "what", wick_json_text(r.line[i].what), "bound",
                        wick_json_text(r.line[i].bound), "largest",
                        wick_json_real(r.line[i].largest), "rms", wick_json_real(r.line[i].rms)));
  if (report) return json_object_set_new(report, "errors", list), NULL;
  json_decref(list);
  printf("differences from f64 over the largest magnitude: the largest, RMS\n");
  for (uint32_t i = 0; i < r.n; i++)
    printf("%9.1e %9.1e  %s%s%s\n", r.line[i].largest, r.line[i].rms,
           wick_str_shown(&j->mem, r.line[i].what), r.line[i].bound ? ": " : "",
           r.line[i].bound ? r.line[i].bound : "");
  return NULL;
}

/* Writes the model at one level of the compiler to a file or to stdout. */
static wick_status compile_emit(compile_state *s)
{
  wick_invocation *j = &s->invocation;
  wick_span text;
  WICK_TRY(wick_invocation_load(j));
  if (!j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "--emit shows a model, this is compiled");
  j->dynamic = true;
  wick_compile_options o = wick_invocation_options(j, NULL);
  wick_interrupt_begin();
  wick_error *e = wick_emit(j->model, &o, s->emit, s->kernel, &j->mem, &text);
  wick_interrupt_end();
  WICK_TRY(wick_invocation_take(j, e));
  if (s->output) return wick_file_write(&j->mem, s->output, &(wick_bytes){text.at, text.nbytes}, 1);
  fwrite(text.at, 1, text.nbytes, stdout);
  return NULL;
}

static json_t *compile_json(const compile_state *s, const char *kind)
{
  return json_pack("{s:o, s:s, s:o}", "model", wick_json_text(s->invocation.path), "kind", kind,
                   "output", wick_json_text(s->output));
}

static wick_status compile_artifact(compile_state *s, const wick_model_inputs *model_inputs)
{
  wick_invocation *j = &s->invocation;
  j->dynamic = !model_inputs;
  WICK_TRY(wick_invocation_compile(j, model_inputs));
  const char *contract = wick_compiled_contract(j->compiled);
  int first = (int)strcspn(contract, "\n"); /* the line that sums up all kernels */
  if (!s->json) printf("%.*s\n", first, contract);
  wick_interrupt_begin();
  wick_error *e = wick_save(j->compiled, s->output);
  wick_interrupt_end();
  WICK_TRY(wick_invocation_take(j, e));
  json_t *report = NULL;
  if (s->json) {
    wick_memory m = wick_compiled_memory(j->compiled);
    report = compile_json(s, "artifact");
    json_object_set_new(report, "contract", wick_json_textn(contract, (size_t)first));
    json_object_set_new(report, "from_cache", json_boolean(wick_compiled_cached(j->compiled)));
    json_object_set_new(report, "constants_bytes", json_integer((json_int_t)m.constants));
    json_object_set_new(report, "arena_bytes", json_integer((json_int_t)m.arena));
    json_object_set_new(report, "scratch_bytes_per_thread", json_integer((json_int_t)m.scratch));
  }
  if (model_inputs) WICK_TRY(compile_errors(s, model_inputs, report));
  return report ? wick_invocation_json(j, report) : NULL;
}

static wick_status compile_bundle(compile_state *s, const wick_model_inputs *model_inputs)
{
  wick_invocation *j = &s->invocation;
  if (!j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path,
                     "a bundle is made from a model, but this file is already compiled");
  wick_compile_options o = wick_invocation_options(j, model_inputs);
  wick_bundle_options b = {.size = sizeof b,
                           .folder = s->output,
                           .name = s->name,
                           .embed = s->embed,
                           .heap_bytes = s->heap,
                           .recursion_bytes = s->recursion};
  wick_bundle_report r;
  b.report = &r;
  wick_interrupt_begin();
  wick_error *e = wick_bundle_write(j->model, &o, &b);
  wick_interrupt_end();
  WICK_TRY(wick_invocation_take(j, e));
  if (!s->json) {
    printf("flash %llu bytes, of which %llu are constants; RAM %llu bytes; stack ",
           (unsigned long long)r.flash_bytes, (unsigned long long)r.constants_bytes,
           (unsigned long long)r.ram_bytes);
    printf(r.stack_bytes ? "%llu bytes at most\n" : "not known\n",
           (unsigned long long)r.stack_bytes);
    return NULL;
  }
  json_t *all = compile_json(s, "bundle");
  json_object_set_new(all, "flash_bytes", json_integer((json_int_t)r.flash_bytes));
  json_object_set_new(all, "ram_bytes", json_integer((json_int_t)r.ram_bytes));
  json_object_set_new(all, "stack_bytes",
                      r.stack_bytes ? json_integer((json_int_t)r.stack_bytes) : json_null());
  json_object_set_new(all, "constants_bytes", json_integer((json_int_t)r.constants_bytes));
  return wick_invocation_json(j, all);
}

static wick_status compile_work(compile_state *s)
{
  wick_invocation *j = &s->invocation;
  j->remarks = true;
  wick_model_inputs model_inputs;
  j->inputs = &s->inputs;
  WICK_TRY(wick_invocation_load(j));
  if (s->inputs.n && !j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "errors are those of a model, not an artifact");
  if (s->inputs.n) WICK_TRY(wick_invocation_feed(j, &s->inputs, &s->image, &model_inputs));
  const wick_model_inputs *given = s->inputs.n ? &model_inputs : NULL;
  return compile_is_artifact(s->output) ? compile_artifact(s, given) : compile_bundle(s, given);
}

static int compile_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  compile_state *s = arg;
  const wick_flag flag[] = {
      {"output", 'o', WICK_FLAG_FILE, &s->output, "PATH",
       "writes an artifact if PATH ends in .wick, else a bundle into the folder PATH"},
      {"inputs", 'i', WICK_FLAG_FILES, &s->inputs, "FILE...",
       "gives the inputs the shapes of these tensors; reports an artifact's error on them, "
       "relative to f64"},
      {"input", 0, WICK_FLAG_FILES, &s->inputs, NULL, NULL},
      {"name", 'n', WICK_FLAG_STRING, &s->name, "NAME",
       "names the bundle's files and its function; derived from the model's name by default"},
      {"emit", 0, WICK_FLAG_CHOICE, &s->emit, "graph|kernels|low|loop|llvm|asm|obj",
       "prints the model at this level instead of writing it"},
      {"kernel", 0, WICK_FLAG_STRING, &s->kernel, "NAME", "restricts --emit to this kernel"},
      {"embed", 0, WICK_FLAG_BOOL, &s->embed, NULL, "puts the weights into the bundle's object"},
      {"heap-bytes", 0, WICK_FLAG_BYTES, &s->heap, "N",
       "bytes of a bundle's arena for lists, trees and closures; 64 KiB by default, 8 KiB with "
       "pointers of 32 bits"},
      {"recursion-bytes", 0, WICK_FLAG_BYTES, &s->recursion, "N",
       "bytes of the stack for a bundle's recursion; 256 KiB by default, 4 KiB with pointers of 32 "
       "bits"},
      {"json", 0, WICK_FLAG_BOOL, &s->json, NULL, "prints one object of JSON (docs/json.md)"},
      WICK_IMAGE_FLAGS(&s->image),
      WICK_INVOCATION_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (s->kernel && !s->emit) return wick_invocation_usage(j, "--kernel is only for --emit");
  if (s->emit) return wick_invocation_end(j, compile_emit(s));
  if (!s->output) return wick_invocation_usage(j, "--output is missing");
  if (compile_is_artifact(s->output) && (s->name || s->embed))
    return wick_invocation_usage(j, "--name and --embed are for bundles");
  if (compile_is_artifact(s->output) && (s->heap || s->recursion))
    return wick_invocation_usage(j, "--heap-bytes and --recursion-bytes are for bundles");
  return wick_invocation_end(j, compile_work(s));
}

int wick_cmd_compile(int argc, char **argv)
{
  compile_state s = {0};
  return wick_invocation_main(&s.invocation, compile_main, &s, argc, argv);
}
