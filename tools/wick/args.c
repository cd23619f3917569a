/* One walk over the arguments against the rows of the command's flags. */
#include "args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "command.h"

enum { ARGS_LONGEST = 32 }; /* names longer than this are near to nothing */

/* Levenshtein's distance, row by row. */
static size_t args_distance(const char *a, const char *b)
{
  size_t na = strlen(a), nb = strlen(b), row[ARGS_LONGEST + 1];
  if (na > ARGS_LONGEST || nb > ARGS_LONGEST) return SIZE_MAX;
  for (size_t j = 0; j <= nb; j++) row[j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[nb];
}

const char *wick_args_nearest(const char *word, const char *const *name, size_t stride)
{
  const char *nearest = NULL;
  size_t least = strlen(word) / 2 + 1; /* half of the word wrong is another word */
  for (; *name; name = (const char *const *)(const void *)((const char *)name + stride)) {
    size_t d = args_distance(word, *name);
    if (d < least) least = d, nearest = *name;
  }
  return nearest;
}

static void args_help(const wick_args *args, const char *command)
{
  const wick_command *c = wick_command_find(command);
  printf("usage: wick %s %s\n", command, c ? c->arguments : "");
  if (c) printf("%s\n", c->doc);
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    if (!f->doc) continue;
    char left[80], letter[8] = "";
    if (f->letter) snprintf(letter, sizeof letter, "-%c, ", f->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, f->name, f->arg ? " " : "",
             f->arg ? f->arg : "");
    printf("%s  %-24s %s\n", i ? "" : "\n", left, f->doc);
  }
}

static int args_wrong(const char *command, const char *what, const char *which, const char *more)
{
  fprintf(stderr, "wick %s: %s%s%s; `wick help %s` says more\n", command, what, which, more,
          command);
  return WICK_EXIT_USAGE;
}

static int args_unknown(const wick_args *args, wick_arena *mem, const char *command,
                        const char *word, size_t n)
{
  const char **name = wick_new(mem, const char *, args->nflag + 2);
  for (size_t i = 0; i < args->nflag; i++) name[i] = args->flag[i].name;
  name[args->nflag] = "help";
  const char *bare = wick_str_dupn(mem, word, n);
  const char *nearest = wick_args_nearest(bare + strspn(bare, "-"), name, sizeof *name);
  return args_wrong(command, "unknown flag ", bare,
                    nearest ? wick_str_printf(mem, "; the nearest is --%s", nearest) : "");
}

static const wick_flag *args_find(const wick_args *args, const char *word, size_t n)
{
  for (size_t i = 0; i < args->nflag; i++) {
    const wick_flag *f = &args->flag[i];
    if (word[1] != '-' && n == 2 && f->letter == word[1]) return f;
    if (word[1] == '-' && strlen(f->name) == n - 2 && !strncmp(f->name, word + 2, n - 2)) return f;
  }
  return NULL;
}

/* Adds the parts of `a,b,c`; empty parts are dropped. */
static void args_split(wick_words *list, wick_arena *mem, const char *value)
{
  while (*value) {
    size_t n = strcspn(value, ",");
    if (n) wick_push(mem, list, wick_str_dupn(mem, value, n));
    value += n + (value[n] == ',');
  }
}

static bool args_set(const wick_flag *f, wick_arena *mem, const char *value)
{
  char *end = NULL;
  errno = 0;
  switch (f->kind) {
  case WICK_FLAG_BOOL: *(bool *)f->out = true; return true;
  case WICK_FLAG_STRING: *(const char **)f->out = value; return true;
  case WICK_FLAG_LIST: args_split(f->out, mem, value); return true;
  case WICK_FLAG_INT: *(int64_t *)f->out = strtoll(value, &end, 10); break;
  case WICK_FLAG_DOUBLE: *(double *)f->out = strtod(value, &end); break;
  }
  return end != value && !*end && !errno;
}

static bool args_is_flag(const char *word) { return word[0] == '-' && word[1]; }

/* Takes the flag at argv[*at] with its values; leaves *at at the last of them. */
static int args_flag(const wick_args *args, wick_arena *mem, int argc, char **argv, int *at)
{
  const char *word = argv[*at], *command = argv[0], *equals = NULL;
  if (word[1] == '-') equals = strchr(word, '=');
  size_t n = equals ? (size_t)(equals - word) : strlen(word);
  const wick_flag *f = args_find(args, word, n);
  if (!f) return args_unknown(args, mem, command, word, n);
  const char *value = equals ? equals + 1 : NULL, *shown = wick_str_dupn(mem, word, n);
  if (f->kind == WICK_FLAG_BOOL) {
    if (value) return args_wrong(command, shown, " takes no value", "");
    args_set(f, mem, NULL);
    return -1;
  }
  if (!value) {
    if (*at + 1 >= argc || (args_is_flag(argv[*at + 1]) && argv[*at + 1][1] == '-'))
      return args_wrong(command, shown, " wants a value: ", f->arg ? f->arg : "");
    value = argv[++*at];
  }
  if (!args_set(f, mem, value))
    return args_wrong(
        command, shown,
        f->kind == WICK_FLAG_INT ? " wants an integer, not " : " wants a number, not ", value);
  while (f->kind == WICK_FLAG_LIST && !equals && *at + 1 < argc && !args_is_flag(argv[*at + 1]))
    args_set(f, mem, argv[++*at]);
  return -1;
}

int wick_args_parse(wick_args *args, wick_arena *mem, int argc, char **argv)
{
  bool only_words = false;
  for (int at = 1; at < argc; at++) {
    if (only_words || !args_is_flag(argv[at])) {
      wick_push(mem, &args->word, argv[at]);
    } else if (strcmp(argv[at], "--") == 0) {
      only_words = true;
    } else if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
      args_help(args, argv[0]);
      return WICK_EXIT_OK;
    } else {
      int stop = args_flag(args, mem, argc, argv, &at);
      if (stop >= 0) return stop;
    }
  }
  if (args->word.n > args->most)
    return args_wrong(argv[0], "one argument too many: ", args->word.at[args->most], "");
  const wick_command *c = wick_command_find(argv[0]);
  if (args->word.n < args->least)
    return args_wrong(argv[0], "an argument is missing: usage: wick ", argv[0],
                      c ? wick_str_printf(mem, " %s", c->arguments) : "");
  return -1;
}
