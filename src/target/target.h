/* The table of target machines: all facts about the code that a machine runs are here, and nowhere
 * else. What its speed depends on is in target/processor.h.
 *
 * A target's name is that of a table entry, followed by extra instructions: "x86-64-v4+avx512vnni".
 * An extra only adds operators: it never changes the bits of a result that the entry computes
 * without it. "host" is the highest entry that this processor supports, with its extras. Files
 * contain the names from wick_target_name, never "host". */
#ifndef WICK_TARGET_TARGET_H
#define WICK_TARGET_TARGET_H

#include "base/cpu.h"
#include "base/str.h"
#include "ir/op.h"
#include "target/processor.h"

/* A dot product: the sum of k products of adjacent elements, x by w, is added to each lane of an
 * i32, or for floats of an f32. It is one instruction, or, with `pairs`, several on numbers of
 * twice the width (every second byte, then the others). */
typedef struct wick_dot {
  wick_elem x, w;
  uint32_t k;
  bool pairs;
} wick_dot;

enum { WICK_DOTS = 4 };

struct wick_target {
  const char *row; /* "x86-64-v3" */
  const char *doc;
  wick_machine machine;
  uint64_t needs; /* WICK_CPU_ bits: the features that its code requires, with the extras */

  const char *triple, *cpu; /* LLVM's names */
  const char *features;     /* of the entry; wick_target_features adds the extras */

  uint32_t pointer_bits; /* 64 or 32; all machines are little-endian */
  uint32_t vector_bytes; /* of a vector register; 0: the machine has none */
  uint32_t scalable;     /* registers may be longer, in units of this many bytes; 0: fixed length */
  uint32_t nvector;      /* vector registers; without vectors, floating-point registers */

  bool soft_float; /* the machine has no float instructions: they are calls, and round to nearest */

  /* Sets of element types, WICK_BIT(e). A pass of Wick expands operators for all other types. */
  uint64_t fma;     /* fused multiply-add is an instruction */
  uint64_t sqrt;    /* square root is correctly rounded code without a call */
  uint64_t round;   /* floor, ceil, trunc, nearest are code without a call */
  uint64_t convert; /* 16-bit floats that convert to and from f32, exactly, denormals kept */
  uint64_t narrow;  /* `narrow` of a vector of f32 to these is an instruction */
  uint64_t mask;    /* masked vector loads and stores are instructions */

  wick_dot dot[WICK_DOTS]; /* dot products that are instructions; .k 0 after the last */

  uint32_t stack_bytes; /* the stack that one kernel may use for small buffers */

  /* Functions that generated code may call, in addition to memcpy, memmove and memset (and the
   * machine's names of these). NULL at the end. */
  const char *const *helpers;

  const char *typical;      /* the entry of a processor for code that runs on many */
  wick_processor processor; /* the one that schedules are for; without a name, the typical one */
};

bool wick_target_find(const char *name, wick_target *out_target);
wick_target wick_target_host(void); /* x86-64-v1 on a machine without an entry */

const wick_target *wick_target_row(uint32_t i); /* NULL after the last */

void wick_target_name(const wick_target *t, wick_text *out);
void wick_target_features(const wick_target *t, wick_text *out); /* "+avx512vnni,+avx512bf16" */

/* Returns feature i that `t` requires, in words; NULL after the last. */
const char *wick_target_need(const wick_target *t, uint32_t i);
/* Returns extra i that may be added to an entry; NULL after the last. */
const char *wick_target_extra(const wick_target *row, uint32_t i);

/* Returns whether libwick_rt runs on machines of this kind and loads artifacts there; otherwise
 * only bundles are possible. */
bool wick_target_has_artifacts(const wick_target *t);

/* Returns whether code for `t` runs on the processor `cpu`. */
bool wick_target_runs_on(const wick_target *t, wick_cpu cpu);

/* Returns the dot product of x by w with k products, NULL if the target has none. */
const wick_dot *wick_target_dot(const wick_target *t, wick_elem x, wick_elem w, uint32_t k);

/* Returns whether generated code for `t` may call `symbol`. */
bool wick_target_may_call(const wick_target *t, const char *symbol);

/* ---- what depends on the processor ---- */

const wick_processor *wick_target_processor(const wick_target *t);

/* Returns the size of the data cache of that level, 1 to 3, in bytes. A level that does not exist
 * counts as a small one, because loops have to be divided somehow. */
uint64_t wick_target_cache(const wick_target *t, uint32_t level);
/* Return the vectors of multiply-adds, and of loads, that begin in a cycle. */
double wick_target_products(const wick_target *t);
double wick_target_loads(const wick_target *t);
/* Returns the shuffles that join every second, third ... element of two vectors: where halves of a
 * vector are shuffled by themselves, a second one, of two operations, moves elements between them. */
int64_t wick_target_shuffles(const wick_target *t);
/* Returns the cycles after which the next vector of `nbytes` bytes arrives that are read in turns:
 * 0 if half of the first cache holds them. */
double wick_target_stream(const wick_target *t, uint64_t nbytes);
/* Returns the cycles after which the next line of weights arrives, of which a run reads `nbytes`
 * bytes once, among all others of a model. */
double wick_target_weights(const wick_target *t, uint64_t nbytes);
/* Returns the bytes of a buffer from which on stores past the caches pay, which read no line before
 * they write it: those that the second cache and a core's share of the third one hold. With 4 MiB
 * on an Emerald Rapids a copy takes 0.65 of the time of one through the caches, and as long as that
 * together with a later read (0.75 with 8 MiB). UINT64_MAX: the target has no such stores. */
uint64_t wick_target_nontemporal(const wick_target *t);
/* Returns the cost of moving a vector of `nbytes` bytes to another place and order, in vectors of
 * multiply-adds. */
double wick_target_move(const wick_target *t, uint64_t nbytes);

#endif
