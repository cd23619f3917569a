/* Runs a graph on files by the operators' definitions, for `wick check --outputs`. */
#include "check_evaluate.h"

#include <string.h>

#include "command.h"
#include "driver/states.h"
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

/* Adds the initial values of the states, if they are not among the inputs. */
static const wick_tensor *check_states(const wick_func *f, uint32_t *n, const wick_tensor *in,
                                       wick_arena *mem)
{
  const void *const *initial = wick_states_initial(f, mem);
  uint32_t given = *n, nstate = wick_states_count(f);
  if (!nstate || given + nstate != f->nparam) return in;
  wick_tensor *all = wick_new(mem, wick_tensor, f->nparam);
  for (uint32_t i = 0; i < given; i++) all[i] = in[i];
  for (uint32_t k = 0; k < nstate; k++) {
    wick_value v = {1 + given + k};
    const wick_type_info *t = wick_info_of(f, v);
    wick_tensor *s = &all[given + k];
    uint64_t nbytes = 0;
    *s = (wick_tensor){.elem = t->elem, .rank = t->rank};
    if (!wick_type_const_dims(t, s->dim) ||
        !wick_type_nbytes(f->module, wick_type_of(f, v), &nbytes))
      return in;
    unsigned char *at = wick_arena_alloc(mem, nbytes + 1, 64);
    memset(at, 0, nbytes);
    if (initial[k]) memcpy(at, initial[k], nbytes);
    s->data = at;
  }
  *n = f->nparam;
  return all;
}

wick_status wick_check_expand(wick_pipeline *p, const wick_func **f, wick_arena *tmp)
{
  if (!wick_has_transformations((*f)->module)) return NULL;
  wick_pipeline_begin(p, (*f)->module);
  WICK_TRY(wick_pipeline_run_named(p, "graph", "expand_transformations", tmp));
  *f = wick_module_find((*f)->module, (*f)->name);
  return NULL;
}

wick_status wick_check_run(const char *command, const char *path, bool unlimited,
                           const wick_func *f, uint32_t n, const wick_tensor *in,
                           void (*print)(void *arg, const char *line), wick_arena *mem,
                           wick_arena *tmp, wick_arena *scratch, wick_tensor *out)
{
  const wick_evaluate_options o = {.print = print,
                                   .most_seconds = unlimited ? 0 : WICK_EVALUATION_SECONDS};
  static const char advice[] = "--no-limit evaluates them nevertheless";
  in = check_states(f, &n, in, mem);
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
  wick_pipeline expanded = {0};
  const wick_func *plain = f;
  wick_status s = wick_check_expand(&expanded, &plain, tmp);
  if (!s)
    s = wick_check_run("check", path, unlimited, plain, n, in, NULL, mem, tmp, &scratch, result);
  wick_pipeline_free(&expanded);
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
  nout = wick_model_inputs_trim(out, nout - wick_states_count(f), mem);
  const char **name = wick_new(mem, const char *, nout);
  for (uint32_t k = 0; k < nout; k++) name[k] = out[k].name ? out[k].name : "";
  wick_ports ports =
      wick_ports_of("output", f->module->metadata.n, f->module->metadata.at, nout, name, mem);
  return wick_model_outputs_write(&ports, out, folder, tmp);
}
