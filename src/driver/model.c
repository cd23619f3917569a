/* Loads models, describes their inputs and outputs, and collects the sizes that are given for
 * them. */
#include "driver/model.h"

#include <string.h>

#include "driver/datatypes.h"
#include "driver/states.h"
#include "import/format.h"
#include "import/onnx/onnx.h"
#include "ir/specialize_dims.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "lang/lower/custom.h"
#include "runtime/keys.h"
#include "runtime/program.h"

/* ---- reading ---- */

/* Returns whether the bytes are text. Protobuf begins with a field's tag, which is a control
 * character. */
bool wick_model_is_text(wick_span bytes)
{
  size_t i = 0;
  while (i < bytes.nbytes && strchr(" \t\r\n", bytes.at[i]) && bytes.at[i]) i++;
  if (i == bytes.nbytes || bytes.at[i] < ' ') return false;
  for (size_t k = i; k < bytes.nbytes && k < i + 64; k++)
    if ((bytes.at[k] < ' ' && !strchr("\t\r\n", bytes.at[k])) || !bytes.at[k]) return false;
  return true;
}

wick_status wick_model_parse(wick_module *m, const char *path, wick_span bytes, wick_arena *tmp,
                             const wick_func **out_main)
{
  WICK_TRY(wick_parse_module(m, path, (const char *)bytes.at, bytes.nbytes, tmp));
  const wick_func *f = wick_module_find(m, "main");
  for (uint32_t i = 0; i < m->funcs.n && !f; i++)
    if (m->funcs.at[i]->level == WICK_GRAPH) f = m->funcs.at[i];
  if (!f || f->level != WICK_GRAPH)
    return wick_fail(tmp, WICK_EPARSE, path, "there is no graph in it");
  *out_main = f;
  return NULL;
}

/* Finds the number that is given for a symbol's name. */
static wick_status model_text_size(const wick_module *m, const char *path, uint32_t nsize,
                                   const wick_size *sizes, wick_dim symbol, wick_arena *tmp,
                                   wick_dim *out)
{
  wick_text name = wick_text_begin(tmp);
  wick_dim_print(m->dims, symbol, &name);
  *out = symbol;
  for (uint32_t i = 0; i < nsize; i++) {
    int64_t lo, hi, n = sizes[i].value;
    if (strcmp(sizes[i].name, name.at) != 0) continue;
    wick_dim_range(m->dims, symbol, &lo, &hi);
    if (n < lo || n > hi)
      return wick_fail(tmp, WICK_ETYPE, wick_path_base(path),
                       "the size %s is %lld, expected %lld to %lld", name.at, (long long)n,
                       (long long)lo, (long long)hi);
    *out = wick_dim_const(n);
  }
  return NULL;
}

wick_status wick_model_text_sizes(wick_module *m, const char *path, uint32_t nsize,
                                  const wick_size *sizes, wick_arena *mem, wick_arena *tmp,
                                  const wick_func **main)
{
  const char *name = (*main)->name;
  wick_dim_list all = wick_func_sizes(*main, tmp);
  for (uint32_t i = 0; i < nsize; i++) {
    bool found = false;
    for (uint32_t k = 0; k < all.n && !found; k++) {
      wick_text symbol = wick_text_begin(tmp);
      wick_dim_print(m->dims, all.at[k], &symbol);
      found = strcmp(symbol.at, sizes[i].name) == 0;
    }
    if (!found)
      return wick_fail(tmp, WICK_EINVAL, wick_path_base(path), "no input has a size named %s",
                       sizes[i].name);
  }
  for (uint32_t i = 0, n = nsize ? m->funcs.n : 0; i < n; i++) {
    const wick_func *f = m->funcs.at[i];
    wick_func *given;
    wick_dim_list sym = wick_func_sizes(f, tmp);
    wick_dim *by = wick_new(tmp, wick_dim, sym.n + 1);
    for (uint32_t k = 0; k < sym.n; k++)
      WICK_TRY(model_text_size(m, path, nsize, sizes, sym.at[k], tmp, &by[k]));
    WICK_TRY(wick_func_specialize_dims(f, &(wick_dim_values){sym.n, sym.at, by}, mem, &given));
    WICK_TRY(wick_verify_func(given, tmp));
    wick_module_set(m, given);
  }
  *main = wick_module_find(m, name);
  return NULL;
}

