/* Runs programs. The generated entry function calls session_launch for every kernel. Launches
 * that do not depend on each other are collected in a batch, and the pool's workers get equal
 * shares of the batch's cost. */
#include "runtime/session.h"
#include "runtime/call_stack.h"
#include "runtime/flow_counters.h"
#include "runtime/growable_arena.h"
#include "runtime/heap_map.h"
#include "runtime/say.h"
#include "runtime/session_host.h"

#include <fenv.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum {
  SESSION_ALIGN = 64,
  SESSION_PAD = 256,
  /* The entry's first arguments: the launch function, its context, the arena and the constants. The
   * table of counts, the tables of sizes and offsets, if the program has them, and the inputs and
   * outputs follow. */
  SESSION_FIRST = 4,
  SESSION_BATCH = 32, /* the largest number of launches in a batch */
  /* Nanoseconds of work that one worker completes sooner than several: of a batch, whose parts must
   * be distributed and waited for; and of a batch after one that ran alone, whose data the others must
   * fetch from the caller's cache, and the caller from theirs. */
  SESSION_ALONE = 1500,
  SESSION_ALONE_AFTER = 2500,
  /* Nanoseconds that two workers must save in a whole run, for which the others must wake up. */
  SESSION_SAVED = 18500,
};

/* What one worker writes: its arguments, because hidden slots differ between workers, its fault,
 * and its stack for recursion. */
typedef struct session_private {
  wick_fault fault;
  wick_call_stack stack;
  void *args[WICK_KERNEL_SLOTS + 3];
} session_private;

typedef struct session_worker { /* on cache lines of its own */
  session_private own;
  char pad[SESSION_PAD - sizeof(session_private) % SESSION_PAD];
} session_worker;

/* Returns the nanoseconds that two workers save of a batch. */
static uint64_t session_saved(uint64_t cost)
{
  return cost / 2 > SESSION_ALONE ? cost / 2 - SESSION_ALONE : 0;
}

/* A collected launch. Its cost is in nanoseconds, as the cost model estimates it; `before` is the
 * total cost of the launches before it in the batch. */
typedef struct session_kernel {
  wick_kernel kernel;
  uint32_t index;
  bool scratch, stack, heap, fault;
  int64_t nargs, tasks;
  uint64_t before, cost;
  void **args, *kept[WICK_KERNEL_SLOTS_BESIDE]; /* args: `kept`, or the caller's */
} session_kernel;

struct wick_session_state {
  const wick_program *program, *base; /* the program that runs; the base program */
  wick_allocator allocator;
  wick_pool *pool;
  wick_pool_run run;
  wick_profile_fn *profile;
  void *profile_ctx;
  wick_entry entry, base_entry;
  void **args; /* of the entry */
  session_worker *worker;
  uint32_t nworker;
  char *arena, *scratch;
  uint64_t scratch_stride;
  void *block; /* the allocation that contains everything in session_layout */
  size_t nblock;
  wick_session_fault fault;
  wick_session_host *host;      /* NULL: the program needs none */
  wick_sizing *sizing;          /* NULL: no size is dynamic */
  const wick_sized *sized;      /* NULL: sizes must be set first */
  uint32_t before, first;       /* slots before the sizes; the slot of the first input */
  wick_growable_arena growable; /* memory of arena and scratch, if sizes are dynamic */
  wick_heap_map *heap;          /* of objects: the session's own, or that of its data */
  wick_heap_map own_heap;       /* mapped when a kernel first needs it */
  uint64_t heap_bytes;          /* the most that it may have; 0: the default */
  bool heap_used;               /* since the session's own heap was reset */
  wick_sayer say;
  uint32_t nbatch, share; /* share: the number of workers that share the batch */
  uint64_t saved; /* nanoseconds that two workers save in the current run, or in the last one */
  bool alone;     /* the run uses only its own thread */
  session_kernel batch[SESSION_BATCH];
};

/* ---- creation ---- */

/* The offsets of the parts of the session's allocation, in bytes. */
typedef struct session_layout {
  size_t state, args, counts, worker, arena, scratch, total;
  bool overflow;
} session_layout;

static size_t session_place(session_layout *l, uint64_t nbytes)
{
  size_t at = l->total;
  l->overflow =
      l->overflow || nbytes > SIZE_MAX / 4 ||
      wick_add_overflows(l->total, wick_align_up((size_t)nbytes, SESSION_ALIGN), &l->total);
  return at;
}

