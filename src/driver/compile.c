/* Compiles a model to an artifact. Begin with wick_compile_model. */
#include "driver/compile.h"

#include <string.h>

#include "base/hash.h"
#include "codegen/client.h"
#include "codegen/link.h"
#include "driver/cache.h"
#include "driver/datatypes.h"
#include "driver/donate.h"
#include "driver/fixed_inputs.h"
#include "driver/processor.h"
#include "driver/report/contract.h"
#include "driver/specialization/branch_decisions.h"
#include "driver/specialization/specializations.h"
#include "driver/states.h"
#include "import/onnx/onnx.h"
#include "ir/call.h"
#include "ir/copy.h"
#include "lower/lower.h"
#include "ops/host.h"
#include "runtime/digest.h"

enum { COMPILE_ENDLESS = 1 << 28 };        /* a larger upper end counts as none */
enum { COMPILE_RECORDS_MOST = 256 << 20 }; /* most bytes of a file of tuning records */

/* ---- stages ---- */

wick_status wick_compilation_stage(wick_compilation *c, const char *name)
{
  double now = wick_now();
  if (c->stage) c->stage(c->arg, name, now - c->begun);
  if (c->work.context->options.log) {
    const char *line = wick_str_printf(&c->tmp, "%s: %.1f ms", name, 1e3 * (now - c->begun));
    wick_context_log(c->work.context, line);
  }
  c->begun = now;
  return wick_work_check(&c->work, &c->mem);
}

/* If no size is given, the first compilation of a model takes over its module, so that weights are
 * not read twice. */
static wick_status compile_module(wick_compilation *c)
{
  wick_model *m = c->model;
  c->borrowed = !c->given.nsize && !c->given.nrange && !m->described && !m->spent;
  c->module = c->borrowed ? m->module : wick_module_create(&m->guard, wick_path_base(m->path));
  c->graph = m->main;
  m->spent = m->spent || c->borrowed;
  if (c->borrowed) return NULL;
  return wick_model_import(m, &c->given, c->module, &c->module->mem, &c->tmp, &c->graph);
}

/* Returns the result of the last node with this location; 0: none. */
static wick_value compile_value_at(const wick_func *f, const char *location)
{
  wick_value v = {0};
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].nout == 1 && strcmp(wick_loc_text(f->module, f->node[i].loc), location) == 0)
      v = f->node[i].first;
  return v;
}

/* Adds results to the graph, each once. */
static void compile_show(wick_compilation *c)
{
  const wick_func *f = c->graph;
  const wick_node *r = wick_return(f);
  uint32_t n = 0;
  wick_value *v = wick_new(&c->tmp, wick_value, r->nin + c->nshow);
  for (; n < r->nin; n++) v[n] = r->in[n];
  for (uint32_t i = 0; i < c->nshow; i++) {
    wick_value shown = compile_value_at(f, c->show[i].location);
    uint32_t k = 0;
    while (k < n && v[k].id != shown.id) k++;
    if (shown.id && k == n) v[n++] = shown;
    c->show[i].output = shown.id ? k : UINT32_MAX;
  }
  wick_copier copy = wick_copy_begin(f, &c->module->mem);
  for (uint32_t i = 0; i + 1 < f->nnode; i++) wick_copy_node(&copy, &f->node[i]);
  for (uint32_t k = 0; k < n; k++) v[k] = copy.to[v[k].id];
  wick_build_return(&copy.b, n, v);
  c->graph = wick_copy_end(&copy);
  wick_module_set(c->module, c->graph);
}

/* Returns whether a symbol may stay dynamic: if the options allow it for all sizes, or give a range
 * for a dimension of an input in which it occurs. In bundles its range must have an end. */
static bool compile_symbol_varies(const wick_compilation *c, wick_dim symbol)
{
  int64_t lo, hi;
  const wick_model *m = c->model;
  wick_dim_range(c->module->dims, symbol, &lo, &hi);
  if (c->given.vary || (c->planned && hi < WICK_IMPORT_LARGEST)) return true;
  for (uint32_t r = 0; r < c->given.nrange; r++)
    for (uint32_t i = 0; i < m->ninput && i < c->graph->nparam; i++)
      for (uint32_t k = 0; k < m->io[i].rank; k++)
        if (strcmp(m->io[i].dim_name[k], c->given.ranges[r].name) == 0 &&
            wick_dim_uses(c->module->dims, wick_info_of(c->graph, (wick_value){i + 1})->dim[k],
                          symbol))
          return true;
  return false;
}

