/* Public sessions: each has its own pool, and its errors name locations in the user's model. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "runtime/compiled.h"
#include "runtime/datum.h"
#include "runtime/fault_text.h"
#include "runtime/session.h"
#include "runtime/states.h"

enum {
  RUN_MESSAGE = 4096,
  RUN_TIMED = 16 /* the first RUN_TIMED runs and one in RUN_TIMED later ones are measured */
};

struct wick_session {
  const wick_compiled *compiled;
  wick_pool *pool; /* NULL: the caller's thread alone */
  wick_session_state *state;
  wick_data_ports *data; /* NULL: no input or output is data */
  wick_states *states;   /* NULL: there are none */
  /* counts of branches and loops; NULL: nobody reads them */
  int64_t *counts;
  wick_profile_record *entry;             /* the record of the present sizes; NULL: none */
  const wick_specialization *specialized; /* the specialization that runs; NULL: none */
};

static wick_status run_create(wick_session *s, const wick_session_options *o, wick_arena *mem)
{
  const wick_compiled *k = s->compiled;
  if (k->foreign) WICK_TRY(wick_image_check_cpu(&k->artifact, mem));
  wick_pool_options pool = {o->threads, o->pin_threads, k->context->allocator};
  if (o->threads != 1) WICK_TRY(wick_pool_create(&pool, mem, &s->pool));
  if (k->flows) s->counts = wick_flow_counters_take(k->flows);
  wick_session_setup setup = {.allocator = k->context->allocator,
                              .pool = s->pool,
                              .counts = s->counts,
                              .heap_bytes = o->heap_bytes,
                              .heap = s->data ? &s->data->heap->map : NULL,
                              .profile = o->profile,
                              .profile_ctx = o->arg,
                              .print = o->print};
  WICK_TRY(wick_session_make(&k->image, &k->program, k->constants, &setup, mem, &s->state));
  if (!wick_states_make(&k->program, k->context->allocator, &s->states))
    return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory: a session's states need %llu bytes",
                     (unsigned long long)wick_compiled_memory(k).states);
  /* without dynamic sizes; otherwise a shape is set first */
  if (k->specializations && !k->program.sizes.nsymbol) {
    const int64_t none = 0;
    s->entry = wick_specializations_entry(k->specializations, &none, NULL);
  }
  return NULL;
}

wick_error *wick_session_create(const wick_compiled *compiled, const wick_session_options *options,
                                wick_session **out_session)
{
  if (!out_session) return wick_invalid("wick_session_create: out_session is NULL");
  *out_session = NULL;
  if (!compiled) return wick_invalid("wick_session_create: compiled is NULL");
  wick_session_options o;
  wick_error *wrong = wick_options_take("wick_session_options", &o, sizeof o, options);
  if (wrong) return wrong;
  wick_allocator a = compiled->context->allocator;
  wick_session *s = a.alloc(a.self, sizeof *s);
  if (!s) return wick_error_nomem();
  *s = (wick_session){.compiled = compiled};
  wick_guard guard = wick_context_guard(compiled->context);
  wick_arena mem = wick_arena_make(&guard);
  wick_error *e =
      wick_data_ports_make(compiled->context, &compiled->program, o.heap, o.heap_bytes, &s->data);
  if (!e) e = setjmp(guard.where) ? wick_error_nomem() : wick_error_export(run_create(s, &o, &mem));
  wick_arena_free(&mem);
  if (e)
    wick_session_free(s);
  else
    *out_session = s;
  return e;
}

void wick_session_free(wick_session *s)
{
  if (!s) return;
  wick_session_drop(s->state);
  wick_flow_counters_give(s->compiled->flows, s->counts);
  wick_pool_free(s->pool);
  wick_data_ports_free(s->data);
  wick_states_free(s->states);
  wick_allocator a = s->compiled->context->allocator;
  a.free(a.self, s, sizeof *s);
}

uint32_t wick_session_threads(const wick_session *s) { return s ? wick_pool_size(s->pool) : 0; }

