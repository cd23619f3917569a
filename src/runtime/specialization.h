/* Copies of a program for some of its sizes and for contents of small inputs, and the record of
 * what sessions meet.
 *
 * A copy is an artifact without constants: it reads the generic program's. Its section `program`
 * has the generic interface with numbers for its sizes, `sizes` the values of the symbols, i64
 * each, and `held` the contents that it takes as given, as words (runtime/guards.h). Artifacts hold
 * copies that were made ahead as sections `copy.0`, `copy.1`, ...; others are made while the
 * program runs, by a thread that gets them from whoever has a compiler, and published by one atomic
 * store: a session takes one up with its next run.
 *
 * What is shared by sessions of all threads needs no lock: an entry is added by one exchange, and
 * stays. There is one for each size, of whatever contents, and others for a size and contents that
 * a copy holds; a run is counted by the one whose copy it could take. */
#ifndef WICK_RUNTIME_SPECIALIZATION_H
#define WICK_RUNTIME_SPECIALIZATION_H

#include <stdatomic.h>

#include "runtime/guards.h"
#include "runtime/load.h"
#include "runtime/program.h"
#include "runtime/sizes.h"

typedef struct wick_special {
  wick_artifact artifact;
  wick_image image;
  wick_program program;
  const int64_t *sizes, *held;
  wick_entry entry;
} wick_special;

/* Sections `sizes` and `held`. */
wick_section wick_special_words(const char *name, uint32_t n, const int64_t *words,
                                wick_arena *mem);

/* The copy in `bytes`, which outlive it; checked against the generic program. Its image is unmapped
 * by the caller, after a failure, too. */
WICK_CHECKED wick_status wick_special_read(wick_span bytes, const char *place,
                                           const wick_program *generic, wick_arena *mem,
                                           wick_special *out);
/* It has the sizes that the generic program has there (sized NULL: none of them varies). */
bool wick_special_fits(const wick_special *x, const wick_program *generic, const wick_sized *sized);

/* ---- what is met ---- */

typedef struct wick_met wick_met;
struct wick_met {
  _Atomic uint64_t nrun;
  _Atomic uint64_t least[2]; /* nanoseconds of a run: of the generic code, of the copy; 0: none */
  _Atomic uint32_t state;    /* wick_copy_state */
  _Atomic uint32_t ntried;   /* runs of the copy that were measured */
  wick_special *_Atomic special; /* set once, when it is ready to run; NULL again if it is slower */
  const char *_Atomic why;       /* of a failure; lives as long as the compiled model */
  _Atomic uint64_t due;          /* runs after which a copy is asked for */
  _Atomic(wick_met *) more;      /* the next entry of these sizes, which holds contents */
  bool ahead;                    /* the copy came with the artifact */
  bool cached;                   /* it came out of the cache; set before it is published */
  /* Of an entry that holds nothing: in the place of a watched input's first word 0 before a run,
   * WICK_SEEN_SAME as long as all runs had the contents that follow, WICK_SEEN_OTHER behind that.
   */
  _Atomic int64_t *seen;
  const int64_t *held;
  int64_t sizes[]; /* a value for each symbol; then the dimension it comes from */
};
enum { WICK_SEEN_FIRST = 1, WICK_SEEN_SAME, WICK_SEEN_OTHER };

/* Who makes copies: gives the artifact's bytes, in `mem`. `stop` is polled. Called by one thread,
 * which owns nothing else; it may unwind to `guard`. `end` follows it in any case. `drop` frees
 * arg, when nothing is made any more. */
typedef struct wick_maker {
  void *arg;
  wick_status (*make)(void *arg, const int64_t *sizes, const int64_t *held, bool (*stop)(void *),
                      void *stop_arg, wick_guard *guard, wick_arena *mem, wick_span *out,
                      bool *out_cached);
  void (*end)(void *arg);
  void (*drop)(void *arg);
  uint32_t most;  /* copies; 0: none are made */
  uint64_t after; /* that many runs of one size */
} wick_maker;

typedef struct wick_specials wick_specials;

/* For a program whose sizes vary, or that watches inputs; NULL where there is no memory. `program`
 * outlives it. */
wick_specials *wick_specials_begin(const wick_program *program, wick_allocator a);
void wick_specials_free(wick_specials *s); /* waits for the thread; NULL is legal */
/* A copy that is there already; false where there is no memory or no room. It lives as long as the
 * others, and its image is unmapped with them. */
bool wick_specials_add(wick_specials *s, wick_special *x);
/* From now on copies are made. False where there can be no thread: then `maker` is dropped. */
bool wick_specials_start(wick_specials *s, const wick_maker *maker);

/* The entry of these values of symbols, and of these contents (NULL: of whatever there are); NULL
 * where no more of them are kept. May allocate. */
wick_met *wick_specials_meet(wick_specials *s, const int64_t *sizes, const int64_t *held);
/* Of the entries of m's sizes the one whose copy can run on these inputs; m where none can. Looks
 * whether m's runs have always had the same contents. */
wick_met *wick_specials_choose(const wick_specials *s, wick_met *m, const void *const *inputs);
/* A run of this entry has ended, which took so long; 0: it was not measured. After some of them a
 * copy that was made here, and takes longer than the generic code did, is not run any more. */
void wick_specials_ran(wick_specials *s, wick_met *m, bool special, uint64_t nanoseconds);
/* Entries in the order in which they were met; NULL behind the last one. */
const wick_met *wick_specials_at(const wick_specials *s, uint32_t i);
void wick_specials_wait(const wick_specials *s); /* until no copy is wanted that is not there */

#endif