static bool compile_varies(wick_compilation *c, wick_dim d)
{
  wick_dim_list symbols = {0};
  wick_dim_symbols(c->module->dims, d, &c->mem, &symbols);
  bool all = true;
  for (uint32_t i = 0; i < symbols.n; i++) all = all && compile_symbol_varies(c, symbols.at[i]);
  return all;
}

static wick_dim compile_io_dim(const wick_compilation *c, uint32_t i, uint32_t k)
{
  uint32_t n = c->graph->nparam;
  wick_value v = i < n ? (wick_value){i + 1} : wick_return(c->graph)->in[i - n];
  return wick_info_of(c->graph, v)->dim[k];
}

/* Returns the name by which a user gives a size; NULL if it is computed from others. */
static const char *compile_given_name(const wick_compilation *c, uint32_t i, uint32_t k,
                                      const char *name)
{
  return wick_dim_is_symbol(c->module->dims, compile_io_dim(c, i, k)) ? name : NULL;
}

static wick_status compile_import(wick_compilation *c)
{
  WICK_TRY(compile_module(c));
  if (c->nshow) compile_show(c);
  WICK_TRY(wick_states_last(c->graph, &c->module->mem, &c->tmp, &c->graph));
  uint32_t nin, nout;
  const wick_io *io;
  wick_model_describe(c->graph, &c->mem, &nin, &nout, &io);
  WICK_TRY(wick_donate(c->graph, io, c->ndonate, c->donate, &c->module->mem, &c->tmp, &c->graph));
  WICK_TRY(wick_datatypes_check(c->graph, wick_path_base(c->model->path), &c->mem));
  if (c->planned) WICK_TRY(wick_fixed_inputs_assert(c, io));
  for (uint32_t i = 0; i < nin + nout; i++)
    for (uint32_t k = 0; k < io[i].rank; k++)
      if (io[i].dim[k] < 0 && !compile_varies(c, compile_io_dim(c, i, k)))
        return wick_fail_size(&c->mem, WICK_ETYPE, wick_path_base(c->model->path),
                              compile_given_name(c, i, k, io[i].dim_name[k]),
                              "the size %s of \"%s\" is dynamic", io[i].dim_name[k], io[i].name);
  wick_module_align(c->module);
  return wick_compilation_stage(c, "import");
}

static const char *const compile_precisions[] = {"f64", "bf16", "f16"};

static wick_status compile_precision_take(wick_compilation *c, const char *name)
{
  bool known = !name;
  for (size_t i = 0; i < WICK_COUNT(compile_precisions); i++)
    known = known || strcmp(name, compile_precisions[i]) == 0;
  c->precision = name;
  if (known) return NULL;
  return wick_fail(&c->mem, WICK_EINVAL, NULL,
                   "there is no precision \"%s\"; there are f64, bf16 and f16", name);
}

static wick_status compile_passed(void *arg, const wick_pass_time *done, const wick_module *m)
{
  wick_compilation *c = arg;
  (void)m;
  if (done->acted) wick_files_release(&c->model->files);
  return wick_compilation_stage(c, done->pass->name);
}

static wick_status compile_passes(wick_compilation *c, const char *pipeline, wick_lowered *out)
{
  wick_module_keep_reached(c->module, "main", &c->tmp);
  wick_pipeline_begin(&c->pipeline, c->module);
  c->pipeline.target = c->target;
  c->pipeline.precision = c->precision;
  c->pipeline.strict = c->strict;
  c->pipeline.planned = c->planned;
  c->pipeline.records = c->records;
  c->pipeline.lowered = out, c->pipeline.keep = &c->mem;
  c->pipeline.after = compile_passed, c->pipeline.arg = c;
  WICK_TRY(wick_pipeline_run_named(&c->pipeline, pipeline, NULL, &c->tmp));
  for (uint32_t i = 0; i < c->pipeline.remarks.n; i++)
    wick_context_remark(c->work.context, c->pipeline.remarks.at[i]);
  return wick_lowered_frames(out, c->module, &c->target, &c->tmp);
}

/* ---- sections ---- */

void wick_compile_constants(wick_compilation *c, const wick_lowered *l, void *to)
{
  c->weights = wick_weights_begin(c->module, l, to, &c->mem);
}

