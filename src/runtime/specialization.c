/* Reads specializations, keeps the table of the profile, and runs the thread that specializes. */
#include "runtime/specialization.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

enum {
  SPECIALIZATIONS_MAX = 1024, /* most records */
  /* measured runs after which a specialization is compared with the base program */
  SPECIALIZATION_TRIAL = 16,
  SPECIALIZATION_SLOWER = 32 /* it may be slower than the base program by 1 / 32 */
};

/* ---- specializations ---- */

wick_section wick_specialization_words(const char *name, uint32_t n, const int64_t *words,
                                       wick_arena *mem)
{
  unsigned char *at = wick_new(mem, unsigned char, n * 8u + 1u);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t b = 0; b < 8; b++) at[8 * i + b] = (unsigned char)((uint64_t)words[i] >> 8 * b);
  return (wick_section){.name = name, .bytes = {at, n * 8u}};
}

static bool specialization_words(wick_span bytes, uint32_t n, wick_arena *mem, const int64_t **out)
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

/* Reads the sizes and guards of a specialization. */
static wick_status specialization_given(const char *location, const wick_program *base,
                                        wick_arena *mem, wick_specialization *out)
{
  uint32_t n = base->sizes.nsymbol;
  if (!specialization_words(wick_artifact_section(&out->artifact, "sizes"), n, mem, &out->sizes))
    return wick_fail(mem, WICK_EPARSE, location,
                     "a specialization has other sizes than the program");
  for (uint32_t i = 0; i < n; i++)
    if (out->sizes[i] < base->sizes.symbol[i].lo || out->sizes[i] > base->sizes.symbol[i].hi)
      return wick_fail(mem, WICK_EPARSE, location,
                       "a size of a specialization is outside its range");
  if (!specialization_words(wick_artifact_section(&out->artifact, "guards"),
                            wick_guards_nword(base), mem, &out->guards) ||
      !wick_guards_valid(base, out->guards))
    return wick_fail(mem, WICK_EPARSE, location,
                     "a specialization guards other inputs than the program");
  return NULL;
}

/* Returns true if constant dimensions and counters are those of the base program, no size is
 * dynamic, and the runtime executes no operator. */
static bool specialization_matches(const wick_program *p, const wick_program *base)
{
  bool same = p->ninput == base->ninput && p->noutput == base->noutput &&
              p->packed_bytes == base->packed_bytes && !*p->sizes.fill && p->nflow == base->nflow;
  for (uint32_t i = 0; same && i < p->ninput; i++) same = !p->fixed[i];
  for (uint32_t i = 0; same && i < p->nkernel; i++) same = !p->kernel[i].host.row;
  for (uint32_t i = 0; same && i < p->ninput + p->noutput; i++) {
    const wick_io *x = &p->io[i], *g = &base->io[i];
    same = x->elem == g->elem && x->rank == g->rank;
    for (uint32_t k = 0; same && k < x->rank; k++)
      same = x->dim[k] >= 0 && (g->dim[k] < 0 || x->dim[k] == g->dim[k]);
  }
  return same;
}

wick_status wick_specialization_read(wick_span bytes, const char *location,
                                     const wick_program *base, wick_arena *mem,
                                     wick_specialization *out)
{
  *out = (wick_specialization){0};
  WICK_TRY(wick_artifact_read(bytes, location, mem, &out->artifact));
  WICK_TRY(wick_program_read(wick_artifact_section(&out->artifact, "program"), location, mem,
                             &out->program));
  WICK_TRY(specialization_given(location, base, mem, out));
  if (!specialization_matches(&out->program, base))
    return wick_fail(mem, WICK_EPARSE, location, "a specialization is of another program");
  WICK_TRY(wick_image_map(&out->artifact, mem, &out->image));
  out->entry = wick_image_entry(&out->image, out->program.entry);
  if (out->entry) return NULL;
  return wick_fail(mem, WICK_EPARSE, location, "the code has no function \"%s\"",
                   out->program.entry);
}

