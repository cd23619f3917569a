/* Compiles loop functions to machine code, through LLVM's C interface. Everything in this folder
 * belongs to the program wick-codegen: LLVM ends the process on some inputs, and needs process-wide
 * options. */
#ifndef WICK_CODEGEN_LLVM_LLVM_H
#define WICK_CODEGEN_LLVM_LLVM_H

#include "base/reader.h"
#include "codegen/options.h"
#include "ir/ir.h"
#include "target/target.h"

/* Sets LLVM's options for the whole process. Call it once, before the other functions of this file. */
void wick_llvm_begin(const wick_codegen_options *options);

/* Compiles m, which must be verified. Fails: WICK_EUNSUPPORTED for operators that a pass of Wick
 * should have expanded for the target. */
WICK_CHECKED wick_status wick_llvm_compile(const wick_module *m, const wick_target *t,
                                           const wick_codegen_options *options, wick_arena *mem,
                                           wick_span *out);

#endif
