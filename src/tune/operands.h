/* Memory for what kernels read and write while they are timed.
 *
 * What a network holds constant comes from as far away as it does there: it lies in copies, and
 * each run takes the next one, so that as many bytes pass between two uses as in a run of the
 * network. What is computed stays where the caches keep it. */
#ifndef WICK_TUNE_OPERANDS_H
#define WICK_TUNE_OPERANDS_H

#include "ir/ir.h"
#include "loop/schedule.h"

typedef struct wick_operand {
  char *at;       /* the first element; a halo lies around it */
  uint64_t step;  /* bytes from copy to copy */
  uint32_t ncopy; /* at least 1 */
} wick_operand;

typedef enum wick_operand_kind {
  WICK_OPERAND_READ,    /* numbers around 0 in floats, zeros elsewhere */
  WICK_OPERAND_WEIGHTS, /* the same, in copies */
  WICK_OPERAND_WRITTEN
} wick_operand_kind;

typedef struct wick_operands {
  wick_arena *mem;  /* of the memory, which is used again and again */
  uint64_t passing; /* bytes of constants in a run of the network */
  struct wick_operand_room {
    char *at;
    uint64_t nbytes, used;
  } room[3];
} wick_operands;

/* Operands that were taken before may be overwritten. */
void wick_operands_clear(wick_operands *o);
/* Of a buffer's type, with a halo around it (NULL: none); the operands that were taken since the
 * last clearing stay as they are. */
wick_operand wick_operand_take(wick_operands *o, const wick_type_info *type, const wick_halo *halo,
                               wick_operand_kind kind);

#endif
