/* How generated code is called: the one convention that all back ends and the runtime follow.
 *
 * A loop function that contains `launch` or `wait` is an entry, and so is one of buffers alone that
 * does nothing (a program without elements); any other is a kernel.
 *
 *   void    kernel(void **args, int64_t begin, int64_t end)
 *   int32_t entry(void **args)
 *
 * args has a slot per parameter, in order: of a buffer its address, of an i64 the number itself, in
 * a pointer's width. A kernel whose last two parameters are i64 takes these as begin and end, the
 * range of the tasks that it runs, and not from slots. After the declared slots lie the hidden
 * ones of wick_frame: the scratch memory of this worker, 64-byte aligned, and last the wick_fault
 * where the kernel can fail.
 *
 * An entry reaches its kernels through the runtime: before its declared slots lie a wick_launch
 * function and its context, and it has no hidden slots: the runtime adds those of each kernel. It
 * returns what the first launch gave that was not 0. With the option `direct` it calls its kernels
 * itself, with all of their tasks: no slots lie before the declared ones, the hidden ones after
 * them are what its kernels need, and it returns the fault's code.
 *
 * With the option `bundle` the module's one entry is called through a function of that name for C:
 *
 *   int NAME(void *, ...)
 *
 * has a pointer for each parameter, which are all buffers; the last is the arena, with the scratch
 * memory after it. It refuses pointers that are NULL or not aligned (wick/bundle.h), sets rounding
 * and denormals and restores them, and returns what the entry returns. Nothing else is seen from
 * outside of the object. */
#ifndef WICK_CODEGEN_ABI_H
#define WICK_CODEGEN_ABI_H

#include "ir/ir.h"
#include "runtime/kernel.h"
#include "target/target.h"

enum { WICK_FRAME_ALIGN = 64, WICK_SMALL_ALLOC = 4096 };

/* What a function needs beside its parameters. */
typedef struct wick_frame {
  bool entry;             /* contains `launch` or `wait`, or nothing at all */
  bool range;             /* its last two parameters are begin and end */
  bool scratch, fault;    /* its hidden slots */
  uint32_t nslot;         /* declared slots */
  uint64_t scratch_bytes; /* of each worker, without those whose places are computed */
  uint64_t stack_bytes;   /* of small buffers */
  /* Of an entry: its kernels' names, in order of first launch. */
  wick_list(const char *) kernels;
  /* By node index; of `alloc`: bytes from the start of the scratch memory, or -1: on the stack. */
  const int64_t *place;
} wick_frame;

/* WICK_EUNSUPPORTED for a buffer whose size is neither constant nor computed. `direct`: kernels of
 * an entry that are in its module are looked at, for the entry's hidden slots. */
WICK_CHECKED wick_status wick_frame_of(const wick_func *f, const wick_target *t, bool direct,
                                       wick_arena *mem, wick_frame *out_frame);

#endif
