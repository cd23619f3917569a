/* Text tests of passes: files of cases, each a module, what a pass makes of it, and nothing else.
 *
 *   # a comment
 *   pass drop_identity              of the cases below; "a,b": one after the other; "none": no pass
 *   target x86-64-v3                of the cases below; without it x86-64-v4
 *   case "what it shows"
 *   graph @f(...) ... { ... }
 *   =>
 *   graph @f(...) ... { ... }       or `=> same`, or `=> error: MESSAGE` (a line for each problem)
 *
 * The words are at the beginning of their lines. Both texts are parsed, verified and printed
 * again, so that their layout is free; then the whole is compared. Problems of the text name the
 * line and column counted from the case's first line. */
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

/* Runs the cases of a file. Fails where the file is not of this form. */
WICK_CHECKED wick_status wick_texttest_run(const char *file, const char *text, size_t n,
                                           wick_arena *mem, wick_arena *tmp, wick_texttest *out);

#endif
