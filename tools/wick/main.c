/* The command `wick`: finds the subcommand and hands it its arguments. */
#include <stdio.h>
#include <string.h>

#include "wick/wick.h"

#include "command.h"

typedef struct main_command {
  const char *name, *arguments, *doc;
  int (*run)(int argc, char **argv);
} main_command;

static const main_command main_commands[] = {
#define COMMAND(name, arguments, doc) {#name, arguments, doc, wick_cmd_##name},
#include "commands.def"
#undef COMMAND
    {"help", "[COMMAND]", "says how a command is used", NULL},
};
enum { MAIN_COUNT = sizeof main_commands / sizeof main_commands[0] };

static const main_command *main_find(const char *name)
{
  for (int i = 0; i < MAIN_COUNT; i++)
    if (strcmp(main_commands[i].name, name) == 0) return &main_commands[i];
  return NULL;
}

static void main_usage(FILE *to)
{
  fputs("usage: wick COMMAND ...\n\n", to);
  for (int i = 0; i < MAIN_COUNT; i++)
    fprintf(to, "  %-10s %s\n", main_commands[i].name, main_commands[i].doc);
  fputs("\n`wick help COMMAND` says more; `wick --version` prints the version.\n", to);
}

static int main_unknown(const char *name)
{
  fprintf(stderr, "wick: there is no command \"%s\"; `wick help` lists them\n", name);
  return WICK_EXIT_USAGE;
}

static int main_help(const char *name)
{
  const main_command *c = name ? main_find(name) : NULL;
  if (name && !c) return main_unknown(name);
  if (c)
    printf("usage: wick %s %s\n\n%s\n", c->name, c->arguments, c->doc);
  else
    main_usage(stdout);
  return WICK_EXIT_OK;
}

int main(int argc, char **argv)
{
  if (argc < 2) {
    main_usage(stderr);
    return WICK_EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0) {
    printf("wick %d.%d\n", WICK_VERSION_MAJOR, WICK_VERSION_MINOR);
    return WICK_EXIT_OK;
  }
  bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
  if (help) return main_help(argc > 2 ? argv[2] : NULL);
  const main_command *c = main_find(name);
  if (!c) return main_unknown(name);
  bool wants_help = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
  return wants_help ? main_help(name) : c->run(argc - 1, argv + 1);
}
