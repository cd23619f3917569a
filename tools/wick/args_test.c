/* The command's arguments: every form of a flag, and what is said of wrong ones. */
#include "args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"

typedef struct parsed {
  bool dump;
  const char *out;
  int64_t threads;
  double scale;
  wick_words inputs;
} parsed;

/* Splits `line` at spaces, parses it, and prints what was understood. */
static const char *parse(wick_arena *mem, const char *line, FILE *err)
{
  char *argv[16] = {wick_str_dup(mem, "run")};
  int argc = 1;
  for (char *w = strtok(wick_str_dup(mem, line), " "); w; w = strtok(NULL, " ")) argv[argc++] = w;
  parsed p = {.out = "", .threads = 1};
  const wick_flag flag[] = {
      {"dump", 0, WICK_FLAG_BOOL, &p.dump, NULL, "prints"},
      {"output", 'o', WICK_FLAG_STRING, &p.out, "DIR", "where to"},
      {"threads", 't', WICK_FLAG_INT, &p.threads, "N", "workers"},
      {"scale", 0, WICK_FLAG_DOUBLE, &p.scale, "X", "factor"},
      {"inputs", 0, WICK_FLAG_LIST, &p.inputs, "FILE...", "tensors"},
      {"input", 0, WICK_FLAG_LIST, &p.inputs, NULL, NULL},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 2};
  fflush(stderr);
  int saved = dup(STDERR_FILENO);
  dup2(fileno(err), STDERR_FILENO);
  int stop = wick_args_parse(&args, mem, argc, argv);
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  if (stop >= 0) {
    rewind(err);
    char said[256] = "";
    said[fread(said, 1, sizeof said - 1, err)] = 0;
    return wick_str_printf(mem, "%d %s", stop, said);
  }
  wick_text t = wick_text_begin(mem);
  for (uint32_t i = 0; i < args.word.n; i++) wick_text_printf(&t, "%s ", args.word.at[i]);
  wick_text_printf(&t, "dump=%d out=%s threads=%lld scale=%g inputs=", p.dump, p.out,
                   (long long)p.threads, p.scale);
  for (uint32_t i = 0; i < p.inputs.n; i++) wick_text_printf(&t, "%s;", p.inputs.at[i]);
  return t.at;
}

static const struct {
  const char *line, *want;
} rows[] = {
    {"m", "m dump=0 out= threads=1 scale=0 inputs="},
    {"m --dump -o d", "m dump=1 out=d threads=1 scale=0 inputs="},
    {"m --output=d --threads 4", "m dump=0 out=d threads=4 scale=0 inputs="},
    {"m --scale -1.5 -t -2", "m dump=0 out= threads=-2 scale=-1.5 inputs="},
    {"m --inputs a b --output d n", "m n dump=0 out=d threads=1 scale=0 inputs=a;b;"},
    {"m --inputs a,b c,,d", "m dump=0 out= threads=1 scale=0 inputs=a;b;c;d;"},
    {"m --inputs=a,b c", "m c dump=0 out= threads=1 scale=0 inputs=a;b;"},
    {"m --input a --input b", "m dump=0 out= threads=1 scale=0 inputs=a;b;"},
    {"- -- --dump", "- --dump dump=0 out= threads=1 scale=0 inputs="},
    {"m --thread 4", "2 wick run: unknown flag --thread; the nearest is --threads; `wick help run` "
                     "says more\n"},
    {"m --ouput=d", "2 wick run: unknown flag --ouput; the nearest is --output; `wick help run` "
                    "says more\n"},
    {"m --qqqqqq", "2 wick run: unknown flag --qqqqqq; `wick help run` says more\n"},
    {"m -x", "2 wick run: unknown flag -x; `wick help run` says more\n"},
    {"m --threads 4x", "2 wick run: --threads wants an integer, not 4x; `wick help run` says "
                       "more\n"},
    {"m --threads 99999999999999999999",
     "2 wick run: --threads wants an integer, not 99999999999999999999; `wick help run` says "
     "more\n"},
    {"m --scale=", "2 wick run: --scale wants a number, not ; `wick help run` says more\n"},
    {"m --output", "2 wick run: --output wants a value: DIR; `wick help run` says more\n"},
    {"m --output --dump", "2 wick run: --output wants a value: DIR; `wick help run` says more\n"},
    {"m --dump=1", "2 wick run: --dump takes no value; `wick help run` says more\n"},
    {"a b c", "2 wick run: one argument too many: c; `wick help run` says more\n"},
};

static void test_parse(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_arena mem = wick_arena_make(&g);
    FILE *err = tmpfile();
    assert_non_null(err);
    assert_string_equal(parse(&mem, rows[i].line, err), rows[i].want);
    fclose(err);
    wick_arena_free(&mem);
  }
}

static void test_nearest(void **state)
{
  (void)state;
  static const char *const name[] = {"compile", "check", "run", NULL};
  assert_string_equal(wick_args_nearest("chek", name, sizeof *name), "check");
  assert_string_equal(wick_args_nearest("compiel", name, sizeof *name), "compile");
  assert_null(wick_args_nearest("zzz", name, sizeof *name));
  assert_null(wick_args_nearest("", name, sizeof *name));
  assert_null(wick_args_nearest("a name that is longer than every other one", name, sizeof *name));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_nearest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
