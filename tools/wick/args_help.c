/* Prints a table of options: one function for each format. */
#include "args_help.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "wick/wick.h"

#include "args_value.h"
#include "command.h"

const char *const wick_help_formats[] = {"text", "markdown", "man", "bash", "zsh", "fish", NULL};

const char *const wick_help_statuses[] = {
    "0 The command did what was asked.",
    "1 A file, the model, its compilation or its run failed, or output could not be written.",
    "2 The command line is wrong: nothing was done.",
    NULL,
};

static wick_help_format help_format(const char *word)
{
  int f = WICK_HELP_TEXT;
  if (strncmp(word, "--help=", 7) == 0)
    while (f < WICK_HELP_NFORMAT && strcmp(word + 7, wick_help_formats[f]) != 0) f++;
  return (wick_help_format)f;
}

bool wick_args_is_help(const char *word)
{
  if (strcmp(word, "--help") == 0) return true;
  return strncmp(word, "--help=", 7) == 0 && help_format(word) != WICK_HELP_NFORMAT;
}

/* Kinds whose names do not show which values are allowed. */
static const char *help_allowed(const wick_flag *f, wick_arena *mem)
{
  wick_value_form form = wick_value_kind_of(f->kind)->form;
  bool said = f->kind == WICK_FLAG_CHOICE || f->kind == WICK_FLAG_INT;
  if (said || (form != WICK_VALUE_WHOLE && form != WICK_VALUE_NUMBER)) return "";
  return wick_value_expected(f, mem);
}

/* Prints text with `before` in front of each character of `set`. */
static void help_escaped(const char *s, const char *set, const char *before)
{
  for (; *s; s++) printf("%s%c", strchr(set, *s) ? before : "", *s);
}

/* ---- text ---- */

static void help_wrapped(const char *doc, size_t column)
{
  enum { WIDTH = 100 };
  for (size_t at = column; *doc;) {
    size_t n = strcspn(doc, " ");
    if (at > column && at + n + 1 > WIDTH) {
      printf("\n%*s", (int)column, "");
      at = column;
    }
    printf("%s%.*s", at > column ? " " : "", (int)n, doc);
    at += n + (at > column);
    doc += n;
    doc += strspn(doc, " ");
  }
  putchar('\n');
}

static void help_text(const wick_args *args, const wick_command *c)
{
  enum { COLUMN = 34 };
  printf("usage: wick %s %s\n", c->name, c->arguments);
  printf("%s\n\n", c->doc);
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    if (!f->doc) continue;
    char letter[8] = "    ";
    if (f->letter) snprintf(letter, sizeof letter, "-%c, ", f->letter);
    int n = printf("  %s--%s%s%s", letter, f->name, f->arg ? " " : "", f->arg ? f->arg : "");
    if (n > COLUMN - 2)
      printf("\n%*s", COLUMN, "");
    else
      printf("%*s", COLUMN - n, "");
    help_wrapped(f->doc, COLUMN);
  }
  printf("  -h, --help%*sprints this\n", COLUMN - 12, "");
}

/* ---- markdown ---- */

static void help_markdown(const wick_args *args, const wick_command *c, wick_arena *mem)
{
  printf("## wick %s\n\n`wick %s %s`: %s.\n", c->name, c->name, c->arguments, c->doc);
  bool head = false;
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    if (!f->doc) continue;
    if (!head) puts("\n| option | value | |\n|---|---|---|");
    head = true;
    putchar('|');
    if (f->letter) printf(" `-%c`", f->letter);
    printf(" `--%s` | ", f->name);
    if (f->arg) putchar('`'), help_escaped(f->arg, "|", "\\"), fputs("` ", stdout);
    fputs("| ", stdout);
    help_escaped(f->doc, "|<>", "\\");
    const char *allowed = help_allowed(f, mem);
    printf("%s%s%s |\n", *allowed ? " (" : "", allowed, *allowed ? ")" : "");
  }
  putchar('\n');
}

/* ---- manual pages ---- */

void wick_help_roff(const char *s)
{
  if (*s == '.' || *s == '\'') fputs("\\&", stdout);
  for (; *s; s++) {
    if (*s == '\\')
      fputs("\\e", stdout);
    else if (*s == '-' || *s == '`' || *s == '\'' || *s == '^' || *s == '~')
      printf("%s", *s == '-'    ? "\\-"
                   : *s == '`'  ? "\\(ga"
                   : *s == '\'' ? "\\(aq"
                   : *s == '^'  ? "\\(ha"
                                : "\\(ti");
    else
      putchar(*s);
  }
}

static void help_man_option(const wick_flag *f, wick_arena *mem)
{
  fputs(".TP\n", stdout);
  if (f->letter) printf("\\fB\\-%c\\fR, ", f->letter);
  fputs("\\fB\\-\\-", stdout);
  wick_help_roff(f->name);
  fputs("\\fR", stdout);
  if (f->arg) fputs(" \\fI", stdout), wick_help_roff(f->arg), fputs("\\fR", stdout);
  putchar('\n');
  wick_help_roff(f->doc);
  const char *allowed = help_allowed(f, mem);
  if (*allowed) fputs(" (", stdout), wick_help_roff(allowed), putchar(')');
  putchar('\n');
}