static void model_overridables(wick_model *m, const wick_import_overridables *list)
{
  wick_io *io = wick_new(&m->mem, wick_io, list->n);
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_import_overridable *o = &list->at[i];
    uint64_t numel = 1;
    bool known = true;
    io[i] = (wick_io){.name = wick_str_dup(&m->mem, o->name), .elem = o->elem, .rank = o->rank};
    for (uint32_t k = 0; k < o->rank; k++) {
      io[i].dim[k] = o->dim[k];
      io[i].dim_name[k] = wick_str_dup(&m->mem, o->dim_name[k]);
      known = known && o->dim[k] >= 0 && !wick_mul_overflows(numel, (uint64_t)o->dim[k], &numel);
    }
    if (known) io[i].nbytes = wick_io_nbytes(o->elem, wick_elem_bytes(o->elem, numel));
  }
  m->noverridable = list->n, m->overridable = io;
}

/* Is the model a module in Wick's text? */
static bool model_is_own_text(const wick_model *m)
{
  return !m->entry && !m->format && wick_model_is_text(m->bytes);
}

static wick_status model_read(wick_model *m, const wick_given *given, wick_module *module,
                              wick_arena *mem, wick_arena *tmp, const wick_func **out_main)
{
  static const wick_given nothing;
  const wick_given *g = given ? given : &nothing;
  if (m->entry) return wick_model_lower(m, given, module, mem, tmp, out_main);
  if (model_is_own_text(m)) {
    WICK_TRY(wick_model_parse(module, m->path, m->bytes, &m->tmp, out_main));
    return wick_model_text_sizes(module, m->path, g->nsize, g->sizes, mem, tmp, out_main);
  }
  wick_import_range *range = wick_new(tmp, wick_import_range, g->nsize + g->nrange);
  for (uint32_t i = 0; i < g->nsize; i++)
    range[i] = (wick_import_range){g->sizes[i].name, g->sizes[i].value, g->sizes[i].value, 0};
  for (uint32_t i = 0; i < g->nrange; i++)
    range[g->nsize + i] = (wick_import_range){g->ranges[i].name, g->ranges[i].least,
                                              g->ranges[i].most, g->ranges[i].step};
  wick_import_content *content = wick_new(tmp, wick_import_content, g->ncontent);
  for (uint32_t i = 0; i < g->ncontent; i++)
    content[i] =
        (wick_import_content){g->contents[i].input, {g->contents[i].data, g->contents[i].nbytes}};
  wick_import_shape *shape = wick_new(tmp, wick_import_shape, g->nlist);
  for (uint32_t i = 0; i < g->nlist; i++)
    shape[i] = (wick_import_shape){g->list[i].input, g->list[i].rank, g->list[i].dim};
  wick_import_remarks remarks = {0};
  wick_import_overridables overridable = {0};
  wick_import_options o = {.files = &m->files,
                           .max_nodes = m->context->options.max_nodes,
                           .range = range,
                           .nrange = g->nsize + g->nrange,
                           .shape = shape,
                           .nshape = g->nlist,
                           .content = content,
                           .ncontent = g->ncontent,
                           .fixed = g->fixed,
                           .described = given ? NULL : &m->described,
                           .follows = given ? NULL : &m->follows,
                           .noverride = m->noverride,
                           .override = m->override,
                           .overridable = given ? NULL : &overridable,
                           .remarks = &remarks,
                           .entry = m->signature,
                           .loose = true};
  WICK_TRY(wick_model_custom(m, module, mem, tmp, &o.custom));
  wick_import_read *read = m->format ? m->format->read : wick_import_onnx;
  wick_status bad = read(module, m->bytes, m->path, &o, mem, tmp, out_main);
  wick_custom_end(o.custom);
  if (bad) return bad;
  if (!given) model_overridables(m, &overridable);
  for (uint32_t i = 0; !given && i < remarks.n; i++) wick_context_remark(m->context, remarks.at[i]);
  return o.custom ? wick_verify_module(module, tmp) : wick_verify_func(*out_main, tmp);
}

