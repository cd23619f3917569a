/* A slow evaluator of programs: it walks the syntax tree, and runs operators by their references.
 * It shares only the parser, the types and the operators' references with the compiler, and is the
 * oracle for compiled programs.
 *
 * Element types and sizes that differ from use to use are taken from the arguments of each call.
 * A literal whose type a call does not determine takes that of the other operand.
 *
 * Recursion in the program is recursion here. Past `stack_bytes` of stack the program fails. */
#ifndef WICK_LANG_EVAL_H
#define WICK_LANG_EVAL_H

#include "lang/infer.h"

typedef enum wick_datum_kind {
  WICK_DATUM_TENSOR,
  WICK_DATUM_TUPLE,
  WICK_DATUM_DATA,
  WICK_DATUM_FN,
  WICK_DATUM_REF
} wick_datum_kind;

typedef struct wick_datum {
  wick_datum_kind kind;
  bool weak; /* a literal of no certain type */
  wick_tensor tensor;
  uint32_t n; /* items, fields; the contents of a reference */
  const struct wick_datum **item;
  const wick_lang_entity *entity; /* of DATA: the constructor; of FN: the function */
  const wick_ast *literal;        /* of FN: a function literal, with the locals that it sees; of
                                     a transformation (item: the function, arguments): the call */
  const struct eval_frame *frame;
  const struct eval_trace *trace; /* of a TENSOR: the differentiations that it takes part in */
  const struct eval_pull *pull;   /* of FN: cotangents of results become those of arguments */
} wick_datum;

typedef struct wick_eval_options {
  uint64_t stack_bytes;
  void (*print)(void *arg, const char *text); /* of the program's `print` */
  void *arg;
} wick_eval_options;

/* Evaluates a function without parameters of a program without problems. The result lives in the
 * program's arena. Fails with the user's place: an index out of range, a size that does not fit, a
 * failed `assert`, recursion that is too deep, or a form that the evaluator does not have. */
WICK_CHECKED wick_status wick_lang_eval(wick_lang_program *p, wick_types *t,
                                        const wick_lang_entity *fn,
                                        const wick_eval_options *options, const wick_datum **out);

/* Prints a value as a program writes it: "[1, 2.5]", "Cons(1, Nil)", "<fn>". */
void wick_datum_print(const wick_types *t, const wick_datum *d, wick_text *out);

#endif
