/* Model: loads and compiles a model. */
#include <string.h>

#include "core.h"

typedef struct core_model {
  PyObject_HEAD core_context *context;
  wick_model *model;
  Py_buffer bytes; /* of a model in memory; .obj is NULL for a file */
} core_model;

static void model_dealloc(PyObject *self)
{
  core_model *m = (core_model *)self;
  wick_model_free(m->model);
  Py_XDECREF((PyObject *)m->context);
  if (m->bytes.obj) PyBuffer_Release(&m->bytes);
  core_dealloc(self);
}

/* A converter of arguments: the bytes of a path, or NULL for None. */
static int model_ops(PyObject *o, void *out)
{
  return o == Py_None ? 1 : PyUnicode_FSConverter(o, out);
}

/* Model(path, bytes=None, allow_links=False, entry=None, ops=None): if there are bytes, `path` is only a
 * name; if there is an entry, it is that of a program of the language; `ops` is the file of one whose
 * functions are operators of the model. */
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
  static char *words[] = {"path", "bytes", "allow_links", "entry", "ops", NULL};
  PyObject *path = NULL, *bytes = Py_None, *ops = NULL;
  int allow_links = 0;
  const char *entry = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|OpzO&", words, PyUnicode_FSConverter, &path,
                                   &bytes, &allow_links, &entry, model_ops, &ops)) {
    Py_XDECREF(path);
    Py_XDECREF(ops);
    return NULL;
  }
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  core_model *m = (core_model *)alloc(type, 0);
  bool good = m && (bytes == Py_None || PyObject_GetBuffer(bytes, &m->bytes, PyBUF_SIMPLE) == 0) &&
              (m->context = core_context_new(allow_links, ops ? PyBytes_AsString(ops) : NULL));
  if (good) {
    const char *name = PyBytes_AsString(path);
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e =
        entry && m->bytes.obj
            ? wick_load_program_bytes(m->context->context, name, entry, m->bytes.buf,
                                      (size_t)m->bytes.len, &m->model)
        : entry        ? wick_load_program(m->context->context, name, entry, &m->model)
        : m->bytes.obj ? wick_load_bytes(m->context->context, name, m->bytes.buf,
                                         (size_t)m->bytes.len, &m->model)
                       : wick_load(m->context->context, name, &m->model);
    Py_END_ALLOW_THREADS good = core_done(e);
  }
  Py_DECREF(path);
  Py_XDECREF(ops);
  if (!good) Py_CLEAR(m);
  return (PyObject *)m;
}

/* ---- descriptions ---- */

typedef const wick_io *model_io(const wick_model *m, uint32_t i);

static PyObject *model_ios(const wick_model *m, uint32_t n, model_io *get)
{
  PyObject *list = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject *io = core_io(get(m, i));
    if (!io) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, (Py_ssize_t)i, io);
  }
  return list;
}

static PyObject *model_inputs(PyObject *self, void *arg)
{
  const wick_model *m = ((core_model *)self)->model;
  (void)arg;
  return model_ios(m, wick_model_ninput(m), wick_model_input);
}

static PyObject *model_outputs(PyObject *self, void *arg)
{
  const wick_model *m = ((core_model *)self)->model;
  (void)arg;
  return model_ios(m, wick_model_noutput(m), wick_model_output);
}

static PyObject *model_states(PyObject *self, void *arg)
{
  const wick_model *m = ((core_model *)self)->model;
  (void)arg;
  return model_ios(m, wick_model_nstate(m), wick_model_state);
}

/* (descriptions of the inputs, those of the outputs, parts of the parameters, those of the result) */
static PyObject *model_data(PyObject *self, void *arg)
{
  (void)arg;
  const wick_model *m = ((core_model *)self)->model;
  uint32_t nin = wick_model_ninput(m), nout = wick_model_noutput(m), nparam, nresult;
  PyObject *in = PyTuple_New((Py_ssize_t)nin), *out = PyTuple_New((Py_ssize_t)nout);
  for (uint32_t i = 0; in && i < nin; i++)
    PyTuple_SetItem(in, (Py_ssize_t)i, core_description(wick_model_input(m, i)));
  for (uint32_t i = 0; out && i < nout; i++)
    PyTuple_SetItem(out, (Py_ssize_t)i, core_description(wick_model_output(m, i)));
  const wick_part *param = wick_model_parameters(m, &nparam),
                  *result = wick_model_result(m, &nresult);
  return Py_BuildValue("NNNN", in, out, core_parts(param, nparam), core_parts(result, nresult));
}