wick_status wick_model_import(wick_model *m, const wick_given *given, wick_module *module,
                              wick_arena *mem, wick_arena *tmp, const wick_func **out_main)
{
  WICK_TRY(model_read(m, given, module, mem, tmp, out_main));
  for (uint32_t i = 0; i < m->derivatives.n; i++)
    WICK_TRY(wick_model_derive(m, &m->derivatives.at[i], *out_main, mem, out_main));
  return wick_states_last(*out_main, mem, tmp, out_main);
}

/* ---- inputs and outputs ---- */

static bool model_is_unranked(const wick_module *m, const wick_type_info *t, wick_arena *mem)
{
  if (t->rank != 1 || !wick_dim_is_symbol(m->dims, t->dim[0])) return false;
  wick_text name = wick_text_begin(mem);
  wick_dim_print(m->dims, t->dim[0], &name);
  return strcmp(name.at, WICK_IMPORT_UNRANKED) == 0;
}

static void model_describe(const wick_func *f, wick_value v, wick_arena *mem, wick_io *io)
{
  const wick_module *m = f->module;
  const wick_type_info *t = wick_info_of(f, v);
  *io = (wick_io){
      .name = wick_names_get(&m->names, f->value[v.id].name), .elem = t->elem, .rank = t->rank};
  bool dynamic = io->unranked = model_is_unranked(m, t, mem);
  if (io->unranked) io->rank = 0;
  for (uint32_t k = 0; k < io->rank; k++) {
    io->dim_name[k] = "";
    io->dim[k] = t->dim[k].v;
    if (wick_dim_is_const(t->dim[k])) continue;
    wick_text name = wick_text_begin(mem);
    wick_dim_print(m->dims, t->dim[k], &name);
    io->dim[k] = -1;
    io->dim_name[k] = name.at;
    dynamic = true;
  }
  if (dynamic || !wick_type_nbytes(f->module, f->value[v.id].type, &io->nbytes)) io->nbytes = 0;
  io->nbytes = wick_io_nbytes(t->elem, io->nbytes);
}

void wick_model_describe(const wick_func *f, wick_arena *mem, uint32_t *out_ninput,
                         uint32_t *out_noutput, const wick_io **out_io)
{
  const wick_node *r = wick_return(f);
  wick_io *io = wick_new(mem, wick_io, (size_t)f->nparam + r->nin);
  for (uint32_t i = 0; i < f->nparam; i++) model_describe(f, (wick_value){1 + i}, mem, &io[i]);
  for (uint32_t i = 0; i < r->nin; i++) model_describe(f, r->in[i], mem, &io[f->nparam + i]);
  wick_type *type = wick_new(mem, wick_type, (size_t)f->nparam + r->nin + 1u);
  for (uint32_t i = 0; i < f->nparam + r->nin; i++)
    type[i] = wick_type_of(f, i < f->nparam ? (wick_value){1 + i} : r->in[i - f->nparam]);
  wick_datatypes_describe(f->module, f->nparam + r->nin, type, io, mem);
  for (uint32_t i = 0; i < f->module->metadata.n; i++) {
    const wick_pair *p = &f->module->metadata.at[i];
    wick_keys_take(p->key, p->value, f->nparam, r->nin, io, mem);
  }
  *out_ninput = f->nparam;
  *out_noutput = r->nin;
  *out_io = io;
}

wick_status wick_model_take(wick_model *m, const wick_func *f)
{
  WICK_TRY(wick_states_last(f, &m->mem, &m->tmp, &m->main));
  wick_model_describe(m->main, &m->mem, &m->ninput, &m->noutput, &m->io);
  m->nstate = wick_states_count(m->main);
  return NULL;
}

const char *wick_io_text(const wick_io *io, wick_arena *mem)
{
  if (io->data) return io->data->name;
  wick_text t = wick_text_begin(mem);
  wick_text_printf(&t, "%s[", wick_elem_name(io->elem));
  for (uint32_t k = 0; k < io->rank; k++) {
    if (k) wick_text_char(&t, ',');
    if (io->dim[k] < 0)
      wick_text_add(&t, *io->dim_name[k] ? io->dim_name[k] : "?");
    else
      wick_text_int(&t, io->dim[k]);
  }
  if (io->unranked) wick_text_add(&t, WICK_IMPORT_UNRANKED);
  wick_text_char(&t, ']');
  return t.at;
}

