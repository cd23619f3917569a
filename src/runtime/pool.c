/* Each worker has a slot. The launching thread writes a job there and increments `go`; the worker
 * does the job and sets `done` to the same number. Both wait with pool_wait. Workers do not share
 * cache lines, and a launch of fewer tasks than workers touches only the slots that it uses. */
#include "runtime/pool.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/spin.h"

enum {
  POOL_MOST = 4096,
  POOL_LINE = 128,        /* two cache lines: cores fetch them in pairs */
  POOL_PAUSES = 32,       /* pauses between two checks of the clock */
  POOL_PURE_NS = 5000,    /* nanoseconds of waiting actively without yielding */
  POOL_RUN_NS = 2000000,  /* nanoseconds until a worker sleeps, in a run */
  POOL_AFTER_NS = 100000, /* nanoseconds until a worker sleeps, after a run */
  POOL_CPU_SETS = 8       /* sets of 1024 CPUs */
};

/* A place where one thread sleeps until another one wakes it. */
typedef struct pool_gate {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  atomic_bool asleep;
  bool open;
} pool_gate;

typedef struct pool_slot {
  /* written by the launching thread */
  _Alignas(POOL_LINE) wick_pool_fn *fn; /* NULL: the thread must end */
  void *ctx;
  int64_t begin, end;
  atomic_uint go;
  /* written by the worker */
  _Alignas(POOL_LINE) atomic_uint done;
  pool_gate gate;
  wick_pool *pool;
  pthread_t thread;
  uint32_t worker;
} pool_slot;

struct wick_pool {
  uint32_t nworker;
  bool pin, crowded; /* crowded: more workers than CPUs */
  void *block;       /* the allocated block; the pool is inside, aligned */
  size_t nbytes;
  wick_allocator allocator;
  pid_t pid;        /* the process that started the workers */
  uint32_t nthread; /* the slots of workers 1 to nthread have threads; changed only by the owner */
  pool_gate gate;   /* of the owner, while it waits for a worker */
  /* the process whose run has the workers; 0: none; another process: left from before a fork */
  _Alignas(POOL_LINE) atomic_int owner;
  _Alignas(POOL_LINE) atomic_bool running;
  pool_slot slot[]; /* of worker 1, 2, ... */
};

/* ---- waiting ---- */

static void pool_gate_init(pool_gate *g)
{
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->cond, NULL);
  atomic_init(&g->asleep, false);
  g->open = false;
}

static void pool_gate_destroy(pool_gate *g)
{
  pthread_mutex_destroy(&g->mutex);
  pthread_cond_destroy(&g->cond);
}

/* Sleeps until *word is no longer `old`, or the gate is opened. `asleep` is set before *word is
 * read, and *word is written before `asleep` is read, so one of the two sees the other. */
static void pool_gate_sleep(pool_gate *g, atomic_uint *word, uint32_t old)
{
  pthread_mutex_lock(&g->mutex);
  g->open = false;
  atomic_store(&g->asleep, true);
  while (atomic_load(word) == old && !g->open) pthread_cond_wait(&g->cond, &g->mutex);
  atomic_store(&g->asleep, false);
  pthread_mutex_unlock(&g->mutex);
}

static void pool_gate_open(pool_gate *g)
{
  if (!atomic_load(&g->asleep)) return;
  pthread_mutex_lock(&g->mutex);
  g->open = true;
  pthread_cond_signal(&g->cond);
  pthread_mutex_unlock(&g->mutex);
}

/* Waits actively while *word is `old`. Returns false after the time limit. */
static bool pool_spin(const wick_pool *pool, atomic_uint *word, uint32_t old)
{
  int64_t start = 0;
  for (;;) {
    for (int i = 0; i < POOL_PAUSES; i++) {
      if (atomic_load_explicit(word, memory_order_acquire) != old) return true;
      if (pool->crowded) break;
      wick_spin_pause();
    }
    int64_t now = wick_clock_ns();
    if (!start) start = now;
    bool running = atomic_load_explicit(&pool->running, memory_order_relaxed);
    if (now - start > (running ? POOL_RUN_NS : POOL_AFTER_NS)) return false;
    if (pool->crowded || now - start > POOL_PURE_NS) sched_yield();
  }
}

