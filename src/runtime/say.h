/* What a program prints, and the texts of its assertions. */
#ifndef WICK_RUNTIME_SAY_H
#define WICK_RUNTIME_SAY_H

#include "base/string_table.h"
#include "runtime/kernel.h"

typedef struct wick_sayer {
  /* Gets the parts of a line, the last of which is its end; NULL: standard output does. */
  void (*print)(void *arg, const char *text, size_t nbytes);
  void *arg;
  const wick_string_table *strings; /* of the run */
  size_t nmessage;
  char message[1024]; /* of an assertion with values that does not hold; else empty */
} wick_sayer;

/* A wick_say, whose context is a wick_sayer. */
void wick_say_text(void *context, int32_t to, const char *text, int32_t n, const wick_said *value);

#endif
