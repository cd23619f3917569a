/* Arguments of the public interface: what C lets through is refused here, before anything is read
 * through it. */
#ifndef WICK_RUNTIME_ARGUMENTS_H
#define WICK_RUNTIME_ARGUMENTS_H

#include "base/status.h"

/* WICK_EINVAL, for the caller of the public interface. */
wick_error *wick_invalid(const char *fmt, ...) WICK_PRINTF(1, 2);

/* A struct of the public interface that begins with its `size`, which may be of another version:
 * the fields that the caller knows are taken, the others are 0. `given` may be NULL. Fails where
 * the size is none that a version can have, or where fields that this version does not know are
 * not 0. */
WICK_CHECKED wick_error *wick_options_take(const char *name, void *out, size_t nout,
                                           const void *given);

/* Shapes by the names of inputs, each once. */
WICK_CHECKED wick_status wick_arguments_shapes(uint32_t n, const wick_shape *shape,
                                               wick_arena *mem);
WICK_CHECKED wick_status wick_arguments_sizes(const char *list, uint32_t n, const wick_size *sizes,
                                              wick_arena *mem);
WICK_CHECKED wick_status wick_arguments_ranges(uint32_t n, const wick_size_range *ranges,
                                               wick_arena *mem);
/* `once`: no input twice. */
WICK_CHECKED wick_status wick_arguments_contents(const char *list, bool once, uint32_t n,
                                                 const wick_content *contents, wick_arena *mem);
WICK_CHECKED wick_status wick_arguments_names(const char *list, uint32_t n,
                                              const char *const *names, wick_arena *mem);

#endif
