/* Finds the subcommand and hands it its arguments. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "wick/wick.h"

const wick_command wick_commands[] = {
#define COMMAND(name, arguments, doc) {#name, arguments, doc, wick_cmd_##name},
#include "commands.def"
    COMMAND(help, "[COMMAND]", "lists the commands, or says how one is used")
#undef COMMAND
        {NULL, NULL, NULL, NULL},
};

const wick_command *wick_command_find(const char *name)
{
  for (const wick_command *c = wick_commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c;
  return NULL;
}

static void command_list(FILE *to)
{
  fputs("usage: wick COMMAND ...\n\n", to);
  for (const wick_command *c = wick_commands; c->name; c++)
    fprintf(to, "  %-10s %s\n", c->name, c->doc);
  fputs("\n`wick help COMMAND` says more; `wick --version` prints the version.\n", to);
}

static const wick_command *command_need(const char *name)
{
  const wick_command *c = wick_command_find(name);
  if (c) return c;
  const char *nearest = wick_args_nearest(name, &wick_commands->name, sizeof *wick_commands);
  fprintf(stderr, "wick: there is no command \"%s\"", name);
  if (nearest) fprintf(stderr, "; the nearest is \"%s\"", nearest);
  fputs("; `wick help` lists them\n", stderr);
  return NULL;
}

/* Each command knows its own flags, so it is asked for its help. */
int wick_cmd_help(int argc, char **argv)
{
  if (argc < 2 || argv[1][0] == '-') {
    command_list(stdout);
    return WICK_EXIT_OK;
  }
  const wick_command *c = command_need(argv[1]);
  if (!c) return WICK_EXIT_USAGE;
  char flag[] = "--help", *args[] = {argv[1], flag, NULL};
  return c->run(2, args);
}

int wick_command_main(int argc, char **argv)
{
  if (argc < 2) {
    command_list(stderr);
    return WICK_EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0) {
    printf("wick %d.%d\n", WICK_VERSION_MAJOR, WICK_VERSION_MINOR);
    return WICK_EXIT_OK;
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
  const wick_command *c = command_need(name);
  return c ? c->run(argc - 1, argv + 1) : WICK_EXIT_USAGE;
}
