/* Checks arguments of the public interface, before a pointer in them is read: required pointers,
 * sizes of structs, lists of names. */
#ifndef WICK_RUNTIME_ARGUMENTS_H
#define WICK_RUNTIME_ARGUMENTS_H

#include "base/status.h"

/* Returns a WICK_EINVAL error that the caller of the public interface frees. */
wick_error *wick_invalid(const char *fmt, ...) WICK_PRINTF(1, 2);

/* Copies a struct of the public interface that begins with its `size` and may be of another version
 * to `out`. Fields that the caller's version does not have become 0. `given` may be NULL. Fails if
 * no version has this size, or if fields that this version does not know are not 0. */
WICK_CHECKED wick_error *wick_options_take(const char *name, void *out, size_t nout,
                                           const void *given);

/* Each check fails with WICK_EINVAL if the array is NULL although its count is not 0 or if a name in
 * it is NULL. Shapes and ranges must not have a name twice. `list` names the list in messages. */
WICK_CHECKED wick_status wick_arguments_shapes(uint32_t n, const wick_shape *shape,
                                               wick_arena *mem);
WICK_CHECKED wick_status wick_arguments_sizes(const char *list, uint32_t n, const wick_size *sizes,
                                              wick_arena *mem);
WICK_CHECKED wick_status wick_arguments_ranges(uint32_t n, const wick_size_range *ranges,
                                               wick_arena *mem);
/* `once`: an input must not occur twice. */
WICK_CHECKED wick_status wick_arguments_contents(const char *list, bool once, uint32_t n,
                                                 const wick_content *contents, wick_arena *mem);
WICK_CHECKED wick_status wick_arguments_names(const char *list, uint32_t n,
                                              const char *const *names, wick_arena *mem);

#endif