bool wick_specialization_fits(const wick_specialization *x, const wick_program *base,
                              const wick_sized *sized)
{
  bool same = wick_program_may_fail(base) || !wick_program_may_fail(&x->program); /* states.h */
  for (uint32_t i = 0; i < base->ninput + base->noutput && same; i++) {
    const wick_io *a = &x->program.io[i], *b = sized ? &sized->io[i] : &base->io[i];
    same = a->nbytes == b->nbytes && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
  }
  return same;
}

/* ---- the table ---- */

/* A specialization that was compiled in the background, with its memory. */
typedef struct specialization_made specialization_made;
struct specialization_made {
  specialization_made *next;
  wick_guard guard;
  wick_arena mem;
  wick_specialization specialized;
};

struct wick_specializations {
  const wick_program *program;
  wick_allocator allocator;
  _Atomic(wick_profile_record *) entry[SPECIALIZATIONS_MAX]; /* used up to the first NULL */
  wick_specializer specializer;
  atomic_uint nrequested;    /* specializations that were requested */
  specialization_made *made; /* belongs to the thread, then to the function that frees */
  sem_t work;                /* one for each requested specialization */
  atomic_bool stop;
  _Atomic pid_t owner; /* the process that has the thread; 0: none */
  pthread_t thread;
};

wick_specializations *wick_specializations_create(const wick_program *program, wick_allocator a)
{
  wick_specializations *s = a.alloc(a.self, sizeof *s);
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  s->program = program, s->allocator = a;
  sem_init(&s->work, 0, 0);
  return s;
}

/* The guards and the observed contents follow the sizes in memory. */
static size_t specialization_nbytes(const wick_specializations *s)
{
  return sizeof(wick_profile_record) +
         2 * (s->program->sizes.nsymbol + wick_guards_nword(s->program)) * sizeof(int64_t);
}

static void specialization_met(const wick_specializations *s, const int64_t *sizes,
                               const int64_t *guards, wick_profile_record *out)
{
  uint32_t n = s->program->sizes.nsymbol, nguard = wick_guards_nword(s->program);
  memset(out, 0, specialization_nbytes(s));
  int64_t *words = out->sizes + 2 * n;
  if (guards) memcpy(words, guards, nguard * sizeof *guards);
  out->guards = words;
  out->observed = (_Atomic int64_t *)(words + nguard);
  atomic_store(&out->due, s->specializer.after);
  memcpy(out->sizes, sizes, n * sizeof *sizes);
  for (uint32_t i = 0; i < n; i++) {
    const wick_program_symbol *x = &s->program->sizes.symbol[i];
    out->sizes[n + i] = (int64_t)((uint64_t)sizes[i] * (uint64_t)x->factor + (uint64_t)x->rest);
  }
}

static bool specialization_is(const wick_specializations *s, const wick_profile_record *m,
                              const int64_t *sizes, const int64_t *guards)
{
  uint32_t nguard = wick_guards_nword(s->program);
  bool same = memcmp(m->sizes, sizes, s->program->sizes.nsymbol * sizeof *sizes) == 0;
  for (uint32_t i = 0; same && i < nguard; i++) same = m->guards[i] == (guards ? guards[i] : 0);
  return same;
}

/* Finds or adds a record. It takes the first free slot by an exchange, unless another thread takes
 * it first. */
static wick_profile_record *specialization_meet(wick_specializations *s, const int64_t *sizes,
                                                const int64_t *guards, bool *out_new)
{
  wick_allocator a = s->allocator;
  wick_profile_record *mine = NULL, *found = NULL;
  for (uint32_t i = 0; i < SPECIALIZATIONS_MAX && !found; i++) {
    wick_profile_record *m = atomic_load_explicit(&s->entry[i], memory_order_acquire);
    if (!m) {
      if (!mine) mine = a.alloc(a.self, specialization_nbytes(s));
      if (!mine) return NULL;
      specialization_met(s, sizes, guards, mine);
      *out_new = atomic_compare_exchange_strong(&s->entry[i], &m, mine);
      if (*out_new) return mine;
    }
    if (specialization_is(s, m, sizes, guards)) found = m;
  }
  if (mine) a.free(a.self, mine, specialization_nbytes(s));
  return found;
}

