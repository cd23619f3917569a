/* Reading copies, the table of sizes, and the thread that has copies made. */
#include "runtime/specialization.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

enum {
  SPECIAL_MOST = 1024, /* sizes that are kept */
  SPECIAL_TRIAL = 16,  /* measured runs after which a copy is judged: */
  SPECIAL_SLOWER = 32  /* it may take that part more than the generic code */
};

/* ---- copies ---- */

wick_section wick_special_words(const char *name, uint32_t n, const int64_t *words, wick_arena *mem)
{
  unsigned char *at = wick_new(mem, unsigned char, n * 8u + 1u);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t b = 0; b < 8; b++) at[8 * i + b] = (unsigned char)((uint64_t)words[i] >> 8 * b);
  return (wick_section){.name = name, .bytes = {at, n * 8u}};
}

static bool special_words(wick_span bytes, uint32_t n, wick_arena *mem, const int64_t **out)
{
  if (bytes.nbytes != n * (uint64_t)8) return false;
  int64_t *words = wick_new(mem, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t x = 0;
    for (uint32_t b = 0; b < 8; b++) x |= (uint64_t)bytes.at[8 * i + b] << 8 * b;
    words[i] = (int64_t)x;
  }
  *out = words;
  return true;
}

/* What it is for. */
static wick_status special_given(const char *place, const wick_program *generic, wick_arena *mem,
                                 wick_special *out)
{
  uint32_t n = generic->sizes.nsymbol;
  if (!special_words(wick_artifact_section(&out->artifact, "sizes"), n, mem, &out->sizes))
    return wick_fail(mem, WICK_EPARSE, place, "a copy has other sizes than the program");
  for (uint32_t i = 0; i < n; i++)
    if (out->sizes[i] < generic->sizes.symbol[i].lo || out->sizes[i] > generic->sizes.symbol[i].hi)
      return wick_fail(mem, WICK_EPARSE, place, "a copy's size lies outside of its range");
  if (!special_words(wick_artifact_section(&out->artifact, "held"), wick_held_nword(generic), mem,
                     &out->held) ||
      !wick_held_good(generic, out->held))
    return wick_fail(mem, WICK_EPARSE, place, "a copy holds other contents than the program");
  return NULL;
}

/* Dimensions beside those that vary are the same, and what is counted; nothing is open, and nothing
 * is the runtime's. */
static bool special_matches(const wick_program *p, const wick_program *generic)
{
  bool same = p->ninput == generic->ninput && p->noutput == generic->noutput &&
              p->packed_bytes == generic->packed_bytes && !*p->sizes.fill &&
              p->nflow == generic->nflow;
  for (uint32_t i = 0; same && i < p->ninput; i++) same = !p->fixed[i];
  for (uint32_t i = 0; same && i < p->nkernel; i++) same = !p->kernel[i].host.row;
  for (uint32_t i = 0; same && i < p->ninput + p->noutput; i++) {
    const wick_io *x = &p->io[i], *g = &generic->io[i];
    same = x->elem == g->elem && x->rank == g->rank;
    for (uint32_t k = 0; same && k < x->rank; k++)
      same = x->dim[k] >= 0 && (g->dim[k] < 0 || x->dim[k] == g->dim[k]);
  }
  return same;
}

wick_status wick_special_read(wick_span bytes, const char *place, const wick_program *generic,
                              wick_arena *mem, wick_special *out)
{
  *out = (wick_special){0};
  WICK_TRY(wick_artifact_read(bytes, place, mem, &out->artifact));
  WICK_TRY(wick_program_read(wick_artifact_section(&out->artifact, "program"), place, mem,
                             &out->program));
  WICK_TRY(special_given(place, generic, mem, out));
  if (!special_matches(&out->program, generic))
    return wick_fail(mem, WICK_EPARSE, place, "a copy is of another program");
  WICK_TRY(wick_image_map(&out->artifact, mem, &out->image));
  out->entry = wick_image_entry(&out->image, out->program.entry);
  if (out->entry) return NULL;
  return wick_fail(mem, WICK_EPARSE, place, "the code has no function \"%s\"", out->program.entry);
}

bool wick_special_fits(const wick_special *x, const wick_program *generic, const wick_sized *sized)
{
  bool same = true;
  for (uint32_t i = 0; i < generic->ninput + generic->noutput && same; i++) {
    const wick_io *a = &x->program.io[i], *b = sized ? &sized->io[i] : &generic->io[i];
    same = a->nbytes == b->nbytes && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
  }
  return same;
}

/* ---- the table ---- */

/* What a copy that is made here lives in. */
typedef struct special_made special_made;
struct special_made {
  special_made *next;
  wick_guard guard;
  wick_arena mem;
  wick_special special;
};