static session_layout session_layout_of(const wick_program *p, uint32_t nworker)
{
  session_layout l = {0};
  uint64_t scratch;
  if (wick_mul_overflows(wick_align_up(p->scratch_bytes, SESSION_PAD), (uint64_t)nworker, &scratch))
    l.overflow = true;
  l.state = session_place(&l, sizeof(wick_session_state));
  l.args =
      session_place(&l, ((uint64_t)p->ninput + p->noutput + SESSION_FIRST + 3) * sizeof(void *));
  l.counts = session_place(&l, (uint64_t)p->nflow * WICK_FLOW_SLOTS * sizeof(int64_t));
  l.worker = session_place(&l, (uint64_t)nworker * sizeof(session_worker));
  l.arena = session_place(&l, p->arena_bytes);
  l.scratch = session_place(&l, l.overflow ? 0 : scratch);
  return l;
}

/* Returns the table of counts: the caller's, or one in the session's own memory. */
static int64_t *session_counts(const wick_program *p, const wick_session_setup *setup, void *own)
{
  if (setup && setup->counts) return setup->counts;
  wick_flow_counters_clear(p, own);
  return own;
}

static int32_t session_launch(void *context, wick_kernel kernel, int32_t index, void **args,
                              int64_t nargs, int64_t tasks, int32_t beside);

/* Computes the bytes of an arena, followed by the scratch memory of each worker. */
static bool session_memory_of(const wick_session_state *s, uint64_t arena, uint64_t scratch,
                              uint64_t *out)
{
  return arena <= SIZE_MAX / 4 && scratch <= SIZE_MAX / 4 &&
         !wick_mul_overflows(wick_align_up(scratch, SESSION_PAD), (uint64_t)s->nworker, out) &&
         !wick_add_overflows(*out, wick_align_up(arena, SESSION_ALIGN), out);
}

/* Returns a number of bytes that suffices for all sizes; 0 if it is not known. */
static uint64_t session_memory_most(const wick_session_state *s)
{
  uint64_t arena, scratch, all;
  return wick_sizing_most(s->sizing, &arena, &scratch) && session_memory_of(s, arena, scratch, &all)
             ? all
             : 0;
}

wick_status wick_session_make(const wick_image *image, const wick_program *program,
                              const void *constants, const wick_session_setup *setup,
                              wick_arena *mem, wick_session_state **out)
{
  wick_allocator a = setup && setup->allocator.alloc ? setup->allocator : wick_allocator_malloc();
  wick_pool *pool = setup ? setup->pool : NULL;
  uint32_t nworker = wick_pool_size(pool);
  wick_entry entry = wick_image_entry(image, program->entry);
  if (!entry)
    return wick_fail(mem, WICK_EPARSE, NULL, "the code has no function \"%s\"", program->entry);
  session_layout l = session_layout_of(program, nworker);
  if (l.overflow)
    return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory: the arena needs %llu bytes",
                     (unsigned long long)program->arena_bytes);
  wick_session_host *host;
  wick_sizing *sizing;
  WICK_TRY(wick_session_host_make(program, a, mem, &host));
  wick_status bad = wick_sizing_make(image, program, a, mem, &sizing);
  size_t nblock = l.total + SESSION_ALIGN;
  void *block = bad ? NULL : a.alloc(a.self, nblock);
  if (!block) wick_session_host_drop(host), wick_sizing_drop(sizing);
  if (bad) return bad;
  if (!block)
    return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory: a session needs %llu bytes",
                     (unsigned long long)nblock);
  char *at = (char *)block + (-(uintptr_t)block & (SESSION_ALIGN - 1));
  memset(at, 0, l.arena);
  wick_session_state *s = (wick_session_state *)(void *)(at + l.state);
  uint32_t before = SESSION_FIRST + (program->nflow > 0);
  *s = (wick_session_state){.program = program,
                            .base = program,
                            .allocator = a,
                            .pool = pool,
                            .entry = entry,
                            .base_entry = entry,
                            .args = (void **)(void *)(at + l.args),
                            .worker = (session_worker *)(void *)(at + l.worker),
                            .nworker = nworker,
                            .arena = at + l.arena,
                            .scratch = at + l.scratch,
                            .scratch_stride = wick_align_up(program->scratch_bytes, SESSION_PAD),
                            .host = host,
                            .sizing = sizing,
                            .growable = {.allocator = a},
                            .before = before,
                            .first = sizing ? before + 2 : before,
                            .block = block,
                            .nblock = nblock};
  for (uint32_t i = 0; i < program->nkernel; i++)
    s->saved += session_saved(program->kernel[i].cost);
  if (sizing) s->growable.most = session_memory_most(s);
  s->heap = setup && setup->heap ? setup->heap : &s->own_heap;
  if (setup) {
    s->profile = setup->profile, s->profile_ctx = setup->profile_ctx;
    s->heap_bytes = setup->heap_bytes;
    s->say.print = setup->print, s->say.arg = setup->profile_ctx;
  }
  union {
    wick_launch f;
    void *p;
  } launch = {session_launch};
  union {
    const void *c;
    void *p;
  } blob = {constants};
  s->args[0] = launch.p;
  s->args[1] = s;
  s->args[2] = s->arena;
  s->args[3] = blob.p;
  if (program->nflow) s->args[SESSION_FIRST] = session_counts(program, setup, at + l.counts);
  *out = s;
  return NULL;
}

