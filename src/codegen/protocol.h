/* What the library and the program wick-codegen say to each other.
 *
 * To the program, on its standard input: lines of a word and its argument, an empty line, and the
 * text of a module.
 *
 *   wick-codegen 1
 *   target x86-64-v4+avx512vnni
 *   output object                 object, assembly or llvm
 *   direct | absolute | clean | verify
 *   bundle digits                 the C function that is made of the entry
 *   constants 4096                bytes at the end of the input, which go into the object with it
 *   only conv.0                   once for each function; without it: all
 *   memory 4294967296             bytes that the program may take
 *
 * From it, on its standard output: `ok`, a line with the number of bytes, and the bytes, exit code
 * 0; or `error`, a wick_code as a number, a space, the message, exit code 1. Anything else is a
 * crash, and what is in its standard error tells of it. */
#ifndef WICK_CODEGEN_PROTOCOL_H
#define WICK_CODEGEN_PROTOCOL_H

#include "base/file.h"
#include "base/reader.h"
#include "base/str.h"
#include "codegen/options.h"
#include "target/target.h"

typedef struct wick_request {
  wick_target target;
  wick_codegen_options options;
  uint64_t memory_bytes; /* 0: no limit */
  const char *text;      /* of the module */
  size_t ntext;
} wick_request;

/* The header, with its empty line; then come the text, and the constants. */
WICK_CHECKED wick_status wick_request_write(const wick_request *r, wick_arena *mem, wick_text *out);
WICK_CHECKED wick_status wick_request_read(const char *bytes, size_t nbytes, wick_arena *mem,
                                           wick_request *out);

/* The program's answer to a request that succeeded, but for the bytes themselves. */
void wick_answer_write_ok(size_t nbytes, wick_text *out);
void wick_answer_write_error(wick_status s, wick_text *out);
/* False where it is neither: the program did not end well. *out_status: its error, or NULL. */
WICK_CHECKED bool wick_answer_read(wick_bytes answer, wick_arena *mem, wick_span *out_bytes,
                                   wick_status *out_status);

#endif