static PyObject *model_overridable(PyObject *self, void *arg)
{
  const wick_model *m = ((core_model *)self)->model;
  (void)arg;
  return model_ios(m, wick_model_noverridable(m), wick_model_overridable);
}

static PyObject *model_needs_shapes(PyObject *self, void *arg)
{
  (void)arg;
  return PyBool_FromLong(wick_model_needs_shapes(((core_model *)self)->model));
}

static PyObject *model_metadata(PyObject *self, void *arg)
{
  (void)arg;
  const wick_model *m = ((core_model *)self)->model;
  PyObject *all = PyDict_New();
  const char *key;
  for (uint32_t i = 0; all && (key = wick_model_metadata_key(m, i)); i++) {
    const char *text = wick_model_metadata(m, key);
    PyObject *value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!value || PyDict_SetItemString(all, key, value) < 0) Py_CLEAR(all);
    Py_XDECREF(value);
  }
  return all;
}

/* ---- compiling ---- */

typedef struct model_request { /* arrays with as many elements as the Python lists */
  wick_shape *shape;
  int64_t (*dim)[WICK_MAX_DIMS];
  wick_size *size, *specialize_dim;
  wick_size_range *range;
  wick_content *content, *specialize_input;
  const char **donate;
  Py_buffer *buffer, *specialize_input_buffer;
  uint32_t nshape, nsize, nspecialize_dim, nrange, ncontent, nspecialize_input, ndonate;
} model_request;

static void model_request_free(model_request *r)
{
  for (uint32_t i = 0; i < r->ncontent; i++) PyBuffer_Release(&r->buffer[i]);
  for (uint32_t i = 0; i < r->nspecialize_input; i++)
    PyBuffer_Release(&r->specialize_input_buffer[i]);
  PyMem_Free(r->donate);
  PyMem_Free(r->specialize_input);
  PyMem_Free(r->specialize_input_buffer);
  PyMem_Free(r->shape);
  PyMem_Free(r->dim);
  PyMem_Free(r->size);
  PyMem_Free(r->specialize_dim);
  PyMem_Free(r->range);
  PyMem_Free(r->content);
  PyMem_Free(r->buffer);
}

static void *model_alloc(PyObject *dict, size_t size)
{
  void *p = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, size);
  if (!p) PyErr_NoMemory();
  return p;
}

static bool model_shapes(model_request *r, PyObject *dict)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;
  r->shape = model_alloc(dict, sizeof *r->shape);
  r->dim = model_alloc(dict, sizeof *r->dim);
  while (r->shape && r->dim && PyDict_Next(dict, &at, &key, &value)) {
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    Py_ssize_t rank = PySequence_Size(value);
    if (!name || rank < 0) return false;
    if (rank > WICK_MAX_DIMS) {
      PyErr_Format(PyExc_ValueError, "input \"%s\": its rank is %zd, the most is %d", name, rank,
                   WICK_MAX_DIMS);
      return false;
    }
    for (Py_ssize_t k = 0; k < rank; k++) {
      PyObject *size = PySequence_GetItem(value, k);
      r->dim[r->nshape][k] = size ? PyLong_AsLongLong(size) : -1;
      Py_XDECREF(size);
    }
    if (PyErr_Occurred()) return false;
    r->shape[r->nshape] = (wick_shape){name, (uint32_t)rank, r->dim[r->nshape]};
    r->nshape++;
  }
  return r->shape && r->dim;
}

static bool model_sizes(model_request *r, PyObject *dict)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;
  r->size = model_alloc(dict, sizeof *r->size);
  while (r->size && PyDict_Next(dict, &at, &key, &value)) {
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    int64_t size = name ? PyLong_AsLongLong(value) : -1;
    if (PyErr_Occurred()) return false;
    r->size[r->nsize++] = (wick_size){name, size};
  }
  return r->size != NULL;
}

