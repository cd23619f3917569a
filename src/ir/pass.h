/* The signature of passes. A pass is a C function over one verified function.
 *
 *   wick_status wick_pass_NAME(const wick_pass_context *pass, const wick_func *f, wick_func **out)
 *
 * A pass reads `f` and never changes it. It sets *out to a new version (perhaps of another level),
 * to f itself if nothing changes, or to NULL if the function leaves the module; it may add
 * functions with wick_module_set. The table of passes is driver/passes.c. */
#ifndef WICK_IR_PASS_H
#define WICK_IR_PASS_H

#include "ir/ir.h"

struct wick_tuning_records;
struct wick_lowered;
struct wick_program;

/* What a user may want to know of a compilation, a line each, with the user's places. */
typedef wick_list(const char *) wick_remarks;

typedef struct wick_pass_context {
  const struct wick_target *target;
  const char *precision;               /* of floats: "f64", "bf16", "f16"; NULL: as the types say */
  bool strict;                         /* only rewrites of the classes exact and rounding */
  bool planned;                        /* memory has a plan for the largest sizes: bundles */
  struct wick_tuning_records *records; /* tuned schedules; NULL: none */
  struct wick_lowered *lowered; /* out: the kernels, described by `lower`; NULL: not needed */
  /* The program of which f is a specialization: constants and counters have the same positions as
   * its own; NULL: none. */
  const struct wick_program *base;
  wick_remarks *remarks; /* out, in `keep`; NULL: not needed */
  void **memo;           /* what the pass keeps from function to function of a run; NULL: nothing */
  wick_arena *mem;       /* for the result, and for functions that the pass adds to the module */
  wick_arena *tmp;       /* scratch and errors, rewound after the pass */
  wick_arena *keep;      /* for *lowered and *remarks; lives as long as the caller needs it */
} wick_pass_context;

typedef wick_status wick_pass_run(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out);

#endif