wick_profile_record *wick_specializations_entry(wick_specializations *s, const int64_t *sizes,
                                                const int64_t *guards)
{
  bool added = false;
  wick_profile_record *m = specialization_meet(s, sizes, NULL, &added);
  if (!m || !guards || specialization_is(s, m, sizes, guards)) return m;
  added = false;
  wick_profile_record *x = specialization_meet(s, sizes, guards, &added);
  if (!added) return x;
  wick_profile_record *first = atomic_load(&m->more);
  do atomic_store(&x->more, first);
  while (!atomic_compare_exchange_weak(&m->more, &first, x));
  return x;
}

/* ---- contents ---- */

/* Records the contents of the first run, and whether later ones differ. */
static void specialization_see(const wick_specializations *s, wick_profile_record *m,
                               const void *const *inputs)
{
  _Atomic int64_t *observed = m->observed;
  for (uint32_t i = 0; i < s->program->nguard_input; i++) {
    uint32_t input = s->program->guard_input[i], n = wick_guards_nbody(s->program, i);
    int64_t state = atomic_load_explicit(observed, memory_order_acquire),
            is[WICK_GUARD_BYTES_MAX / 8] = {0};
    if (state == 0 || state == WICK_OBSERVED_SAME)
      memcpy(is, inputs[input], (size_t)s->program->io[input].nbytes);
    if (state == 0 && atomic_compare_exchange_strong(observed, &state, WICK_OBSERVED_FIRST)) {
      for (uint32_t k = 0; k < n; k++)
        atomic_store_explicit(&observed[1 + k], is[k], memory_order_relaxed);
      atomic_store_explicit(observed, WICK_OBSERVED_SAME, memory_order_release);
    } else if (state == WICK_OBSERVED_SAME) {
      bool same = true;
      for (uint32_t k = 0; k < n; k++)
        same = same && atomic_load_explicit(&observed[1 + k], memory_order_relaxed) == is[k];
      if (!same) atomic_store_explicit(observed, WICK_OBSERVED_OTHER, memory_order_relaxed);
    }
    observed += 1 + n;
  }
}

wick_profile_record *wick_specializations_choose(const wick_specializations *s,
                                                 wick_profile_record *m, const void *const *inputs)
{
  if (!s->program->nguard_input) return m;
  for (wick_profile_record *x = atomic_load_explicit(&m->more, memory_order_acquire); x;
       x = atomic_load_explicit(&x->more, memory_order_acquire))
    if (atomic_load_explicit(&x->specialized, memory_order_acquire) &&
        wick_guards_match(s->program, x->guards, inputs))
      return x;
  specialization_see(s, m, inputs);
  return m;
}

/* Finds contents that all runs of m had, for a specialization to guard. Returns false if there are
 * none, or if it exists. */
static bool specialization_always(wick_specializations *s, const wick_profile_record *m,
                                  int64_t *out)
{
  bool any = false, made = false;
  memset(out, 0, wick_guards_nword(s->program) * sizeof *out);
  for (uint32_t i = 0, at = 0; i < s->program->nguard_input; i++) {
    uint32_t n = wick_guards_nbody(s->program, i);
    bool same = atomic_load_explicit(&m->observed[at], memory_order_acquire) == WICK_OBSERVED_SAME;
    out[at] = same;
    for (uint32_t k = 1; same && k <= n; k++) out[at + k] = atomic_load(&m->observed[at + k]);
    any = any || same;
    at += 1 + n;
  }
  for (const wick_profile_record *x = atomic_load(&m->more); x && any && !made;
       x = atomic_load(&x->more))
    made = specialization_is(s, x, m->sizes, out);
  return any && !made;
}

const wick_profile_record *wick_specializations_at(const wick_specializations *s, uint32_t i)
{
  return i < SPECIALIZATIONS_MAX ? atomic_load_explicit(&s->entry[i], memory_order_acquire) : NULL;
}

