/* Opens and saves artifacts, and describes compiled models. */
#include "runtime/compiled.h"

#include <string.h>

#include "base/str.h"
#include "runtime/digest.h"
#include "runtime/states.h"

wick_compiled *wick_compiled_new(const wick_context *context)
{
  wick_allocator a = context->allocator;
  wick_compiled *k = a.alloc(a.self, sizeof *k);
  if (!k) return NULL;
  *k = (wick_compiled){.context = context, .guard = wick_context_guard(context)};
  k->guard.limit_bytes = 0; /* that limit is only for compiling */
  k->mem = wick_arena_make(&k->guard);
  k->files = wick_files_begin(&k->mem);
  return k;
}

void wick_compiled_free(wick_compiled *k)
{
  if (!k) return;
  wick_specializations_free(k->specializations);
  wick_flow_counters_free(k->flows);
  wick_image_unmap(&k->image);
  wick_files_close(&k->files);
  wick_arena_free(&k->mem);
  wick_allocator a = k->context->allocator;
  a.free(a.self, k, sizeof *k);
}

/* Reads the specializations in the artifact. */
static wick_status compiled_specializations(wick_compiled *k, const char *location)
{
  if (!k->program.sizes.nsymbol && !k->program.nguard_input) return NULL;
  k->specializations = wick_specializations_create(&k->program, k->context->allocator);
  for (uint32_t i = 0; k->specializations; i++) {
    const char *name = wick_str_printf(&k->mem, "specialization.%u", i);
    wick_span bytes = wick_artifact_section(&k->artifact, name);
    if (!bytes.at) break;
    wick_specialization *x = wick_new(&k->mem, wick_specialization, 1);
    wick_status bad = wick_specialization_read(bytes, location, &k->program, &k->mem, x);
    if (bad || !wick_specializations_add(k->specializations, x)) wick_image_unmap(&x->image);
    if (bad) return bad;
  }
  return NULL;
}

wick_status wick_compiled_take(wick_compiled *k, wick_span bytes, const char *location)
{
  k->bytes = bytes;
  WICK_TRY(wick_artifact_read(bytes, location, &k->mem, &k->artifact));
  WICK_TRY(wick_program_read(wick_artifact_section(&k->artifact, "program"), location, &k->mem,
                             &k->program));
  wick_span constants = wick_artifact_section(&k->artifact, "constants");
  if (constants.nbytes < k->program.packed_bytes ||
      (uintptr_t)constants.at % WICK_ARTIFACT_ALIGN != 0)
    return wick_fail(&k->mem, WICK_EPARSE, location, "its constants are not all there");
  k->constants = constants.at;
  k->foreign = k->foreign && wick_image_check_cpu(&k->artifact, &k->mem);
  if (k->foreign) return NULL;
  WICK_TRY(wick_image_map(&k->artifact, &k->mem, &k->image));
  if (k->program.nflow) k->flows = wick_flow_counters_begin(&k->program, k->context->allocator);
  return compiled_specializations(k, location);
}

wick_status wick_compiled_map(wick_compiled *k, const char *path)
{
  wick_file *file;
  WICK_TRY(wick_files_map(&k->files, path, &file));
  WICK_TRY(wick_compiled_take(k, (wick_span){file->at, file->nbytes}, path));
  if (wick_digest_holds(&k->artifact, &k->mem)) return NULL;
  return wick_fail(&k->mem, WICK_EPARSE, path,
                   "the artifact is damaged: its constants are not those that were written");
}

wick_error *wick_compiled_load(wick_context *context, const char *path,
                               wick_compiled **out_compiled)
{
  if (!out_compiled) return wick_invalid("wick_compiled_load: out_compiled is NULL");
  *out_compiled = NULL;
  if (!context || !path)
    return wick_invalid("wick_compiled_load: %s is NULL", context ? "path" : "context");
  wick_compiled *k = wick_compiled_new(context);
  if (!k) return wick_error_nomem();
  const wick_work work = {.context = context}; /* without the time limit, which is for compiling */
  wick_work_watch(&work, &k->guard);
  wick_error *e = setjmp(k->guard.where) ? wick_guard_error(&k->guard)
                                         : wick_error_export(wick_compiled_map(k, path));
  wick_work_watch(NULL, &k->guard);
  if (e)
    wick_compiled_free(k);
  else
    *out_compiled = k;
  return e;
}