wick_status wick_compile_constants_end(wick_compilation *c)
{
  wick_weights_end(c->weights);
  c->weights = NULL;
  wick_guard_ask(c->mem.guard);
  wick_files_release(&c->model->files);
  return wick_compilation_stage(c, "weights");
}

/* Returns for each input the contents that it must have, or NULL. */
static const void *const *compile_fixed(wick_compilation *c, uint32_t ninput, const wick_io *io)
{
  const void **fixed = wick_new(&c->mem, const void *, ninput);
  for (uint32_t i = 0; i < ninput; i++) fixed[i] = wick_fixed_input(&c->given, io[i].name);
  return fixed;
}

/* Describes a call into the runtime. The launch's slots are the group's results and parameters, of
 * which the node may use one twice. */
static wick_program_host compile_host(const wick_module *m, const wick_lowered_kernel *k,
                                      wick_arena *mem)
{
  if (!k->host) return (wick_program_host){0};
  const wick_node *n = k->host;
  wick_program_host h = {.row = wick_op_of(n)->host,
                         .nattr = wick_op_nattr(wick_op_of(n)),
                         .nout = n->nout,
                         .nin = n->nin,
                         .attr = wick_host_attrs(n->op, n->attr, mem)};
  wick_host_tensor *arg = wick_new(mem, wick_host_tensor, h.nout + h.nin);
  uint32_t *slot = wick_new(mem, uint32_t, h.nout + h.nin);
  wick_program_extent *extent = wick_new(mem, wick_program_extent, h.nout + h.nin);
  for (uint32_t i = 0; i < h.nout + h.nin; i++) {
    /* parameters are values 1, 2, ... */
    slot[i] = i < h.nout ? i : h.nout + n->in[i - h.nout].id - 1;
    const wick_type_info *t = wick_type_get(m, k->operand[slot[i]]);
    arg[i].elem = t->elem, arg[i].rank = t->rank;
    int64_t step = 1;
    for (uint32_t d = t->rank; d-- > 0; step *= arg[i].dim[d]) {
      wick_dim stride = t->stride ? t->stride[d] : wick_dim_const(step);
      /* 0 until the size is known */
      arg[i].dim[d] = wick_dim_is_const(t->dim[d]) ? t->dim[d].v : 0;
      arg[i].stride[d] = wick_dim_is_const(stride) ? stride.v : 0;
    }
    memset(&extent[i], 0xff, sizeof extent[i]); /* all are WICK_PROGRAM_CONST */
    if (k->extent) extent[i] = k->extent[slot[i]];
  }
  h.arg = arg, h.slot = slot, h.extent = extent;
  return h;
}

const wick_program_kernel *wick_compile_kernels(const wick_module *m, const wick_lowered *l,
                                                wick_arena *mem)
{
  wick_program_kernel *kernel = wick_new(mem, wick_program_kernel, l->kernels.n);
  for (uint32_t i = 0; i < l->kernels.n; i++) {
    const wick_lowered_kernel *k = &l->kernels.at[i];
    kernel[i] = (wick_program_kernel){.name = k->name,
                                      .location = wick_loc_text(m, k->loc),
                                      .schedule = k->schedule,
                                      .scratch = k->scratch,
                                      .stack = k->stack,
                                      .heap = k->heap,
                                      .fault = k->fault,
                                      .flops = k->model.flops * k->nrun,
                                      .bytes = (k->bytes - k->launch_weights) * k->nrun +
                                               k->weights, /* each is read once in a run */
                                      .weights = k->weights,
                                      .cost = k->cost,
                                      .cycles = (uint64_t)k->model.cycles * k->nrun,
                                      .tasks = (uint64_t)wick_dim_typical(m->dims, k->tasks),
                                      .limit = wick_cost_limit_text(k->model.limit),
                                      .host = compile_host(m, k, mem)};
  }
  return kernel;
}

/* Finds the dimension of an input from which a symbol's value is computed: one that is linear in
 * it. */
