/* Memory for the operands of kernels that are timed.
 *
 * Constants have the same distance in the memory hierarchy as in the network: there are several
 * copies, and each run reads the next one, so that as many bytes are read between two uses of a
 * copy as in a run of the network. Computed operands have one copy, which may stay in the
 * caches. */
#ifndef WICK_TUNE_OPERANDS_H
#define WICK_TUNE_OPERANDS_H

#include "ir/ir.h"
#include "loop/schedule.h"

typedef struct wick_operand {
  char *at;       /* the first element, after the halo's */
  uint64_t step;  /* bytes from one copy to the next */
  uint32_t ncopy; /* at least 1 */
} wick_operand;

typedef enum wick_operand_kind {
  WICK_OPERAND_READ,    /* numbers around 0 in floats, zeros elsewhere */
  WICK_OPERAND_WEIGHTS, /* the same, in copies */
  WICK_OPERAND_WRITTEN
} wick_operand_kind;

typedef struct wick_operands {
  wick_arena *mem;  /* the arena of the memory, which is reused */
  uint64_t passing; /* bytes of constants that a run of the network reads */
  struct wick_operand_memory {
    char *at;
    uint64_t nbytes, used;
  } memory[3];
} wick_operands;

/* Allows later operands to overwrite all earlier ones. */
void wick_operands_clear(wick_operands *o);
/* Returns an operand of a buffer's type, with a halo around it (NULL: none). It does not overlap
 * those that were taken since the last wick_operands_clear. */
wick_operand wick_operand_take(wick_operands *o, const wick_type_info *type, const wick_halo *halo,
                               wick_operand_kind kind);

#endif