/* {name: (value, ...)} */
static bool model_specialize_dims(model_request *r, PyObject *dict)
{
  PyObject *key, *value;
  Py_ssize_t at = 0, n = 0;
  while (PyDict_Next(dict, &at, &key, &value)) {
    Py_ssize_t more = PySequence_Size(value);
    if (more < 0) return false;
    n += more;
  }
  r->specialize_dim = PyMem_Calloc((size_t)n + 1, sizeof *r->specialize_dim);
  if (!r->specialize_dim) return PyErr_NoMemory(), false;
  at = 0;
  while (PyDict_Next(dict, &at, &key, &value)) {
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    for (Py_ssize_t i = 0; name && i < PySequence_Size(value) && r->nspecialize_dim < n; i++) {
      PyObject *size = PySequence_GetItem(value, i);
      r->specialize_dim[r->nspecialize_dim++] =
          (wick_size){name, size ? PyLong_AsLongLong(size) : -1};
      Py_XDECREF(size);
    }
    if (PyErr_Occurred()) return false;
  }
  return true;
}

/* {name: (least, most, step)} */
static bool model_ranges(model_request *r, PyObject *dict)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;
  r->range = model_alloc(dict, sizeof *r->range);
  while (r->range && PyDict_Next(dict, &at, &key, &value)) {
    wick_size_range *x = &r->range[r->nrange++];
    long long least, most, step;
    if (!(x->name = PyUnicode_AsUTF8AndSize(key, NULL)) ||
        !PyArg_ParseTuple(value, "LLL", &least, &most, &step))
      return false;
    x->least = least, x->most = most, x->step = step;
  }
  return r->range != NULL;
}

static bool model_contents(model_request *r, PyObject *dict)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;
  r->content = model_alloc(dict, sizeof *r->content);
  r->buffer = model_alloc(dict, sizeof *r->buffer);
  while (r->content && r->buffer && PyDict_Next(dict, &at, &key, &value)) {
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    Py_buffer *b = &r->buffer[r->ncontent];
    if (!name || PyObject_GetBuffer(value, b, PyBUF_SIMPLE) < 0) return false;
    r->content[r->ncontent++] = (wick_content){name, b->buf, (uint64_t)b->len};
  }
  return r->content && r->buffer;
}

/* ((name, bytes), ...) */
static bool model_specialize_inputs(model_request *r, PyObject *all)
{
  Py_ssize_t n = PyTuple_Size(all);
  r->specialize_input = PyMem_Calloc((size_t)n + 1, sizeof *r->specialize_input);
  r->specialize_input_buffer = PyMem_Calloc((size_t)n + 1, sizeof *r->specialize_input_buffer);
  if (!r->specialize_input || !r->specialize_input_buffer) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < n; i++) {
    const char *name;
    PyObject *value;
    Py_buffer *b = &r->specialize_input_buffer[i];
    if (!PyArg_ParseTuple(PyTuple_GetItem(all, i), "sO", &name, &value) ||
        PyObject_GetBuffer(value, b, PyBUF_SIMPLE) < 0)
      return false;
    r->specialize_input[r->nspecialize_input++] = (wick_content){name, b->buf, (uint64_t)b->len};
  }
  return true;
}

static bool model_donate(model_request *r, PyObject *names)
{
  Py_ssize_t n = PyTuple_Size(names);
  r->donate = PyMem_Calloc((size_t)n + 1, sizeof *r->donate);
  if (!r->donate) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < n; i++)
    if (!(r->donate[r->ndonate++] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL)))
      return false;
  return true;
}

/* compile(shapes, sizes, ranges, dynamic, specialize_dims, specialize_inputs, contents, donate, target,
 * tune, precision, tuning, cache, strict, jobs, auto_specialize): dicts of names, and texts or None. */