static wick_status compile_symbol(wick_compilation *c, wick_dim symbol, wick_program_symbol *out)
{
  wick_dims *dims = c->module->dims;
  wick_text name = wick_text_begin(&c->mem);
  wick_dim_print(dims, symbol, &name);
  *out = (wick_program_symbol){.name = name.at};
  wick_dim_range(dims, symbol, &out->lo, &out->hi);
  for (uint32_t v = 1; v <= c->graph->nparam; v++) {
    const wick_type_info *t = wick_info_of(c->graph, (wick_value){v});
    for (uint32_t k = 0; k < t->rank; k++) {
      wick_dim factor, rest;
      if (!wick_dim_uses(dims, t->dim[k], symbol) ||
          !wick_dim_linear(dims, t->dim[k], symbol, &factor, &rest) || !wick_dim_is_const(factor) ||
          !wick_dim_is_const(rest) || factor.v <= 0)
        continue;
      out->input = v - 1, out->axis = k, out->factor = factor.v, out->rest = rest.v;
      return NULL;
    }
  }
  return wick_fail_size(&c->mem, WICK_EUNSUPPORTED, wick_path_base(c->model->path), name.at,
                        "the size %s follows from no shape of an input", name.at);
}

static const char *compile_dim_text(wick_compilation *c, wick_dim d)
{
  wick_text t = wick_text_begin(&c->mem);
  wick_dim_print(c->module->dims, d, &t);
  return t.at;
}

static wick_status compile_sizes(wick_compilation *c, const wick_lowered *l,
                                 wick_program_sizes *out)
{
  *out = (wick_program_sizes){.fill = l->fill, .scratch = l->scratch};
  if (!l->fill) return NULL;
  out->nslot = l->sizes.slot.n + 1, out->nsymbol = l->sizes.nsymbol;
  out->nbuffer = l->buffers.n, out->ncheck = l->checks.n;
  wick_program_symbol *symbol = wick_new(&c->mem, wick_program_symbol, out->nsymbol);
  wick_program_check *check = wick_new(&c->mem, wick_program_check, out->ncheck);
  for (uint32_t i = 0; i < out->nsymbol; i++)
    WICK_TRY(compile_symbol(c, l->sizes.slot.at[i], &symbol[i]));
  for (uint32_t i = 0; i < out->ncheck; i++) {
    const wick_lowered_check *k = &l->checks.at[i];
    check[i] =
        (wick_program_check){{k->slot[0], k->slot[1]},
                             wick_loc_text(c->module, k->check->loc),
                             {compile_dim_text(c, k->check->a), compile_dim_text(c, k->check->b)}};
  }
  out->symbol = symbol, out->buffer = l->buffers.at, out->check = check, out->port = l->port;
  return NULL;
}

static wick_status compile_program(wick_compilation *c, const wick_lowered *l, wick_program *out)
{
  wick_program p = {.entry = l->entry,
                    .contract = wick_contract_text(l, &c->pipeline, &c->mem),
                    .arena_bytes = l->arena_bytes,
                    .scratch_bytes = l->fill ? 0 : (uint64_t)l->scratch_bytes.v,
                    .packed_bytes = l->constant_bytes,
                    .nkernel = l->kernels.n,
                    .nflow = l->flows.n,
                    .flow = l->flows.at,
                    .nmetadata = c->module->metadata.n};
  wick_model_describe(c->graph, &c->mem, &p.ninput, &p.noutput, &p.io);
  p.nparam_part = c->module->nparam_part, p.param_part = c->module->param_part;
  p.nresult_part = c->module->nresult_part, p.result_part = c->module->result_part;
  p.fixed = compile_fixed(c, p.ninput, p.io);
  p.donor = wick_donors(c->graph, &c->mem);
  p.nstate = wick_states_count(c->graph);
  p.initial = wick_states_initial(c->graph, &c->mem);
  for (uint32_t i = 0; i < p.ninput; i++)
    for (uint32_t k = 0; k < p.io[i].rank && p.fixed[i]; k++)
      if (p.io[i].dim[k] < 0)
        return wick_fail(
            &c->mem, WICK_EUNSUPPORTED, wick_path_base(c->model->path),
            "sizes depend on the contents of input \"%s\", whose own size %s is dynamic",
            p.io[i].name, p.io[i].dim_name[k]);
  WICK_TRY(compile_sizes(c, l, &p.sizes));
  p.kernel = wick_compile_kernels(c->module, l, &c->mem);
  wick_branch_inputs found, guarded = {0};
  wick_branch_inputs_find(wick_module_find(c->module, c->graph->name), p.ninput, &c->mem, &c->tmp,
                          &found);
  for (uint32_t i = 0; i < found.n; i++) /* the number of a string differs from run to run */
    if (p.io[found.at[i]].elem != WICK_STRING) wick_push(&c->mem, &guarded, found.at[i]);
  p.guard_input = guarded.at, p.nguard_input = guarded.n;
  wick_program_pair *pair = wick_new(&c->mem, wick_program_pair, p.nmetadata);
  for (uint32_t i = 0; i < p.nmetadata; i++)
    pair[i] = (wick_program_pair){c->module->metadata.at[i].key, c->module->metadata.at[i].value};
  p.metadata = pair;
  p.strings = c->module->strings;
  *out = p;
  return NULL;
}