/* ---- sizes ---- */

static void session_memory_share(wick_session_state *s, uint64_t arena, uint64_t scratch)
{
  s->arena = s->growable.at;
  s->scratch = s->arena + wick_align_up(arena, SESSION_ALIGN);
  s->scratch_stride = wick_align_up(scratch, SESSION_PAD);
  s->args[2] = s->arena;
}

wick_status wick_session_sizes(wick_session_state *s, const int64_t *symbol, const wick_sized **out)
{
  return wick_sizing_find(s->sizing, symbol, out);
}

bool wick_session_resize(wick_session_state *s, const wick_sized *sized)
{
  uint64_t all;
  s->sized = NULL;
  if (!session_memory_of(s, sized->arena_bytes, sized->scratch_bytes, &all) ||
      !wick_growable_arena_fit(&s->growable, all) ||
      (s->host && !wick_session_host_resize(s->host, sized->io, sized->table)))
    return false;
  s->sized = sized;
  wick_session_leave(s);
  return true;
}

bool wick_session_take(wick_session_state *s, const wick_specialization *x, bool grow)
{
  const wick_program *p = &x->program, *g = s->base;
  uint64_t all;
  if (s->profile || (s->sizing && !s->sized) || !wick_specialization_fits(x, g, s->sized))
    return false;
  if (!s->sizing && (p->arena_bytes > g->arena_bytes || p->scratch_bytes > g->scratch_bytes))
    return false;
  if (s->sizing) {
    if (!session_memory_of(s, p->arena_bytes, p->scratch_bytes, &all) ||
        !(grow ? wick_growable_arena_fit(&s->growable, all) : all <= s->growable.nbytes))
      return false;
    session_memory_share(s, p->arena_bytes, p->scratch_bytes);
  }
  s->program = p, s->entry = x->entry;
  s->first = s->before;
  return true;
}

void wick_session_leave(wick_session_state *s)
{
  s->program = s->base, s->entry = s->base_entry;
  s->first = s->before;
  if (!s->sized) return;
  session_memory_share(s, s->sized->arena_bytes, s->sized->scratch_bytes);
  union {
    const void *c;
    void *p;
  } table = {s->sized->table}, offsets = {s->sized->offsets};
  s->args[s->first++] = table.p; /* a specialization has its inputs from here on */
  s->args[s->first++] = offsets.p;
}

const wick_program *wick_session_program(const wick_session_state *s) { return s->program; }

const wick_sized *wick_session_sized(const wick_session_state *s) { return s->sized; }

void wick_session_drop(wick_session_state *s)
{
  if (!s) return;
  wick_session_host_drop(s->host);
  wick_sizing_drop(s->sizing);
  wick_growable_arena_free(&s->growable);
  for (uint32_t w = 0; w < s->nworker; w++) wick_call_stack_free(&s->worker[w].own.stack);
  wick_heap_map_free(&s->own_heap);
  s->allocator.free(s->allocator.self, s->block, s->nblock);
}

/* ---- runs ---- */

/* Denormals are kept and rounding is to nearest even while generated code runs. */
#if defined(__x86_64__)
typedef unsigned session_float;
static session_float session_float_set(void)
{
  unsigned old = _mm_getcsr();
  _mm_setcsr(0x1f80); /* all exceptions masked, nearest even, no flush to zero */
  return old;
}
static void session_float_restore(session_float old) { _mm_setcsr(old); }
#else
typedef fenv_t session_float;
static session_float session_float_set(void)
{
  fenv_t old;
  fegetenv(&old);
  fesetenv(FE_DFL_ENV);
  return old;
}
static void session_float_restore(session_float old) { fesetenv(&old); }
#endif

/* Divides the batch's cost into shares. Returns the first task of k that belongs to share i or a
 * later one. If a share ends inside of a kernel, it ends at the nearest of its tasks. */