wick_error *wick_save(const wick_compiled *compiled, const char *path)
{
  if (!compiled || !path)
    return wick_invalid("wick_save: %s is NULL", compiled ? "path" : "compiled");
  wick_guard guard = wick_context_guard(compiled->context);
  wick_arena mem = wick_arena_make(&guard);
  const wick_bytes part = {compiled->bytes.at, compiled->bytes.nbytes};
  const wick_work work = {.context = compiled->context}; /* without the time limit, which is for
                                                     compiling */
  wick_work_watch(&work, &guard);
  wick_error *e = setjmp(guard.where) ? wick_guard_error(&guard)
                                      : wick_error_export(wick_file_write(&mem, path, &part, 1));
  wick_arena_free(&mem);
  return e;
}

/* ---- description ---- */

bool wick_compiled_cached(const wick_compiled *k) { return k && k->cached; }
uint32_t wick_compiled_ninput(const wick_compiled *k)
{
  return k ? wick_program_ninput(&k->program) : 0;
}
uint32_t wick_compiled_noutput(const wick_compiled *k)
{
  return k ? wick_program_noutput(&k->program) : 0;
}
uint32_t wick_compiled_nstate(const wick_compiled *k) { return k ? k->program.nstate : 0; }

const wick_io *wick_compiled_state(const wick_compiled *k, uint32_t i)
{
  return i < wick_compiled_nstate(k) ? wick_states_io(&k->program, i) : NULL;
}

const wick_io *wick_compiled_input(const wick_compiled *k, uint32_t i)
{
  return i < wick_compiled_ninput(k) ? &k->program.io[i] : NULL;
}

const wick_part *wick_compiled_parameters(const wick_compiled *k, uint32_t *npart)
{
  if (npart) *npart = k ? k->program.nparam_part : 0;
  return k && k->program.nparam_part ? k->program.param_part : NULL;
}

const wick_part *wick_compiled_result(const wick_compiled *k, uint32_t *npart)
{
  if (npart) *npart = k ? k->program.nresult_part : 0;
  return k && k->program.nresult_part ? k->program.result_part : NULL;
}

const void *wick_compiled_required_input(const wick_compiled *k, uint32_t i)
{
  return i < wick_compiled_ninput(k) ? k->program.fixed[i] : NULL;
}

uint32_t wick_compiled_donor(const wick_compiled *k, uint32_t i)
{
  return i < wick_compiled_noutput(k) ? k->program.donor[i] : UINT32_MAX;
}

const wick_io *wick_compiled_output(const wick_compiled *k, uint32_t i)
{
  return i < wick_compiled_noutput(k) ? &k->program.io[k->program.ninput + i] : NULL;
}

const char *wick_compiled_metadata(const wick_compiled *k, const char *key)
{
  for (uint32_t i = 0; k && key && i < k->program.nmetadata; i++)
    if (strcmp(k->program.metadata[i].key, key) == 0) return k->program.metadata[i].value;
  return NULL;
}

const char *wick_compiled_metadata_key(const wick_compiled *k, uint32_t i)
{
  return k && i < k->program.nmetadata ? k->program.metadata[i].key : NULL;
}

const char *wick_compiled_contract(const wick_compiled *k) { return k ? k->program.contract : ""; }

/* ---- branches and loops ---- */

uint32_t wick_compiled_nflow(const wick_compiled *k)
{
  return k && k->flows ? k->program.nflow : 0;
}

wick_flow wick_compiled_flow(const wick_compiled *k, uint32_t i)
{
  if (i >= wick_compiled_nflow(k)) return (wick_flow){.location = ""};
  return wick_flow_counters_sum(k->flows, i);
}

/* ---- dynamic sizes ---- */

uint32_t wick_compiled_nsize(const wick_compiled *k) { return k ? k->program.sizes.nsymbol : 0; }

