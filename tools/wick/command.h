/* The table of subcommands, their signature, and the exit statuses of the command. */
#ifndef WICK_TOOLS_COMMAND_H
#define WICK_TOOLS_COMMAND_H

enum { WICK_EXIT_OK = 0, WICK_EXIT_FAILURE = 1, WICK_EXIT_USAGE = 2 };

typedef struct wick_command {
  const char *name, *arguments, *doc;
  int (*run)(int argc, char **argv);
} wick_command;
extern const wick_command wick_commands[]; /* ends with a row without a name */

const wick_command *wick_command_find(const char *name); /* NULL where there is none */
int wick_command_main(int argc, char **argv);

#define COMMAND(name, arguments, doc) int wick_cmd_##name(int argc, char **argv);
COMMAND(help, "", "")
#include "commands.def"
#undef COMMAND

#endif
