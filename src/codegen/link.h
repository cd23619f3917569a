/* Resolves objects into the code sections of an artifact (runtime/artifact.h): all objects' code in
 * one run of bytes, their constants in another, every relocation applied. What is left to the
 * loader are the addresses of the few functions outside (memcpy, memset), which the code reaches
 * through stubs at its end. */
#ifndef WICK_CODEGEN_LINK_H
#define WICK_CODEGEN_LINK_H

#include "base/reader.h"
#include "runtime/artifact.h"
#include "target/target.h"

enum { WICK_LINK_SECTIONS = 5 };

/* The sections code, rodata, imports, symbols and target; they live in `mem`. The same objects in
 * the same order give the same bytes. Fails: WICK_EUNSUPPORTED for a machine without a linker, for
 * a kind of relocation or section that is not in the closed list, and for a function that the
 * target's row does not allow; WICK_EINVAL for a function that is defined twice or nowhere. */
WICK_CHECKED wick_status wick_link(uint32_t nobject, const wick_span *object, const wick_target *t,
                                   wick_arena *mem, wick_section out[WICK_LINK_SECTIONS]);

#endif
