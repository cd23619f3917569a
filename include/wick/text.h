/* Models as text, for tools that read graphs. */
#ifndef WICK_TEXT_H
#define WICK_TEXT_H

#include <wick/wick.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the model to `print` as a module in Wick's text (docs/text.md), as it is before any pass: in
 * one call, with the shapes, sizes and contents of the options (NULL: none), and if `data` is set
 * with the elements of its constants. Fails as wick_compile does for shapes that do not fit. */
WICK_API wick_error *wick_model_print(wick_model *model, const wick_compile_options *options,
                                      bool data,
                                      void (*print)(void *arg, const char *text, size_t nbytes),
                                      void *arg);

#ifdef __cplusplus
}
#endif

#endif
