/* wick opt: reads the text of a module, runs passes on it, prints it. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "driver/pipeline.h"
#include "ir/text.h"
#include "ir/verify.h"

#include "args.h"
#include "command.h"

typedef struct opt_state {
  wick_words pass, print_after;
  const char *out;
  bool time, verify, list, no_data, no_locs;
  unsigned flags;
  wick_arena *mem, *tmp;
  wick_module *module; /* here, so that they are freed after a longjmp, too */
  wick_pipeline pipeline;
} opt_state;

static wick_status opt_write(const opt_state *o, const char *path)
{
  wick_text text = wick_text_begin(o->mem);
  wick_print_module(o->module, o->flags, &text);
  if (path) return wick_file_write(o->mem, path, &(wick_bytes){text.at, text.n}, 1);
  fwrite(text.at, 1, text.n, stdout);
  return NULL;
}

static void opt_after(void *arg, const wick_pass *pass, const wick_module *m)
{
  const opt_state *o = arg;
  (void)m;
  for (uint32_t i = 0; i < o->print_after.n; i++)
    if (strcmp(o->print_after.at[i], pass->name) == 0 || strcmp(o->print_after.at[i], "all") == 0) {
      printf("// after %s\n", pass->name);
      wick_status s = opt_write(o, NULL);
      (void)s; /* stdout: cannot fail */
      return;
    }
}

static void opt_list(void)
{
  for (const wick_pass *p = wick_passes; p->name; p++) printf("%-20s %s\n", p->name, p->doc);
}

static void opt_times(const opt_state *o)
{
  fprintf(stderr, "%-20s %10s %10s %10s\n", "pass", "ms", "nodes", "MB held");
  for (uint32_t i = 0; i < o->pipeline.times.n; i++) {
    const wick_pass_time *t = &o->pipeline.times.at[i];
    fprintf(stderr, "%-20s %10.3f %10llu %10.1f\n", t->pass->name, 1e3 * t->seconds,
            (unsigned long long)t->nnode, 1e-6 * (double)t->nbytes);
  }
}

static wick_status opt_file(opt_state *o, const char *path)
{
  char *text;
  size_t n;
  WICK_TRY(wick_file_read(o->mem, strcmp(path, "-") == 0 ? "/dev/stdin" : path, 0, &text, &n));
  o->module = wick_module_create(o->mem->guard, "");
  WICK_TRY(wick_parse_module(o->module, path, text, n, o->tmp));
  wick_pipeline_begin(&o->pipeline, o->module);
  o->pipeline.verify = o->pipeline.verify || o->verify;
  o->pipeline.after = opt_after;
  o->pipeline.arg = o;
  wick_text names = wick_text_begin(o->mem);
  for (uint32_t i = 0; i < o->pass.n; i++) wick_text_printf(&names, "%s,", o->pass.at[i]);
  WICK_TRY(wick_pipeline_run_all(&o->pipeline, names.at, o->tmp));
  if (o->time) opt_times(o);
  return opt_write(o, o->out);
}

static int opt_run(int argc, char **argv, opt_state *o)
{
  const wick_flag flag[] = {
      {"pass", 'p', WICK_FLAG_LIST, &o->pass, "NAME...", "passes to run, in this order"},
      {"passes", 0, WICK_FLAG_BOOL, &o->list, NULL, "lists the passes"},
      {"output", 'o', WICK_FLAG_STRING, &o->out, "FILE",
       "where the module goes; else it is printed"},
      {"print-after", 0, WICK_FLAG_LIST, &o->print_after, "NAME...",
       "prints the module after these passes, or `all`"},
      {"time-passes", 0, WICK_FLAG_BOOL, &o->time, NULL,
       "milliseconds, nodes and memory of each pass"},
      {"verify", 0, WICK_FLAG_BOOL, &o->verify, NULL,
       "verifies after each pass, as debug builds do"},
      {"no-data", 0, WICK_FLAG_BOOL, &o->no_data, NULL, "prints constants without their data"},
      {"no-locs", 0, WICK_FLAG_BOOL, &o->no_locs, NULL, "prints no places in the user's model"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 0, .most = 1};
  int stop = wick_args_parse(&args, o->mem, argc, argv);
  if (stop >= 0) return stop;
  if (o->list) {
    opt_list();
    return WICK_EXIT_OK;
  }
  if (!args.word.n) {
    fputs("wick opt: a file is wanted; `wick help opt` says more\n", stderr);
    return WICK_EXIT_USAGE;
  }
  o->flags =
      WICK_PRINT_NAMES | (o->no_data ? 0 : WICK_PRINT_DATA) | (o->no_locs ? 0 : WICK_PRINT_LOCS);
  wick_status s = opt_file(o, args.word.at[0]);
  if (s) fprintf(stderr, "%s\n", s->message);
  return s ? WICK_EXIT_FAILURE : WICK_EXIT_OK;
}

int wick_cmd_opt(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  opt_state o = {.mem = &mem, .tmp = &tmp};
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    fputs("wick opt: out of memory\n", stderr);
  else
    status = opt_run(argc, argv, &o);
  wick_pipeline_free(&o.pipeline);
  wick_module_free(o.module);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