static void pool_wait(const wick_pool *pool, atomic_uint *word, uint32_t old, pool_gate *gate)
{
  while (!pool_spin(pool, word, old)) pool_gate_sleep(gate, word, old);
}

/* ---- workers ---- */

uint32_t wick_pool_cpus(void)
{
  cpu_set_t set[POOL_CPU_SETS];
  if (sched_getaffinity(0, sizeof set, set) != 0) return 1;
  int n = CPU_COUNT_S(sizeof set, set);
  return n > 0 ? (uint32_t)n : 1;
}

/* Pins the current thread to the index-th CPU of the process's CPUs, modulo their number. If the
 * system refuses, the thread is not pinned, which is no error. */
static void pool_pin(uint32_t index)
{
  cpu_set_t have[POOL_CPU_SETS], want[POOL_CPU_SETS];
  if (sched_getaffinity(0, sizeof have, have) != 0) return;
  uint32_t n = (uint32_t)CPU_COUNT_S(sizeof have, have), seen = 0;
  CPU_ZERO_S(sizeof want, want);
  for (uint32_t cpu = 0; n && cpu < POOL_CPU_SETS * CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET_S(cpu, sizeof have, have) || seen++ != index % n) continue;
    CPU_SET_S(cpu, sizeof want, want);
    (void)pthread_setaffinity_np(pthread_self(), sizeof want, want);
    return;
  }
}

static void *pool_work(void *arg)
{
  pool_slot *s = arg;
  char name[16];
  snprintf(name, sizeof name, "wick/%u", s->worker);
  (void)pthread_setname_np(pthread_self(), name);
  fesetenv(FE_DFL_ENV); /* a thread starts with its creator's environment */
  if (s->pool->pin) pool_pin(s->worker);
  for (uint32_t seen = 0;; seen++) {
    pool_wait(s->pool, &s->go, seen, &s->gate);
    if (!s->fn) return NULL;
    s->fn(s->ctx, s->worker, s->begin, s->end);
    atomic_store(&s->done, seen + 1);
    pool_gate_open(&s->pool->gate);
  }
}

/* Starts the threads. If the system refuses one, starts no more and returns its error number, else
 * 0. */