/* ---- sizes ---- */

typedef struct model_sizes {
  const wick_model *m;
  wick_arena *mem;
  wick_list(wick_size) list;
  wick_list(wick_shape) lists; /* shapes of inputs without a rank, of sequences and of optionals */
} model_sizes;

static wick_status model_size(model_sizes *s, const char *name, int64_t value, const char *location)
{
  for (uint32_t i = 0; i < s->list.n; i++)
    if (strcmp(s->list.at[i].name, name) == 0)
      return s->list.at[i].value == value
                 ? NULL
                 : wick_fail(s->mem, WICK_ETYPE, location,
                             "the size %s is %lld here and %lld elsewhere", name, (long long)value,
                             (long long)s->list.at[i].value);
  if (value < 0) return wick_fail(s->mem, WICK_ETYPE, location, "the size %s is negative", name);
  wick_push(s->mem, &s->list, (wick_size){name, value});
  return NULL;
}

static wick_status model_misfit(model_sizes *s, const wick_io *io, const wick_shape *shape,
                                const char *location)
{
  wick_io given = {.elem = io->elem, .rank = shape->rank};
  for (uint32_t k = 0; k < shape->rank && k < WICK_MAX_DIMS; k++) given.dim[k] = shape->dim[k];
  if (shape->rank > WICK_MAX_DIMS)
    return wick_fail(s->mem, WICK_ETYPE, location, "its rank cannot be %u", shape->rank);
  for (uint32_t k = 0; k < given.rank; k++) given.dim_name[k] = "";
  return wick_fail(s->mem, WICK_ETYPE, location, "it is %s, %s is given", wick_io_text(io, s->mem),
                   wick_io_text(&given, s->mem));
}

/* Returns whether an input is a sequence or an optional, or an element of one, NAME.3. */
static bool model_has_list(const wick_model *m, const char *input, wick_arena *mem)
{
  const char *key = wick_str_printf(mem, "onnx.input.%s", input), *dot = strrchr(key, '.');
  if (wick_model_metadata(m, key)) return true;
  if (!dot[1] || dot[1 + strspn(dot + 1, "0123456789")]) return false;
  return wick_model_metadata(m, wick_str_printf(mem, "%.*s", (int)(dot - key), key)) != NULL;
}

static wick_status model_shape(model_sizes *s, const wick_shape *shape)
{
  const wick_model *m = s->m;
  uint32_t i = 0, n = wick_model_ninput(m);
  while (i < n && strcmp(m->io[i].name, shape->input) != 0) i++;
  const char *location =
      wick_str_printf(s->mem, "%s: input \"%s\"", wick_path_base(m->path), shape->input);
  if (i == n && model_has_list(m, shape->input, s->mem)) {
    wick_push(s->mem, &s->lists, *shape);
    return NULL;
  }
  if (i == n) return wick_fail(s->mem, WICK_ETYPE, location, "the model has no such input");
  const wick_io *io = &m->io[i];
  if (io->unranked) {
    if (shape->rank > WICK_MAX_DIMS) return model_misfit(s, io, shape, location);
    wick_push(s->mem, &s->lists, *shape);
    return NULL;
  }
  if (io->rank != shape->rank) return model_misfit(s, io, shape, location);
  const wick_type_info *t = wick_info_of(m->main, (wick_value){1 + i});
  for (uint32_t k = 0; k < io->rank; k++) {
    if (io->dim[k] >= 0 && io->dim[k] != shape->dim[k]) return model_misfit(s, io, shape, location);
    if (io->dim[k] < 0 && wick_dim_is_symbol(m->module->dims, t->dim[k]))
      WICK_TRY(model_size(s, io->dim_name[k], shape->dim[k], location));
  }
  return NULL;
}

