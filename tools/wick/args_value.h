/* Kinds of values that options take: the allowed values, how they are read, and how a message
 * describes them. */
#ifndef WICK_TOOLS_ARGS_VALUE_H
#define WICK_TOOLS_ARGS_VALUE_H

#include "args.h"
#include "wick/wick.h"

typedef enum wick_value_form {
  WICK_VALUE_NONE,
  WICK_VALUE_TEXT,
  WICK_VALUE_WHOLE,
  WICK_VALUE_NUMBER,
  WICK_VALUE_WORDS
} wick_value_form;

typedef struct wick_value_kind {
  wick_value_form form;
  double least, most;   /* bounds of WICK_VALUE_WHOLE and WICK_VALUE_NUMBER, included */
  const char *expected; /* for messages; NULL: the option's choices (WICK_FLAG_CHOICE) */
  bool files;           /* a shell completes paths */
  bool named;           /* NAME=... */
} wick_value_kind;

const wick_value_kind *wick_value_kind_of(wick_flag_kind kind);

/* Reads one value of the option into its `out`. `mem` holds lists. Returns false if the value is
 * not allowed. */
bool wick_value_set(const wick_flag *f, wick_arena *mem, const char *value);

/* Describes the values that the option allows: "a whole number from 0 to 4096". */
const char *wick_value_expected(const wick_flag *f, wick_arena *mem);

/* NAME=N, NAME=LO..HI, NAME=LO..HI:STEP. NAME is everything before the last "=". */
bool wick_value_range(const char *word, wick_arena *mem, wick_size_range *out);
/* NAME=VALUE, or VALUE for the previous name, which *name keeps (NULL at first). VALUE is a whole
 * number, true or false. */
bool wick_value_content(const char *word, const char **name, wick_arena *mem, const char **out);

#endif
