/* Loads a model or an artifact, compiles it and creates a session, for the commands that share
 * these steps. */
#include "invocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "driver/model.h"
#include "import/format.h"
#include "import/relay/relay.h"
#include "ir/element.h"

#include "args_value.h"
#include "command.h"
#include "interrupt.h"

int wick_invocation_main(wick_invocation *j, wick_invocation_fn *fn, void *arg, int argc,
                         char **argv)
{
  j->command = argv[0];
  j->guard = (wick_guard){.allocator = wick_allocator_malloc()};
  j->mem = wick_arena_make(&j->guard);
  j->tmp = wick_arena_make(&j->guard);
  j->scratch = wick_arena_make(&j->guard);
  j->files = wick_files_begin(&j->mem);
  volatile int status = WICK_EXIT_FAILURE;
  if (setjmp(j->guard.where))
    wick_command_say(j->command, "out of memory");
  else
    status = fn(j, arg, argc, argv);
  wick_session_free(j->session);
  wick_compiled_free(j->compiled);
  wick_model_free(j->model);
  wick_context_free(j->context);
  wick_files_close(&j->files);
  wick_arena_free(&j->scratch);
  wick_arena_free(&j->tmp);
  wick_arena_free(&j->mem);
  return status;
}

int wick_invocation_usage(const wick_invocation *j, const char *what)
{
  return wick_command_usage(j->command, "%s", what);
}

static void invocation_dim(wick_invocation *j, const char *word)
{
  wick_size_range r;
  if (!wick_value_range(word, &j->mem, &r)) return; /* the options' table has checked it */
  if (strstr(strrchr(word, '='), ".."))
    j->ranges[j->nrange++] = r;
  else
    j->sizes[j->nsize++] = (wick_size){r.name, r.least};
}

/* Reads NAME=N, or N for the previous name. */
static void invocation_pin(wick_invocation *j, const char *word)
{
  const char *name = j->nspecialize_dim ? j->specialize_dims[j->nspecialize_dim - 1].name : "";
  wick_size_range r;
  if (!strchr(word, '=')) word = wick_str_printf(&j->mem, "%s=%s", name, word);
  if (wick_value_range(word, &j->mem, &r))
    j->specialize_dims[j->nspecialize_dim++] = (wick_size){r.name, r.least};
}

int wick_invocation_args(wick_invocation *j, wick_args *args, int argc, char **argv)
{
  int stop = wick_args_parse(args, &j->mem, argc, argv);
  if (stop >= 0) return stop;
  j->path = args->word.n ? args->word.at[0] : NULL;
  j->sizes = wick_new(&j->mem, wick_size, j->dims.n);
  j->ranges = wick_new(&j->mem, wick_size_range, j->dims.n);
  for (uint32_t i = 0; i < j->dims.n; i++) invocation_dim(j, j->dims.at[i]);
  j->specialize_dims = wick_new(&j->mem, wick_size, j->specialize_dim_words.n);
  for (uint32_t i = 0; i < j->specialize_dim_words.n; i++)
    invocation_pin(j, j->specialize_dim_words.at[i]);
  return -1;
}

int wick_invocation_end(wick_invocation *j, wick_status s)
{
  const char *hint = "";
  if (s && s->size) hint = wick_str_printf(&j->mem, "; give it with --dim '%s=SIZE'", s->size);
  if (s) wick_command_message(wick_str_printf(&j->mem, "%s%s", s->message, hint));
  return s ? WICK_EXIT_FAILURE : WICK_EXIT_OK;
}

wick_status wick_invocation_json(wick_invocation *j, json_t *object)
{
  return wick_json_print(object)
             ? NULL
             : wick_fail(&j->mem, WICK_ENOMEM, j->path, "there is no memory for the JSON");
}