wick_data_heap *wick_session_heap(const wick_session *s)
{
  return s && s->data ? s->data->heap : NULL;
}

/* ---- states ---- */

void wick_session_reset(wick_session *s)
{
  if (s && s->states) wick_states_reset(s->states);
}

/* Finds the memory of a state, which must have nbytes bytes. */
static wick_error *run_state(const wick_session *s, const char *function, const char *name,
                             const void *data, uint64_t nbytes, void **out)
{
  const char *none = !s ? "session" : !name ? "name" : !data && nbytes ? "data" : NULL;
  if (none) return wick_invalid("%s: %s is NULL", function, none);
  const wick_program *p = &s->compiled->program;
  uint32_t i = wick_states_find(p, name);
  if (i == UINT32_MAX) return wick_invalid("%s: there is no state \"%s\"", function, name);
  if (nbytes != wick_states_io(p, i)->nbytes)
    return wick_invalid("%s: the state \"%s\" has %llu bytes, but %llu are given", function, name,
                        (unsigned long long)wick_states_io(p, i)->nbytes,
                        (unsigned long long)nbytes);
  *out = wick_states_at(s->states, i);
  return NULL;
}

wick_error *wick_session_state_get(const wick_session *s, const char *name, void *out_data,
                                   uint64_t nbytes)
{
  void *at;
  wick_error *e = run_state(s, "wick_session_state_get", name, out_data, nbytes, &at);
  if (!e && nbytes) memcpy(out_data, at, (size_t)nbytes);
  return e;
}

wick_error *wick_session_state_set(wick_session *s, const char *name, const void *data,
                                   uint64_t nbytes)
{
  void *at;
  wick_error *e = run_state(s, "wick_session_state_set", name, data, nbytes, &at);
  if (!e && nbytes) memcpy(at, data, (size_t)nbytes);
  return e;
}

/* ---- shapes ---- */

/* Returns the descriptions of inputs, then outputs, for the next runs. */
static const wick_io *run_io(const wick_session *s)
{
  const wick_sized *sized = wick_session_sized(s->state);
  return sized ? sized->io : s->compiled->program.io;
}

const wick_io *wick_session_input(const wick_session *s, uint32_t i)
{
  return s && i < wick_compiled_ninput(s->compiled) ? run_io(s) + i : NULL;
}

const wick_io *wick_session_output(const wick_session *s, uint32_t i)
{
  if (!s) return NULL;
  const wick_program *p = &s->compiled->program;
  return i < wick_program_noutput(p) ? run_io(s) + p->ninput + i : NULL;
}

/* Changes to the specialization of a record if there is one, or back to the base program. */
static void run_turn(wick_session *s, const wick_profile_record *m)
{
  const wick_specialization *x = atomic_load_explicit(&m->specialized, memory_order_acquire);
  if (x == s->specialized) return;
  if (x && !wick_session_take(s->state, x, false)) x = NULL;
  if (!x && s->specialized) wick_session_leave(s->state);
  s->specialized = x;
}

/* Provides memory for all specializations of these sizes; the next run selects one. Returns false
 * if there is not even enough for the base program. */
static bool run_reserve(wick_session *s, const wick_sized *sized)
{
  for (const wick_profile_record *m = s->entry; m; m = atomic_load(&m->more)) {
    const wick_specialization *x = atomic_load_explicit(&m->specialized, memory_order_acquire);
    if (x) (void)wick_session_take(s->state, x, true);
  }
  s->specialized = NULL;
  return wick_session_resize(s->state, sized);
}