wick_status wick_compile_objects(wick_compilation *c, const wick_codegen_options *options,
                                 wick_span **out_object, uint32_t *out_n)
{
  wick_codegen_options o = *options;
  o.clean = true;
  wick_codegen_limits limits = {.control = {.parallel = c->nprocess,
                                            .cancel = c->work.context->options.cancel,
                                            .arg = c->work.context->options.arg}};
  if (c->work.deadline > 0) limits.seconds = c->work.deadline - wick_now();
  WICK_TRY(wick_codegen_module(c->module, &c->target, &o, &limits, &c->mem, out_object, out_n));
  return wick_compilation_stage(c, "codegen");
}

wick_status wick_compile_passes(wick_compilation *c, const char *pipeline, wick_lowered *out)
{
  c->begun = wick_now();
  *out = (wick_lowered){0};
  WICK_TRY(compile_import(c));
  return compile_passes(c, pipeline, out);
}

wick_status wick_compile_loops(wick_compilation *c, wick_lowered *out)
{
  return wick_compile_passes(c, "default", out);
}

void wick_compilation_begin(wick_compilation *c, wick_model *model)
{
  *c = (wick_compilation){.model = model, .target = wick_target_host()};
  c->work = wick_work_begin(model->context);
  wick_work_watch(&c->work, &model->guard);
  c->mem = wick_arena_make(&model->guard);
  c->tmp = wick_arena_make(&model->guard);
}

void wick_compilation_free(wick_compilation *c)
{
  wick_work_watch(NULL, &c->model->guard);
  wick_weights_drop(c->weights); /* before the memory that they use is freed */
  wick_draft_drop(c->draft);
  wick_specialize_end(&c->specialized);
  wick_pipeline_free(&c->pipeline);
  if (!c->borrowed) wick_module_free(c->module);
  wick_arena_free(&c->tmp);
  wick_arena_free(&c->mem);
}

/* Begins to compute the constants. They come first in the artifact, so that their offset in the
 * file is known before code is generated, and they are written directly to the cache's file. */
static wick_span compile_constants(wick_compilation *c, const wick_lowered *l, uint32_t nsection)
{
  uint64_t first = wick_artifact_first(nsection);
  if (c->cache) c->draft = wick_cache_begin(c->cache, first, l->constant_bytes, &c->mem);
  unsigned char *to = c->draft ? c->draft->at + first
                               : wick_arena_alloc(&c->mem, l->constant_bytes, WICK_ARTIFACT_ALIGN);
  wick_compile_constants(c, l, to);
  return (wick_span){to, l->constant_bytes};
}

/* Makes the sections for specializations: the source, and those that are compiled ahead of time. */
static wick_status compile_specializations(wick_compilation *c, wick_span source,
                                           const wick_program *p,
                                           const wick_specialization_keys *keys, wick_section *out)
{
  out[0] = (wick_section){"source", source, 0, 0};
  for (uint32_t i = 0; i < keys->n; i++) {
    wick_artifact_parts parts;
    c->specialized = (wick_specialize){.source = source,
                                       .target = &c->target,
                                       .program = p,
                                       .sizes = keys->at[i].sizes,
                                       .guards = keys->at[i].guards,
                                       .control = {.parallel = c->nprocess,
                                                   .cancel = c->work.context->options.cancel,
                                                   .arg = c->work.context->options.arg}};
    WICK_TRY(wick_specialize_make(&c->specialized, c->mem.guard, &c->mem, &parts));
    wick_specialize_end(&c->specialized);
    const char *name = wick_str_printf(&c->mem, "specialization.%u", i);
    out[1 + i] = (wick_section){name, wick_artifact_join(&parts, &c->mem), 0, 0};
    WICK_TRY(wick_compilation_stage(c, "specialize"));
  }
  return NULL;
}

