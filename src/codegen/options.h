/* What is asked of the code generator beside a module and a target. */
#ifndef WICK_CODEGEN_OPTIONS_H
#define WICK_CODEGEN_OPTIONS_H

#include "base/reader.h"

typedef enum wick_codegen_output {
  WICK_OUTPUT_OBJECT,   /* a relocatable object: ELF, on WebAssembly wasm */
  WICK_OUTPUT_ASSEMBLY, /* its text */
  WICK_OUTPUT_LLVM      /* LLVM's representation before code is generated, for debugging */
} wick_codegen_output;

enum { WICK_STACK_OUTSIDE = 256 }; /* memcpy, helpers of the ABI */

typedef struct wick_codegen_options {
  wick_codegen_output output;
  bool direct;   /* entries call their kernels themselves (codegen/abi.h): bundles */
  bool absolute; /* code for a fixed address; else position-independent */
  /* The C function that is made of the module's entry, with `direct`: bundles. NULL: none. */
  const char *bundle;
  wick_span constants; /* of a bundle: go into the object, as NAME_constants; at NULL: do not */
  /* With `bundle`: after the object, 8 bytes: the most stack that a call takes, 0 where it is not
   * known. Of it WICK_STACK_OUTSIDE bytes are for functions from outside. */
  bool stack;
  bool clean;  /* run the cheap passes of LLVM before: for code that no pass of Wick has cleaned */
  bool verify; /* run LLVM's verifier */
  bool whole;  /* one object for all functions; else as many as work at once */
  uint32_t nonly; /* functions to generate; 0: all loop functions of the module */
  const char *const *only;
} wick_codegen_options;

#endif