wick_status wick_invocation_take(wick_invocation *j, wick_error *e)
{
  if (!e) return NULL;
  wick_code code = wick_error_code(e);
  const char *text = wick_str_dup(&j->mem, wick_error_message(e)), *size = wick_error_size(e);
  size = size ? wick_str_dup(&j->mem, size) : NULL;
  wick_error_free(e);
  return wick_fail_size(&j->mem, code, NULL, size, "%s", text);
}

/* ---- contents ---- */

static wick_status invocation_content_fail(wick_invocation *j, const wick_io *io, const char *what)
{
  return wick_fail(&j->mem, WICK_EINVAL, j->path, "--specialize-input: input \"%s\": %s", io->name,
                   what);
}

/* Converts one element as it is written to its bytes. */
static wick_status invocation_content(wick_invocation *j, const wick_io *io, const char *value,
                                      wick_content *out)
{
  bool is_bool = io->elem == WICK_BOOL, is_u64 = io->elem == WICK_U64;
  uint32_t bits = wick_elem_storage[io->elem].bits;
  int64_t n = 1;
  for (uint32_t k = 0; k < io->rank; k++) n = io->dim[k] == 1 ? n : 0;
  if (!is_bool && (!wick_elem_is_int(io->elem) || bits < 8))
    return invocation_content_fail(j, io, "its elements are neither whole numbers nor bools");
  if (n != 1) return invocation_content_fail(j, io, "it is not one element");
  wick_scalar *x = wick_arena_alloc(&j->mem, sizeof *x, sizeof *x);
  char *end = NULL;
  errno = 0;
  if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
    x->i = *value == 't';
  else
    x->i = is_u64 && *value != '-' ? (int64_t)strtoull(value, &end, 10) : strtoll(value, &end, 10);
  if (!end && !is_bool) return invocation_content_fail(j, io, "it is no bool");
  *out = (wick_content){.input = io->name, .data = x, .nbytes = bits / 8};
  wick_scalar had = *x, back;
  wick_store_elem(io->elem, x, 0, had);
  back = wick_load_elem(io->elem, x, 0);
  bool minus = is_u64 && *value == '-' && had.i != 0, other = is_bool && (had.i < 0 || had.i > 1);
  if (errno || minus || other || back.i != had.i)
    return invocation_content_fail(
        j, io,
        wick_str_printf(&j->mem, "%s is not a value of type %s", value, wick_elem_name(io->elem)));
  return NULL;
}

static wick_status invocation_contents(wick_invocation *j)
{
  const char *name = NULL, *value;
  uint32_t n;
  const wick_io **io = wick_invocation_inputs(j, &n);
  j->contents = wick_new(&j->mem, wick_content, j->specialize_input_words.n);
  for (; j->nspecialize_input < j->specialize_input_words.n; j->nspecialize_input++) {
    uint32_t i = 0;
    (void)wick_value_content(j->specialize_input_words.at[j->nspecialize_input], &name, &j->mem,
                             &value);
    while (i < n && strcmp(io[i]->name, name) != 0) i++;
    if (i == n)
      return wick_fail(&j->mem, WICK_EINVAL, j->path,
                       "--specialize-input: there is no input \"%s\"", name);
    WICK_TRY(invocation_content(j, io[i], value, &j->contents[j->nspecialize_input]));
  }
  return NULL;
}

/* ---- loading ---- */

/* Returns a given flag that is for the compiler, or NULL. */
static const char *invocation_compiler_flag(const wick_invocation *j)
{
  const struct {
    const char *name;
    bool given;
  } row[] = {{"--entry", j->entry},
             {"--override", j->override.n},
             {"--donate", j->donate.n},
             {"--grad", j->grad || j->wrt.n},
             {"--precision", j->precision},
             {"--strict", j->strict},
             {"--target", j->target},
             {"--tune", j->tune},
             {"--tuning", j->records},
             {"--auto-specialize", j->auto_specialize},
             {"--specialize-dim", j->nspecialize_dim},
             {"--specialize-input", j->specialize_input_words.n}};
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (row[i].given) return row[i].name;
  return NULL;
}