/* Returns whether a size of that name occurs in the inputs, also within an expression. */
static bool model_has_size(const wick_model *m, const char *name, wick_arena *tmp)
{
  for (uint32_t i = 0; i < m->ninput; i++)
    for (uint32_t k = 0; k < m->io[i].rank; k++)
      if (strcmp(m->io[i].dim_name[k], name) == 0) return true;
  wick_dim_list all = {0};
  if (m->main) all = wick_func_sizes(m->main, tmp);
  for (uint32_t i = 0; i < all.n; i++) {
    wick_text symbol = wick_text_begin(tmp);
    wick_dim_print(m->module->dims, all.at[i], &symbol);
    if (strcmp(symbol.at, name) == 0) return true;
  }
  return false;
}

wick_status wick_model_sizes(const wick_model *m, uint32_t nshape, const wick_shape *shape,
                             uint32_t nsize, const wick_size *sizes, wick_arena *mem,
                             wick_given *out)
{
  model_sizes s = {.m = m, .mem = mem};
  const char *location = wick_path_base(m->path);
  for (uint32_t i = 0; i < nsize; i++) {
    if (!model_has_size(m, sizes[i].name, mem))
      return wick_fail(mem, WICK_EINVAL, location, "no input has a size named %s", sizes[i].name);
    WICK_TRY(model_size(&s, sizes[i].name, sizes[i].value, location));
  }
  for (uint32_t i = 0; i < nshape; i++) WICK_TRY(model_shape(&s, &shape[i]));
  *out =
      (wick_given){.nsize = s.list.n, .sizes = s.list.at, .nlist = s.lists.n, .list = s.lists.at};
  return NULL;
}

wick_status wick_model_ranges(const wick_model *m, uint32_t n, const wick_size_range *ranges,
                              bool vary, wick_arena *mem, wick_given *given)
{
  const char *location = wick_path_base(m->path);
  if (n && model_is_own_text(m))
    return wick_fail(mem, WICK_EINVAL, location,
                     "a module in text has the ranges of its sizes itself");
  for (uint32_t i = 0; i < n; i++) {
    const wick_size_range *r = &ranges[i];
    if (!model_has_size(m, r->name, mem))
      return wick_fail(mem, WICK_EINVAL, location, "no input has a size named %s", r->name);
    if (r->least < 0 || r->most < r->least)
      return wick_fail(mem, WICK_EINVAL, location, "the size %s cannot be from %lld to %lld",
                       r->name, (long long)r->least, (long long)r->most);
    for (uint32_t k = 0; k < given->nsize; k++)
      if (strcmp(given->sizes[k].name, r->name) == 0)
        return wick_fail(mem, WICK_EINVAL, location, "the size %s has both a value and a range",
                         r->name);
  }
  given->nrange = n, given->ranges = ranges, given->vary = vary;
  return NULL;
}

wick_status wick_model_contents(const wick_model *m, uint32_t n, const wick_content *contents,
                                wick_arena *mem, wick_given *given)
{
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = 0, nin = wick_model_ninput(m);
    while (k < nin && strcmp(m->io[k].name, contents[i].input) != 0) k++;
    if (k == nin)
      return wick_fail(
          mem, WICK_ETYPE,
          wick_str_printf(mem, "%s: input \"%s\"", wick_path_base(m->path), contents[i].input),
          "the model has no such input");
  }
  given->ncontent = n;
  given->contents = contents;
  given->fixed = wick_new(mem, bool, n);
  return NULL;
}

/* ---- the public interface ---- */

static wick_status model_load(wick_model *m, const char *path, const char *entry, const void *bytes,
                              size_t nbytes)
{
  m->path = wick_str_dup(&m->mem, path);
  m->entry = entry ? wick_str_dup(&m->mem, entry) : NULL;
  m->bytes = (wick_span){bytes, nbytes};
  if (bytes && entry) {
    if (nbytes > INT32_MAX)
      return wick_fail(&m->mem, WICK_ELIMIT, path, "the program has %zu bytes", nbytes);
    m->bytes.at = (const unsigned char *)wick_str_dupn(&m->mem, bytes, nbytes);
  }
  if (!bytes) WICK_TRY(wick_format_find_folder(m->path, &m->mem, &m->format));
  if (!bytes && !m->format) {
    wick_file *file;
    WICK_TRY(wick_files_map(&m->files, m->path, &file));
    m->bytes = (wick_span){file->at, file->nbytes};
  }
  bool program = entry && (bytes || wick_is_program(m->bytes.at, m->bytes.nbytes));
  if (!program && !m->format) WICK_TRY(wick_format_find(m->bytes, m->path, &m->mem, &m->format));
  if (m->format) m->signature = m->entry, m->entry = NULL;
  m->module = wick_module_create(&m->guard, wick_path_base(m->path));
  const wick_func *f;
  WICK_TRY(wick_model_import(m, NULL, m->module, &m->mem, &m->tmp, &f));
  return wick_model_take(m, f);
}

