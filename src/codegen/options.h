/* The options of the code generator, in addition to a module and a target. */
#ifndef WICK_CODEGEN_OPTIONS_H
#define WICK_CODEGEN_OPTIONS_H

#include "base/reader.h"

typedef enum wick_codegen_output {
  WICK_OUTPUT_OBJECT,   /* a relocatable object: ELF, on WebAssembly wasm */
  WICK_OUTPUT_ASSEMBLY, /* its text */
  WICK_OUTPUT_LLVM      /* LLVM's representation before code is generated, for debugging */
} wick_codegen_output;

enum {
  WICK_STACK_OUTSIDE = 256, /* memcpy, helpers of the ABI */
  /* bytes of its caller's stack for a bundle's recursion, with pointers of 64 and of 32 bits, if
   * the user gives no number, and the most that the user can give */
  WICK_BUNDLE_RECURSION = 1 << 18,
  WICK_BUNDLE_RECURSION_SMALL = 1 << 12,
  WICK_BUNDLE_RECURSION_MOST = 1 << 30,
  /* bytes of its arena for a bundle's objects, if the user gives no number */
  WICK_BUNDLE_HEAP = 1 << 16,
  WICK_BUNDLE_HEAP_SMALL = 1 << 13
};

typedef struct wick_codegen_object { /* an input of a bundle that is an object */
  uint32_t input;
  uint64_t offset; /* in the mutable data */
} wick_codegen_object;

typedef struct wick_codegen_options {
  wick_codegen_output output;
  bool direct;   /* entries call their kernels themselves (codegen/abi.h): bundles */
  bool absolute; /* code for a fixed address; else position-independent */
  /* The name of the C function that calls the module's entry, with `direct`: bundles. NULL:
   * none. */
  const char *bundle;
  wick_span constants; /* of a bundle: stored in the object as NAME_constants, unless at is NULL */
  uint64_t heap_bytes; /* of a bundle: for objects, in the arena, before the scratch memory */
  /* of a bundle that takes or gives data: its caller makes the heap; the inputs that are objects */
  bool keeps_heap;
  uint32_t nobject;
  const wick_codegen_object *object;
  uint64_t recursion_bytes; /* of a bundle: of its caller's stack, for recursion; 0: the default */
  /* With `bundle`: 8 bytes follow the object, the most stack that a call uses, or 0 if it is not
   * known. They include WICK_STACK_OUTSIDE bytes for external functions. */
  bool stack;
  /* leave out LLVM's strength reduction of loops, whose time grows faster than a loop's body */
  bool plain_loops;
  bool clean;  /* run the cheap passes of LLVM before: for code that no pass of Wick has cleaned */
  bool verify; /* run LLVM's verifier */
  /* one object for all functions; else one for each part that is compiled concurrently */
  bool whole;
  uint32_t nonly; /* functions to generate; 0: all loop functions of the module */
  const char *const *only;
} wick_codegen_options;

#endif
