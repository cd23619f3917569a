/* What the subcommands share: their signature and the exit statuses of the command. */
#ifndef WICK_TOOLS_COMMAND_H
#define WICK_TOOLS_COMMAND_H

enum { WICK_EXIT_OK = 0, WICK_EXIT_FAILURE = 1, WICK_EXIT_USAGE = 2 };

#define COMMAND(name, arguments, doc) int wick_cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

#endif