/* Without dynamic sizes, checks that the shapes are those of the compiled model. */
static wick_status run_shape(wick_session *s, uint32_t nshape, const wick_shape *shape,
                             wick_arena *mem)
{
  const wick_program *p = &s->compiled->program;
  WICK_TRY(wick_arguments_shapes(nshape, shape, mem));
  wick_shape *by = wick_new(mem, wick_shape, p->ninput + 1);
  for (uint32_t i = 0; i < p->ninput; i++) by[i].rank = UINT32_MAX;
  for (uint32_t k = 0; k < nshape; k++) {
    uint32_t i = 0, n = wick_program_ninput(p);
    while (i < n && strcmp(p->io[i].name, shape[k].input) != 0) i++;
    if (i == n)
      return wick_fail(mem, WICK_EINVAL, NULL, "there is no input \"%s\"", shape[k].input);
    by[i] = shape[k];
  }
  int64_t *symbol = wick_new(mem, int64_t, p->sizes.nsymbol + 1);
  WICK_TRY(wick_sizing_symbols(p, by, mem, symbol));
  if (!p->sizes.nsymbol) return NULL;
  const wick_sized *sized;
  WICK_TRY(wick_session_sizes(s->state, symbol, &sized));
  for (uint32_t i = 0; i < p->ninput; i++) {
    const wick_io *io = &sized->io[i];
    for (uint32_t k = 0; by[i].rank != UINT32_MAX && k < io->rank; k++)
      if (by[i].dim[k] != io->dim[k])
        return wick_fail(mem, WICK_ETYPE, wick_str_printf(mem, "input \"%s\"", io->name),
                         "dimension %u is %lld, but %lld was given", k, (long long)io->dim[k],
                         (long long)by[i].dim[k]);
  }
  s->entry = NULL, s->specialized = NULL;
  if (wick_session_resize(s->state, sized)) {
    if (s->compiled->specializations)
      s->entry = wick_specializations_entry(s->compiled->specializations, symbol, NULL);
    if (run_reserve(s, sized)) return NULL;
  }
  return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory: the arena needs %llu bytes",
                   (unsigned long long)sized->arena_bytes);
}

wick_error *wick_session_shape(wick_session *s, uint32_t nshape, const wick_shape *shape)
{
  if (!s) return wick_invalid("wick_session_shape: session is NULL");
  wick_guard guard = wick_context_guard(s->compiled->context);
  wick_arena mem = wick_arena_make(&guard);
  wick_error *e = setjmp(guard.where) ? wick_error_nomem()
                                      : wick_error_export(run_shape(s, nshape, shape, &mem));
  wick_arena_free(&mem);
  return e;
}

/* ---- runs ---- */

static wick_error *run_error(wick_code code, const char *text)
{
  const struct wick_error e = {.code = code, .message = text};
  return wick_error_export(&e);
}

static wick_error *run_unsized(const wick_program *p)
{
  char text[RUN_MESSAGE];
  const char *size = p->sizes.symbol[0].name;
  snprintf(text, sizeof text, "the size %s varies, and the session has no shapes", size);
  const struct wick_error e = {.code = WICK_EINVAL, .message = text, .size = size};
  return wick_error_export(&e);
}

static wick_error *run_missing(const wick_program *p, uint32_t i, const char *what)
{
  char text[RUN_MESSAGE];
  snprintf(text, sizeof text, "%s \"%s\" has no address", what, p->io[i].name);
  return run_error(WICK_EINVAL, text);
}

static wick_error *run_fault(const wick_session *s, wick_code code)
{
  const wick_program *p = wick_session_program(s->state);
  wick_session_fault f = wick_session_last_fault(s->state);
  const wick_program_kernel *k = f.kernel < p->nkernel ? &p->kernel[f.kernel] : NULL;
  char text[RUN_MESSAGE];
  if (k && f.fault)
    wick_fault_text(f.fault, k->location, f.message, text, sizeof text);
  else if (k && f.message && *f.message)
    snprintf(text, sizeof text, "%s: %s", k->location, f.message);
  else
    snprintf(text, sizeof text, "the run failed with code %d", (int)code);
  return run_error(code, text);
}

static wick_error *run_other(const wick_program *p, uint32_t i)
{
  char text[RUN_MESSAGE];
  snprintf(text, sizeof text,
           "input \"%s\" holds something else than when the model was compiled, and sizes follow "
           "from it: compile it for these contents",
           p->io[i].name);
  return run_error(WICK_ERANGE, text);
}