bool wick_specializations_add(wick_specializations *s, wick_specialization *x)
{
  wick_profile_record *m = wick_specializations_entry(s, x->sizes, x->guards);
  if (!m || atomic_load(&m->specialized)) return false;
  m->ahead = true;
  atomic_store(&m->state, WICK_SPECIALIZATION_READY);
  atomic_store(&m->specialized, x);
  return true;
}

static void specialization_least(_Atomic uint64_t *least, uint64_t nanoseconds)
{
  uint64_t old = atomic_load_explicit(least, memory_order_relaxed);
  while (nanoseconds && (!old || nanoseconds < old) &&
         !atomic_compare_exchange_weak(least, &old, nanoseconds))
    continue;
}

/* Requests a specialization, once, unless there are too many already. */
static void specialization_ask(wick_specializations *s, wick_profile_record *m)
{
  uint32_t none = WICK_SPECIALIZATION_NONE, n = atomic_load(&s->nrequested);
  if (!atomic_load(&s->owner) || atomic_load(&m->state) != none) return;
  while (n < s->specializer.most && !atomic_compare_exchange_weak(&s->nrequested, &n, n + 1))
    continue;
  if (n >= s->specializer.most) return;
  if (atomic_compare_exchange_strong(&m->state, &none, WICK_SPECIALIZATION_REQUESTED))
    sem_post(&s->work);
  else
    atomic_fetch_sub(&s->nrequested, 1);
}

/* Gives up a specialization that is slower than the base program. Only specializations for sizes
 * are compared: one with guards has no runs of the base program. */
static void specialization_judge(wick_profile_record *m)
{
  uint64_t base = atomic_load(&m->least[0]), copy = atomic_load(&m->least[1]);
  uint32_t ready = WICK_SPECIALIZATION_READY;
  if (m->ahead || !base || copy <= base + base / SPECIALIZATION_SLOWER) return;
  if (atomic_compare_exchange_strong(&m->state, &ready, WICK_SPECIALIZATION_SLOWER))
    atomic_store_explicit(&m->specialized, NULL, memory_order_relaxed);
}

void wick_specializations_after_run(wick_specializations *s, wick_profile_record *m,
                                    bool specialized, uint64_t nanoseconds)
{
  uint64_t n = 1 + atomic_fetch_add_explicit(&m->nrun, 1, memory_order_relaxed);
  specialization_least(&m->least[specialized], nanoseconds);
  if (specialized && nanoseconds && atomic_fetch_add(&m->ntried, 1) + 1 == SPECIALIZATION_TRIAL)
    specialization_judge(m);
  if (s->specializer.most && n >= atomic_load_explicit(&m->due, memory_order_relaxed) &&
      atomic_load_explicit(&m->state, memory_order_relaxed) == WICK_SPECIALIZATION_NONE)
    specialization_ask(s, m);
}

/* ---- the thread ---- */

static bool specialization_stopped(void *arg)
{
  wick_specializations *s = arg;
  return atomic_load(&s->stop);
}

static wick_status specialization_fill(wick_specializations *s, wick_profile_record *m,
                                       specialization_made *x)
{
  wick_span bytes;
  WICK_TRY(s->specializer.make(s->specializer.arg, m->sizes, m->guards, specialization_stopped, s,
                               &x->guard, &x->mem, &bytes, &m->cached));
  return wick_specialization_read(bytes, "a specialization", s->program, &x->mem, &x->specialized);
}

/* Compiles a specialization, and publishes it, or the reason for a failure. */
static void specialization_make(wick_specializations *s, wick_profile_record *m)
{
  wick_allocator a = s->allocator;
  specialization_made *x = a.alloc(a.self, sizeof *x);
  if (!x) {
    atomic_store(&m->why, "out of memory");
    atomic_store(&m->state, WICK_SPECIALIZATION_FAILED);
    return;
  }
  *x = (specialization_made){.next = s->made, .guard = {.allocator = a}};
  x->mem = wick_arena_make(&x->guard);
  s->made = x;
  wick_status bad = setjmp(x->guard.where) ? wick_error_nomem() : specialization_fill(s, m, x);
  s->specializer.end(s->specializer.arg);
  if (bad) {
    atomic_store(&m->why, bad->message);
    atomic_store(&m->state, WICK_SPECIALIZATION_FAILED);
    return;
  }
  atomic_store_explicit(&m->specialized, &x->specialized, memory_order_release);
  atomic_store(&m->state, WICK_SPECIALIZATION_READY);
}

