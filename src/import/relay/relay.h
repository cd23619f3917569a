/* Programs in Relay's text form, version 0.0.5, as syntax trees of the language (decision 34).
 *
 *   lex.c     bytes to tokens, with their places in the file
 *   parse.c   items, types and patterns; parse_expr.c: expressions; scope.c: names
 *   lift.c    functions that `let` names and that call themselves
 *   meta.c    the section `#[metadata]`: JSON, and the tensors in it
 *   table.h   operators: each row is a family (lang/family.h), whose members rows_*.c write
 *
 * Inference, exhaustiveness, effects, derivatives, batches, evaluation and code are those of the
 * language; messages name places in the user's file. */
#ifndef WICK_IMPORT_RELAY_RELAY_H
#define WICK_IMPORT_RELAY_RELAY_H

#include "lang/program.h"

/* Reads files whose names end in .relay or .rly, or that begin with `#[version`. */
extern const wick_lang_reader wick_relay_reader;
bool wick_relay_is_text(const char *text, size_t nbytes);
bool wick_relay_is_path(const char *path); /* by the end of its name */

#endif