/* Runs with counting, and measures some of the runs. */
static wick_code run_met(wick_session *s, const void *const *inputs, void *const *outputs)
{
  wick_profile_record *m =
      wick_specializations_choose(s->compiled->specializations, s->entry, inputs);
  uint64_t before = atomic_load_explicit(&m->nrun, memory_order_relaxed);
  bool timed = before < RUN_TIMED || before % RUN_TIMED == 0;
  run_turn(s, m);
  double begun = timed ? wick_now() : 0;
  wick_code code = wick_session_run(s->state, inputs, outputs);
  uint64_t took = timed && !code ? (uint64_t)(1e9 * (wick_now() - begun)) : 0;
  wick_specializations_after_run(s->compiled->specializations, m, s->specialized != NULL, took);
  return code;
}

/* Fails if memory that is updated in place is something else, too. */
static wick_error *run_donated(const wick_program *p, const wick_io *io, const void *const *inputs,
                               void *const *outputs)
{
  for (uint32_t k = 0; p->donor && k < p->noutput; k++) {
    if (p->donor[k] == UINT32_MAX) continue;
    uintptr_t at = (uintptr_t)outputs[k], end = at + io[p->ninput + k].nbytes;
    for (uint32_t i = 0; i < p->ninput; i++) {
      uintptr_t other = (uintptr_t)inputs[i];
      bool apart = other >= end || other + io[i].nbytes <= at;
      if (apart || (i == p->donor[k] && other == at)) continue;
      char text[RUN_MESSAGE];
      snprintf(text, sizeof text, "input \"%s\" is in the memory of output %u", io[i].name, k);
      return run_error(WICK_EINVAL, text);
    }
  }
  return NULL;
}

/* *taken: the run has taken over what is donated. */
static wick_error *run_once(wick_session *s, const void *const *inputs, const bool *donated,
                            void *const *outputs, bool *taken)
{
  if (!s) return wick_invalid("wick_run: session is NULL");
  const wick_program *p = &s->compiled->program;
  const wick_io *io = run_io(s);
  uint32_t nin = wick_program_ninput(p), nout = wick_program_noutput(p);
  if (nin && !inputs) return wick_invalid("wick_run: inputs is NULL");
  if (nout && !outputs) return wick_invalid("wick_run: outputs is NULL");
  if (p->sizes.nsymbol && !wick_session_sized(s->state)) return run_unsized(p);
  for (uint32_t i = 0; i < nin; i++)
    if (!inputs[i] && io[i].nbytes) return run_missing(p, i, "input");
  for (uint32_t i = 0; i < nin; i++)
    if (p->fixed[i] && !wick_io_same(&p->io[i], inputs[i], p->fixed[i])) return run_other(p, i);
  for (uint32_t i = 0; i < nout; i++)
    if (!outputs[i] && io[p->ninput + i].nbytes) return run_missing(p, p->ninput + i, "output");
  if (s->states) {
    wick_states_begin(s->states, inputs, outputs);
    inputs = s->states->input, outputs = s->states->output;
  }
  void *const *results = outputs;
  wick_error *e = run_donated(p, io, inputs, outputs);
  if (e) return e;
  if (s->data) {
    e = wick_data_ports_begin(s->data, inputs, donated, outputs);
    if (e) return e;
    *taken = true;
    inputs = s->data->input, results = s->data->output;
  }
  wick_code code =
      s->entry ? run_met(s, inputs, results) : wick_session_run(s->state, inputs, results);
  if (s->data) wick_data_ports_end(s->data, !code, outputs);
  if (s->states) wick_states_end(s->states, !code);
  return code ? run_fault(s, code) : NULL;
}

wick_error *wick_run_donating(wick_session *s, const void *const *inputs, const bool *donated,
                              void *const *outputs)
{
  bool taken = false;
  wick_error *e = run_once(s, inputs, donated, outputs, &taken);
  if (s && s->data && inputs && donated && !taken)
    wick_data_ports_give_up(s->data, inputs, donated);
  return e;
}

wick_error *wick_run(wick_session *s, const void *const *inputs, void *const *outputs)
{
  return wick_run_donating(s, inputs, NULL, outputs);
}
