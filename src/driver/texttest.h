/* Text tests of passes. A file has cases; each case is a module and the expected result of a pass.
 *
 *   # a comment
 *   pass drop_identity              for the cases below; "a,b": both in order; "none": no pass
 *   target x86-64-v3                for the cases below; the default is x86-64-v4
 *   case "its title"
 *   graph @f(...) ... { ... }
 *   =>
 *   graph @f(...) ... { ... }       or `=> same`, or `=> error: MESSAGE` (a line for each problem)
 *
 * These words are at the beginning of their lines. Both texts are parsed, verified and printed
 * before they are compared, so that their layout is free. Errors in the text name the line and
 * column, counted from the case's first line. */
#ifndef WICK_DRIVER_TEXTTEST_H
#define WICK_DRIVER_TEXTTEST_H

#include "base/status.h"
#include "base/str.h"

typedef struct wick_texttest {
  uint32_t ncase, nfail;
  const char *report;  /* of the cases that fail: location, title, actual and expected text */
  const char *blessed; /* the file's text with the actual text in place of the expected text */
  size_t nblessed;
} wick_texttest;

/* Runs the cases of a file. Fails if the file does not have this form. */
WICK_CHECKED wick_status wick_texttest_run(const char *file, const char *text, size_t n,
                                           wick_arena *mem, wick_arena *tmp, wick_texttest *out);

#endif
