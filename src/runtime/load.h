/* Maps the code of an artifact into memory and finds its functions. Pages are writable or
 * executable, never both at once. */
#ifndef WICK_RUNTIME_LOAD_H
#define WICK_RUNTIME_LOAD_H

#include "runtime/artifact.h"
#include "runtime/kernel.h"

typedef struct wick_image {
  unsigned char *at; /* NULL: nothing is mapped */
  size_t nbytes;
  const wick_artifact *artifact;
} wick_image;

/* Fails with WICK_EUNSUPPORTED if this processor lacks features that the code needs. The message
 * names the processor and the features. */
WICK_CHECKED wick_status wick_image_check_cpu(const wick_artifact *a, wick_arena *mem);

/* Maps the code. `a` must outlive the image. Fails with WICK_EUNSUPPORTED if the code is for
 * another processor or calls a function that the runtime does not have, and with WICK_EIO if the
 * system refuses the memory. */
WICK_CHECKED wick_status wick_image_map(const wick_artifact *a, wick_arena *mem,
                                        wick_image *out_image);
void wick_image_unmap(wick_image *image); /* legal twice */

/* Returns the function of this name, or NULL, by binary search. */
void *wick_image_symbol(const wick_image *image, const char *name);

/* Return a function as a pointer to a function: C does not convert void * to one. */
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
