/* Parses the arguments in one pass, looking each option up in the command's table of flags. Begin
 * with wick_args_parse. */
#include "args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#include "args_help.h"
#include "args_value.h"
#include "command.h"

const char *wick_args_nearest(const char *word, const char *const *name, size_t stride)
{
  const char *nearest = NULL;
  size_t least = strlen(word) / 2 + 1; /* a word with half of its letters wrong is another word */
  for (; *name; name = (const char *const *)(const void *)((const char *)name + stride)) {
    size_t d = wick_str_distance(word, *name);
    if (d < least) least = d, nearest = *name;
  }
  return nearest;
}

/* A word that a list took, although it may be one of the command's own words. */
typedef struct args_taken {
  wick_words *list;
  uint32_t first, end; /* the items that it became in the list */
  const char *word;
} args_taken;

typedef struct args_parser {
  wick_args *args;
  wick_arena *mem;
  int argc, at; /* `at` is the current argument */
  char **argv;
  wick_list(args_taken) taken;
} args_parser;

static int args_unknown(args_parser *p, const char *word)
{
  const wick_args *args = p->args;
  const char **name = wick_new(p->mem, const char *, args->nflag + 2);
  size_t n = 0;
  for (size_t i = 0; i < args->nflag; i++)
    if (args->flag[i].doc) name[n++] = args->flag[i].name;
  name[n] = "help";
  const char *nearest = wick_args_nearest(word + strspn(word, "-"), name, sizeof *name);
  if (nearest)
    return wick_command_usage(p->argv[0], "unknown option %s; did you mean --%s?", word, nearest);
  return wick_command_usage(p->argv[0], "unknown option %s", word);
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

static bool args_is_flag(const char *word) { return word[0] == '-' && word[1]; }

static int args_value(args_parser *p, const wick_flag *f, const char *shown, const char *value)
{
  if (wick_value_set(f, p->mem, value)) return -1;
  return wick_command_usage(p->argv[0], "%s: expected %s, found \"%s\"", shown,
                            wick_value_expected(f, p->mem), value);
}

/* Takes the further words of a list: files, or words with "=". */
static int args_more(args_parser *p, const wick_flag *f, const char *shown)
{
  const wick_value_kind *kind = wick_value_kind_of(f->kind);
  for (; p->at + 1 < p->argc && !args_is_flag(p->argv[p->at + 1]); p->at++) {
    const char *word = p->argv[p->at + 1];
    wick_words *list = f->out;
    if (!kind->files && !(kind->named && strchr(word, '='))) return -1;
    uint32_t first = list->n;
    int stop = args_value(p, f, shown, word);
    if (stop >= 0) return stop;
    if (kind->files) wick_push(p->mem, &p->taken, (args_taken){list, first, list->n, word});
  }
  return -1;
}

/* Takes the current flag and its values; the last of them becomes the current argument. */
static int args_flag(args_parser *p)
{
  const char *word = p->argv[p->at], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
  size_t n = equals ? (size_t)(equals - word) : strlen(word);
  const char *shown = wick_str_dupn(p->mem, word, n), *value = equals ? equals + 1 : NULL;
  const wick_flag *f = args_find(p->args, word, n);
  if (!f) return args_unknown(p, shown);
  const wick_value_kind *kind = wick_value_kind_of(f->kind);
  if (kind->form == WICK_VALUE_NONE) {
    if (value) return wick_command_usage(p->argv[0], "%s takes no value", shown);
    wick_value_set(f, p->mem, NULL);
    return -1;
  }
  if (!value) {
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
    if (!next || (args_is_flag(next) && next[1] == '-'))
      return wick_command_usage(p->argv[0], "%s: expected %s, found nothing", shown,
                                wick_value_expected(f, p->mem));
    value = p->argv[++p->at];
  }
  int stop = args_value(p, f, shown, value);
  return stop >= 0 || equals || kind->form != WICK_VALUE_WORDS ? stop : args_more(p, f, shown);
}

/* If the command lacks words of its own, it takes the last ones of a list back. */
static void args_untake(args_parser *p)
{
  wick_args *args = p->args;
  uint32_t missing = args->least > args->word.n ? args->least - args->word.n : 0,
           n = missing < p->taken.n ? missing : p->taken.n, first = p->taken.n - n;
  for (uint32_t i = p->taken.n; i-- > first;) {
    const args_taken *t = &p->taken.at[i];
    uint32_t after = t->list->n - t->end;
    if (after) memmove(&t->list->at[t->first], &t->list->at[t->end], after * sizeof *t->list->at);
    t->list->n -= t->end - t->first;
  }
  for (uint32_t i = first; i < p->taken.n; i++) wick_push(p->mem, &args->word, p->taken.at[i].word);
}

static int args_count(args_parser *p)
{
  const wick_args *args = p->args;
  if (args->word.n > args->most)
    return wick_command_usage(p->argv[0], "one argument too many: \"%s\"",
                              args->word.at[args->most]);
  const wick_command *c = wick_command_find(p->argv[0]);
  if (args->word.n < args->least)
    return wick_command_usage(p->argv[0], "an argument is missing; usage: wick %s %s", p->argv[0],
                              c ? c->arguments : "");
  for (uint32_t i = 0; i < args->word.n; i++)
    if (!*args->word.at[i]) return wick_command_usage(p->argv[0], "an argument is empty");
  return -1;
}

int wick_args_parse(wick_args *args, wick_arena *mem, int argc, char **argv)
{
  args_parser p = {.args = args, .mem = mem, .argc = argc, .argv = argv};
  bool only_words = false;
  for (p.at = 1; p.at < argc; p.at++) {
    const char *word = argv[p.at];
    if (only_words || !args_is_flag(word)) {
      wick_push(mem, &args->word, word);
    } else if (strcmp(word, "--") == 0) {
      only_words = true;
    } else if (strcmp(word, "-h") == 0 || wick_args_is_help(word)) {
      wick_args_help(args, argv[0], word);
      return WICK_EXIT_OK;
    } else {
      int stop = args_flag(&p);
      if (stop >= 0) return stop;
    }
  }
  args_untake(&p);
  return args_count(&p);
}
