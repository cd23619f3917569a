/* wick check: imports models, and says what they are, or all that Wick cannot take of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/onnx/onnx.h"
#include "ir/text.h"
#include "ir/verify.h"

#include "args.h"
#include "command.h"

typedef struct check_flags {
  bool print, data;
  wick_onnx_range *range;
  uint32_t nrange;
} check_flags;

static void check_value(const wick_module *m, const wick_value_info *v, const char *what,
                        wick_text *out)
{
  wick_text_printf(out, "  %-6s %s: ", what, wick_names_get(&m->names, v->name));
  wick_type_print(m, v->type, out);
  wick_text_char(out, '\n');
}

/* The module's size, and its inputs and outputs. */
static void check_print(const char *path, const wick_func *f, wick_arena *tmp)
{
  const wick_module *m = f->module;
  const wick_node *r = wick_return(f);
  uint64_t nbytes = 0;
  for (uint32_t i = 1; i < m->constants.n; i++) nbytes += m->constants.at[i].nbytes;
  wick_text t = wick_text_begin(tmp);
  wick_text_printf(&t, "%s: %u nodes, %.2f MiB of constants\n", path, f->nnode,
                   (double)nbytes / 1048576);
  for (uint32_t i = 1; i <= f->nparam; i++) check_value(m, &f->value[i], "input", &t);
  for (uint32_t i = 0; i < r->nin; i++) check_value(m, &f->value[r->in[i].id], "output", &t);
  fputs(t.at, stdout);
}

static wick_status check_model(const char *path, const check_flags *flags, wick_module *m,
                               wick_files *files, wick_arena *mem, wick_arena *tmp)
{
  wick_file *file;
  WICK_TRY(wick_files_map(files, path, &file));
  wick_onnx_options options = {.files = files, .range = flags->range, .nrange = flags->nrange};
  const wick_func *f;
  WICK_TRY(wick_import_onnx(m, (wick_span){file->at, file->nbytes}, path, &options, mem, tmp, &f));
  WICK_TRY(wick_verify_func(f, tmp));
  check_print(path, f, tmp);
  if (!flags->print && !flags->data) return NULL;
  wick_text t = wick_text_begin(tmp);
  wick_print_module(m, flags->data ? WICK_PRINT_ALL : WICK_PRINT_LOCS | WICK_PRINT_NAMES, &t);
  fputs(t.at, stdout);
  return NULL;
}

/* "N=4", "N=1..8" */
static bool check_range(const char *word, wick_arena *mem, wick_onnx_range *out)
{
  const char *equal = strrchr(word, '=');
  if (!equal || equal == word) return false;
  char *end;
  errno = 0;
  out->name = wick_str_dupn(mem, word, (size_t)(equal - word));
  out->lo = out->hi = strtoll(equal + 1, &end, 10);
  if (end != equal + 1 && end[0] == '.' && end[1] == '.') out->hi = strtoll(end + 2, &end, 10);
  return !errno && end != equal + 1 && !*end && out->lo >= 0 && out->lo <= out->hi;
}

static int check_run(int argc, char **argv, wick_guard *guard, wick_files *files, wick_arena *mem,
                     wick_arena *tmp)
{
  check_flags f = {0};
  wick_words dims = {0};
  const wick_flag flag[] = {
      {"dim", 0, WICK_FLAG_LIST, &dims, "NAME=N...",
       "sizes of symbolic dimensions, or ranges: NAME=LO..HI"},
      {"print", 0, WICK_FLAG_BOOL, &f.print, NULL, "prints the imported module"},
      {"data", 0, WICK_FLAG_BOOL, &f.data, NULL, "prints it with the numbers of its constants"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = UINT32_MAX};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  f.range = wick_new(mem, wick_onnx_range, dims.n);
  for (; f.nrange < dims.n; f.nrange++)
    if (!check_range(dims.at[f.nrange], mem, &f.range[f.nrange])) {
      fprintf(stderr, "wick check: --dim %s: wanted NAME=N or NAME=LO..HI\n", dims.at[f.nrange]);
      return WICK_EXIT_USAGE;
    }
  int exit_status = WICK_EXIT_OK;
  for (uint32_t i = 0; i < args.word.n; i++) {
    wick_module *m = wick_module_create(guard, "");
    wick_status s = check_model(args.word.at[i], &f, m, files, mem, tmp);
    if (s) fprintf(stderr, "%s\n", s->message);
    if (s) exit_status = WICK_EXIT_FAILURE;
    wick_module_free(m);
    wick_arena_free(tmp);
  }
  return exit_status;
}

int wick_cmd_check(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  wick_files files = wick_files_begin(&mem);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    fputs("wick check: out of memory\n", stderr);
  else
    status = check_run(argc, argv, &guard, &files, &mem, &tmp);
  wick_files_close(&files);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
