/* Prints the outputs of a run, for people or for programs: labels with their scores, elements, or
 * shapes and ranges. */
#ifndef WICK_TOOLS_SHOW_H
#define WICK_TOOLS_SHOW_H

#include "json_out.h"
#include "labels.h"

enum {
  WICK_SHOW_TOP = 5,      /* classes that are shown for each element of the batch */
  WICK_SHOW_WHOLE = 100,  /* most elements of an output that is printed whole */
  WICK_SHOW_JSON = 10000, /* most elements of an output in JSON */
};

typedef struct wick_show_options {
  const wick_words *labels;   /* for all outputs with that many classes; NULL: none */
  const wick_words *metadata; /* the model's own labels, for its last output; NULL: none */
  uint32_t top;               /* number of classes; 0: WICK_SHOW_TOP for outputs that have labels */
  const char *folder;         /* the folder of the written outputs; NULL: none */
} wick_show_options;

/* Checks that an output has as many classes as there are labels. The error names the outputs. */
WICK_CHECKED wick_status wick_show_check(const wick_array *output, uint32_t n,
                                         const wick_words *labels, const char *path,
                                         wick_arena *mem);

/* Prints for each output its best classes, if it has labels, else a line, followed by the elements
 * if they are few. */
void wick_show(const wick_array *output, uint32_t n, const wick_show_options *o, wick_arena *tmp);

/* Returns a list with an object for each output, which docs/json.md describes. */
json_t *wick_show_json(const wick_array *output, uint32_t n, const wick_show_options *o,
                       wick_arena *tmp);

#endif