/* Checks the options for an artifact: only dynamic sizes are allowed. */
static wick_status invocation_open(wick_invocation *j)
{
  const char *flag = invocation_compiler_flag(j);
  if (flag)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "it is compiled: %s is for models", flag);
  if (j->nrange)
    return wick_fail(&j->mem, WICK_EINVAL, j->path,
                     "it is compiled: --dim %s=N chooses a size, ranges are for models",
                     j->ranges[0].name);
  WICK_TRY(wick_invocation_take(j, wick_compiled_load(j->context, j->path, &j->compiled)));
  for (uint32_t i = 0, n = wick_compiled_nsize(j->compiled); i < j->nsize; i++) {
    uint32_t k = 0;
    while (k < n && strcmp(wick_compiled_size(j->compiled, k).name, j->sizes[i].name) != 0) k++;
    if (k == n)
      return wick_fail(&j->mem, WICK_EINVAL, j->path, "it has no dynamic size named %s",
                       j->sizes[i].name);
  }
  return NULL;
}

/* Makes the initializers inputs that --override names, or that occur as NAME=FILE among the
 * tensors. */
static wick_status invocation_override(wick_invocation *j)
{
  uint32_t ninput = j->inputs ? j->inputs->n : 0;
  wick_words all = {0};
  for (uint32_t i = 0; i < j->override.n; i++) wick_push(&j->mem, &all, j->override.at[i]);
  for (uint32_t i = 0; i < ninput; i++)
    for (uint32_t k = 0; k < wick_model_noverridable(j->model); k++) {
      const char *word = j->inputs->at[i], *name = wick_model_overridable(j->model, k)->name;
      size_t n = strlen(name);
      bool listed = false;
      for (uint32_t a = 0; a < all.n; a++) listed = listed || strcmp(all.at[a], name) == 0;
      if (!listed && strncmp(word, name, n) == 0 && word[n] == '=') wick_push(&j->mem, &all, name);
    }
  for (uint32_t a = 0; a < all.n; a++) all.at[a] = wick_str_dup(&j->mem, all.at[a]);
  return all.n ? wick_invocation_take(j, wick_override(j->model, all.n, all.at)) : NULL;
}

static void invocation_remark(void *arg, const char *line)
{
  const wick_invocation *j = arg;
  wick_arena tmp = wick_arena_make(j->mem.guard);
  if (j->remarks) fprintf(stderr, "remark: %s\n", wick_str_shown_lines(&tmp, line));
  wick_arena_free(&tmp);
}

wick_status wick_invocation_map(wick_invocation *j, const wick_file **out)
{
  static const wick_file folder;
  const wick_format *format;
  wick_file *file = NULL;
  WICK_TRY(wick_format_find_folder(j->path, &j->mem, &format));
  if (!format) WICK_TRY(wick_files_map(&j->files, j->path, &file));
  *out = file ? file : &folder;
  return NULL;
}

wick_status wick_invocation_load(wick_invocation *j)
{
  const wick_options options = {.size = sizeof options,
                                .cancel = wick_interrupt_asked,
                                .allow_links = j->allow_links,
                                .remark = invocation_remark,
                                .ops = j->ops,
                                .arg = j};
  WICK_TRY(wick_invocation_take(j, wick_context_create(&options, &j->context)));
  const wick_file *file;
  WICK_TRY(wick_invocation_map(j, &file));
  if (file->nbytes >= 4 && memcmp(file->at, "WICK", 4) == 0) return invocation_open(j);
  bool program = j->entry || wick_is_program(file->at, file->nbytes) || wick_relay_is_path(j->path);
  WICK_TRY(wick_invocation_take(
      j, program ? wick_load_program(j->context, j->path, j->entry ? j->entry : "main", &j->model)
                 : wick_load(j->context, j->path, &j->model)));
  WICK_TRY(invocation_override(j));
  WICK_TRY(invocation_contents(j));
  if (!j->grad && !j->wrt.n) return NULL;
  wick_grad_options o = {.size = sizeof o, .of = j->grad, .nwrt = j->wrt.n, .wrt = j->wrt.at};
  return wick_invocation_take(j, wick_grad(j->model, &o));
}