wick_size_range wick_compiled_size(const wick_compiled *k, uint32_t i)
{
  if (i >= wick_compiled_nsize(k)) return (wick_size_range){.name = ""};
  const wick_program_symbol *x = &k->program.sizes.symbol[i];
  int64_t least, most;
  if (wick_mul_overflows(x->lo, x->factor, &least) || wick_add_overflows(least, x->rest, &least))
    least = INT64_MIN;
  if (wick_mul_overflows(x->hi, x->factor, &most) || wick_add_overflows(most, x->rest, &most))
    most = INT64_MAX;
  return (wick_size_range){.name = x->name, .least = least, .most = most, .step = x->factor};
}

bool wick_compiled_profile(const wick_compiled *k, uint32_t i, wick_profile_entry *out)
{
  const wick_profile_record *m =
      k && out && k->specializations ? wick_specializations_at(k->specializations, i) : NULL;
  if (!m) return false;
  wick_specialization_state state = (wick_specialization_state)atomic_load(&m->state);
  const char *why = state == WICK_SPECIALIZATION_FAILED ? atomic_load(&m->why) : NULL;
  *out = (wick_profile_entry){.sizes = m->sizes + k->program.sizes.nsymbol,
                              .nrun = atomic_load(&m->nrun),
                              .specialization = state,
                              .ahead = m->ahead,
                              .cached = state == WICK_SPECIALIZATION_READY && m->cached,
                              .why = why ? why : "",
                              .base_nanoseconds = atomic_load(&m->least[0]),
                              .specialized_nanoseconds = atomic_load(&m->least[1])};
  return true;
}

uint32_t wick_compiled_nguard_input(const wick_compiled *k)
{
  return k ? k->program.nguard_input : 0;
}

const char *wick_compiled_guard_input(const wick_compiled *k, uint32_t i)
{
  return k && i < k->program.nguard_input ? k->program.io[k->program.guard_input[i]].name : NULL;
}

bool wick_compiled_profile_content(const wick_compiled *k, uint32_t i, uint32_t w,
                                   wick_profile_content *out)
{
  if (!k || !out) return false;
  const wick_program *p = &k->program;
  const wick_profile_record *m = k->specializations && w < p->nguard_input
                                     ? wick_specializations_at(k->specializations, i)
                                     : NULL;
  if (!m) return false;
  uint32_t at = 0;
  for (uint32_t x = 0; x < w; x++) at += 1 + wick_guards_nbody(p, x);
  const int64_t *observed =
      (const int64_t *)(const void *)m->observed; /* written only once, before the state changes */
  *out =
      (wick_profile_content){.input = p->io[p->guard_input[w]].name, .guarded = m->guards[at] != 0};
  if (out->guarded)
    out->data = m->guards + at + 1;
  else if (atomic_load(&m->observed[at]) == WICK_OBSERVED_SAME)
    out->data = observed + at + 1;
  return true;
}

void wick_compiled_wait(const wick_compiled *k)
{
  if (k && k->specializations) wick_specializations_wait(k->specializations);
}

wick_memory wick_compiled_memory(const wick_compiled *k)
{
  if (!k) return (wick_memory){0};
  uint64_t states = 0;
  for (uint32_t i = 0; i < k->program.nstate; i++) states += wick_states_io(&k->program, i)->nbytes;
  return (wick_memory){k->program.packed_bytes, k->program.arena_bytes, k->program.scratch_bytes,
                       states};
}

uint32_t wick_compiled_nkernel(const wick_compiled *k) { return k ? k->program.nkernel : 0; }

wick_kernel_facts wick_compiled_kernel(const wick_compiled *k, uint32_t i)
{
  if (i >= wick_compiled_nkernel(k))
    return (wick_kernel_facts){.name = "", .location = "", .schedule = "", .limit = ""};
  const wick_program_kernel *p = &k->program.kernel[i];
  return (wick_kernel_facts){p->name,   p->location, p->schedule, p->flops,  p->bytes,
                             p->cycles, p->tasks,    p->limit,    p->weights};
}
