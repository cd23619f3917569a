/* Elements of a table of at most 256 bytes, one for each lane: shuffles of registers that hold the
 * table. AVX-512's VBMI takes bytes of two registers of 64; AVX2 of one of 16, of which there is one for
 * each upper half of an index, and bits of that choose between them; NEON of four of 16. */
#include "codegen/llvm/emit.h"

enum { TABLE_BYTES = 256 };

typedef struct table {
  LLVMValueRef at; /* the address of its first byte */
  uint32_t n;      /* bytes */
  uint32_t part;   /* bytes of an intrinsic's operand */
} table;

static LLVMTypeRef table_bytes(const emit *e, uint32_t n)
{
  return LLVMVectorType(LLVMInt8TypeInContext(e->context), n);
}

/* Returns `count` lanes of x, from lane `first` on; lanes beyond its end are poison. */
static LLVMValueRef table_lanes(emit *e, LLVMValueRef x, uint32_t first, uint32_t count)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef lane[TABLE_BYTES];
  uint32_t all = LLVMGetVectorSize(LLVMTypeOf(x));
  for (uint32_t i = 0; i < count; i++)
    lane[i] = first + i < all ? LLVMConstInt(i32, first + i, false) : LLVMGetPoison(i32);
  return LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(lane, count),
                                "");
}

/* Loads part k of the table; bytes beyond its end are 0. `copies`: times that they are repeated. */
static LLVMValueRef table_part(emit *e, const table *t, uint32_t k, uint32_t copies)
{
  uint32_t first = k * t->part, some = first < t->n ? t->n - first : 0;
  if (!some) return LLVMConstNull(table_bytes(e, t->part * copies));
  if (some > t->part) some = t->part;
  LLVMValueRef at = emit_i64(e, first), lane[TABLE_BYTES],
               p = LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), t->at, &at, 1, ""),
               x = LLVMBuildLoad2(e->b, table_bytes(e, some), p, "");
  LLVMSetAlignment(x, 1);
  for (uint32_t i = 0; i < t->part * copies; i++)
    lane[i] = LLVMConstInt(LLVMInt32TypeInContext(e->context),
                           i % t->part < some ? i % t->part : some, false);
  return LLVMBuildShuffleVector(e->b, x, LLVMConstNull(LLVMTypeOf(x)),
                                LLVMConstVector(lane, t->part * copies), "");
}

/* Returns a where bit `bit` of the index is 0, else b. */
static LLVMValueRef table_choose(emit *e, LLVMValueRef index, uint32_t bit, LLVMValueRef a,
                                 LLVMValueRef b)
{
  LLVMTypeRef type = LLVMTypeOf(index);
  LLVMValueRef sign = LLVMBuildShl(e->b, index, emit_int(e, type, 7 - (int64_t)bit), ""),
               set = LLVMBuildICmp(e->b, LLVMIntSLT, sign, LLVMConstNull(type), "");
  return LLVMBuildSelect(e->b, set, b, a, "");
}

static LLVMValueRef table_vbmi(emit *e, const table *t, LLVMValueRef index)
{
  LLVMValueRef half[2];
  for (uint32_t k = 0; k < 2; k++) {
    LLVMValueRef arg[3] = {table_part(e, t, 2 * k, 1), index, table_part(e, t, 2 * k + 1, 1)};
    half[k] = emit_intrinsic(e, "llvm.x86.avx512.vpermi2var.qi.512", NULL, 0, arg, 3);
  }
  return t->n > 2 * t->part ? table_choose(e, index, 7, half[0], half[1]) : half[0];
}

