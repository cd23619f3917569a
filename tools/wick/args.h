/* The arguments of a subcommand: `--flag value`, `--flag=value`, `-f value`, and words.
 *
 *   bool dump = false; int64_t threads = 1; wick_words inputs = {0};
 *   const wick_flag flag[] = {
 *       {"threads", 't', WICK_FLAG_THREADS, &threads, "N", "workers; 0 for all of the machine"},
 *       {"dump", 0, WICK_FLAG_BOOL, &dump, NULL, "prints the module"},
 *       {"inputs", 0, WICK_FLAG_FILES, &inputs, "FILE...", "tensors"},
 *       {"input", 0, WICK_FLAG_FILES, &inputs, NULL, NULL}, // an alias: no doc, not shown
 *   };
 *   wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
 *   int stop = wick_args_parse(&args, mem, argc, argv);
 *   if (stop >= 0) return stop;       // an error was printed, or the help
 *   const char *model = args.word.at[0];
 *
 * The same tables produce `wick help`, docs/cli.md, the manual pages and the completions of shells
 * (args_help.h). The kind of a value determines which values are allowed (args_value.c). */
#ifndef WICK_TOOLS_ARGS_H
#define WICK_TOOLS_ARGS_H

#include "base/arena.h"

typedef wick_list(const char *) wick_words;

/* One rule for all lists, WICK_FLAG_LIST and below: `--f A,B` and `--f A --f B` mean the same, and
 * `\,` is a comma within an item. Lists of files take the words after them up to the next
 * option, `--f A B`, and lists of NAME=... those with a "=". `--f=A` takes no further word. If the
 * command then lacks words of its own, it takes the last ones of a list of files back:
 * `--inputs A B MODEL` and `MODEL --inputs A B` mean the same. */
typedef enum wick_flag_kind {
  WICK_FLAG_BOOL,     /* out: bool; takes no value */
  WICK_FLAG_STRING,   /* out: const char *; any text but the empty one */
  WICK_FLAG_CHOICE,   /* one of the words in `arg`: "nchw|nhwc" */
  WICK_FLAG_FILE,     /* a path */
  WICK_FLAG_FOLDER,   /* a path */
  WICK_FLAG_NUMBERS,  /* "X,X,X" */
  WICK_FLAG_INT,      /* out: int64_t; any number */
  WICK_FLAG_COUNT,    /* 0 to 10^9 */
  WICK_FLAG_SMALL,    /* 0 to 1024 */
  WICK_FLAG_THREADS,  /* 0 to 4096 */
  WICK_FLAG_BYTES,    /* 0 to 2^62 */
  WICK_FLAG_ALIGN,    /* a power of two, 1 to 2^30 */
  WICK_FLAG_DOUBLE,   /* out: double; finite */
  WICK_FLAG_SECONDS,  /* 0 to 10^6; minutes, too */
  WICK_FLAG_LIST,     /* out: wick_words, to which names are added */
  WICK_FLAG_FILES,    /* paths */
  WICK_FLAG_DIMS,     /* NAME=N, NAME=LO..HI, NAME=LO..HI:STEP */
  WICK_FLAG_SIZES,    /* NAME=N, and further values N for the same name */
  WICK_FLAG_CONTENTS, /* NAME=VALUE, and further values; whole numbers, true, false */
} wick_flag_kind;

typedef struct wick_flag {
  const char *name; /* without dashes */
  char letter;      /* the letter of `-o`; 0 if there is none */
  wick_flag_kind kind;
  void *out;       /* in: the default; out: the value */
  const char *arg; /* the value's name in the help */
  const char *doc; /* for the help; NULL hides the option */
} wick_flag;

typedef struct wick_args {
  const wick_flag *flag;
  size_t nflag;
  uint32_t least, most; /* number of words, both included */
  wick_words word;      /* out: arguments that belong to no flag, and all after `--` */
} wick_args;

/* argv[0] is the command's name. Returns -1 to go on, else the exit status to return. */
int wick_args_parse(wick_args *args, wick_arena *mem, int argc, char **argv);

/* The name with the smallest edit distance; NULL if none is near. `name` points to the first of an
 * array of names, `stride` bytes apart, ended by NULL. */
const char *wick_args_nearest(const char *word, const char *const *name, size_t stride);

#endif
