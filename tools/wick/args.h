/* The arguments of a subcommand: `--flag value`, `--flag=value`, `-f value`, and words.
 *
 *   bool dump = false; int64_t threads = 1; wick_words inputs = {0};
 *   const wick_flag flag[] = {
 *       {"threads", 't', WICK_FLAG_INT, &threads, "N", "workers; 0 for all of the machine"},
 *       {"dump", 0, WICK_FLAG_BOOL, &dump, NULL, "prints the module"},
 *       {"inputs", 0, WICK_FLAG_LIST, &inputs, "FILE...", "tensors, by spaces or commas"},
 *       {"input", 0, WICK_FLAG_LIST, &inputs, NULL, NULL}, // an alias: no doc, not shown
 *   };
 *   wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
 *   int stop = wick_args_parse(&args, mem, argc, argv);
 *   if (stop >= 0) return stop;       // wrong (said on stderr), or --help was asked for
 *   const char *model = args.word.at[0];
 */
#ifndef WICK_TOOLS_ARGS_H
#define WICK_TOOLS_ARGS_H

#include "base/arena.h"

typedef wick_list(const char *) wick_words;

typedef enum wick_flag_kind {
  WICK_FLAG_BOOL,   /* out: bool; takes no value */
  WICK_FLAG_STRING, /* out: const char * */
  WICK_FLAG_INT,    /* out: int64_t */
  WICK_FLAG_DOUBLE, /* out: double */
  WICK_FLAG_LIST /* out: wick_words; `--f A B`, `--f A,B`, `--f A --f B`; adds to what is there */
} wick_flag_kind;

typedef struct wick_flag {
  const char *name; /* without dashes */
  char letter;      /* 0, or the one of `-o` */
  wick_flag_kind kind;
  void *out;       /* holds the default before, the value after */
  const char *arg; /* what the value is called in the help */
  const char *doc; /* NULL: not shown in the help */
} wick_flag;

typedef struct wick_args {
  const wick_flag *flag;
  size_t nflag;
  uint32_t least, most; /* words */
  wick_words word;      /* out: what belongs to no flag; all of it after `--` */
} wick_args;

/* argv[0] is the command's name. Returns -1 to go on, else the exit status to return. A list takes
 * words until the next flag, so words of the command come before it. */
int wick_args_parse(wick_args *args, wick_arena *mem, int argc, char **argv);

/* The name that is fewest edits away, NULL where none is near. `name` points to the first of an
 * array of names, `stride` bytes apart, ended by NULL. */
const char *wick_args_nearest(const char *word, const char *const *name, size_t stride);

#endif
