/* Machines as rows: what is true of a machine is here, and nowhere else.
 *
 * A target's name is a row's, with extra instructions after it: "x86-64-v4+avx512vnni". An extra
 * never changes the bits of a result that its row gives as well: it adds operators. "host" is the
 * highest row that this processor has, with its extras; names that are written down are those that
 * wick_target_name gives, never "host". */
#ifndef WICK_TARGET_TARGET_H
#define WICK_TARGET_TARGET_H

#include "base/cpu.h"
#include "base/str.h"
#include "ir/op.h"

/* k products of neighbours, x by w, are added to each lane of an i32, of floats of an f32: by one
 * instruction, or, in pairs, by some on numbers of twice the width (every second byte, then the
 * others). */
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
  uint64_t needs; /* WICK_CPU_ bits: what a processor must have to run its code; with the extras */

  const char *triple, *cpu; /* LLVM's words */
  const char *features;     /* the row's; wick_target_features has the extras too */

  uint32_t pointer_bits; /* 64 or 32; all machines are little-endian */
  uint32_t vector_bytes; /* of a vector register; 0: there are none */
  uint32_t scalable;     /* in units of so many bytes registers may be longer; 0: they are not */
  uint32_t nvector;      /* vector registers, or floating-point ones where there are no vectors */

  bool soft_float; /* there are no instructions for floats: they are calls, and round to nearest */

  /* Sets of element types, WICK_BIT(e). What is not here, a pass of Wick expands. */
  uint64_t fma;     /* fused multiply-add is an instruction */
  uint64_t sqrt;    /* square root is correctly rounded code without a call */
  uint64_t round;   /* floor, ceil, trunc, nearest are code without a call */
  uint64_t convert; /* 16-bit floats that convert to and from f32, exactly, denormals kept */
  uint64_t narrow;  /* `narrow` of a vector of f32 to these is an instruction */
  uint64_t mask;    /* masked vector loads and stores are instructions */

  wick_dot dot[WICK_DOTS]; /* dot products that are instructions; .k 0 after the last */

  uint64_t cache_bytes[3]; /* levels 1 to 3 of data; 0: none */
  uint32_t stack_bytes;    /* that one kernel may use for small buffers */

  /* Beside memcpy and memset (and what C calls them there): functions that generated code may call.
   * NULL at the end. */
  const char *const *helpers;
};

bool wick_target_find(const char *name, wick_target *out_target);
wick_target wick_target_host(void); /* x86-64-v1 on a machine without a row */

const wick_target *wick_target_row(uint32_t i); /* NULL after the last */

void wick_target_name(const wick_target *t, wick_text *out);
void wick_target_features(const wick_target *t, wick_text *out); /* "+avx512vnni,+avx512bf16" */

/* What a processor must have for `t`, in words; NULL after the last. */
const char *wick_target_need(const wick_target *t, uint32_t i);
/* The extras that may be added to a row; NULL after the last. */
const char *wick_target_extra(const wick_target *row, uint32_t i);
const char *wick_machine_name(wick_machine m); /* "x86-64" */

/* libwick_rt runs on machines of this kind and loads artifacts there; else there are only bundles.
 */
bool wick_target_has_artifacts(const wick_target *t);

/* Code for `t` runs on the processor `cpu`. */
bool wick_target_runs_on(const wick_target *t, wick_cpu cpu);

/* The row for products of x by w, NULL where there is none. */
const wick_dot *wick_target_dot(const wick_target *t, wick_elem x, wick_elem w, uint32_t k);

/* Generated code for `t` may call `symbol`. */
bool wick_target_may_call(const wick_target *t, const char *symbol);

#endif
