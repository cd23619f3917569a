/* The calling convention of generated code, for all back ends and the runtime.
 *
 * A loop function that contains `launch` or `wait` is an entry, and so is one of buffers alone that
 * does nothing (a program without elements); any other is a kernel.
 *
 *   void    kernel(void **args, int64_t begin, int64_t end)
 *   int32_t entry(void **args)
 *
 * args has a slot per parameter, in order: the address of a buffer, or an i64 itself in a pointer's
 * width. If the last two parameters of a kernel are i64, they are passed as begin and end, the
 * range of its tasks, and have no slots. After the declared slots are the hidden ones of
 * wick_frame: the scratch memory of this worker, 64-byte aligned, the wick_stack if it calls a
 * recursive procedure (if it needs objects: that of a wick_heap), and last the wick_fault if the
 * kernel can fail.
 *
 * A procedure (ir/call.h) is called by loop functions of the same object. It takes its parameters,
 * the addresses of buffers among them, and returns its results as LLVM's values. Its buffers are on
 * the stack. If it can fail, its last result is a status, an i32: the code of the failure, or 0. A
 * caller that is a procedure returns a status that is not 0 at once; a kernel writes it to its
 * wick_fault. A procedure that is recursive, or whose buffers take more than WICK_SMALL_FRAME bytes,
 * fails with WICK_ELIMIT before it writes to its frame if the frame ends below the limit of the
 * wick_stack. The address of the wick_stack is the first parameter of procedures that can fail, in a
 * register that all calls leave alone (swiftself). A block that does not fit in the heap is the same
 * failure. What has failed, and the calls that are left, are written to the wick_fault of the
 * wick_stack.
 *
 * An entry reaches its kernels through the runtime: before its declared slots are a wick_launch
 * function and its context. It has no hidden slots: the runtime adds those of each kernel. It
 * returns the first result of a launch that is not 0. With the option `direct` it calls its kernels
 * itself, with all of their tasks: it has no slots before the declared ones, the hidden slots after
 * them are those that its kernels need, and it returns the fault's code.
 *
 * With the option `bundle` the module's one entry is called through a function of that name for C:
 *
 *   int NAME(void *, ...)
 *
 * has a pointer for each parameter, all of them buffers; the last is the arena, with the scratch
 * memory after it. It refuses pointers that are NULL or not aligned (wick/bundle.h), sets rounding
 * and denormals and restores them, and returns the entry's result. The object exports no other
 * symbol. */
#ifndef WICK_CODEGEN_ABI_H
#define WICK_CODEGEN_ABI_H

#include "ir/ir.h"
#include "runtime/kernel.h"
#include "target/target.h"

enum { WICK_FRAME_ALIGN = 64, WICK_SMALL_ALLOC = 4096, WICK_SMALL_FRAME = 1024 };

/* The memory and the slots that a function needs in addition to its parameters. */
typedef struct wick_frame {
  bool entry;                 /* contains `launch` or `wait`, or nothing at all */
  bool range;                 /* its last two parameters are begin and end */
  bool procedure;             /* ir/call.h */
  bool scratch, stack, fault; /* it has these hidden slots; of a procedure: parameter, status */
  bool heap;                  /* the stack's slot has a wick_heap */
  uint32_t nslot;             /* declared slots */
  uint64_t scratch_bytes;     /* of each worker, without buffers whose offsets are computed */
  uint64_t stack_bytes;       /* for small buffers */
  /* For an entry: its kernels' names, in order of first launch. */
  wick_list(const char *) kernels;
  /* By node index, for `alloc`: bytes from the start of the scratch memory, or -1: on the stack. */
  const int64_t *place;
} wick_frame;

/* Returns the bytes of the wick_fault of a bundle with that entry: of its head alone if the module
 * has no procedures; 0 if nothing can fail. */
uint64_t wick_fault_bytes(const wick_module *m, const wick_frame *entry);
/* Returns whether f is a procedure that compares the stack's pointer with the limit. */
bool wick_frame_checks(const wick_func *f, wick_arena *tmp);
/* Finds the frame of f. Fails: WICK_EUNSUPPORTED for a buffer whose size is neither constant nor
 * computed. With `direct` the entry's hidden slots are found from its kernels in the module. */
WICK_CHECKED wick_status wick_frame_of(const wick_func *f, const wick_target *t, bool direct,
                                       wick_arena *mem, wick_frame *out_frame);

#endif