static void help_man(const wick_args *args, const wick_command *c, wick_arena *mem)
{
  printf(".TH \"WICK\\-");
  for (const char *s = c->name; *s; s++) putchar(*s - 'a' + 'A');
  printf("\" 1 \"\" \"wick %d.%d\" \"Wick\"\n.SH NAME\nwick\\-%s \\- ", WICK_VERSION_MAJOR,
         WICK_VERSION_MINOR, c->name);
  wick_help_roff(c->doc);
  printf("\n.SH SYNOPSIS\n.B wick %s\n", c->name);
  wick_help_roff(c->arguments);
  fputs("\n.SH OPTIONS\n", stdout);
  for (size_t i = 0; i < args->nflag; i++)
    if (args->flag[i].doc) help_man_option(&args->flag[i], mem);
  puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprints this");
  puts(".SH EXIT STATUS");
  for (const char *const *s = wick_help_statuses; *s; s++) {
    printf(".TP\n%.1s\n", *s);
    wick_help_roff(*s + 2);
    putchar('\n');
  }
  puts(".SH SEE ALSO\n.BR wick (1)");
}

/* ---- completions ---- */

/* Prints the words that _wick (cmd_help.c) offers: options, and words for the value of the previous
 * option. */
static void help_bash(const wick_args *args, const wick_command *c)
{
  printf("_wick_%s() {\n  options=\"", c->name);
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    if (!f->doc) continue;
    if (f->letter) printf("-%c ", f->letter);
    printf("--%s ", f->name);
  }
  printf("-h --help\"\n  case \"$previous\" in\n");
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    const wick_value_kind *k = wick_value_kind_of(f->kind);
    if (!f->doc || k->form == WICK_VALUE_NONE) continue;
    fputs("  ", stdout);
    if (f->letter) printf("-%c|", f->letter);
    printf("--%s) value=%s", f->name, k->files ? "files" : "words");
    if (f->kind == WICK_FLAG_CHOICE) {
      fputs(" words=\"", stdout);
      for (const char *s = f->arg; *s; s++) putchar(*s == '|' ? ' ' : *s);
      putchar('"');
    }
    puts(" ;;");
  }
  puts("  esac\n}");
}

static void help_zsh(const wick_args *args, const wick_command *c)
{
  printf("_wick_%s() {\n  _arguments \\\n", c->name);
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    const wick_value_kind *k = wick_value_kind_of(f->kind);
    if (!f->doc) continue;
    const char *many = k->form == WICK_VALUE_WORDS ? "*" : "";
    if (f->letter && !*many)
      printf("    '(-%c --%s)'{-%c,--%s}'[", f->letter, f->name, f->letter, f->name);
    else if (f->letter)
      printf("    '*'{-%c,--%s}'[", f->letter, f->name);
    else
      printf("    '%s--%s[", many, f->name);
    for (const char *s = f->doc; *s; s++)
      if (*s == '\'')
        fputs("'\\''", stdout);
      else
        printf("%s%c", strchr("[]:\\", *s) ? "\\" : "", *s);
    putchar(']');
    if (k->form != WICK_VALUE_NONE) {
      fputs(":value:", stdout);
      if (k->files) fputs("_files", stdout);
      if (f->kind == WICK_FLAG_CHOICE) {
        putchar('(');
        for (const char *s = f->arg; *s; s++) putchar(*s == '|' ? ' ' : *s);
        putchar(')');
      }
    }
    puts("' \\");
  }
  puts("    '(-h --help)'{-h,--help}'[prints its options]' \\\n    '*:file:_files'\n}");
}

static void help_fish(const wick_args *args, const wick_command *c)
{
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    const wick_value_kind *k = wick_value_kind_of(f->kind);
    if (!f->doc) continue;
    printf("complete -c wick -n '__fish_seen_subcommand_from %s' -l %s", c->name, f->name);
    if (f->letter) printf(" -s %c", f->letter);
    if (k->form != WICK_VALUE_NONE) fputs(k->files ? " -r -F" : " -x", stdout);
    if (f->kind == WICK_FLAG_CHOICE) {
      fputs(" -a '", stdout);
      for (const char *s = f->arg; *s; s++) putchar(*s == '|' ? ' ' : *s);
      putchar('\'');
    }
    fputs(" -d '", stdout);
    help_escaped(f->doc, "'\\", "\\");
    puts("'");
  }
}

void wick_args_help(const wick_args *args, const char *command, const char *word)
{
  const wick_command *c = wick_command_find(command);
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (!c || setjmp(guard.where)) return;
  switch (help_format(word)) {
  case WICK_HELP_MARKDOWN: help_markdown(args, c, &mem); break;
  case WICK_HELP_MAN: help_man(args, c, &mem); break;
  case WICK_HELP_BASH: help_bash(args, c); break;
  case WICK_HELP_ZSH: help_zsh(args, c); break;
  case WICK_HELP_FISH: help_fish(args, c); break;
  default: help_text(args, c); break;
  }
  wick_arena_free(&mem);
}
