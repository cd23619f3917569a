/* Functions of the language as operators of imported models.
 *
 * `@onnx("domain", "Name", alpha = 1.0)` before a function says of which operator it is, and the values
 * of attributes that a node may leave out. A function without it is the operator whose name in lower
 * case, with `_` between words, it has: MatMulBias is `mat_mul_bias`. Static parameters are
 * attributes, the others inputs, in order; one of type Option[t] of the library may be missing. */
#ifndef WICK_LANG_LOWER_CUSTOM_H
#define WICK_LANG_LOWER_CUSTOM_H

#include "ir/build.h"
#include "lang/infer.h"

typedef struct wick_custom wick_custom;

/* An attribute of a node: numbers or a word. */
typedef struct wick_custom_attr {
  const char *name;
  wick_static value;
  bool real;         /* a float */
  const char *unfit; /* what it is, if it cannot be a static argument ("a tensor"); else NULL */
} wick_custom_attr;

typedef struct wick_custom_node {
  uint32_t nin, nattr, nout;
  const wick_value *in; /* 0: missing */
  const wick_custom_attr *attr;
} wick_custom_node;

/* Reads and checks the file `path` and those that it uses; functions are built in `module` and live
 * in `mem`. nknown, known: texts of files that are not read again. Fails with all mistakes of the
 * program. */
WICK_CHECKED wick_status wick_custom_load(const char *path, uint32_t nknown,
                                          const wick_lang_source *known, wick_module *module,
                                          wick_arena *mem, wick_arena *tmp, wick_custom **out);
void wick_custom_end(wick_custom *c); /* NULL is legal */
const wick_lang_sources *wick_custom_sources(const wick_custom *c);

/* Returns the function of an operator; NULL: there is none. `named`: also one that has its name
 * alone. */
wick_lang_entity *wick_custom_find(wick_custom *c, const char *domain, const char *name,
                                   bool named);
/* Builds a call of the function in b, and sets out[0 .. nout-1]. Fails if the node's inputs,
 * attributes or outputs are not the function's, with the function's place. */
WICK_CHECKED wick_status wick_custom_call(wick_custom *c, wick_lang_entity *fn,
                                          const wick_custom_node *node, wick_builder *b,
                                          wick_value *out);

#endif