/* Reads the model again, into a new module, with these initializers as inputs. */
static wick_status model_override(wick_model *m, uint32_t n, const char *const *names)
{
  const char *file = wick_path_base(m->path);
  const char **own = wick_new(&m->mem, const char *, n);
  if (m->derivatives.n)
    return wick_fail(&m->mem, WICK_EINVAL, file,
                     "initializers become inputs before derivatives are asked for");
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = 0;
    while (k < m->noverridable && strcmp(m->overridable[k].name, names[i]) != 0) k++;
    if (k == m->noverridable)
      return wick_fail(&m->mem, WICK_EINVAL, file, "it has no overridable initializer \"%s\"",
                       names[i]);
    own[i] = m->overridable[k].name;
  }
  m->noverride = n, m->override = own;
  m->described = m->follows = m->spent = false;
  m->module = wick_module_create(&m->guard, file);
  const wick_func *f;
  WICK_TRY(wick_model_import(m, NULL, m->module, &m->mem, &m->tmp, &f));
  return wick_model_take(m, f);
}

wick_error *wick_override(wick_model *m, uint32_t n, const char *const *names)
{
  if (!m || (n && !names)) return wick_invalid("wick_override: %s is NULL", m ? "names" : "model");
  for (uint32_t i = 0; i < n; i++)
    if (!names[i]) return wick_invalid("wick_override: names[%u] is NULL", i);
  const wick_model before = *m;
  wick_error *e = setjmp(m->guard.where) ? wick_guard_error(&m->guard)
                                         : wick_error_export(model_override(m, n, names));
  wick_arena_free(&m->tmp);
  if (m->module != before.module) wick_module_free(e ? m->module : before.module);
  if (!e) return NULL;
  m->module = before.module, m->main = before.main;
  m->noverride = before.noverride, m->override = before.override;
  m->noverridable = before.noverridable, m->overridable = before.overridable;
  m->described = before.described, m->follows = before.follows, m->spent = before.spent;
  return e;
}

uint32_t wick_model_noverridable(const wick_model *m) { return m ? m->noverridable : 0; }

const wick_io *wick_model_overridable(const wick_model *m, uint32_t i)
{
  return m && i < m->noverridable ? &m->overridable[i] : NULL;
}

/* Loads from a file if `bytes` is NULL; a program if `entry` is not NULL. */
static wick_error *model_make(wick_context *context, const char *name, const char *entry,
                              const void *bytes, size_t nbytes, wick_model **out_model)
{
  wick_allocator a = context->allocator;
  wick_model *m = a.alloc(a.self, sizeof *m);
  if (!m) return wick_error_nomem();
  *m = (wick_model){.context = context, .guard = wick_context_guard(context)};
  m->mem = wick_arena_make(&m->guard);
  m->tmp = wick_arena_make(&m->guard);
  m->files = wick_files_begin(&m->mem);
  m->files.allow_links = context->options.allow_links;
  const wick_work work = {.context = context}; /* without the time limit, which is for compiling */
  wick_work_watch(&work, &m->guard);
  wick_error *e = setjmp(m->guard.where)
                      ? wick_guard_error(&m->guard)
                      : wick_error_export(model_load(m, name, entry, bytes, nbytes));
  wick_work_watch(NULL, &m->guard);
  wick_arena_free(&m->tmp);
  if (e)
    wick_model_free(m);
  else
    *out_model = m;
  return e;
}