struct wick_specials {
  const wick_program *program;
  wick_allocator allocator;
  _Atomic(wick_met *) met[SPECIAL_MOST]; /* up to the first NULL */
  wick_maker maker;
  atomic_uint nwanted; /* copies that were asked for */
  special_made *made;  /* of the thread, then of whoever frees */
  sem_t work;          /* one for each copy that is asked for */
  atomic_bool stop;
  _Atomic pid_t owner; /* the process that has the thread; 0: there is none */
  pthread_t thread;
};

wick_specials *wick_specials_begin(const wick_program *program, wick_allocator a)
{
  wick_specials *s = a.alloc(a.self, sizeof *s);
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  s->program = program, s->allocator = a;
  sem_init(&s->work, 0, 0);
  return s;
}

/* Behind the sizes: what is held, and what has been seen. */
static size_t special_nbytes(const wick_specials *s)
{
  return sizeof(wick_met) +
         2 * (s->program->sizes.nsymbol + wick_held_nword(s->program)) * sizeof(int64_t);
}

static void special_met(const wick_specials *s, const int64_t *sizes, const int64_t *held,
                        wick_met *out)
{
  uint32_t n = s->program->sizes.nsymbol, nheld = wick_held_nword(s->program);
  memset(out, 0, special_nbytes(s));
  int64_t *words = out->sizes + 2 * n;
  if (held) memcpy(words, held, nheld * sizeof *held);
  out->held = words;
  out->seen = (_Atomic int64_t *)(words + nheld);
  atomic_store(&out->due, s->maker.after);
  memcpy(out->sizes, sizes, n * sizeof *sizes);
  for (uint32_t i = 0; i < n; i++) {
    const wick_program_symbol *x = &s->program->sizes.symbol[i];
    out->sizes[n + i] = (int64_t)((uint64_t)sizes[i] * (uint64_t)x->factor + (uint64_t)x->rest);
  }
}

static bool special_is(const wick_specials *s, const wick_met *m, const int64_t *sizes,
                       const int64_t *held)
{
  uint32_t nheld = wick_held_nword(s->program);
  bool same = memcmp(m->sizes, sizes, s->program->sizes.nsymbol * sizeof *sizes) == 0;
  for (uint32_t i = 0; same && i < nheld; i++) same = m->held[i] == (held ? held[i] : 0);
  return same;
}

/* Finds, or adds: the first place that is free is taken by an exchange, or somebody else's. */
static wick_met *special_meet(wick_specials *s, const int64_t *sizes, const int64_t *held,
                              bool *out_new)
{
  wick_allocator a = s->allocator;
  wick_met *mine = NULL, *found = NULL;
  for (uint32_t i = 0; i < SPECIAL_MOST && !found; i++) {
    wick_met *m = atomic_load_explicit(&s->met[i], memory_order_acquire);
    if (!m) {
      if (!mine) mine = a.alloc(a.self, special_nbytes(s));
      if (!mine) return NULL;
      special_met(s, sizes, held, mine);
      *out_new = atomic_compare_exchange_strong(&s->met[i], &m, mine);
      if (*out_new) return mine;
    }
    if (special_is(s, m, sizes, held)) found = m;
  }
  if (mine) a.free(a.self, mine, special_nbytes(s));
  return found;
}

wick_met *wick_specials_meet(wick_specials *s, const int64_t *sizes, const int64_t *held)
{
  bool added = false;
  wick_met *m = special_meet(s, sizes, NULL, &added);
  if (!m || !held || special_is(s, m, sizes, held)) return m;
  added = false;
  wick_met *x = special_meet(s, sizes, held, &added);
  if (!added) return x;
  wick_met *first = atomic_load(&m->more);
  do atomic_store(&x->more, first);
  while (!atomic_compare_exchange_weak(&m->more, &first, x));
  return x;
}

/* ---- contents ---- */

/* The first run's contents are kept; then others are looked for. */
static void special_see(const wick_specials *s, wick_met *m, const void *const *inputs)
{
  _Atomic int64_t *seen = m->seen;
  for (uint32_t i = 0; i < s->program->nwatch; i++) {
    uint32_t input = s->program->watch[i], n = wick_held_nbody(s->program, i);
    int64_t state = atomic_load_explicit(seen, memory_order_acquire), is[WICK_HELD_MOST / 8] = {0};
    if (state == 0 || state == WICK_SEEN_SAME)
      memcpy(is, inputs[input], (size_t)s->program->io[input].nbytes);
    if (state == 0 && atomic_compare_exchange_strong(seen, &state, WICK_SEEN_FIRST)) {
      for (uint32_t k = 0; k < n; k++)
        atomic_store_explicit(&seen[1 + k], is[k], memory_order_relaxed);
      atomic_store_explicit(seen, WICK_SEEN_SAME, memory_order_release);
    } else if (state == WICK_SEEN_SAME) {
      bool same = true;
      for (uint32_t k = 0; k < n; k++)
        same = same && atomic_load_explicit(&seen[1 + k], memory_order_relaxed) == is[k];
      if (!same) atomic_store_explicit(seen, WICK_SEEN_OTHER, memory_order_relaxed);
    }
    seen += 1 + n;
  }
}

