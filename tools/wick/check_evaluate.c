/* Runs a graph on files by the operators' definitions, for `wick check --outputs`. */
#include "check_evaluate.h"

#include <string.h>

#include "ops/evaluate.h"

#include "model_inputs.h"

wick_status wick_check_arrays(const wick_words *inputs, const char *path, wick_files *files,
                              wick_arena *mem, wick_arena *tmp, wick_arrays *out)
{
  for (uint32_t i = 0; i < inputs->n; i++)
    WICK_TRY(wick_arrays_read(files, inputs->at[i], mem, tmp, out));
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i].json)
      return wick_fail(mem, WICK_EUNSUPPORTED, path,
                       "maps are inputs of wick run --reference alone");
  return NULL;
}

wick_status wick_check_evaluate(const wick_func *f, const wick_arrays *array, const char *folder,
                                wick_arena *mem, wick_arena *tmp)
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
  wick_status s = wick_evaluate(f, n, in, NULL, mem, tmp, &scratch, result);
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