wick_status wick_compile_model(wick_compilation *c, wick_artifact_parts *out)
{
  static const wick_codegen_options options = {.output = WICK_OUTPUT_OBJECT};
  wick_lowered l;
  wick_program p;
  wick_specialization_keys keys;
  wick_span *object;
  uint32_t n, nobject;
  WICK_TRY(wick_compile_loops(c, &l));
  WICK_TRY(compile_program(c, &l, &p));
  WICK_TRY(wick_specialization_keys_of(c, &p, &keys));
  uint32_t nspecialization = l.fill || p.nguard_input ? 1 + keys.n : 0,
           nsection = 3 + WICK_LINK_SECTIONS + nspecialization + (c->cache ? 1 : 0);
  wick_span source = {0};
  if (nspecialization)
    source = wick_specialize_source(wick_module_find(c->module, c->graph->name), &l, &c->mem);
  wick_section *section = wick_new(&c->mem, wick_section, nsection);
  section[0] =
      (wick_section){"constants", compile_constants(c, &l, nsection), 0, WICK_SECTION_BULK};
  WICK_TRY(wick_compile_objects(c, &options, &object, &nobject));
  WICK_TRY(wick_link(nobject, object, &c->target, &c->mem, section + 1));
  WICK_TRY(wick_compilation_stage(c, "link"));
  n = 1 + WICK_LINK_SECTIONS;
  section[n++] = (wick_section){"program", wick_program_write(&p, &c->mem), 0, 0};
  if (nspecialization) WICK_TRY(compile_specializations(c, source, &p, &keys, section + n));
  n += nspecialization;
  WICK_TRY(wick_compile_constants_end(c));
  section[n++] = wick_digest_section(section[0].bytes, &c->mem);
  if (c->cache) section[n++] = wick_cache_section(c->cache);
  WICK_TRY(wick_artifact_make(c->target.machine, c->target.needs, nsection, section, &c->mem, out));
  return wick_compilation_stage(c, "artifact");
}

/* ---- the public interface ---- */

static wick_status compile_records(wick_compilation *c, const char *path)
{
  char *text;
  size_t n;
  WICK_TRY(wick_file_read(&c->mem, path, COMPILE_RECORDS_MOST, &text, &n));
  c->records = wick_new(&c->mem, wick_tuning_records, 1);
  *c->records = wick_tuning_records_begin(path, &c->mem);
  c->records_hash = wick_hash_bytes(WICK_HASH_SEED, text, n);
  return wick_tuning_records_read(c->records, path, text, n);
}

static wick_status compile_lists(const wick_compile_options *o, wick_arena *mem)
{
  WICK_TRY(wick_arguments_shapes(o->nshape, o->shape, mem));
  WICK_TRY(wick_arguments_sizes("sizes", o->nsize, o->sizes, mem));
  WICK_TRY(wick_arguments_ranges(o->nrange, o->ranges, mem));
  WICK_TRY(wick_arguments_sizes("specialize_dims", o->nspecialize_dim, o->specialize_dims, mem));
  WICK_TRY(wick_arguments_contents("contents", true, o->ncontent, o->contents, mem));
  return wick_arguments_contents("specialize_inputs", false, o->nspecialize_input,
                                 o->specialize_inputs, mem);
}

static wick_status compile_donated(const wick_compile_options *o, wick_arena *mem)
{
  if (o->ndonate && !o->donate) return wick_fail(mem, WICK_EINVAL, NULL, "donate is NULL");
  for (uint32_t i = 0; i < o->ndonate; i++)
    if (!o->donate[i]) return wick_fail(mem, WICK_EINVAL, NULL, "donate[%u] is NULL", i);
  return NULL;
}

wick_status wick_compilation_take(wick_compilation *c, const wick_compile_options *o)
{
  WICK_TRY(compile_lists(o, &c->mem));
  c->nprocess = o->jobs;
  c->strict = o->strict;
  c->nspecialize_dim = o->nspecialize_dim, c->specialize_dims = o->specialize_dims;
  c->nspecialize_input = o->nspecialize_input, c->specialize_inputs = o->specialize_inputs;
  WICK_TRY(compile_donated(o, &c->mem));
  c->ndonate = o->ndonate, c->donate = o->donate;
  WICK_TRY(compile_precision_take(c, o->precision));
  c->stage = o->stage;
  c->arg = o->arg;
  if (o->tuning) WICK_TRY(compile_records(c, o->tuning));
  if (o->target && !wick_target_find(o->target, &c->target))
    return wick_fail(&c->mem, WICK_EINVAL, NULL, "there is no target \"%s\"", o->target);
  bool host = !o->target || strncmp(o->target, "host", 4) == 0;
  WICK_TRY(wick_target_tune(&c->target, o->tune, host, o->cache && *o->cache ? o->cache : NULL,
                            &c->mem));
  WICK_TRY(wick_model_sizes(c->model, o->nshape, o->shape, o->nsize, o->sizes, &c->mem, &c->given));
  WICK_TRY(wick_model_ranges(c->model, o->nrange, o->ranges, o->dynamic, &c->mem, &c->given));
  return wick_model_contents(c->model, o->ncontent, o->contents, &c->mem, &c->given);
}