static PyObject *model_compile(PyObject *self, PyObject *args)
{
  core_model *m = (core_model *)self;
  PyObject *shapes, *sizes, *ranges, *specialize_dims, *specialize_input, *contents, *donate;
  wick_compile_options o = {.size = sizeof o};
  model_request r = {0};
  int strict, dynamic;
  unsigned jobs, auto_specialize;
  if (!PyArg_ParseTuple(args, "O!O!O!pO!O!O!O!zzzzzpII:compile", &PyDict_Type, &shapes,
                        &PyDict_Type, &sizes, &PyDict_Type, &ranges, &dynamic, &PyDict_Type,
                        &specialize_dims, &PyTuple_Type, &specialize_input, &PyDict_Type, &contents,
                        &PyTuple_Type, &donate, &o.target, &o.tune, &o.precision, &o.tuning,
                        &o.cache, &strict, &jobs, &auto_specialize))
    return NULL;
  core_compiled *k = NULL;
  if (model_shapes(&r, shapes) && model_sizes(&r, sizes) && model_ranges(&r, ranges) &&
      model_specialize_dims(&r, specialize_dims) && model_specialize_inputs(&r, specialize_input) &&
      model_contents(&r, contents) && model_donate(&r, donate) &&
      (k = core_compiled_new(m->context))) {
    o.strict = strict;
    o.jobs = jobs;
    o.auto_specialize = auto_specialize;
    o.nspecialize_dim = r.nspecialize_dim, o.specialize_dims = r.specialize_dim;
    o.nspecialize_input = r.nspecialize_input, o.specialize_inputs = r.specialize_input;
    o.nshape = r.nshape, o.shape = r.shape;
    o.nsize = r.nsize, o.sizes = r.size;
    o.nrange = r.nrange, o.ranges = r.range, o.dynamic = dynamic;
    o.ncontent = r.ncontent, o.contents = r.content;
    o.ndonate = r.ndonate, o.donate = r.donate;
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e = wick_compile(m->model, &o, &k->compiled);
    Py_END_ALLOW_THREADS if (!core_done(e)) Py_CLEAR(k);
  }
  model_request_free(&r);
  return (PyObject *)k;
}

static void model_printed(void *arg, const char *text, size_t nbytes)
{
  PyGILState_STATE state = PyGILState_Ensure();
  *(PyObject **)arg = PyBytes_FromStringAndSize(text, (Py_ssize_t)nbytes);
  PyGILState_Release(state);
}

/* print(shapes, contents, data) -> the text of the model with these shapes and contents of inputs; see
 * wick_model_print. */
static PyObject *model_print(PyObject *self, PyObject *args)
{
  core_model *m = (core_model *)self;
  PyObject *shapes, *contents, *text = NULL;
  wick_compile_options o = {.size = sizeof o};
  model_request r = {0};
  int data;
  if (!PyArg_ParseTuple(args, "O!O!p:print", &PyDict_Type, &shapes, &PyDict_Type, &contents, &data))
    return NULL;
  if (model_shapes(&r, shapes) && model_contents(&r, contents)) {
    o.nshape = r.nshape, o.shape = r.shape;
    o.ncontent = r.ncontent, o.contents = r.content;
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e = wick_model_print(m->model, &o, data, model_printed, &text);
    Py_END_ALLOW_THREADS if (!core_done(e)) Py_CLEAR(text);
  }
  model_request_free(&r);
  return text;
}

/* bundle(folder, name, target, embed, donate) -> {size: bytes}; see wick_bundle_write. */
static PyObject *model_bundle(PyObject *self, PyObject *args)
{
  core_model *m = (core_model *)self;
  PyObject *donate;
  int embed;
  wick_compile_options o = {.size = sizeof o};
  wick_bundle_report report;
  wick_bundle_options b = {.size = sizeof b, .report = &report};
  model_request r = {0};
  if (!PyArg_ParseTuple(args, "szzpO!:bundle", &b.folder, &b.name, &o.target, &embed, &PyTuple_Type,
                        &donate))
    return NULL;
  bool good = model_donate(&r, donate);
  if (good) {
    o.ndonate = r.ndonate, o.donate = r.donate;
    b.embed = embed;
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e = wick_bundle_write(m->model, &o, &b);
    Py_END_ALLOW_THREADS good = core_done(e);
  }
  model_request_free(&r);
  if (!good) return NULL;
  return Py_BuildValue("{sKsKsKsK}", "flash", (unsigned long long)report.flash_bytes, "ram",
                       (unsigned long long)report.ram_bytes, "stack",
                       (unsigned long long)report.stack_bytes, "constants",
                       (unsigned long long)report.constants_bytes);
}