const char *wick_invocation_metadata(const wick_invocation *j, const char *key)
{
  return j->model ? wick_model_metadata(j->model, key) : wick_compiled_metadata(j->compiled, key);
}

const wick_io **wick_invocation_inputs(wick_invocation *j, uint32_t *out_n)
{
  bool compiled = j->compiled != NULL;
  *out_n = compiled ? wick_compiled_ninput(j->compiled) : wick_model_ninput(j->model);
  const wick_io **io = wick_new(&j->mem, const wick_io *, *out_n);
  for (uint32_t i = 0; i < *out_n; i++)
    io[i] = j->session ? wick_session_input(j->session, i)
            : compiled ? wick_compiled_input(j->compiled, i)
                       : wick_model_input(j->model, i);
  return io;
}

const wick_io **wick_invocation_outputs(wick_invocation *j)
{
  uint32_t n = wick_compiled_noutput(j->compiled);
  const wick_io **io = wick_new(&j->mem, const wick_io *, n);
  for (uint32_t i = 0; i < n; i++)
    io[i] = j->session ? wick_session_output(j->session, i) : wick_compiled_output(j->compiled, i);
  return io;
}

const wick_content *wick_invocation_contents(wick_invocation *j,
                                             const wick_model_inputs *model_inputs, uint32_t *out_n)
{
  uint32_t n = wick_model_ninput(j->model);
  bool all = n == model_inputs->n;
  wick_content *content = wick_new(&j->mem, wick_content, model_inputs->n);
  *out_n = 0;
  for (uint32_t i = 0; i < model_inputs->n; i++) {
    const wick_array *a = &model_inputs->array[i];
    uint32_t k = all ? i : 0;
    while (!all && k < n && strcmp(wick_model_input(j->model, k)->name, a->name) != 0) k++;
    if (k == n) continue; /* an element of a sequence */
    content[(*out_n)++] = (wick_content){wick_model_input(j->model, k)->name, a->data, a->nbytes};
  }
  return content;
}

wick_ports wick_invocation_ports(wick_invocation *j, const char *kind, uint32_t n,
                                 const char *const *name)
{
  wick_list(wick_pair) note = {0};
  const char *key;
  for (uint32_t i = 0; (key = j->compiled ? wick_compiled_metadata_key(j->compiled, i)
                                          : wick_model_metadata_key(j->model, i)) != NULL;
       i++)
    wick_push(&j->mem, &note,
              (wick_pair){key, j->compiled ? wick_compiled_metadata(j->compiled, key)
                                           : wick_model_metadata(j->model, key)});
  return wick_ports_of(kind, note.n, note.at, n, name, &j->mem);
}

/* Reports each stage when it is done: as a line, or on a terminal as text that is erased at the
 * end. */
static void invocation_stage(void *arg, const char *name, double seconds)
{
  wick_invocation *j = arg;
  if (j->time)
    fprintf(stderr, "%-20s %10.3f ms\n", name, 1e3 * seconds);
  else
    fprintf(stderr, "\r\033[Kcompiling %s: %s",
            wick_str_shown(&j->scratch, wick_path_base(j->path)), name);
}

/* Reads the options for pictures from the model's metadata: keys of Wick's, and one that ONNX
 * defines. */