static LLVMValueRef table_avx2(emit *e, const table *t, LLVMValueRef index)
{
  enum { PARTS = 16, FIRST_BIT = 4 };
  LLVMValueRef x[PARTS],
      low = LLVMBuildAnd(e->b, index, emit_int(e, LLVMTypeOf(index), t->part - 1), "");
  uint32_t n = (t->n + t->part - 1) / t->part;
  for (uint32_t k = 0; k < n; k++) {
    LLVMValueRef arg[2] = {table_part(e, t, k, 2), low};
    x[k] = emit_intrinsic(e, "llvm.x86.avx2.pshuf.b", NULL, 0, arg, 2);
  }
  for (uint32_t bit = FIRST_BIT; n > 1; bit++, n = (n + 1) / 2)
    for (uint32_t k = 0; 2 * k < n; k++)
      x[k] = 2 * k + 1 < n ? table_choose(e, index, bit, x[2 * k], x[2 * k + 1]) : x[2 * k];
  return x[0];
}

static LLVMValueRef table_neon(emit *e, const table *t, LLVMValueRef index)
{
  enum { OPERANDS = 4 };
  LLVMTypeRef type = LLVMTypeOf(index);
  LLVMValueRef x = NULL;
  for (uint32_t first = 0; first < t->n; first += OPERANDS * t->part) {
    LLVMValueRef arg[2 + OPERANDS], *to = arg;
    if (x) *to++ = x; /* indices beyond these operands keep what they have */
    for (uint32_t k = 0; k < OPERANDS; k++) *to++ = table_part(e, t, first / t->part + k, 1);
    *to++ = LLVMBuildSub(e->b, index, emit_int(e, type, first), "");
    x = emit_intrinsic(e, x ? "llvm.aarch64.neon.tbx4" : "llvm.aarch64.neon.tbl4", &type, 1, arg,
                       (uint32_t)(to - arg));
  }
  return x;
}

typedef LLVMValueRef table_lookup(emit *e, const table *t, LLVMValueRef index);

/* Returns how the target looks indices up, `*lanes` at once; NULL: it does not. */
static table_lookup *table_way(const emit *e, uint32_t *lanes, uint32_t *part)
{
  const wick_target *t = e->target;
  bool x86 = t->machine == WICK_MACHINE_X86_64;
  if (x86 && (t->needs & WICK_CPU_X86_AVX512VBMI) && t->vector_bytes == 64) {
    *lanes = *part = 64;
    return table_vbmi;
  }
  if (x86 && t->vector_bytes >= 32) {
    *lanes = 32, *part = 16;
    return table_avx2;
  }
  if (t->machine == WICK_MACHINE_AARCH64 && t->vector_bytes) {
    *lanes = *part = 16;
    return table_neon;
  }
  return NULL;
}

LLVMValueRef emit_table(emit *e, wick_value buffer, LLVMValueRef at, LLVMValueRef index)
{
  uint32_t count = LLVMGetVectorSize(LLVMTypeOf(index)), lanes = 0, part = 0;
  table_lookup *lookup = table_way(e, &lanes, &part);
  const wick_type_info *info = emit_info(e, buffer);
  wick_dim n = wick_type_numel(e->f->module, wick_type_of(e->f, buffer));
  if (!lookup || info->stride || count < 4 || count > TABLE_BYTES || !wick_dim_is_const(n) ||
      n.v < 1 || n.v > TABLE_BYTES || emit_elem_bytes(info->elem) != 1)
    return NULL;
  const table t = {at, (uint32_t)n.v, part};
  index = LLVMBuildTrunc(e->b, index, table_bytes(e, count), "");
  LLVMValueRef all = NULL;
  for (uint32_t first = 0; first < count; first += lanes) {
    LLVMValueRef lane[TABLE_BYTES],
        x = table_lanes(e, lookup(e, &t, table_lanes(e, index, first, lanes)), 0, count);
    for (uint32_t i = 0; i < count; i++)
      lane[i] = LLVMConstInt(LLVMInt32TypeInContext(e->context),
                             i < first ? i : (uint64_t)count + (i - first) % lanes, false);
    all = all ? LLVMBuildShuffleVector(e->b, all, x, LLVMConstVector(lane, count), "") : x;
  }
  return all;
}