/* If some contents were the same in all runs, first compiles a specialization that guards these. If
 * runs with other contents continue, one for any contents follows after as many runs again. */
static void specialization_serve(wick_specializations *s, wick_profile_record *m)
{
  wick_allocator a = s->allocator;
  size_t nguard = wick_guards_nword(s->program) * sizeof(int64_t);
  int64_t *guards = nguard ? a.alloc(a.self, nguard) : NULL;
  wick_profile_record *x = guards && specialization_always(s, m, guards)
                               ? wick_specializations_entry(s, m->sizes, guards)
                               : m;
  if (guards) a.free(a.self, guards, nguard);
  if (!x || x == m) {
    specialization_make(s, m);
    return;
  }
  specialization_make(s, x);
  atomic_store(&m->due, atomic_load(&m->nrun) + s->specializer.after);
  atomic_store(&m->state, WICK_SPECIALIZATION_NONE);
}

static void *specialization_work(void *arg)
{
  wick_specializations *s = arg;
  while (!atomic_load(&s->stop)) {
    if (sem_wait(&s->work)) continue;
    for (uint32_t i = 0; i < SPECIALIZATIONS_MAX && !atomic_load(&s->stop); i++) {
      wick_profile_record *m = atomic_load_explicit(&s->entry[i], memory_order_acquire);
      uint32_t wanted = WICK_SPECIALIZATION_REQUESTED;
      if (!m) break;
      if (atomic_compare_exchange_strong(&m->state, &wanted, WICK_SPECIALIZATION_COMPILING))
        specialization_serve(s, m);
    }
  }
  return NULL;
}

bool wick_specializations_start(wick_specializations *s, const wick_specializer *specializer)
{
  sigset_t all, old;
  s->specializer = *specializer;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are left to the program's own threads */
  int error = pthread_create(&s->thread, NULL, specialization_work, s);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!error) {
    atomic_store(&s->owner, getpid());
    return true;
  }
  specializer->drop(specializer->arg);
  s->specializer = (wick_specializer){0};
  return false;
}

/* Returns whether this process has the thread. After a fork, a child does not: it keeps its
 * specializations, but compiles no more. */
static bool specialization_has_thread(const wick_specializations *s)
{
  return atomic_load(&s->owner) == getpid();
}

void wick_specializations_wait(const wick_specializations *s)
{
  const struct timespec little = {0, 1000000};
  for (uint32_t i = 0; specialization_has_thread(s) && i < SPECIALIZATIONS_MAX; i++) {
    const wick_profile_record *m = wick_specializations_at(s, i);
    if (!m) return;
    for (uint32_t state; (state = atomic_load(&m->state)) == WICK_SPECIALIZATION_REQUESTED ||
                         state == WICK_SPECIALIZATION_COMPILING;)
      nanosleep(&little, NULL);
  }
}

void wick_specializations_free(wick_specializations *s)
{
  if (!s) return;
  wick_allocator a = s->allocator;
  atomic_store(&s->stop, true);
  if (specialization_has_thread(s)) {
    sem_post(&s->work);
    pthread_join(s->thread, NULL);
  }
  if (s->specializer.drop) s->specializer.drop(s->specializer.arg);
  for (uint32_t i = 0; i < SPECIALIZATIONS_MAX && s->entry[i]; i++) {
    wick_profile_record *m = atomic_load(&s->entry[i]);
    if (m->ahead) wick_image_unmap(&atomic_load(&m->specialized)->image);
    a.free(a.self, m, specialization_nbytes(s));
  }
  for (specialization_made *x = s->made, *next; x; x = next) {
    next = x->next;
    wick_image_unmap(&x->specialized.image);
    wick_arena_free(&x->mem);
    a.free(a.self, x, sizeof *x);
  }
  sem_destroy(&s->work);
  a.free(a.self, s, sizeof *s);
}
