/* Families: functions that are written when the types of their operands are known.
 *
 * A call of a family (WICK_ENTITY_FAMILY) is a constraint until the elements and ranks of all
 * operands are known. Then the family gives the text of a function for them, in the language, and
 * the call is one of that function; calls for which the text is the same share it. So inference,
 * differentiation, batching, evaluation and compilation know nothing of families but this. */
#ifndef WICK_LANG_FAMILY_H
#define WICK_LANG_FAMILY_H

#include "lang/infer.h"

typedef enum wick_operand_kind {
  WICK_OPERAND_OTHER, /* data, a reference, a function */
  WICK_OPERAND_TENSOR,
  WICK_OPERAND_TUPLE
} wick_operand_kind;

typedef struct wick_lang_operand wick_lang_operand;
struct wick_lang_operand {
  wick_operand_kind kind;
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK]; /* -1: not a known number */
  uint32_t n;
  const wick_lang_operand *item;
};

/* A call for which a member is asked. */
typedef struct wick_lang_use {
  const struct wick_lang_family *family;
  const wick_ast *node; /* the CALL; attributes are NAMED */
  uint32_t n;
  const wick_lang_operand *operand;
  wick_arena *mem;
  const char *wrong; /* out: why there is no member */
} wick_lang_use;

typedef struct wick_lang_family {
  const char *name;
  /* Returns the text of a module whose first item is the function of the operands. NULL: `wrong`
   * says why there is none. */
  const char *(*member)(wick_lang_use *use);
  const void *row; /* the family's own */
} wick_lang_family;

/* Returns the family as something that a NAME refers to. */
wick_lang_entity *wick_lang_family_entity(wick_lang_program *p, const wick_lang_family *family);

typedef enum wick_operand_state {
  WICK_OPERAND_OPEN, /* an element type or a rank is not known yet */
  WICK_OPERAND_READY,
  WICK_OPERAND_WRONG /* after a mistake */
} wick_operand_state;
/* Reads the type of an operand. */
wick_operand_state wick_lang_operand_of(wick_types *t, wick_ty *type, wick_arena *mem,
                                        wick_lang_operand *out);

/* Returns the function for these operands, inferred. NULL: a problem was reported. */
wick_lang_entity *wick_lang_member(wick_lang_program *p, wick_types *t,
                                   const wick_lang_entity *family, const wick_ast *node, uint32_t n,
                                   const wick_lang_operand *operand);

#endif
