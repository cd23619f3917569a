/* Code of an artifact in memory, ready to be called. Pages are writable or executable, never both
 * at once. */
#ifndef WICK_RUNTIME_LOAD_H
#define WICK_RUNTIME_LOAD_H

#include "runtime/artifact.h"
#include "runtime/kernel.h"

typedef struct wick_image {
  unsigned char *at; /* NULL: nothing is mapped */
  size_t nbytes;
  const wick_artifact *artifact;
} wick_image;

/* Fails with WICK_EUNSUPPORTED, naming both, where this processor lacks what the code needs. */
WICK_CHECKED wick_status wick_image_check_cpu(const wick_artifact *a, wick_arena *mem);

/* `a` outlives the image. Fails: WICK_EUNSUPPORTED where this processor is another than the code
 * wants, or the code calls what the runtime does not know; WICK_EIO where the system refuses the
 * memory. */
WICK_CHECKED wick_status wick_image_map(const wick_artifact *a, wick_arena *mem,
                                        wick_image *out_image);
void wick_image_unmap(wick_image *image); /* legal twice */

/* The function of that name, or NULL. Cost: a binary search. */
void *wick_image_symbol(const wick_image *image, const char *name);

/* As pointers to functions, which C keeps apart from others. */
static inline wick_kernel wick_image_kernel(const wick_image *image, const char *name)
{
  union {
    void *p;
    wick_kernel f;
  } u = {wick_image_symbol(image, name)};
  return u.f;
}
static inline wick_entry wick_image_entry(const wick_image *image, const char *name)
{
  union {
    void *p;
    wick_entry f;
  } u = {wick_image_symbol(image, name)};
  return u.f;
}

#endif
