/* bundle.h: what all bundles share.
 *
 * `wick compile model.onnx -o DIR` writes a network as files that need no Wick to run:
 *
 *   NAME.o            code for one kind of machine, with one function that is seen from outside
 *   NAME.h            its declaration, and what it wants as macros
 *   NAME.weights.bin  the constants; with --embed they are in NAME.o instead, as NAME_constants
 *
 *   int NAME(const void *constants, void *mutable_data, void *arena);
 *
 * runs the network once, on the calling thread alone. `constants` is the content of the weights
 * file, NAME_CONSTANTS_BYTES of it. `mutable_data` has NAME_MUTABLE_BYTES: every input and output
 * has a place there, by the macros. `arena` has NAME_ARENA_BYTES for what lies between: nothing has
 * to be in it before, and nothing is of use in it afterwards. The three do not overlap, and begin
 * at multiples of WICK_BUNDLE_ALIGN bytes. Nothing else is read or written, and nothing is kept
 * from one call to the next: any number of threads may run one bundle at the same time, each with
 * mutable data and an arena of its own. Inputs are not changed. Numbers are rounded to nearest even
 * and denormals are kept, whatever the caller has set, and gets back.
 *
 * The object needs nothing from outside but memcpy, memset and, on some machines, helpers of their
 * compilers' run-time library, which are named in NAME.h (Cortex-M: __aeabi_..., for 64-bit
 * integers, and doubles where there is no hardware for them).
 *
 * This header is for programs that deal with bundles in general: NAME.h defines what it uses of it
 * itself, the same. It is C89 and C++. */
#ifndef WICK_BUNDLE_H
#define WICK_BUNDLE_H

#define WICK_BUNDLE_ALIGN 64

/* ---- what the function returns ---- */

#define WICK_BUNDLE_OK 0
#define WICK_BUNDLE_EINVAL 1  /* an input has a value that the network does not take */
#define WICK_BUNDLE_ETYPE 3   /* the branch that is taken is not for these sizes */
#define WICK_BUNDLE_ERANGE 4  /* an index in an input lies outside of what it indexes */
#define WICK_BUNDLE_ENULL 101 /* an address is NULL; nothing was done */
#define WICK_BUNDLE_EALIGN                                                                         \
  102 /* an address is no multiple of WICK_BUNDLE_ALIGN; nothing was done */

/* ---- element types: NAME_INPUT_0_TYPE is one of these ----
 * Elements of less than a byte are packed, the low bits first. All are little-endian. */

#define WICK_BUNDLE_F64 0
#define WICK_BUNDLE_F32 1
#define WICK_BUNDLE_F16 2
#define WICK_BUNDLE_BF16 3
#define WICK_BUNDLE_F8E4M3 4
#define WICK_BUNDLE_F8E4M3FNUZ 5
#define WICK_BUNDLE_F8E5M2 6
#define WICK_BUNDLE_F8E5M2FNUZ 7
#define WICK_BUNDLE_F8E8M0 8
#define WICK_BUNDLE_F4E2M1 9
#define WICK_BUNDLE_I64 10
#define WICK_BUNDLE_I32 11
#define WICK_BUNDLE_I16 12
#define WICK_BUNDLE_I8 13
#define WICK_BUNDLE_I4 14
#define WICK_BUNDLE_I2 15
#define WICK_BUNDLE_U64 16
#define WICK_BUNDLE_U32 17
#define WICK_BUNDLE_U16 18
#define WICK_BUNDLE_U8 19
#define WICK_BUNDLE_U4 20
#define WICK_BUNDLE_U2 21
#define WICK_BUNDLE_BOOL 22 /* a byte, 0 or 1 */
#define WICK_BUNDLE_C64 23  /* two floats: real, imaginary */
#define WICK_BUNDLE_C128 24 /* two doubles */

#endif
