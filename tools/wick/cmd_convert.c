/* wick convert: writes a model, or a module in Wick's text, as an ONNX model. */
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "export/export.h"

#include "command.h"
#include "interrupt.h"
#include "invocation.h"

typedef struct convert_state {
  wick_invocation invocation;
  const char *output;
  wick_words inputs;
  wick_invocation_image image;
  bool external;
  wick_module *module; /* in this struct, so that it is freed after a longjmp, too */
} convert_state;

/* Collects the sizes and contents from the options and files, as a compilation does. */
static wick_status convert_given(convert_state *s, wick_given *out)
{
  wick_invocation *j = &s->invocation;
  wick_model_inputs model_inputs = {0};
  if (s->inputs.n) WICK_TRY(wick_invocation_feed(j, &s->inputs, &s->image, &model_inputs));
  WICK_TRY(wick_model_sizes(j->model, model_inputs.nshape, model_inputs.shape, j->nsize, j->sizes,
                            &j->mem, out));
  uint32_t ncontent;
  const wick_content *content = wick_invocation_contents(j, &model_inputs, &ncontent);
  return wick_model_contents(j->model, ncontent, content, &j->mem, out);
}

static wick_status convert_write(convert_state *s, const wick_export_result *r,
                                 const char *data_path)
{
  const wick_output file[] = {{data_path, r->data.at, r->data.n},
                              {s->output, r->model.at, r->model.n}};
  uint32_t first =
      r->data.n ? 0 : 1; /* the model is written last because it refers to the data file */
  wick_interrupt_begin();
  wick_status bad = wick_files_write(&s->invocation.mem, file + first, 2 - first);
  wick_interrupt_end();
  WICK_TRY(bad);
  printf("%s: %.2f MiB", wick_str_shown(&s->invocation.mem, s->output),
         (double)r->model.nbytes / 1048576);
  if (r->data.n)
    printf(", %s: %.2f MiB", wick_str_shown(&s->invocation.mem, data_path),
           (double)r->data.nbytes / 1048576);
  putchar('\n');
  return NULL;
}

static wick_status convert_work(convert_state *s)
{
  wick_invocation *j = &s->invocation;
  wick_given given;
  const wick_func *f;
  WICK_TRY(wick_invocation_load(j));
  if (!j->model) return wick_fail(&j->mem, WICK_EINVAL, j->path, "it is compiled and has no graph");
  WICK_TRY(convert_given(s, &given));
  s->module = wick_module_create(&j->guard, "");
  WICK_TRY(wick_model_import(j->model, &given, s->module, &j->mem, &j->tmp, &f));
  wick_module_align(s->module);
  const char *data_path = wick_str_printf(&j->mem, "%s.data", s->output);
  const wick_export_options o = {.data_name = wick_path_base(data_path), .external = s->external};
  wick_export_result r;
  WICK_TRY(wick_export_onnx(s->module, f, wick_path_base(j->path), &o, &j->mem, &r));
  return convert_write(s, &r, data_path);
}

static int convert_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  convert_state *s = arg;
  const wick_flag flag[] = {
      {"output", 'o', WICK_FLAG_FILE, &s->output, "OUT.onnx", "writes the model to this file"},
      {"external", 0, WICK_FLAG_BOOL, &s->external, NULL,
       "writes the weights to OUT.onnx.data, as is always done from 2 GiB on"},
      {"dim", 0, WICK_FLAG_DIMS, &j->dims, "NAME=N...", "gives dynamic sizes"},
      {"inputs", 'i', WICK_FLAG_FILES, &s->inputs, "FILE...",
       "takes sizes from these tensors, and their contents where sizes depend on them"},
      {"input", 0, WICK_FLAG_FILES, &s->inputs, NULL, NULL},
      WICK_OPS_FLAG(&j->ops),
      WICK_LINKS_FLAG(&j->allow_links),
      WICK_IMAGE_FLAGS(&s->image),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (!s->output) return wick_invocation_usage(j, "--output is missing");
  return wick_invocation_end(j, convert_work(s));
}

int wick_cmd_convert(int argc, char **argv)
{
  convert_state s = {0};
  int status = wick_invocation_main(&s.invocation, convert_main, &s, argc, argv);
  wick_module_free(s.module);
  return status;
}