static int64_t session_bound(const wick_session_state *s, const session_kernel *k, int64_t i)
{
  const session_kernel *last = &s->batch[s->nbatch - 1];
  double total = (double)(last->before + last->cost), at = total * (double)i / s->share,
         part = (at - (double)k->before) / (double)k->cost;
  if (i == 0 || part <= 0) return 0;
  return i == s->share || part >= 1 ? k->tasks : (int64_t)(part * (double)k->tasks + 0.5);
}

/* A wick_host. Generated code reports the failure, with the message. */
static int32_t session_host_called(void *context, int32_t kernel, void **args)
{
  wick_session_state *s = context;
  wick_code code = wick_session_host_run(s->host, (uint32_t)kernel, args);
  if (code) s->say.nmessage = 0;
  if (code) wick_say_text(&s->say, WICK_SAY_MESSAGE, wick_session_host_message(s->host), 0, NULL);
  return (int32_t)code;
}

static void session_kernel_run(wick_session_state *s, const session_kernel *k, uint32_t worker,
                               int64_t begin, int64_t end)
{
  session_private *w = &s->worker[worker].own;
  void **args = k->args;
  if (k->scratch || k->stack || k->fault) {
    int64_t n = k->nargs;
    memcpy(w->args, k->args, (size_t)n * sizeof *args);
    if (k->scratch) w->args[n++] = s->scratch + worker * s->scratch_stride;
    if (k->stack) w->args[n++] = k->heap ? (void *)s->heap->heap : &w->stack.stack;
    if (k->fault) w->args[n] = &w->fault;
    w->fault.code = w->fault.task = 0;
    args = w->args;
  }
  bool mapped = k->stack && wick_call_stack_map(&w->stack);
  w->stack.stack.fault = &w->fault;
  w->fault.say = wick_say_text, w->fault.context = &s->say;
  w->fault.host = session_host_called, w->fault.host_context = s;
  if (mapped && k->heap) s->heap->heap->stack = w->stack.stack;
  if (!k->stack)
    k->kernel(args, begin, end);
  else if (!mapped || !wick_call_stack_run(&w->stack, k->kernel, args, begin, end))
    w->fault = (wick_fault){.code = WICK_ENOMEM, .task = begin};
}

/* Runs shares begin .. end-1 of the batch. */
static void session_part(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  wick_session_state *s = ctx;
  session_float old = session_float_set();
  for (uint32_t i = 0; i < s->nbatch; i++) {
    const session_kernel *k = &s->batch[i];
    int64_t from = session_bound(s, k, begin), to = session_bound(s, k, end);
    if (from < to) session_kernel_run(s, k, worker, from, to);
  }
  session_float_restore(old);
}

/* Finds the failure of the lowest task, so that the report does not depend on the number of
 * workers. */
static int32_t session_faults(wick_session_state *s, uint32_t kernel)
{
  const wick_fault *least = NULL;
  for (uint32_t w = 0; w < s->nworker; w++) {
    const wick_fault *f = &s->worker[w].own.fault;
    if (f->code && (!least || f->task < least->task)) least = f;
  }
  if (!least) return 0;
  s->fault = (wick_session_fault){kernel, least, s->say.message};
  return (int32_t)least->code;
}

static uint64_t session_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Runs the collected launches. */
static int32_t session_flush(wick_session_state *s)
{
  if (!s->nbatch) return 0;
  const session_kernel *last = &s->batch[s->nbatch - 1];
  uint64_t begin = s->profile ? session_now() : 0;
  if (last->fault)
    for (uint32_t w = 0; w < s->nworker; w++) s->worker[w].own.fault.code = 0;
  bool single = s->nbatch == 1 && last->tasks == 1;
  uint64_t cost = last->before + last->cost,
           least = s->share > 1 ? SESSION_ALONE : SESSION_ALONE_AFTER;
  if (!single) s->saved += session_saved(cost);
  s->share = s->alone || single || cost < least ? 1 : s->nworker;
  wick_pool_launch(&s->run, session_part, s, s->share);
  s->nbatch = 0;
  if (s->profile) s->profile(s->profile_ctx, last->index, session_now() - begin);
  return last->fault ? session_faults(s, last->index) : 0;
}

/* Runs an operator of the runtime on the run's own thread. All earlier launches are done. */
static int32_t session_host(wick_session_state *s, uint32_t index, void **args)
{
  uint64_t begin = s->profile ? session_now() : 0;
  session_float old = session_float_set();
  wick_code code = wick_session_host_run(s->host, index, args);
  session_float_restore(old);
  if (s->profile) s->profile(s->profile_ctx, index, session_now() - begin);
  if (code) s->fault = (wick_session_fault){index, NULL, wick_session_host_message(s->host)};
  return (int32_t)code;
}

