/* wick fmt: prints programs of the language in canonical form. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "lang/format.h"

#include "args.h"
#include "command.h"

typedef struct fmt_flags {
  bool check, print;
} fmt_flags;

/* Returns whether the file is (now) in canonical form. */
static wick_status fmt_file(const char *path, const fmt_flags *flags, wick_arena *mem, bool *out)
{
  char *text;
  size_t nbytes;
  bool piped = strcmp(path, "-") == 0;
  WICK_TRY(wick_file_read(mem, piped ? "/dev/stdin" : path, INT32_MAX, &text, &nbytes));
  wick_lang_sources sources = wick_lang_sources_begin(mem);
  wick_names names = wick_names_begin(mem);
  uint32_t source =
      wick_lang_source_add(&sources, piped ? "<stdin>" : path, text, (uint32_t)nbytes);
  wick_lang_tokens tokens = wick_lang_lex(&sources, source, &names, mem);
  wick_ast *file = wick_lang_parse(&sources, source, &tokens, &names, mem);
  WICK_TRY(wick_lang_problems(&sources));
  wick_text formatted = wick_text_begin(mem);
  wick_lang_format(&sources.list.at[source], &tokens, file, &formatted);
  bool same = formatted.n == nbytes && memcmp(formatted.at, text, nbytes) == 0;
  *out = same || !flags->check;
  if (flags->check) {
    if (!same) puts(path);
  } else if (piped || flags->print) {
    fwrite(formatted.at, 1, formatted.n, stdout);
  } else if (!same) {
    wick_bytes part = {formatted.at, formatted.n};
    return wick_file_write(mem, path, &part, 1);
  }
  return NULL;
}

static int fmt_run(int argc, char **argv, wick_arena *mem, wick_arena *tmp)
{
  fmt_flags f = {0};
  const wick_flag flag[] = {
      {"check", 0, WICK_FLAG_BOOL, &f.check, NULL,
       "writes nothing, names the files that are not in canonical form, and fails if there are "
       "any"},
      {"print", 0, WICK_FLAG_BOOL, &f.print, NULL, "prints the result instead of writing the file"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = UINT32_MAX};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  int exit_status = WICK_EXIT_OK;
  for (uint32_t i = 0; i < args.word.n; i++) {
    bool good = false;
    wick_status s = fmt_file(args.word.at[i], &f, tmp, &good);
    if (s) wick_command_message(s->message);
    if (s || !good) exit_status = WICK_EXIT_FAILURE;
    wick_arena_free(tmp);
  }
  return exit_status;
}

int wick_cmd_fmt(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    wick_command_say("fmt", "out of memory");
  else
    status = fmt_run(argc, argv, &mem, &tmp);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
