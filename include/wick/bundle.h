/* bundle.h: the constants that all bundles share, and how a bundle is called.
 *
 * `wick compile model.onnx -o DIR` writes a network as files that need no Wick to run:
 *
 *   NAME.o            code for one kind of machine, with one external function
 *   NAME.h            the function's declaration, and macros for the memory that it needs
 *   NAME.weights.bin  the constants; with --embed they are in NAME.o instead, as NAME_constants
 *
 *   int NAME(const void *constants, void *mutable_data, void *arena);
 *
 * runs the network once, on the calling thread alone. `constants` is the content of the weights
 * file, NAME_CONSTANTS_BYTES bytes. `mutable_data` has NAME_MUTABLE_BYTES and contains all inputs
 * and outputs, at offsets that macros define. `arena` has NAME_ARENA_BYTES for intermediate
 * results. Its contents before and after a call do not matter, unless the network takes or gives data
 * (below). The three must not overlap, and each
 * must begin at a multiple of WICK_BUNDLE_ALIGN bytes. The function reads and writes nothing else
 * and keeps nothing elsewhere, so that any number of threads may run one bundle at the same time, each
 * with its own mutable data and arena. States of the network (NAME_STATES of them) stay in the mutable
 * data from call to call; NAME_reset(constants, mutable_data), a function of the header, sets them to
 * what they are before the first call. After a call that failed, they have to be set again. An input
 * whose contents decide sizes must have those that the bundle was made for; with others the function
 * returns WICK_BUNDLE_EINVAL. Inputs are not changed. Numbers are rounded to nearest even and
 * denormals are kept; the caller's floating-point settings are restored at the end.
 *
 * The object needs only memcpy, memmove, memset and, on some machines, functions of the compiler's
 * run-time library, which NAME.h lists (Cortex-M: __aeabi_..., for 64-bit integers, and for doubles
 * if the hardware has none).
 *
 * This header is for programs that work with bundles in general. A program with one bundle does not
 * need it, because NAME.h contains the same definitions. It is C89 and C++. */
#ifndef WICK_BUNDLE_H
#define WICK_BUNDLE_H

#define WICK_BUNDLE_ALIGN 64

/* ---- return values of the function ---- */

#define WICK_BUNDLE_OK 0
#define WICK_BUNDLE_EINVAL 1  /* an input has a value that the network does not accept */
#define WICK_BUNDLE_ETYPE 3   /* the branch that runs does not support these sizes */
#define WICK_BUNDLE_ERANGE 4  /* an index in an input is out of bounds */
#define WICK_BUNDLE_ELIMIT 6  /* calls are nested too deep, or there are too many objects */
#define WICK_BUNDLE_ENULL 101 /* an address is NULL; nothing was done */
#define WICK_BUNDLE_EALIGN                                                                         \
  102 /* an address is not a multiple of WICK_BUNDLE_ALIGN; nothing was done */

/* ---- why a call has failed ----
 * If the network can fail, NAME.h has these macros. They read a record in the arena, which is valid
 * after a call with that arena that returned EINVAL, ETYPE, ERANGE or ELIMIT.
 *
 *   NAME_FAILURE_PLACE(arena)   the place in the model or the program, a string, or NULL. After the 0
 *                               of its end are those of the calls that the compiler has inlined
 *                               there, the innermost first; an empty string ends them
 *   NAME_FAILURE_DETAIL(arena)  the index, or the position of the element that was divided by 0; of
 *                               ELIMIT the bytes of the object that there is no room for, or 0 if
 *                               calls are nested too deep
 *   NAME_FAILURE_OF(arena)      the size of what was indexed, or the number of elements; 0: unknown
 *   NAME_FAILURE_TEXT(arena)    the text of an assertion that does not hold, with {} for values; or
 *                               why data was refused before the program ran; NULL
 *
 * and if it is a program whose functions are called:
 *
 *   NAME_FAILURE_NCALL(arena)          how many calls the failure has left
 *   NAME_FAILURE_CALL_PLACE(arena, i)  where call i is; the innermost is call 0. Known are the first
 *                                      8 and the last 8
 *   NAME_FAILURE_CALL_COUNT(arena, i)  how many times in succession it was left */

/* ---- what a program prints ----
 * If a program prints, NAME.h declares
 *
 *   void NAME_print(const char *text, int n, const struct wick_bundle_value *value);
 *
 * which the user defines. It gets each line, in the program's order: the text, in which each {} stands
 * for one of the values; they come after it if it has none. If it prints data, there is also
 *
 *   void NAME_print_part(const char *text, int n, const struct wick_bundle_value *value);
 *
 * which gets the parts of a line, before NAME_print gets its end. The elements of a value of
 * WICK_BUNDLE_STRING are long long; their text is
 *
 *   const char *NAME_string(long long number);
 */

/* ---- data ----
 * A program may take and give data: lists, trees, networks of layers. Such an input or output is a
 * number, which names a value in the heap, a part of the arena; so that part must be kept between
 * building data, the call, and reading. NAME.h has functions for this, of each type:
 *
 *   NAME_begin(arena)               makes the heap empty; before anything else, and after a call that
 *                                   failed. Without it a call returns EINVAL, also one that only
 *                                   gives data
 *   NAME_TYPE_CTOR(arena, f0, ...)  a value with that constructor: of numbers, of the addresses of
 *                                   tensors, which are copied, and of data. 0 if the heap is full, or
 *                                   if a field is 0; a call with it returns EINVAL
 *   NAME_TYPE_CTOR                  (a macro, in capitals before TYPE) one without fields
 *   NAME_is(arena, v)               which constructor v has: NAME_TYPE_IS_CTOR
 *   NAME_TYPE_CTOR_i(arena, v)      field i: a number, data, or the address of a tensor
 *   NAME_retain(arena, v), NAME_release(arena, v)
 *
 * Values are counted. A new value has one reference; a constructor takes over those of its fields, a
 * call those of its inputs, and an output has one. A field that is read stays the value's. To use a
 * value twice, retain it; what is not released stays until NAME_begin. */

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
#define WICK_BUNDLE_BOOL 22   /* a byte, 0 or 1 */
#define WICK_BUNDLE_C64 23    /* two floats: real, imaginary */
#define WICK_BUNDLE_C128 24   /* two doubles */
#define WICK_BUNDLE_STRING 25 /* of values that are printed */

#endif
