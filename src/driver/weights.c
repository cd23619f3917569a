/* Each task is a part of a constant, in the order of their offsets. Threads get the next task from
 * a counter. */
#include "driver/weights.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/pool.h"

enum {
  WEIGHTS_COPY = 4 << 20, /* bytes of a task that only copies */
  WEIGHTS_PARTS = 32,     /* tasks of one deferred constant */
  WEIGHTS_MOST_WORKERS = 16,
  WEIGHTS_FEW = 1 << 20 /* fewer bytes are not worth a thread */
};

/* Parts begin to end - 1 of a deferred constant, or bytes of its data. */
typedef struct weights_task {
  uint32_t constant;
  unsigned char *to; /* the beginning of the constant */
  uint64_t begin, end;
} weights_task;

/* Memory of a worker for a constant that only other deferred constants read. */
typedef struct weights_buffer {
  struct weights_buffer *next; /* for the constant that this one is computed from */
  void *at;
} weights_buffer;

typedef struct weights_worker {
  struct wick_weights *w;
  pthread_t thread;
  weights_buffer *buffer;
} weights_worker;

struct wick_weights {
  const wick_constant *constant;
  wick_list(weights_task) tasks;
  atomic_uint next;
  atomic_bool stop;  /* the work is no longer needed */
  wick_guard *guard; /* its `stop` is called only on the caller's thread */
  uint32_t nthread;  /* threads that were started */
  weights_worker worker[WEIGHTS_MOST_WORKERS];
};

/* ---- work ---- */

/* Returns the bytes of a constant: its own, or those computed in the worker's memory. */
static const void *weights_bytes(const wick_weights *w, uint32_t id, weights_buffer *buffer)
{
  const wick_constant *k = &w->constant[id];
  if (!k->deferred) return k->data;
  const void *from = weights_bytes(w, k->deferred->from, buffer->next);
  memset(buffer->at, 0, k->nbytes);
  for (uint32_t part = 0; part < k->deferred->nparts; part++)
    k->deferred->make(k->deferred, from, part, buffer->at);
  return buffer->at;
}

/* Returns whether the work must stop. */
static bool weights_stopped(const weights_worker *self)
{
  wick_weights *w = self->w;
  if (self == &w->worker[0] && wick_guard_stopped(w->guard)) atomic_store(&w->stop, true);
  return atomic_load_explicit(&w->stop, memory_order_relaxed);
}

static void *weights_work(void *arg)
{
  const weights_worker *self = arg;
  wick_weights *w = self->w;
  for (uint32_t i; !weights_stopped(self) && (i = atomic_fetch_add(&w->next, 1)) < w->tasks.n;) {
    const weights_task *t = &w->tasks.at[i];
    const wick_constant *k = &w->constant[t->constant];
    if (!k->deferred) {
      memcpy(t->to + t->begin, (const char *)k->data + t->begin, (size_t)(t->end - t->begin));
      continue;
    }
    const void *from = weights_bytes(w, k->deferred->from, self->buffer);
    for (uint64_t part = t->begin; part < t->end && !weights_stopped(self); part++)
      k->deferred->make(k->deferred, from, (uint32_t)part, t->to);
  }
  return NULL;
}

/* ---- the plan ---- */

static void weights_plan(wick_weights *w, const wick_lowered *l, unsigned char *to, wick_arena *mem)
{
  for (uint32_t i = 0; i < l->constants.n; i++) {
    weights_task t = {.constant = l->constants.at[i].constant,
                      .to = to + l->constants.at[i].offset};
    const wick_constant *k = &w->constant[t.constant];
    uint64_t n = k->deferred ? k->deferred->nparts : k->nbytes,
             each = k->deferred ? n : WEIGHTS_COPY;
    bool direct = k->deferred && !w->constant[k->deferred->from].deferred;
    if (direct) each = n / WEIGHTS_PARTS + 1;
    for (t.begin = 0; t.begin < n; t.begin = t.end) {
      t.end = n - t.begin < each ? n : t.begin + each;
      wick_push(mem, &w->tasks, t);
    }
  }
}

/* Returns the bytes for the largest constant that is `depth` steps before a constant of the
 * program. */
static uint64_t weights_buffer_bytes(const wick_weights *w, const wick_lowered *l, uint32_t depth)
{
  uint64_t most = 0;
  for (uint32_t i = 0; i < l->constants.n; i++) {
    const wick_constant *k = &w->constant[l->constants.at[i].constant];
    for (uint32_t d = 0; d < depth && k->deferred; d++) k = &w->constant[k->deferred->from];
    if (k->deferred && k != &w->constant[l->constants.at[i].constant] && k->nbytes > most)
      most = k->nbytes;
  }
  return most;
}

static weights_buffer *weights_buffers(const wick_weights *w, const wick_lowered *l,
                                       wick_arena *mem)
{
  weights_buffer *first = NULL, **at = &first;
  for (uint32_t depth = 1;; depth++) {
    uint64_t nbytes = weights_buffer_bytes(w, l, depth);
    if (!nbytes) return first;
    *at = wick_new(mem, weights_buffer, 1);
    (*at)->at = wick_arena_raw(mem, nbytes, 64);
    at = &(*at)->next;
  }
}

/* ---- begin and end ---- */

static void weights_start(wick_weights *w, uint32_t nworker)
{
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  for (; w->nthread + 1 < nworker; w->nthread++)
    if (pthread_create(&w->worker[w->nthread + 1].thread, NULL, weights_work,
                       &w->worker[w->nthread + 1]))
      break;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

wick_weights *wick_weights_begin(const wick_module *m, const wick_lowered *l, void *to,
                                 wick_arena *mem)
{
  wick_weights *w = wick_new(mem, wick_weights, 1);
  uint32_t nworker = wick_pool_cpus() + 1; /* the caller becomes one at the end */
  w->guard = mem->guard;
  w->constant = wick_dup(mem, wick_constant, m->constants.at, m->constants.n);
  weights_plan(w, l, to, mem);
  if (nworker > WEIGHTS_MOST_WORKERS) nworker = WEIGHTS_MOST_WORKERS;
  if (nworker > w->tasks.n || l->constant_bytes < WEIGHTS_FEW) nworker = 1;
  for (uint32_t i = 0; i < nworker; i++)
    w->worker[i] = (weights_worker){.w = w, .buffer = weights_buffers(w, l, mem)};
  weights_start(w, nworker);
  return w;
}

static void weights_join(wick_weights *w)
{
  for (; w->nthread; w->nthread--) pthread_join(w->worker[w->nthread].thread, NULL);
}

void wick_weights_end(wick_weights *w)
{
  if (!w) return;
  (void)weights_work(&w->worker[0]);
  weights_join(w);
}

void wick_weights_drop(wick_weights *w)
{
  if (!w) return;
  atomic_store(&w->stop, true);
  weights_join(w);
}
