/* The names of classes, and the best classes of an output. */
#ifndef WICK_TOOLS_LABELS_H
#define WICK_TOOLS_LABELS_H

#include "args.h"
#include "tensor_io.h"

/* The labels in a file:
 *   text          one a line; empty lines at the end are left out
 *   a JSON list   of strings
 *   a JSON dict   {"0": "tench"}, {"0": ["n01440764", "tench"]} (the last string), {"tench": 0}; or
 *                 one with the member "id2label" that is such a dict
 * Fails naming the file, what was found and what was expected. */
WICK_CHECKED wick_status wick_labels_read(wick_span bytes, const char *location, wick_arena *mem,
                                          wick_words *out);

/* The labels in a model's metadata: "a,b,c", or JSON as above. */
void wick_labels_metadata(const char *text, wick_arena *mem, wick_words *out);

/* The classes of an output are its only dimension that is not 1, apart from a batch, which comes
 * first. Returns false if the output is not a list of scores. */
bool wick_classes(const wick_array *a, uint64_t *out_nbatch, uint64_t *out_nclass);

typedef struct wick_score {
  uint64_t index;
  double score;
} wick_score;

/* The `top` best of `n` scores from element `first` on, the best first; NaN is worse than any
 * number, and of equal ones the first is better. Returns how many there are. */
uint32_t wick_classes_best(const wick_array *a, uint64_t first, uint64_t n, uint32_t top,
                           wick_score *out);

#endif
