/* The command's arguments: every form of a flag, and the errors for wrong ones. */
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
  wick_words inputs; /* of all options with lists */
} parsed;

/* Splits `line` at spaces, parses it, and prints the result. */
static const char *parse(wick_arena *mem, const char *line, FILE *err)
{
  char *argv[16] = {wick_str_dup(mem, "run")};
  int argc = 1;
  for (char *w = strtok(wick_str_dup(mem, line), " "); w; w = strtok(NULL, " ")) argv[argc++] = w;
  parsed p = {.out = "", .threads = 1};
  const wick_flag flag[] = {
      {"dump", 0, WICK_FLAG_BOOL, &p.dump, NULL, "prints"},
      {"output", 'o', WICK_FLAG_STRING, &p.out, "DIR", "where to"},
      {"threads", 't', WICK_FLAG_THREADS, &p.threads, "N", "workers"},
      {"align", 0, WICK_FLAG_ALIGN, &p.threads, "N", "bytes"},
      {"scale", 0, WICK_FLAG_DOUBLE, &p.scale, "X", "factor"},
      {"seconds", 0, WICK_FLAG_SECONDS, &p.scale, "S", "of runs"},
      {"means", 0, WICK_FLAG_NUMBERS, &p.out, "X,X,X", "of channels"},
      {"mode", 0, WICK_FLAG_CHOICE, &p.out, "fast|exact|none", "a word"},
      {"inputs", 0, WICK_FLAG_FILES, &p.inputs, "FILE...", "tensors"},
      {"input", 0, WICK_FLAG_FILES, &p.inputs, NULL, NULL},
      {"dim", 0, WICK_FLAG_DIMS, &p.inputs, "NAME=N...", "sizes"},
      {"sizes", 0, WICK_FLAG_SIZES, &p.inputs, "NAME=N,N...", "sizes"},
      {"contents", 0, WICK_FLAG_CONTENTS, &p.inputs, "NAME=V,V...", "contents"},
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
    char said[512] = "";
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

#define SEE "; see `wick help run`\n"
#define ZERO "dump=0 out= threads=1 scale=0 inputs="

static const struct {
  const char *line, *want;
} rows[] = {
    {"m", "m " ZERO},
    {"m --dump -o d", "m dump=1 out=d threads=1 scale=0 inputs="},
    {"m --output=d --threads 4", "m dump=0 out=d threads=4 scale=0 inputs="},
    {"m --scale -1.5 -t 2", "m dump=0 out= threads=2 scale=-1.5 inputs="},
    {"m --inputs a b --output d n", "m n dump=0 out=d threads=1 scale=0 inputs=a;b;"},
    {"m --inputs a,b c d", "m " ZERO "a;b;c;d;"},
    {"m --inputs=a,b c", "m c " ZERO "a;b;"},
    {"m --input a --input b", "m " ZERO "a;b;"},
    {"m --inputs a\\,b c", "m " ZERO "a,b;c;"},
    {"- -- --dump", "- --dump " ZERO},
    /* the model after a list */
    {"--inputs a b m", "m " ZERO "a;b;"},
    {"--inputs a,b m", "m " ZERO "a;b;"},
    {"--inputs a m --output d", "m dump=0 out=d threads=1 scale=0 inputs=a;"},
    {"--inputs a m --inputs b", "m " ZERO "a;b;"},
    {"--inputs=a m", "m " ZERO "a;"},
    {"--dim N=3 M=4 m", "m " ZERO "N=3;M=4;"},
    {"--dim N=3 m --inputs a b", "m " ZERO "N=3;a;b;"},
    {"--dim input.1_dim_0=3 m", "m " ZERO "input.1_dim_0=3;"},
    {"--dim 2*N=1..7:2 a=b=5 x\\,y=2 m", "m " ZERO "2*N=1..7:2;a=b=5;x,y=2;"},
    {"--sizes N=3,5 M=2 m", "m " ZERO "N=3;5;M=2;"},
    {"--contents N=3,-5 b=true,false m", "m " ZERO "N=3;-5;b=true;false;"},
    {"m --mode fast", "m dump=0 out=fast threads=1 scale=0 inputs="},
    {"--inputs a",
     "2 wick run: an argument is missing; usage: wick run MODEL --inputs FILE..." SEE},
    /* unknown options */
    {"m --thread 4", "2 wick run: unknown option --thread; did you mean --threads?" SEE},
    {"m --ouput=d", "2 wick run: unknown option --ouput; did you mean --output?" SEE},
    {"m --dmup", "2 wick run: unknown option --dmup; did you mean --dump?" SEE},
    {"m --qqqqqq", "2 wick run: unknown option --qqqqqq" SEE},
    {"m --q\x1b", "2 wick run: unknown option --q\\x1b" SEE},
    {"m -x", "2 wick run: unknown option -x" SEE},
    /* values that are not allowed */
    {"m --threads 4x",
     "2 wick run: --threads: expected a whole number from 0 to 4096, found \"4x\"" SEE},
    {"m -t -2", "2 wick run: -t: expected a whole number from 0 to 4096, found \"-2\"" SEE},
    {"m -t 99999999999999999999", "2 wick run: -t: expected a whole number from 0 to 4096, found "
                                  "\"99999999999999999999\"" SEE},
    {"m --scale=", "2 wick run: --scale: expected a finite number, found \"\"" SEE},
    {"m --scale nan", "2 wick run: --scale: expected a finite number, found \"nan\"" SEE},
    {"m --scale 1e999", "2 wick run: --scale: expected a finite number, found \"1e999\"" SEE},
    {"m --seconds inf",
     "2 wick run: --seconds: expected a number from 0 to 1000000, found \"inf\"" SEE},
    {"m --seconds=-1",
     "2 wick run: --seconds: expected a number from 0 to 1000000, found \"-1\"" SEE},
    {"m --align 3", "2 wick run: --align: expected a power of two, 1 to 2^30, found \"3\"" SEE},
    {"m --means 1,2,x",
     "2 wick run: --means: expected finite numbers with commas between them, found \"1,2,x\"" SEE},
    {"m --mode f", "2 wick run: --mode: expected fast, exact or none, found \"f\"" SEE},
    {"m --output=", "2 wick run: --output: expected a text that is not empty, found \"\"" SEE},
    {"m --output", "2 wick run: --output: expected a text that is not empty, found nothing" SEE},
    {"m --output --dump",
     "2 wick run: --output: expected a text that is not empty, found nothing" SEE},
    {"m --inputs a,,b", "2 wick run: --inputs: expected paths of files, found \"a,,b\"" SEE},
    {"m --dim N", "2 wick run: --dim: expected NAME=N, NAME=LO..HI or NAME=LO..HI:STEP, found "
                  "\"N\"" SEE},
    {"m --dim N=3 M=x",
     "2 wick run: --dim: expected NAME=N, NAME=LO..HI or NAME=LO..HI:STEP, found "
     "\"M=x\"" SEE},
    {"m --sizes N=3..5",
     "2 wick run: --sizes: expected NAME=N or NAME=N,N..., found \"N=3..5\"" SEE},
    {"m --sizes 5", "2 wick run: --sizes: expected NAME=N or NAME=N,N..., found \"5\"" SEE},
    {"m --contents x=y",
     "2 wick run: --contents: expected NAME=VALUE,VALUE..., of whole numbers or "
     "true and false, found \"x=y\"" SEE},
    {"m --dump=1", "2 wick run: --dump takes no value" SEE},
    {"a b c", "2 wick run: one argument too many: \"c\"" SEE},
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
  assert_string_equal(wick_args_nearest("rnu", name, sizeof *name), "run");
  assert_null(wick_args_nearest("zzz", name, sizeof *name));
  assert_null(wick_args_nearest("", name, sizeof *name));
  assert_null(wick_args_nearest("a name that is longer than every other one", name, sizeof *name));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_nearest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