/* Returns whether a program from the cache accepts these contents. */
static bool compile_fits(const wick_compilation *c, const wick_program *p)
{
  const wick_given *g = &c->given;
  for (uint32_t i = 0; i < p->ninput; i++) {
    uint32_t k = 0;
    while (k < g->ncontent && strcmp(g->contents[k].input, p->io[i].name) != 0) k++;
    if (p->fixed[i] && (k == g->ncontent || g->contents[k].nbytes != p->io[i].nbytes ||
                        !wick_io_same(&p->io[i], g->contents[k].data, p->fixed[i])))
      return false;
  }
  return true;
}

/* Compiles, and writes the artifact to the cache if there is one. */
static wick_status compile_anew(wick_compilation *c, wick_compiled *k)
{
  wick_artifact_parts parts;
  WICK_TRY(wick_compile_model(c, &parts));
  bool kept = c->cache && wick_cache_end(c->cache, c->draft, &parts, &c->tmp) &&
              wick_cache_find(c->cache, false, k, &c->tmp);
  k->cached = false;
  wick_guard_ask(c->mem.guard);
  if (kept) return wick_compilation_stage(c, "cache, written");
  const char *name = wick_path_base(c->model->path);
  return wick_compiled_take(k, wick_artifact_join(&parts, &k->mem), name);
}

static wick_status compile_public(wick_compilation *c, const wick_compile_options *o,
                                  wick_compiled *k)
{
  WICK_TRY(wick_compilation_take(c, o));
  c->begun = wick_now();
  k->foreign = !wick_target_runs_on(&c->target, wick_cpu_detect());
  wick_cache cache = wick_cache_of(c, o->cache, o->cache_bytes, &c->mem);
  wick_files_release(&c->model->files); /* the key's computation has read these pages */
  bool hit = wick_cache_find(&cache, true, k, &c->tmp) && compile_fits(c, &k->program);
  WICK_TRY(wick_compilation_stage(c, hit ? "cache, found" : "cache"));
  c->cache = cache.folder ? &cache : NULL;
  if (!hit) WICK_TRY(compile_anew(c, k));
  wick_auto_specialize_begin(c, o, k);
  return NULL;
}

wick_error *wick_compile(wick_model *m, const wick_compile_options *options,
                         wick_compiled **out_compiled)
{
  return wick_compile_shown(m, options, 0, NULL, out_compiled);
}

wick_error *wick_compile_shown(wick_model *m, const wick_compile_options *options, uint32_t nshow,
                               wick_shown *show, wick_compiled **out_compiled)
{
  if (!out_compiled) return wick_invalid("wick_compile: out_compiled is NULL");
  *out_compiled = NULL;
  if (!m) return wick_invalid("wick_compile: model is NULL");
  wick_compile_options o;
  wick_error *wrong = wick_options_take("wick_compile_options", &o, sizeof o, options);
  if (wrong) return wrong;
  if (nshow) o.cache = ""; /* its keys do not contain the shown locations */
  wick_compiled *k = wick_compiled_new(m->context);
  if (!k) return wick_error_nomem();
  wick_compilation c;
  wick_compilation_begin(&c, m);
  wick_work_watch(&c.work, &k->guard);
  c.nshow = nshow, c.show = show;
  wick_error *e;
  if (setjmp(m->guard.where))
    e = wick_guard_error(&m->guard);
  else if (setjmp(k->guard.where))
    e = wick_guard_error(&k->guard);
  else
    e = wick_error_export(compile_public(&c, &o, k));
  wick_work_watch(NULL, &k->guard);
  wick_compilation_free(&c);
  wick_arena_free(&m->tmp); /* the import puts errors there */
  if (e)
    wick_compiled_free(k);
  else
    *out_compiled = k;
  return e;
}
