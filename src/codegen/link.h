/* Resolves objects into the code sections of an artifact (runtime/artifact.h): the code of all
 * objects in one section, their constants in another, with every relocation applied. The loader
 * only fills in the addresses of the few external functions (memcpy, memmove, memset), which the code
 * calls through stubs at its end. */
#ifndef WICK_CODEGEN_LINK_H
#define WICK_CODEGEN_LINK_H

#include "base/reader.h"
#include "runtime/artifact.h"
#include "target/target.h"

enum { WICK_LINK_SECTIONS = 5 };

/* Makes the sections code, rodata, imports, symbols and target, in `mem`. The same objects in the
 * same order give the same bytes. Fails: WICK_EUNSUPPORTED for a machine without a linker, for a
 * kind of relocation or section that is not in the closed list, and for a function that the target
 * does not allow; WICK_EINVAL for a function that is defined twice or nowhere. */
WICK_CHECKED wick_status wick_link(uint32_t nobject, const wick_span *object, const wick_target *t,
                                   wick_arena *mem, wick_section out[WICK_LINK_SECTIONS]);

#endif