wick_met *wick_specials_choose(const wick_specials *s, wick_met *m, const void *const *inputs)
{
  if (!s->program->nwatch) return m;
  for (wick_met *x = atomic_load_explicit(&m->more, memory_order_acquire); x;
       x = atomic_load_explicit(&x->more, memory_order_acquire))
    if (atomic_load_explicit(&x->special, memory_order_acquire) &&
        wick_held_fits(s->program, x->held, inputs))
      return x;
  special_see(s, m, inputs);
  return m;
}

/* Contents that all runs of m had, for a copy to hold; false where there are none, or it is there
 * already. */
static bool special_always(wick_specials *s, const wick_met *m, int64_t *out)
{
  bool any = false, made = false;
  memset(out, 0, wick_held_nword(s->program) * sizeof *out);
  for (uint32_t i = 0, at = 0; i < s->program->nwatch; i++) {
    uint32_t n = wick_held_nbody(s->program, i);
    bool same = atomic_load_explicit(&m->seen[at], memory_order_acquire) == WICK_SEEN_SAME;
    out[at] = same;
    for (uint32_t k = 1; same && k <= n; k++) out[at + k] = atomic_load(&m->seen[at + k]);
    any = any || same;
    at += 1 + n;
  }
  for (const wick_met *x = atomic_load(&m->more); x && any && !made; x = atomic_load(&x->more))
    made = special_is(s, x, m->sizes, out);
  return any && !made;
}

const wick_met *wick_specials_at(const wick_specials *s, uint32_t i)
{
  return i < SPECIAL_MOST ? atomic_load_explicit(&s->met[i], memory_order_acquire) : NULL;
}

bool wick_specials_add(wick_specials *s, wick_special *x)
{
  wick_met *m = wick_specials_meet(s, x->sizes, x->held);
  if (!m || atomic_load(&m->special)) return false;
  m->ahead = true;
  atomic_store(&m->state, WICK_COPY_READY);
  atomic_store(&m->special, x);
  return true;
}

static void special_least(_Atomic uint64_t *least, uint64_t nanoseconds)
{
  uint64_t old = atomic_load_explicit(least, memory_order_relaxed);
  while (nanoseconds && (!old || nanoseconds < old) &&
         !atomic_compare_exchange_weak(least, &old, nanoseconds))
    continue;
}

/* Asks for a copy, once, as long as there may be one more. */
static void special_ask(wick_specials *s, wick_met *m)
{
  uint32_t none = WICK_COPY_NONE, n = atomic_load(&s->nwanted);
  if (!atomic_load(&s->owner) || atomic_load(&m->state) != none) return;
  while (n < s->maker.most && !atomic_compare_exchange_weak(&s->nwanted, &n, n + 1)) continue;
  if (n >= s->maker.most) return;
  if (atomic_compare_exchange_strong(&m->state, &none, WICK_COPY_WANTED))
    sem_post(&s->work);
  else
    atomic_fetch_sub(&s->nwanted, 1);
}

/* Its own sizes' copy is compared; one for some contents has no generic runs of its own. */
static void special_judge(wick_met *m)
{
  uint64_t generic = atomic_load(&m->least[0]), copy = atomic_load(&m->least[1]);
  uint32_t ready = WICK_COPY_READY;
  if (m->ahead || !generic || copy <= generic + generic / SPECIAL_SLOWER) return;
  if (atomic_compare_exchange_strong(&m->state, &ready, WICK_COPY_SLOWER))
    atomic_store_explicit(&m->special, NULL, memory_order_relaxed);
}

void wick_specials_ran(wick_specials *s, wick_met *m, bool special, uint64_t nanoseconds)
{
  uint64_t n = 1 + atomic_fetch_add_explicit(&m->nrun, 1, memory_order_relaxed);
  special_least(&m->least[special], nanoseconds);
  if (special && nanoseconds && atomic_fetch_add(&m->ntried, 1) + 1 == SPECIAL_TRIAL)
    special_judge(m);
  if (s->maker.most && n >= atomic_load_explicit(&m->due, memory_order_relaxed) &&
      atomic_load_explicit(&m->state, memory_order_relaxed) == WICK_COPY_NONE)
    special_ask(s, m);
}

/* ---- the thread ---- */

static bool special_stopped(void *arg)
{
  wick_specials *s = arg;
  return atomic_load(&s->stop);
}

