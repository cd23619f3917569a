/* wick.h: load a trained model, compile it, run it. The whole public interface of libwick.
 *
 * Errors: a function that can fail returns `wick_error *`: NULL on success, else an error that the
 * caller frees with wick_error_free. Its message names the place in the user's model, what was
 * found and what was wanted. Nothing here prints, exits or aborts. Threads: a context and a model
 * belong to one thread at a time; a compiled model may be used by any number of threads at once,
 * each with a session of its own. Versioned and append-only: a struct that begins with `size` is
 * extended at its end; set it to sizeof. */
#ifndef WICK_WICK_H
#define WICK_WICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define WICK_API
#else
#define WICK_API __attribute__((visibility("default")))
#endif

#define WICK_VERSION_MAJOR 0
#define WICK_VERSION_MINOR 1

/* ---- errors ---- */

typedef enum wick_code {
  WICK_OK,
  WICK_EINVAL,       /* an argument of the call is wrong */
  WICK_EPARSE,       /* the file's bytes or the text's grammar are wrong */
  WICK_ETYPE,        /* types, shapes or attributes do not fit together */
  WICK_ERANGE,       /* a number is outside its range, or an index at run time */
  WICK_EUNSUPPORTED, /* understood, but Wick cannot do it (yet) */
  WICK_ELIMIT,       /* a limit of the context was reached: nodes, bytes, seconds, depth */
  WICK_ENOMEM,
  WICK_EIO,       /* the operating system refused; the message has its reason */
  WICK_ECANCELED, /* the context's cancel function said so */
  WICK_EINTERNAL  /* a bug in Wick */
} wick_code;

typedef struct wick_error wick_error;

WICK_API wick_code wick_error_code(const wick_error *e); /* WICK_OK for NULL */
WICK_API const char *wick_error_message(
    const wick_error *e); /* all problems, a line each; "" for NULL; lives as long as e */
WICK_API void wick_error_free(wick_error *e); /* NULL is legal */

/* ---- element types ---- */

typedef enum wick_elem {
  WICK_F64,
  WICK_F32,
  WICK_F16,
  WICK_BF16,
  WICK_F8E4M3,
  WICK_F8E4M3FNUZ,
  WICK_F8E5M2,
  WICK_F8E5M2FNUZ,
  WICK_F8E8M0,
  WICK_F4E2M1,
  WICK_I64,
  WICK_I32,
  WICK_I16,
  WICK_I8,
  WICK_I4,
  WICK_I2,
  WICK_U64,
  WICK_U32,
  WICK_U16,
  WICK_U8,
  WICK_U4,
  WICK_U2,
  WICK_BOOL, /* one byte, 0 or 1 */
  WICK_C64,
  WICK_C128,
  WICK_STRING,
  WICK_NELEM
} wick_elem;

/* ---- context ---- */

/* Memory for everything but runs. `alloc` returns storage aligned to 16 bytes, or NULL. */
typedef struct wick_allocator {
  void *(*alloc)(void *self, size_t nbytes);
  void (*free)(void *self, void *p, size_t nbytes);
  void *self;
} wick_allocator;

typedef struct wick_options {
  size_t size;               /* sizeof(wick_options) */
  wick_allocator allocator;  /* all zero: malloc and free */
  uint64_t max_nodes;        /* of one model; 0: 10,000,000 */
  uint64_t max_bytes;        /* of compile-time memory; 0: no limit */
  double max_seconds;        /* of one compilation; 0: no limit */
  bool (*cancel)(void *arg); /* polled during long work; true stops it with WICK_ECANCELED */
  void (*log)(void *arg, const char *line); /* progress, one line without its newline */
  void *arg;                                /* of cancel and log */
} wick_options;

typedef struct wick_context wick_context;

/* `options` may be NULL. The context is freed last. */
WICK_API wick_error *wick_context_create(const wick_options *options, wick_context **out_context);
WICK_API void wick_context_free(wick_context *context);

#ifdef __cplusplus
}
#endif
#endif
