/* wick test: runs the text tests of passes. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "driver/texttest.h"

#include "args.h"
#include "command.h"

static wick_status test_file(const char *path, bool bless, wick_arena *mem, wick_arena *tmp,
                             uint32_t *ncase, uint32_t *nfail)
{
  char *text;
  size_t n;
  wick_texttest t;
  WICK_TRY(wick_file_read(mem, path, 0, &text, &n));
  WICK_TRY(wick_texttest_run(path, text, n, mem, tmp, &t));
  *ncase += t.ncase;
  if (!bless) *nfail += t.nfail;
  fputs(t.report, stdout);
  if (!bless || !t.nfail) return NULL;
  printf("%s: %u cases blessed\n", path, t.nfail);
  return wick_file_write(mem, path, &(wick_bytes){t.blessed, t.nblessed}, 1);
}

static int test_run(int argc, char **argv, wick_arena *mem, wick_arena *tmp)
{
  bool bless = false;
  const wick_flag flag[] = {
      {"bless", 0, WICK_FLAG_BOOL, &bless, NULL,
       "replaces the expected output in the file by the actual output; read the diff"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = UINT32_MAX};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  uint32_t ncase = 0, nfail = 0, nbroken = 0;
  for (uint32_t i = 0; i < args.word.n; i++) {
    wick_status s = test_file(args.word.at[i], bless, mem, tmp, &ncase, &nfail);
    if (s) wick_command_message(s->message), nbroken++;
  }
  printf("%u cases, %u failed\n", ncase, nfail);
  return nfail || nbroken ? WICK_EXIT_FAILURE : WICK_EXIT_OK;
}

int wick_cmd_test(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    wick_command_say("test", "out of memory");
  else
    status = test_run(argc, argv, &mem, &tmp);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
