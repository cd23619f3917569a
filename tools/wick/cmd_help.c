/* wick help: lists the commands, explains one, or prints all of them as a document or for a shell.
 * Each command prints its own options (args_help.h). */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "wick/wick.h"

#include "args.h"
#include "args_help.h"
#include "command.h"

static void help_ask(const wick_command *c, const char *format)
{
  char name[32], flag[32], *argv[] = {name, flag, NULL};
  snprintf(name, sizeof name, "%s", c->name);
  snprintf(flag, sizeof flag, "--help=%s", format);
  c->run(2, argv);
}

static void help_list(void)
{
  puts("usage: wick COMMAND ...\n");
  for (const wick_command *c = wick_commands; c->name; c++) printf("  %-10s %s\n", c->name, c->doc);
  puts("\n`wick help COMMAND` says more; `wick --version` prints the version.\n\nexit status:");
  for (const char *const *s = wick_help_statuses; *s; s++) printf("  %.1s  %s\n", *s, *s + 2);
}

/* ---- all commands ---- */

static const char help_rules[] =
    "Options are written `--name value`, `--name=value`, or `-n value` where they have a letter. "
    "An option with a list\ntakes words with commas between them (`\\,` is a comma in a name) and "
    "may be given again. A list of files (`FILE...`)\nalso takes the words after it up to the next "
    "option, and a list of `NAME=N...` those with a `=`; after `--name=A` no word\nis taken. Where "
    "the model is missing then, it is the last word of the last list of files: `wick run MODEL "
    "--inputs A B`\nand `wick run --inputs A B MODEL` mean the same. After `--` everything is a "
    "word. `-` is standard "
    "input "
    "where a command reads text.\n";

static void help_markdown(void)
{
  puts("# The command `wick`\n\n`make docs` writes this page from the tables that `wick help` "
       "prints.\n");
  puts(help_rules);
  puts("| exit status | |\n|---|---|");
  for (const char *const *s = wick_help_statuses; *s; s++) printf("| %.1s | %s |\n", *s, *s + 2);
  puts("\nMessages go to standard error, and every status but 0 comes with one. Names from models "
       "and files are printed with\ncontrol characters escaped.\n");
  for (const wick_command *c = wick_commands; c->name; c++) help_ask(c, "markdown");
}

/* Prints wick(1). */
static void help_man(void)
{
  printf(".TH WICK 1 \"\" \"wick %d.%d\" \"Wick\"\n", WICK_VERSION_MAJOR, WICK_VERSION_MINOR);
  puts(".SH NAME\nwick \\- compiles and runs neural networks\n.SH SYNOPSIS\n.B "
       "wick\n\\fICOMMAND\\fR "
       "...\n.SH DESCRIPTION");
  wick_help_roff(help_rules);
  puts(".SH COMMANDS");
  for (const wick_command *c = wick_commands; c->name; c++) {
    printf(".TP\n.BR wick\\-%s (1)\n", c->name);
    wick_help_roff(c->doc);
    putchar('\n');
  }
  puts(".SH EXIT STATUS");
  for (const char *const *s = wick_help_statuses; *s; s++) {
    printf(".TP\n%.1s\n", *s);
    wick_help_roff(*s + 2);
    putchar('\n');
  }
}

static void help_names(void)
{
  for (const wick_command *c = wick_commands; c->name; c++)
    printf("%s%s", c == wick_commands ? "" : " ", c->name);
}

static void help_bash(void)
{
  puts("# bash completion of wick: made by `wick help --format bash`");
  for (const wick_command *c = wick_commands; c->name; c++) help_ask(c, "bash");
  fputs("_wick() {\n"
        "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
        "  local command=${COMP_WORDS[1]} options= value= words= commands=\"",
        stdout);
  help_names();
  puts("\"\n"
       "  COMPREPLY=()\n"
       "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
       "    COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$current\"))\n"
       "    return\n"
       "  fi\n"
       "  declare -F \"_wick_$command\" >/dev/null || return\n"
       "  \"_wick_$command\"\n"
       "  [ \"$command\" != help ] || [ \"$value\" ] || value=words words=$commands\n"
       "  if [[ $current == -* ]]; then\n"
       "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
       "  elif [ \"$value\" = words ]; then\n"
       "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
       "  else\n"
       "    local IFS=$'\\n'\n"
       "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
       "  fi\n"
       "}\n"
       "complete -o filenames -F _wick wick");
}

static void help_zsh(void)
{
  puts("#compdef wick\n# zsh completion of wick: made by `wick help --format zsh`");
  for (const wick_command *c = wick_commands; c->name; c++) help_ask(c, "zsh");
  fputs("_wick() {\n  if (( CURRENT == 2 )); then\n    compadd -- ", stdout);
  help_names();
  puts(" --help --version\n    return\n  fi\n  local command=${words[2]}\n  shift words\n"
       "  (( CURRENT-- ))\n  (( $+functions[_wick_$command] )) && _wick_$command\n}\n"
       "_wick \"$@\"");
}

static void help_fish(void)
{
  puts("# fish completion of wick: made by `wick help --format fish`");
  for (const wick_command *c = wick_commands; c->name; c++) {
    printf("complete -c wick -f -n '__fish_use_subcommand' -a %s -d '", c->name);
    for (const char *s = c->doc; *s; s++) printf("%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
    puts("'");
    help_ask(c, "fish");
  }
}

static int help_all(const char *format)
{
  static const struct {
    const char *name;
    void (*print)(void);
  } row[] = {{"text", help_list}, {"markdown", help_markdown}, {"man", help_man},
             {"bash", help_bash}, {"zsh", help_zsh},           {"fish", help_fish}};
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (strcmp(row[i].name, format) == 0) row[i].print();
  return WICK_EXIT_OK;
}

/* ---- the command ---- */

static int help_run(int argc, char **argv, wick_arena *mem)
{
  const char *format = "text";
  const wick_flag flag[] = {
      {"format", 0, WICK_FLAG_CHOICE, &format, "text|markdown|man|bash|zsh|fish",
       "prints docs/cli.md (markdown), a manual page (man), or a completion script (bash, zsh, "
       "fish)"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 0, .most = 1};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  if (!args.word.n) return help_all(format);
  const wick_command *c = wick_command_need(args.word.at[0]);
  if (!c) return WICK_EXIT_USAGE;
  help_ask(c, format);
  return WICK_EXIT_OK;
}

int wick_cmd_help(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    wick_command_say("help", "out of memory");
  else
    status = help_run(argc, argv, &mem);
  wick_arena_free(&mem);
  return status;
}
