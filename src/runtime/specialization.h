/* Specializations of a program: faster code for some of its sizes and for contents of small inputs,
 * and the profile of the sizes and contents that occur.
 *
 * A specialization is an artifact without constants: it reads those of the base program, which
 * serves all sizes. Its section `program` has the base program's interface with numbers for its
 * sizes; `sizes` has the values of the symbols, i64 each; `guards` has the contents of inputs under
 * which it may run (runtime/guards.h). An artifact keeps specializations that were compiled ahead
 * of time as sections `specialization.0`, `specialization.1`, ... Others are compiled while the
 * program runs, by a background thread that calls a specializer, and are published by one atomic
 * store: a session uses a new one from its next run on.
 *
 * Sessions of all threads share the profile without a lock: a record is added by one atomic
 * exchange and is never removed. There is one record for each combination of sizes, with any
 * contents, and further ones for sizes and contents that a specialization guards. A run is counted
 * by the record whose specialization it could use. */
#ifndef WICK_RUNTIME_SPECIALIZATION_H
#define WICK_RUNTIME_SPECIALIZATION_H

#include <stdatomic.h>

#include "runtime/guards.h"
#include "runtime/load.h"
#include "runtime/program.h"
#include "runtime/sizes.h"

typedef struct wick_specialization {
  wick_artifact artifact;
  wick_image image;
  wick_program program;
  const int64_t *sizes, *guards;
  wick_entry entry;
} wick_specialization;

/* Make the sections `sizes` and `guards`. */
wick_section wick_specialization_words(const char *name, uint32_t n, const int64_t *words,
                                       wick_arena *mem);

/* Reads the specialization in `bytes`, which outlive it, and checks it against the base program.
 * The caller unmaps its image, also after a failure. */
WICK_CHECKED wick_status wick_specialization_read(wick_span bytes, const char *location,
                                                  const wick_program *base, wick_arena *mem,
                                                  wick_specialization *out);
/* Does the specialization have the sizes in `sized` (NULL: the base program has no dynamic
 * size)? */
bool wick_specialization_fits(const wick_specialization *x, const wick_program *base,
                              const wick_sized *sized);

/* ---- the profile ---- */

typedef struct wick_profile_record wick_profile_record;
struct wick_profile_record {
  _Atomic uint64_t nrun;
  _Atomic uint64_t
      least[2];            /* nanoseconds of a run: base code, specialized code; 0: not measured */
  _Atomic uint32_t state;  /* wick_specialization_state */
  _Atomic uint32_t ntried; /* measured runs of the specialization */
  wick_specialization
      *_Atomic specialized; /* set once, when it is ready to run; NULL again if it is slower */
  const char *_Atomic why;  /* the reason of a failure; lives as long as the compiled model */
  _Atomic uint64_t due;     /* number of runs after which a specialization is requested */
  _Atomic(wick_profile_record *) more; /* the next record of these sizes, which has guards */
  bool ahead;                          /* the specialization was in the artifact */
  bool cached;                         /* it was read from the cache; set before it is published */
  /* Only in a record without guards. The first word of each guard input is 0 before the first
   * run, WICK_OBSERVED_SAME as long as all runs had the contents that follow, then
   * WICK_OBSERVED_OTHER. */
  _Atomic int64_t *observed;
  const int64_t *guards;
  int64_t sizes[]; /* a value for each symbol */
};
enum { WICK_OBSERVED_FIRST = 1, WICK_OBSERVED_SAME, WICK_OBSERVED_OTHER };

/* The compiler, as the runtime calls it. `make` compiles a specialization and returns the
 * artifact's bytes, in `mem`. It polls `stop`, and may unwind to `guard`. One thread calls `make`,
 * and `end` after it in any case. `drop` frees `arg` when nothing more will be compiled. */
typedef struct wick_specializer {
  void *arg;
  wick_status (*make)(void *arg, const int64_t *sizes, const int64_t *guards, bool (*stop)(void *),
                      void *stop_arg, wick_guard *guard, wick_arena *mem, wick_span *out,
                      bool *out_cached);
  void (*end)(void *arg);
  void (*drop)(void *arg);
  uint32_t most;  /* the largest number of specializations; 0: none */
  uint64_t after; /* runs of the same sizes before one is requested */
} wick_specializer;

typedef struct wick_specializations wick_specializations;

/* Creates the profile of a program with dynamic sizes or guard inputs. `program` must outlive it.
 * Returns NULL if memory runs out. */
wick_specializations *wick_specializations_create(const wick_program *program, wick_allocator a);
void wick_specializations_free(wick_specializations *s); /* waits for the thread; NULL is legal */
/* Adds a specialization that was compiled ahead of time. It lives as long as the others, and its
 * image is unmapped with them. Returns false if memory runs out, or if there are too many. */
bool wick_specializations_add(wick_specializations *s, wick_specialization *x);
/* Begins to specialize in the background. If no thread can be started, drops `specializer` and
 * returns false. */
bool wick_specializations_start(wick_specializations *s, const wick_specializer *specializer);

/* Returns the record of these values of symbols and of these guards (NULL: any contents), which is
 * added if it is new. Returns NULL if no more records are kept. */
wick_profile_record *wick_specializations_entry(wick_specializations *s, const int64_t *sizes,
                                                const int64_t *guards);
/* Returns the record of m's sizes whose specialization can run on these inputs, or m. Also observes
 * whether all of m's runs have the same contents. */
wick_profile_record *wick_specializations_choose(const wick_specializations *s,
                                                 wick_profile_record *m, const void *const *inputs);
/* Counts a run and its time (0: not measured). After some measured runs, gives up a specialization
 * that was compiled in the background and is slower than the base program. */
void wick_specializations_after_run(wick_specializations *s, wick_profile_record *m,
                                    bool specialized, uint64_t nanoseconds);
/* Returns record i, in the order in which sizes first occurred; NULL after the last one. */
const wick_profile_record *wick_specializations_at(const wick_specializations *s, uint32_t i);
/* Returns when every requested specialization is ready or has failed. */
void wick_specializations_wait(const wick_specializations *s);

#endif
