/* Runs a graph on files by the operators' definitions, for `wick check --outputs`. */
#include "check_evaluate.h"

#include <string.h>

#include "command.h"
#include "graph/expand_transformations.h"
#include "model_inputs.h"

wick_status wick_check_arrays(const wick_words *inputs, const char *path, wick_files *files,
                              wick_arena *mem, wick_arena *tmp, wick_arrays *out)
{
  for (uint32_t i = 0; i < inputs->n; i++)
    WICK_TRY(wick_arrays_read(files, inputs->at[i], mem, tmp, out));
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i].json)
      return wick_fail(mem, WICK_EUNSUPPORTED, path,
                       "maps are inputs only of wick run --reference");
  return NULL;
}

/* "about 5 minutes" */
static const char *check_duration(double seconds, wick_arena *mem)
{
  static const struct {
    double seconds;
    const char *one;
  } unit[] = {
      {365.25 * 86400, "year"}, {86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
  uint32_t i = 0;
  while (i + 1 < WICK_COUNT(unit) && seconds < 1.5 * unit[i].seconds) i++;
  double n = seconds / unit[i].seconds;
  return wick_str_printf(mem, "about %.0f %s%s", n, unit[i].one, n < 1.5 ? "" : "s");
}

wick_status wick_check_run(const char *command, const char *path, bool unlimited,
                           const wick_func *f, uint32_t n, const wick_tensor *in, wick_arena *mem,
                           wick_arena *tmp, wick_arena *scratch, wick_tensor *out)
{
  const wick_evaluate_options o = {.most_seconds = unlimited ? 0 : WICK_EVALUATION_SECONDS};
  static const char advice[] = "--no-limit evaluates them nevertheless";
  const wick_pass_context pass = {.mem = mem, .tmp = tmp};
  wick_func *expanded;
  WICK_TRY(wick_pass_expand_transformations(&pass, f, &expanded));
  f = expanded;
  double seconds = wick_evaluate_seconds(f, n, in, tmp);
  if (o.most_seconds > 0 && seconds > o.most_seconds)
    return wick_fail(mem, WICK_ELIMIT, path, "the operators' definitions take %s; %s",
                     check_duration(seconds, mem), advice);
  if (seconds > WICK_EVALUATION_LONG)
    wick_command_say(command, "%s: the operators' definitions take %s", path,
                     check_duration(seconds, mem));
  wick_status s = wick_evaluate(f, n, in, &o, mem, tmp, scratch, out);
  if (s && s->code == WICK_ELIMIT && o.most_seconds > 0)
    return wick_fail(mem, WICK_ELIMIT, NULL, "%s; %s", s->message, advice);
  return s;
}

wick_status wick_check_evaluate(const wick_func *f, const wick_arrays *array, const char *path,
                                bool unlimited, const char *folder, wick_arena *mem,
                                wick_arena *tmp)
{
  const wick_node *r = wick_return(f);
  uint32_t n = array->n, nout = r->nin;
  wick_arena scratch = wick_arena_make(mem->guard);
  wick_tensor *in = wick_new(mem, wick_tensor, n), *result = wick_new(mem, wick_tensor, nout);
  for (uint32_t i = 0; i < n; i++) {
    const wick_array *a = &array->at[i];
    in[i] = (wick_tensor){
        .elem = a->elem, .rank = a->rank, .data = wick_arena_copy(mem, a->data, a->nbytes, 64)};
    memcpy(in[i].dim, a->dim, a->rank * sizeof *a->dim);
  }
  wick_module_align(f->module);
  wick_status s = wick_check_run("check", path, unlimited, f, n, in, mem, tmp, &scratch, result);
  wick_arena_free(&scratch);
  if (s) return s;
  wick_array *out = wick_new(mem, wick_array, nout);
  for (uint32_t k = 0; k < nout; k++) {
    out[k] = (wick_array){.name = wick_names_get(&f->module->names, f->value[r->in[k].id].name),
                          .elem = result[k].elem,
                          .rank = result[k].rank,
                          .data = result[k].data};
    memcpy(out[k].dim, result[k].dim, result[k].rank * sizeof *out[k].dim);
    if (!wick_array_nbytes(out[k].elem, out[k].rank, out[k].dim, &out[k].nbytes)) out[k].nbytes = 0;
  }
  nout = wick_model_inputs_trim(out, nout, mem);
  const char **name = wick_new(mem, const char *, nout);
  for (uint32_t k = 0; k < nout; k++) name[k] = out[k].name ? out[k].name : "";
  wick_ports ports =
      wick_ports_of("output", f->module->metadata.n, f->module->metadata.at, nout, name, mem);
  return wick_model_outputs_write(&ports, out, folder, tmp);
}
