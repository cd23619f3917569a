/* The protocol between the library and the program wick-codegen.
 *
 * To the program, on its standard input: lines of a word and its argument, an empty line, and the
 * text of a module.
 *
 *   wick-codegen 1
 *   target x86-64-v4+avx512vnni
 *   output object                 object, assembly or llvm
 *   direct | absolute | plain_loops | clean | verify
 *   bundle digits                 the C function that calls the entry
 *   constants 4096                bytes at the end of the input, which are stored in the object
 *   only conv.0                   once for each function; without it: all
 *   memory 4294967296             bytes that the program may use
 *
 * From it, on its standard output: `ok`, a line with the number of bytes, and the bytes, exit code
 * 0; or `error`, a wick_code as a number, a space, the message, exit code 1. Anything else is a
 * crash, which its standard error describes. */
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

/* Write and read the header, with its empty line. The text and the constants follow it. */
WICK_CHECKED wick_status wick_request_write(const wick_request *r, wick_arena *mem, wick_text *out);
WICK_CHECKED wick_status wick_request_read(const char *bytes, size_t nbytes, wick_arena *mem,
                                           wick_request *out);

/* Write the program's answer: for success without the bytes themselves, or for an error. */
void wick_answer_write_ok(size_t nbytes, wick_text *out);
void wick_answer_write_error(wick_status s, wick_text *out);
/* Returns false if the bytes are no answer, because the program crashed. *out_status: its error, or
 * NULL. */
WICK_CHECKED bool wick_answer_read(wick_bytes answer, wick_arena *mem, wick_span *out_bytes,
                                   wick_status *out_status);

#endif
