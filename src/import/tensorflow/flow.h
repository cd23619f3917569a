/* Branches and loops of TensorFlow, whose values may be lists, tables and variables. */
#ifndef WICK_IMPORT_TENSORFLOW_FLOW_H
#define WICK_IMPORT_TENSORFLOW_FLOW_H

#include "import/tensorflow/state.h"

/* Imports a part: gets values, sets others. Returns false after an error. */
typedef bool wick_tf_part(wick_import_node *n, void *arg, const wick_tf_value *in,
                          wick_tf_value *out);

/* A branch: if the condition is known, only one part is imported. out has nout entries. Returns
 * false after an error. */
bool wick_tf_branch(wick_import_node *n, wick_value cond, wick_tf_part *const *part,
                    void *const *arg, const wick_tf_value *in, uint32_t nout, wick_tf_value *out);

typedef struct wick_tf_loop {
  uint32_t n;
  wick_tf_value *var; /* the initial values, then the last ones */
  wick_tf_part *test; /* sets one bool */
  wick_tf_part *body; /* sets the next values */
  void *test_arg, *body_arg;
} wick_tf_loop;

/* Builds a loop. If its number of steps follows from counters and limits that are known, values
 * that only count and lists that get one item each step are not carried. A loop whose values change
 * their types is unrolled. Returns false after an error. */
bool wick_tf_loop_build(wick_import_node *n, wick_tf_loop *l);

/* The state of an import, to undo what was built after it. */
typedef struct wick_tf_trial {
  wick_errors errors;
  uint32_t misfits, unknown, sizes, bounded, nodes, values, open, checks, branch_checks, trail;
  uint32_t nvariable;
  const wick_tf_variable *variables;
} wick_tf_trial;
wick_tf_trial wick_tf_trial_begin(const wick_import *c);
void wick_tf_trial_undo(wick_import_node *n, const wick_tf_trial *t);
/* What a variable was then: NOTHING for one that came later. */
wick_tf_value wick_tf_trial_variable(const wick_tf_trial *t, uint32_t variable);

#endif
