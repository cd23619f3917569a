/* Prints the outputs of a run, for people or for programs: labels with their scores, elements, or
 * shapes and ranges. */
#ifndef WICK_TOOLS_SHOW_H
#define WICK_TOOLS_SHOW_H

#include "json_out.h"
#include "labels.h"

enum {
  WICK_SHOW_TOP = 5,      /* classes of each output of a batch */
  WICK_SHOW_WHOLE = 100,  /* elements of an output that is printed whole */
  WICK_SHOW_JSON = 10000, /* and of one whose elements JSON has */
};

typedef struct wick_show_options {
  const wick_words *labels;   /* for all outputs with as many classes; NULL: none */
  const wick_words *metadata; /* the model's own labels, of its last output; NULL: none */
  uint32_t top;               /* how many classes; 0: WICK_SHOW_TOP of outputs that have labels */
  const char *folder;         /* where the outputs are written to; NULL: nowhere */
} wick_show_options;

/* Some output has as many classes as there are labels; else an error that names the outputs. */
WICK_CHECKED wick_status wick_show_check(const wick_array *output, uint32_t n,
                                         const wick_words *labels, const char *path,
                                         wick_arena *mem);

/* For each output its best classes, if it has labels, else a line, followed by the elements if they
 * are few. */
void wick_show(const wick_array *output, uint32_t n, const wick_show_options *o, wick_arena *tmp);

/* A list of an object for each output; docs/json.md says what is in it. */
json_t *wick_show_json(const wick_array *output, uint32_t n, const wick_show_options *o,
                       wick_arena *tmp);

#endif