static wick_status invocation_image_metadata(const wick_invocation *j, wick_arena *mem,
                                             wick_image_options *o)
{
  const char *format = wick_invocation_metadata(j, "Image.BitmapPixelFormat");
  const wick_image_texts t = {.layout = wick_invocation_metadata(j, "image_layout"),
                              .resize = wick_invocation_metadata(j, "image_resize"),
                              .crop = wick_invocation_metadata(j, "image_crop"),
                              .filter = wick_invocation_metadata(j, "image_filter"),
                              .color = wick_invocation_metadata(j, "image_color"),
                              .scale = wick_invocation_metadata(j, "image_scale"),
                              .mean = wick_invocation_metadata(j, "image_mean"),
                              .std = wick_invocation_metadata(j, "image_std")};
  o->bgr = format && strcmp(format, "Bgr8") == 0;
  return wick_image_options_read(&t, j->path, mem, o);
}

wick_status wick_invocation_feed(wick_invocation *j, const wick_words *files,
                                 const wick_invocation_image *image, wick_model_inputs *out)
{
  wick_image_options o = {0};
  wick_image_texts t = image->text;
  if (image->bgr) t.color = "bgr";
  WICK_TRY(invocation_image_metadata(j, &j->mem, &o));
  WICK_TRY(wick_image_options_read(&t, "the command line", &j->mem, &o));
  uint32_t n;
  const wick_io **io = wick_invocation_inputs(j, &n);
  const char **name = wick_new(&j->mem, const char *, n);
  for (uint32_t i = 0; i < n; i++) name[i] = io[i]->name;
  wick_ports ports = wick_invocation_ports(j, "input", n, name);
  return wick_model_inputs_read(&ports, io, n, files->at, files->n, &o, j->frames, &j->files,
                                &j->mem, &j->tmp, out);
}

wick_compile_options wick_invocation_options(wick_invocation *j,
                                             const wick_model_inputs *model_inputs)
{
  wick_compile_options o = {.size = sizeof o,
                            .target = j->target,
                            .tune = j->tune,
                            .jobs = (uint32_t)j->jobs,
                            .nsize = j->nsize,
                            .sizes = j->sizes,
                            .strict = j->strict,
                            .precision = j->precision,
                            .tuning = j->records,
                            .nrange = j->nrange,
                            .ranges = j->ranges,
                            .dynamic = j->dynamic,
                            .auto_specialize = (uint32_t)j->auto_specialize,
                            .nspecialize_dim = j->nspecialize_dim,
                            .specialize_dims = j->specialize_dims,
                            .nspecialize_input = j->nspecialize_input,
                            .specialize_inputs = j->contents,
                            .ndonate = j->donate.n,
                            .donate = j->donate.at,
                            .cache = j->no_cache ? "" : NULL,
                            .stage = j->time || isatty(STDERR_FILENO) ? invocation_stage : NULL,
                            .arg = j};
  if (!model_inputs || j->nrange || j->dynamic) return o; /* then a session gets the shapes */
  o.nshape = model_inputs->nshape, o.shape = model_inputs->shape;
  o.contents = wick_invocation_contents(j, model_inputs, &o.ncontent);
  return o;
}

wick_status wick_invocation_compile(wick_invocation *j, const wick_model_inputs *model_inputs)
{
  if (j->compiled) return NULL;
  wick_compile_options o = wick_invocation_options(j, model_inputs);
  wick_interrupt_begin();
  wick_error *e = wick_compile(j->model, &o, &j->compiled);
  if (o.stage && !j->time) fputs("\r\033[K", stderr);
  wick_interrupt_end();
  return wick_invocation_take(j, e);
}

/* Returns the shapes for a session: those of the files, else those that follow from --dim, or none
 * if these are not enough. */