static int pool_start(wick_pool *p)
{
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = 0;
  p->pid = getpid();
  p->nthread = 0;
  pool_gate_init(&p->gate);
  while (!error && p->nthread < p->nworker - 1) {
    pool_slot *s = &p->slot[p->nthread];
    s->pool = p;
    s->worker = p->nthread + 1;
    atomic_init(&s->go, 0);
    atomic_init(&s->done, 0);
    pool_gate_init(&s->gate);
    error = pthread_create(&s->thread, NULL, pool_work, s);
    if (error)
      pool_gate_destroy(&s->gate);
    else
      p->nthread++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return error;
}

static void pool_post(pool_slot *s, wick_pool_fn *fn, void *ctx, int64_t begin, int64_t end)
{
  s->fn = fn;
  s->ctx = ctx;
  s->begin = begin;
  s->end = end;
  atomic_store(&s->go, atomic_load_explicit(&s->go, memory_order_relaxed) + 1);
  pool_gate_open(&s->gate);
}

static void pool_stop(wick_pool *p)
{
  for (uint32_t i = 0; i < p->nthread; i++) pool_post(&p->slot[i], NULL, NULL, 0, 0);
  for (uint32_t i = 0; i < p->nthread; i++) {
    pthread_join(p->slot[i].thread, NULL);
    pool_gate_destroy(&p->slot[i].gate);
  }
  pool_gate_destroy(&p->gate);
}

/* ---- creation ---- */

wick_status wick_pool_create(const wick_pool_options *options, wick_arena *mem,
                             wick_pool **out_pool)
{
  wick_pool_options o = options ? *options : (wick_pool_options){0};
  *out_pool = NULL;
  if (!o.allocator.alloc) o.allocator = wick_allocator_malloc();
  uint32_t ncpu = wick_pool_cpus();
  if (!o.nworker) o.nworker = ncpu < POOL_MOST ? ncpu : POOL_MOST;
  if (o.nworker > POOL_MOST)
    return wick_fail(mem, WICK_ERANGE, NULL, "%u workers are more than %d", o.nworker, POOL_MOST);
  size_t nbytes = sizeof(wick_pool) + (o.nworker - 1) * sizeof(pool_slot) + POOL_LINE;
  void *block = o.allocator.alloc(o.allocator.self, nbytes);
  if (!block) return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory");
  memset(block, 0, nbytes);
  wick_pool *p = (wick_pool *)wick_align_up((uintptr_t)block, POOL_LINE);
  p->nworker = o.nworker;
  p->pin = o.pin;
  p->crowded = o.nworker > ncpu;
  p->block = block;
  p->nbytes = nbytes;
  p->allocator = o.allocator;
  atomic_init(&p->owner, 0);
  atomic_init(&p->running, false);
  int error = p->nworker > 1 ? pool_start(p) : 0;
  if (error) {
    uint32_t nthread = p->nthread;
    wick_pool_free(p);
    return wick_fail(mem, WICK_EIO, NULL, "thread %u of %u could not be started: %s", nthread + 1,
                     o.nworker - 1, strerror(error));
  }
  *out_pool = p;
  return NULL;
}

void wick_pool_free(wick_pool *pool)
{
  if (!pool) return;
  if (pool->nworker > 1 && pool->pid == getpid()) pool_stop(pool);
  wick_allocator a = pool->allocator;
  a.free(a.self, pool->block, pool->nbytes);
}

uint32_t wick_pool_size(const wick_pool *pool) { return pool ? pool->nworker : 1; }

/* ---- runs ---- */

wick_pool_run wick_pool_begin(wick_pool *pool)
{
  wick_pool_run alone = {NULL};
  if (!pool || pool->nworker == 1) return alone;
  pid_t me = getpid();
  int owner = atomic_load(&pool->owner);
  if (owner == me || !atomic_compare_exchange_strong(&pool->owner, &owner, me)) return alone;
  /* with as many threads as the system provides, perhaps only the caller's */
  if (pool->pid != me) (void)pool_start(pool);
  atomic_store_explicit(&pool->running, true, memory_order_relaxed);
  for (uint32_t i = 0; i < pool->nthread; i++) pool_gate_open(&pool->slot[i].gate);
  return (wick_pool_run){pool};
}

void wick_pool_end(wick_pool_run *run)
{
  if (!run->pool) return;
  atomic_store_explicit(&run->pool->running, false, memory_order_relaxed);
  atomic_store(&run->pool->owner, 0);
  run->pool = NULL;
}

void wick_pool_launch(const wick_pool_run *run, wick_pool_fn *fn, void *ctx, int64_t ntask)
{
  wick_pool *p = run->pool;
  int64_t npart = p ? wick_min_i64((int64_t)p->nthread + 1, ntask) : 1;
  if (ntask <= 0) return;
  int64_t size = ntask / npart, longer = ntask % npart; /* the first parts have one more task */
  int64_t first = size + (longer > 0), at = first;
  for (int64_t i = 1; i < npart; i++) {
    int64_t end = at + size + (i < longer);
    pool_post(&p->slot[i - 1], fn, ctx, at, end);
    at = end;
  }
  fn(ctx, 0, 0, first);
  for (int64_t i = 1; i < npart; i++) {
    pool_slot *s = &p->slot[i - 1];
    uint32_t go = atomic_load_explicit(&s->go, memory_order_relaxed);
    pool_wait(p, &s->done, go - 1, &p->gate);
  }
}
