/* Prints the table of a command's options, for people and for shells.
 *
 * Only the command knows its table, so it prints the table itself: `wick run --help` prints text,
 * `wick run --help=man` a manual page. `wick help` (cmd_help.c) collects the output of all
 * commands. */
#ifndef WICK_TOOLS_ARGS_HELP_H
#define WICK_TOOLS_ARGS_HELP_H

#include "args.h"

typedef enum wick_help_format {
  WICK_HELP_TEXT,
  WICK_HELP_MARKDOWN,
  WICK_HELP_MAN,
  WICK_HELP_BASH,
  WICK_HELP_ZSH,
  WICK_HELP_FISH,
  WICK_HELP_NFORMAT
} wick_help_format;

extern const char *const wick_help_formats[]; /* their names; ends with NULL */

bool wick_args_is_help(const char *word); /* "--help", or "--help=" and a format */
void wick_args_help(const wick_args *args, const char *command, const char *word);

/* Prints text with the characters escaped that mean something in a manual page. */
void wick_help_roff(const char *s);

/* The exit statuses, one in each string: "0  ...". They are the same for all commands. */
extern const char *const wick_help_statuses[]; /* ends with NULL */

#endif
