/* Statuses: NULL is success, else an error in the call's arena, with the user's location in front.
 *
 * The location is text like this: "net.onnx: node \"prob\" (Softmax)". A wick_errors collects all
 * problems of a step, so that an import reports every one of them. */
#ifndef WICK_BASE_STATUS_H
#define WICK_BASE_STATUS_H

#include <stdarg.h>

#include "base/arena.h"
#include "wick/wick.h"

struct wick_error {
  wick_code code;
  const char *message; /* without a newline at its end */
  const char *size;    /* the name of a size that the caller must give; NULL: another error */
  bool owned;          /* by the caller of the public interface; freed by wick_error_free */
};
typedef const struct wick_error *wick_status;

#define WICK_TRY(call)                                                                             \
  do {                                                                                             \
    wick_status try_status_ = (call);                                                              \
    if (try_status_) return try_status_;                                                           \
  } while (0)

/* "location: message"; location may be NULL. Control characters and bytes that are not UTF-8 are
 * escaped (base/shown.h), so that no name in a message commands a terminal. */
WICK_CHECKED wick_status wick_fail(wick_arena *mem, wick_code code, const char *location,
                                   const char *fmt, ...) WICK_PRINTF(4, 5);
WICK_CHECKED wick_status wick_vfail(wick_arena *mem, wick_code code, const char *location,
                                    const char *fmt, va_list args);

/* The same for a missing size of the model. Each front end adds its own advice on how to give it
 * (wick_error_size). `size` is NULL if the size has no name. */
WICK_CHECKED wick_status wick_fail_size(wick_arena *mem, wick_code code, const char *location,
                                        const char *size, const char *fmt, ...) WICK_PRINTF(5, 6);

/* Collects several problems of one step. wick_errors_end returns the status of all (NULL if there
 * are none), with the code of the first. At most `most` are kept; a last line counts the rest. */
typedef struct wick_errors {
  wick_arena *mem;
  wick_list(wick_status) list;
  uint32_t most, more;
} wick_errors;
wick_errors wick_errors_begin(wick_arena *mem, uint32_t most);
void wick_errors_add(wick_errors *e, wick_status s); /* NULL is ignored */
WICK_CHECKED wick_status wick_errors_end(wick_errors *e);

/* For the public interface: returns a copy that the user frees. Never fails: out of memory, it
 * returns the static error. */
wick_error *wick_error_export(wick_status s);
wick_error *wick_error_nomem(void);

#endif