/* grad(of, wrt, cotangent): a text or None, a tuple of texts, a bool; see wick_grad. */
static PyObject *model_grad(PyObject *self, PyObject *args)
{
  core_model *m = (core_model *)self;
  PyObject *wrt;
  wick_grad_options o = {.size = sizeof o};
  int cotangent;
  if (!PyArg_ParseTuple(args, "zO!p:grad", &o.of, &PyTuple_Type, &wrt, &cotangent)) return NULL;
  Py_ssize_t n = PyTuple_Size(wrt);
  const char **name = PyMem_Calloc((size_t)n + 1, sizeof *name);
  if (!name) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++)
    name[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(wrt, i), NULL);
  wick_error *e = NULL;
  if (!PyErr_Occurred()) {
    o.nwrt = (uint32_t)n, o.wrt = name, o.cotangent = cotangent;
    Py_BEGIN_ALLOW_THREADS e = wick_grad(m->model, &o);
    Py_END_ALLOW_THREADS(void) core_done(e);
  }
  PyMem_Free(name);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

/* override(names): a tuple of texts; see wick_override. */
static PyObject *model_override(PyObject *self, PyObject *args)
{
  core_model *m = (core_model *)self;
  PyObject *names;
  if (!PyArg_ParseTuple(args, "O!:override", &PyTuple_Type, &names)) return NULL;
  Py_ssize_t n = PyTuple_Size(names);
  const char **name = PyMem_Calloc((size_t)n + 1, sizeof *name);
  if (!name) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++)
    name[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
  if (!PyErr_Occurred()) {
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e = wick_override(m->model, (uint32_t)n, name);
    Py_END_ALLOW_THREADS if (e) core_raise(e);
  }
  PyMem_Free(name);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

/* ---- the type ---- */

static PyMethodDef model_methods[] = {
    {"override", model_override, METH_VARARGS, "override(names)"},
    {"grad", model_grad, METH_VARARGS, "grad(of, wrt, cotangent)"},
    {"compile", model_compile, METH_VARARGS,
     "compile(shapes, sizes, ranges, dynamic, specialize_dims, specialize_inputs, contents, "
     "donate, target, tune, precision, tuning, cache, strict, jobs, auto_specialize)"},
    {"bundle", model_bundle, METH_VARARGS, "bundle(folder, name, target, embed, donate)"},
    {"print", model_print, METH_VARARGS, "print(shapes, contents, data): the model as text"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef model_getset[] = {
    {"inputs", model_inputs, NULL, "(name, element type, sizes, names of dynamic sizes) of each",
     NULL},
    {"data", model_data, NULL, "(inputs, outputs, parameters, result) of a program", NULL},
    {"outputs", model_outputs, NULL, "as inputs", NULL},
    {"states", model_states, NULL, "as inputs: what a session keeps from run to run", NULL},
    {"overridable", model_overridable, NULL, "initializers that may be inputs, as inputs", NULL},
    {"metadata", model_metadata, NULL, "the metadata of the file", NULL},
    {"needs_shapes", model_needs_shapes, NULL,
     "shapes or contents of inputs must be given to compile it", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot model_slots[] = {{Py_tp_new, model_new},
                                    {Py_tp_dealloc, model_dealloc},
                                    {Py_tp_methods, model_methods},
                                    {Py_tp_getset, model_getset},
                                    {0, NULL}};
static PyType_Spec model_spec = {.name = "wick._core.Model",
                                 .basicsize = sizeof(core_model),
                                 .flags = Py_TPFLAGS_DEFAULT,
                                 .slots = model_slots};

bool core_add_model(PyObject *module) { return (core.model = core_type(module, &model_spec)); }
