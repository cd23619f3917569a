/* The table of subcommands, their signature, their messages, and the exit statuses of the command.
 */
#ifndef WICK_TOOLS_COMMAND_H
#define WICK_TOOLS_COMMAND_H

#include "base/arena.h"

/* Documented in args_help.c. Output that cannot be written makes a success a failure. */
enum { WICK_EXIT_OK = 0, WICK_EXIT_FAILURE = 1, WICK_EXIT_USAGE = 2 };

typedef struct wick_command {
  const char *name, *arguments, *doc;
  int (*run)(int argc, char **argv);
} wick_command;
extern const wick_command wick_commands[]; /* ends with a row without a name */

const wick_command *wick_command_find(const char *name); /* NULL if there is none */
const wick_command *wick_command_need(const char *name); /* the same, with a message on stderr */
int wick_command_main(int argc, char **argv);

/* Prints "wick run: MESSAGE" ("wick: MESSAGE" for the command "") on stderr, with control
 * characters escaped. */
void wick_command_say(const char *command, const char *fmt, ...) WICK_PRINTF(2, 3);
/* The same, with a hint at `wick help`; returns WICK_EXIT_USAGE. */
int wick_command_usage(const char *command, const char *fmt, ...) WICK_PRINTF(2, 3);
/* Prints a message of the library, which begins with a location, on stderr. */
void wick_command_message(const char *message);

#define COMMAND(name, arguments, doc) int wick_cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

#endif