wick_error *wick_load_bytes(wick_context *context, const char *name, const void *bytes,
                            size_t nbytes, wick_model **out_model)
{
  if (!out_model) return wick_invalid("wick_load_bytes: out_model is NULL");
  *out_model = NULL;
  if (!context || !name)
    return wick_invalid("wick_load_bytes: %s is NULL", context ? "name" : "context");
  if (!bytes) return wick_invalid("wick_load_bytes: there are no bytes, the address is NULL");
  return model_make(context, name, NULL, bytes, nbytes, out_model);
}

wick_error *wick_load(wick_context *context, const char *path, wick_model **out_model)
{
  if (!out_model) return wick_invalid("wick_load: out_model is NULL");
  *out_model = NULL;
  if (!context || !path) return wick_invalid("wick_load: %s is NULL", context ? "path" : "context");
  return model_make(context, path, NULL, NULL, 0, out_model);
}

wick_error *wick_load_program(wick_context *context, const char *path, const char *entry,
                              wick_model **out_model)
{
  if (!out_model) return wick_invalid("wick_load_program: out_model is NULL");
  *out_model = NULL;
  if (!context || !path || !entry)
    return wick_invalid("wick_load_program: %s is NULL", !context ? "context"
                                                         : path   ? "entry"
                                                                  : "path");
  return model_make(context, path, entry, NULL, 0, out_model);
}

wick_error *wick_load_program_bytes(wick_context *context, const char *path, const char *entry,
                                    const void *bytes, size_t nbytes, wick_model **out_model)
{
  if (!out_model) return wick_invalid("wick_load_program_bytes: out_model is NULL");
  *out_model = NULL;
  if (!context || !path || !entry || !bytes)
    return wick_invalid("wick_load_program_bytes: %s is NULL", !context ? "context"
                                                               : !path  ? "path"
                                                               : entry  ? "bytes"
                                                                        : "entry");
  return model_make(context, path, entry, bytes, nbytes, out_model);
}

void wick_model_free(wick_model *m)
{
  if (!m) return;
  wick_module_free(m->module);
  wick_arena_free(&m->tmp);
  wick_files_close(&m->files);
  wick_arena_free(&m->mem);
  wick_allocator a = m->context->allocator;
  a.free(a.self, m, sizeof *m);
}

uint32_t wick_model_ninput(const wick_model *m) { return m ? m->ninput - m->nstate : 0; }
uint32_t wick_model_noutput(const wick_model *m) { return m ? m->noutput - m->nstate : 0; }
uint32_t wick_model_nstate(const wick_model *m) { return m ? m->nstate : 0; }

const wick_io *wick_model_state(const wick_model *m, uint32_t i)
{
  return m && i < m->nstate ? &m->io[m->ninput - m->nstate + i] : NULL;
}

const wick_io *wick_model_input(const wick_model *m, uint32_t i)
{
  return i < wick_model_ninput(m) ? &m->io[i] : NULL;
}

const wick_io *wick_model_output(const wick_model *m, uint32_t i)
{
  return i < wick_model_noutput(m) ? &m->io[m->ninput + i] : NULL;
}

const wick_part *wick_model_parameters(const wick_model *m, uint32_t *npart)
{
  if (npart) *npart = m ? m->module->nparam_part : 0;
  return m && m->module->nparam_part ? m->module->param_part : NULL;
}

const wick_part *wick_model_result(const wick_model *m, uint32_t *npart)
{
  if (npart) *npart = m ? m->module->nresult_part : 0;
  return m && m->module->nresult_part ? m->module->result_part : NULL;
}

const char *wick_model_metadata_key(const wick_model *m, uint32_t i)
{
  return m && i < m->module->metadata.n ? m->module->metadata.at[i].key : NULL;
}

bool wick_model_needs_shapes(const wick_model *m)
{
  bool dynamic = m && m->described;
  for (uint32_t i = 0; m && i < m->ninput; i++) {
    dynamic = dynamic || m->io[i].unranked;
    for (uint32_t k = 0; k < m->io[i].rank; k++) dynamic = dynamic || m->io[i].dim[k] < 0;
  }
  return dynamic;
}

const char *wick_model_metadata(const wick_model *m, const char *key)
{
  for (uint32_t i = 0; m && key && i < m->module->metadata.n; i++)
    if (strcmp(m->module->metadata.at[i].key, key) == 0) return m->module->metadata.at[i].value;
  return NULL;
}