static wick_status special_fill(wick_specials *s, wick_met *m, special_made *x)
{
  wick_span bytes;
  WICK_TRY(s->maker.make(s->maker.arg, m->sizes, m->held, special_stopped, s, &x->guard, &x->mem,
                         &bytes, &m->cached));
  return wick_special_read(bytes, "a copy for some sizes", s->program, &x->mem, &x->special);
}

/* Keeps what it has come to; also a failure, with its words. */
static void special_make(wick_specials *s, wick_met *m)
{
  wick_allocator a = s->allocator;
  special_made *x = a.alloc(a.self, sizeof *x);
  if (!x) {
    atomic_store(&m->why, "out of memory");
    atomic_store(&m->state, WICK_COPY_FAILED);
    return;
  }
  *x = (special_made){.next = s->made, .guard = {.allocator = a}};
  x->mem = wick_arena_make(&x->guard);
  s->made = x;
  wick_status bad = setjmp(x->guard.where) ? wick_error_nomem() : special_fill(s, m, x);
  s->maker.end(s->maker.arg);
  if (bad) {
    atomic_store(&m->why, bad->message);
    atomic_store(&m->state, WICK_COPY_FAILED);
    return;
  }
  atomic_store_explicit(&m->special, &x->special, memory_order_release);
  atomic_store(&m->state, WICK_COPY_READY);
}

/* For contents that have always been the same there is a copy first, and, where runs with others
 * go on, one for all contents after as many runs again. */
static void special_serve(wick_specials *s, wick_met *m)
{
  wick_allocator a = s->allocator;
  size_t nheld = wick_held_nword(s->program) * sizeof(int64_t);
  int64_t *held = nheld ? a.alloc(a.self, nheld) : NULL;
  wick_met *x = held && special_always(s, m, held) ? wick_specials_meet(s, m->sizes, held) : m;
  if (held) a.free(a.self, held, nheld);
  if (!x || x == m) {
    special_make(s, m);
    return;
  }
  special_make(s, x);
  atomic_store(&m->due, atomic_load(&m->nrun) + s->maker.after);
  atomic_store(&m->state, WICK_COPY_NONE);
}

static void *special_work(void *arg)
{
  wick_specials *s = arg;
  while (!atomic_load(&s->stop)) {
    if (sem_wait(&s->work)) continue;
    for (uint32_t i = 0; i < SPECIAL_MOST && !atomic_load(&s->stop); i++) {
      wick_met *m = atomic_load_explicit(&s->met[i], memory_order_acquire);
      uint32_t wanted = WICK_COPY_WANTED;
      if (!m) break;
      if (atomic_compare_exchange_strong(&m->state, &wanted, WICK_COPY_MAKING)) special_serve(s, m);
    }
  }
  return NULL;
}

bool wick_specials_start(wick_specials *s, const wick_maker *maker)
{
  sigset_t all, old;
  s->maker = *maker;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the program's own threads' */
  int error = pthread_create(&s->thread, NULL, special_work, s);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!error) {
    atomic_store(&s->owner, getpid());
    return true;
  }
  maker->drop(maker->arg);
  s->maker = (wick_maker){0};
  return false;
}

/* In a process that has forked there is no thread, and nothing is made; what is there stays. */
static bool special_has_thread(const wick_specials *s)
{
  return atomic_load(&s->owner) == getpid();
}

void wick_specials_wait(const wick_specials *s)
{
  const struct timespec little = {0, 1000000};
  for (uint32_t i = 0; special_has_thread(s) && i < SPECIAL_MOST; i++) {
    const wick_met *m = wick_specials_at(s, i);
    if (!m) return;
    for (uint32_t state;
         (state = atomic_load(&m->state)) == WICK_COPY_WANTED || state == WICK_COPY_MAKING;)
      nanosleep(&little, NULL);
  }
}

void wick_specials_free(wick_specials *s)
{
  if (!s) return;
  wick_allocator a = s->allocator;
  atomic_store(&s->stop, true);
  if (special_has_thread(s)) {
    sem_post(&s->work);
    pthread_join(s->thread, NULL);
  }
  if (s->maker.drop) s->maker.drop(s->maker.arg);
  for (uint32_t i = 0; i < SPECIAL_MOST && s->met[i]; i++) {
    wick_met *m = atomic_load(&s->met[i]);
    if (m->ahead) wick_image_unmap(&atomic_load(&m->special)->image);
    a.free(a.self, m, special_nbytes(s));
  }
  for (special_made *x = s->made, *next; x; x = next) {
    next = x->next;
    wick_image_unmap(&x->special.image);
    wick_arena_free(&x->mem);
    a.free(a.self, x, sizeof *x);
  }
  sem_destroy(&s->work);
  a.free(a.self, s, sizeof *s);
}