/* Collects a launch. A kernel that may fail runs alone, so that a failure is known to be its own;
 * so does one with many slots, and each kernel if they are timed. `beside` is 0 if the kernel may depend on one of the
 * collected launches, which then run first. A call without a kernel runs the collected launches. */
static int32_t session_launch(void *context, wick_kernel kernel, int32_t index, void **args,
                              int64_t nargs, int64_t tasks, int32_t beside)
{
  wick_session_state *s = context;
  if (!kernel) return session_flush(s);
  if (index < 0 || (uint32_t)index >= s->program->nkernel || nargs > WICK_KERNEL_SLOTS)
    return WICK_EINTERNAL;
  const wick_program_kernel *info = &s->program->kernel[index];
  bool alone = info->fault || s->profile || nargs > WICK_KERNEL_SLOTS_BESIDE;
  if (!beside || alone || s->nbatch == SESSION_BATCH) {
    int32_t code = session_flush(s);
    if (code) return code;
  }
  if (tasks <= 0) return 0;
  if (info->host.row) return session_host(s, (uint32_t)index, args);
  if (info->heap && !s->heap->heap && !wick_heap_map_make(s->heap, s->heap_bytes))
    return WICK_ENOMEM;
  s->heap_used |= info->heap && s->heap == &s->own_heap;
  session_kernel *k = &s->batch[s->nbatch], *last = s->nbatch ? k - 1 : NULL;
  k->kernel = kernel;
  k->index = (uint32_t)index;
  k->scratch = info->scratch, k->stack = info->stack, k->fault = info->fault;
  k->heap = info->heap;
  k->nargs = nargs, k->tasks = tasks;
  k->before = last ? last->before + last->cost : 0;
  k->cost = info->cost ? info->cost : 1;
  if (s->sizing && info->tasks) /* the estimate is for info->tasks tasks */
    k->cost = 1 + (uint64_t)((double)k->cost * (double)tasks / (double)info->tasks);
  k->args = nargs > WICK_KERNEL_SLOTS_BESIDE ? args : k->kept;
  if (k->args == k->kept) memcpy(k->kept, args, (size_t)nargs * sizeof *args);
  s->nbatch++;
  return alone ? session_flush(s) : 0;
}

/* An output with a donor begins with the donor's contents, and the code reads both there. */
static void session_donated(const wick_session_state *s, const void *const *inputs,
                            void *const *outputs)
{
  const wick_program *p = s->program;
  const wick_sized *sized = wick_session_sized(s);
  const wick_io *io = sized ? sized->io : p->io;
  for (uint32_t i = 0; p->donor && i < p->noutput; i++) {
    uint32_t from = p->donor[i];
    if (from == UINT32_MAX || inputs[from] == outputs[i]) continue;
    if (io[from].nbytes) memmove(outputs[i], inputs[from], (size_t)io[from].nbytes);
    s->args[s->first + from] = outputs[i];
  }
}

wick_code wick_session_run(wick_session_state *s, const void *const *inputs, void *const *outputs)
{
  const wick_program *p = s->program;
  if (p->ninput) memcpy(s->args + s->first, inputs, p->ninput * sizeof *inputs);
  if (p->noutput) memcpy(s->args + s->first + p->ninput, outputs, p->noutput * sizeof *outputs);
  session_donated(s, inputs, outputs);
  s->fault = (wick_session_fault){.kernel = p->nkernel};
  if (s->host) {
    wick_code code = wick_session_host_begin(s->host, inputs, s->args + s->first);
    if (code) return code;
  }
  /* a run usually has the same loops and sizes as the one before */
  s->alone = s->saved < SESSION_SAVED;
  s->saved = 0;
  s->say.nmessage = 0, s->say.message[0] = 0;
  s->say.strings = s->host ? wick_session_host_strings(s->host) : &s->program->strings;
  if (s->heap_used) wick_heap_map_reset(&s->own_heap);
  s->heap_used = false;
  s->run = s->alone ? (wick_pool_run){NULL} : wick_pool_begin(s->pool); /* which wakes the others */
  s->nbatch = 0;
  int32_t code = s->entry(s->args);
  if (!code) code = session_flush(s);
  wick_pool_end(&s->run);
  if (s->sizing) wick_growable_arena_ran(&s->growable);
  if (s->host && !code) wick_session_host_end(s->host, outputs);
  return (wick_code)code;
}

wick_session_fault wick_session_last_fault(const wick_session_state *s) { return s->fault; }