static const wick_shape *invocation_session_shapes(wick_invocation *j,
                                                   const wick_model_inputs *model_inputs,
                                                   uint32_t *out_n)
{
  uint32_t n = wick_compiled_ninput(j->compiled);
  wick_shape *shape = wick_new(&j->mem, wick_shape, n);
  *out_n = 0;
  for (uint32_t i = 0; i < n; i++) {
    const wick_io *io = wick_compiled_input(j->compiled, i);
    int64_t *dim =
        wick_dup(&j->mem, int64_t, model_inputs ? model_inputs->array[i].dim : io->dim, io->rank);
    for (uint32_t k = 0; k < io->rank && !model_inputs; k++)
      for (uint32_t s = 0; s < j->nsize && io->dim[k] < 0; s++)
        if (strcmp(j->sizes[s].name, io->dim_name[k]) == 0) dim[k] = j->sizes[s].value;
    bool dynamic = false;
    for (uint32_t k = 0; k < io->rank; k++) dynamic = dynamic || dim[k] < 0;
    if (!dynamic)
      shape[(*out_n)++] =
          (wick_shape){io->name, model_inputs ? model_inputs->array[i].rank : io->rank, dim};
  }
  return shape;
}

static bool invocation_has_dynamic(const wick_invocation *j)
{
  for (uint32_t i = 0; i < wick_compiled_ninput(j->compiled); i++) {
    const wick_io *io = wick_compiled_input(j->compiled, i);
    for (uint32_t k = 0; k < io->rank; k++)
      if (io->dim[k] < 0) return true;
  }
  return false;
}

/* Checks that sizes of --dim agree with the files. */
static wick_status invocation_agrees(wick_invocation *j, const wick_model_inputs *model_inputs)
{
  for (uint32_t i = 0; i < model_inputs->n; i++) {
    const wick_io *io = wick_compiled_input(j->compiled, i);
    for (uint32_t k = 0; k < io->rank; k++)
      for (uint32_t s = 0; s < j->nsize; s++)
        if (strcmp(j->sizes[s].name, io->dim_name[k]) == 0 &&
            j->sizes[s].value != model_inputs->array[i].dim[k])
          return wick_fail(&j->mem, WICK_EINVAL, j->path,
                           "input \"%s\": the size %s is %lld here, --dim says %lld", io->name,
                           io->dim_name[k], (long long)model_inputs->array[i].dim[k],
                           (long long)j->sizes[s].value);
  }
  return NULL;
}

wick_status wick_invocation_session(wick_invocation *j, const wick_model_inputs *model_inputs,
                                    void (*profile)(void *arg, uint32_t kernel,
                                                    uint64_t nanoseconds),
                                    void *arg)
{
  wick_session_options o = {
      .size = sizeof o, .threads = (uint32_t)j->threads, .profile = profile, .arg = arg};
  WICK_TRY(wick_invocation_take(j, wick_session_create(j->compiled, &o, &j->session)));
  if (!invocation_has_dynamic(j)) return NULL;
  if (model_inputs) WICK_TRY(invocation_agrees(j, model_inputs));
  uint32_t nshape;
  const wick_shape *shape = invocation_session_shapes(j, model_inputs, &nshape);
  return wick_invocation_take(j, wick_session_shape(j->session, nshape, shape));
}

/* Returns whether the model could be compiled in another way: the error is neither the machine's
 * nor the user's. */
static bool invocation_refused(wick_status s)
{
  return s && s->code != WICK_ENOMEM && s->code != WICK_EIO && s->code != WICK_ECANCELED;
}

wick_status wick_invocation_serve(wick_invocation *j, const wick_model_inputs *model_inputs)
{
  if (j->model && !j->compiled && wick_model_needs_shapes(j->model) && !j->nrange) {
    j->dynamic = true;
    wick_status s = wick_invocation_compile(j, model_inputs);
    if (!s) s = wick_invocation_session(j, model_inputs, NULL, NULL);
    if (!invocation_refused(s)) return s;
    wick_session_free(j->session);
    wick_compiled_free(j->compiled);
    j->session = NULL, j->compiled = NULL, j->dynamic = false;
  }
  WICK_TRY(wick_invocation_compile(j, model_inputs));
  return wick_invocation_session(j, model_inputs, NULL, NULL);
}
