/* Compiled: machine code with its weights, from Model.compile or from a file. */
#include <string.h>

#include "core.h"

core_compiled *core_compiled_new(core_context *context)
{
  core_compiled *k = PyObject_New(core_compiled, core.compiled);
  if (!k) return NULL;
  Py_INCREF((PyObject *)context);
  k->context = context;
  k->compiled = NULL;
  return k;
}

static void compiled_dealloc(PyObject *self)
{
  core_compiled *k = (core_compiled *)self;
  wick_compiled_free(k->compiled);
  Py_XDECREF((PyObject *)k->context);
  core_dealloc(self);
}

/* open(path) -> Compiled */
static PyObject *compiled_load(PyObject *type, PyObject *args)
{
  (void)type;
  PyObject *path = NULL;
  if (!PyArg_ParseTuple(args, "O&:open", PyUnicode_FSConverter, &path)) return NULL;
  core_context *context = core_context_new(false, NULL);
  core_compiled *k = context ? core_compiled_new(context) : NULL;
  Py_XDECREF((PyObject *)context);
  if (k) {
    const char *name = PyBytes_AsString(path);
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e = wick_compiled_load(k->context->context, name, &k->compiled);
    Py_END_ALLOW_THREADS if (!core_done(e)) Py_CLEAR(k);
  }
  Py_DECREF(path);
  return (PyObject *)k;
}

static PyObject *compiled_save(PyObject *self, PyObject *args)
{
  PyObject *path = NULL;
  if (!PyArg_ParseTuple(args, "O&:save", PyUnicode_FSConverter, &path)) return NULL;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  const char *name = PyBytes_AsString(path);
  wick_error *e;
  Py_BEGIN_ALLOW_THREADS e = wick_save(k, name);
  Py_END_ALLOW_THREADS Py_DECREF(path);
  if (!core_done(e)) return NULL;
  Py_RETURN_NONE;
}

/* ---- descriptions ---- */

static PyObject *compiled_ios(const wick_compiled *k, uint32_t n,
                              const wick_io *(*get)(const wick_compiled *, uint32_t))
{
  PyObject *list = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject *io = core_io(get(k, i));
    if (!io) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, (Py_ssize_t)i, io);
  }
  return list;
}

static PyObject *compiled_inputs(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  return compiled_ios(k, wick_compiled_ninput(k), wick_compiled_input);
}

static PyObject *compiled_outputs(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  return compiled_ios(k, wick_compiled_noutput(k), wick_compiled_output);
}

static PyObject *compiled_states(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  return compiled_ios(k, wick_compiled_nstate(k), wick_compiled_state);
}

static PyObject *compiled_required_inputs(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  uint32_t n = wick_compiled_ninput(k);
  PyObject *list = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    const void *data = wick_compiled_required_input(k, i);
    Py_ssize_t nbytes = (Py_ssize_t)wick_compiled_input(k, i)->nbytes;
    PyObject *bytes = data ? PyBytes_FromStringAndSize(data, nbytes) : Py_NewRef(Py_None);
    if (!bytes) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, (Py_ssize_t)i, bytes);
  }
  return list;
}

static PyObject *compiled_donors(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  uint32_t n = wick_compiled_noutput(k);
  PyObject *list = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    uint32_t from = wick_compiled_donor(k, i);
    PyObject *one = from == UINT32_MAX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(from);
    if (!one) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, (Py_ssize_t)i, one);
  }
  return list;
}

static PyObject *compiled_metadata(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  PyObject *all = PyDict_New();
  const char *key;
  for (uint32_t i = 0; all && (key = wick_compiled_metadata_key(k, i)); i++) {
    const char *text = wick_compiled_metadata(k, key);
    PyObject *value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!value || PyDict_SetItemString(all, key, value) < 0) Py_CLEAR(all);
    Py_XDECREF(value);
  }
  return all;
}

static PyObject *compiled_contract(PyObject *self, void *arg)
{
  (void)arg;
  return PyUnicode_FromString(wick_compiled_contract(((core_compiled *)self)->compiled));
}

static PyObject *compiled_cached(PyObject *self, void *arg)
{
  (void)arg;
  return PyBool_FromLong(wick_compiled_cached(((core_compiled *)self)->compiled));
}

static PyObject *compiled_memory(PyObject *self, void *arg)
{
  (void)arg;
  wick_memory m = wick_compiled_memory(((core_compiled *)self)->compiled);
  return Py_BuildValue("KKKK", (unsigned long long)m.constants, (unsigned long long)m.arena,
                       (unsigned long long)m.scratch, (unsigned long long)m.states);
}

/* (name, least, most) of each dynamic size */
static PyObject *compiled_sizes(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  uint32_t n = wick_compiled_nsize(k);
  PyObject *list = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    wick_size_range r = wick_compiled_size(k, i);
    PyObject *row = Py_BuildValue("sLL", r.name, (long long)r.least, (long long)r.most);
    if (!row) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, (Py_ssize_t)i, row);
  }
  return list;
}

static uint64_t compiled_nbytes(const wick_compiled *k, const char *input)
{
  for (uint32_t i = 0; i < wick_compiled_ninput(k); i++)
    if (strcmp(wick_compiled_input(k, i)->name, input) == 0)
      return wick_compiled_input(k, i)->nbytes;
  return 0;
}

/* Returns {input: bytes} of the i-th entry: its guards, or the contents that all of its runs
 * had. */
static PyObject *compiled_contents(const wick_compiled *k, uint32_t i, bool guarded)
{
  PyObject *all = PyDict_New();
  wick_profile_content c;
  for (uint32_t w = 0; all && wick_compiled_profile_content(k, i, w, &c); w++) {
    if (!c.data || c.guarded != guarded) continue;
    PyObject *bytes = PyBytes_FromStringAndSize(c.data, (Py_ssize_t)compiled_nbytes(k, c.input));
    if (!bytes || PyDict_SetItemString(all, c.input, bytes) < 0) Py_CLEAR(all);
    Py_XDECREF(bytes);
  }
  return all;
}

static PyObject *compiled_profile_row(const wick_compiled *k, uint32_t at,
                                      const wick_profile_entry *m)
{
  uint32_t n = wick_compiled_nsize(k);
  static const char *const state[] = {"none",  "requested", "compiling",
                                      "ready", "failed",    "slower"};
  PyObject *sizes = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; sizes && i < n; i++)
    PyTuple_SetItem(sizes, (Py_ssize_t)i, PyLong_FromLongLong((long long)m->sizes[i]));
  if (!sizes) return NULL;
  PyObject *guards = compiled_contents(k, at, true), *always = compiled_contents(k, at, false);
  if (!guards || !always) {
    Py_XDECREF(guards);
    Py_XDECREF(always);
    Py_DECREF(sizes);
    return NULL;
  }
  return Py_BuildValue("NKsssKKNN", sizes, (unsigned long long)m->nrun, state[m->specialization],
                       m->ahead    ? "ahead"
                       : m->cached ? "cached"
                                   : "",
                       m->why, (unsigned long long)m->base_nanoseconds,
                       (unsigned long long)m->specialized_nanoseconds, guards, always);
}

/* (sizes, runs, state of the specialization, origin, reason, nanoseconds, specialized nanoseconds,
 * guards, contents of all runs) of each entry */
static PyObject *compiled_profile(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  PyObject *list = PyList_New(0);
  wick_profile_entry m;
  for (uint32_t i = 0; list && wick_compiled_profile(k, i, &m); i++) {
    PyObject *row = compiled_profile_row(k, i, &m);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject *compiled_wait(PyObject *self, PyObject *args)
{
  (void)args;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  Py_BEGIN_ALLOW_THREADS wick_compiled_wait(k);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* (name, location, schedule, flops, bytes, cycles, tasks, limit) of each kernel */
static PyObject *compiled_kernels(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  uint32_t n = wick_compiled_nkernel(k);
  PyObject *list = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    wick_kernel_facts f = wick_compiled_kernel(k, i);
    PyObject *row =
        Py_BuildValue("sssKKKKs", f.name, f.location, f.schedule, (unsigned long long)f.flops,
                      (unsigned long long)f.nbytes, (unsigned long long)f.cycles,
                      (unsigned long long)f.tasks, f.limit);
    if (!row) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, (Py_ssize_t)i, row);
  }
  return list;
}

/* ---- the type ---- */

static PyObject *compiled_flow(PyObject *self, void *arg)
{
  (void)arg;
  const wick_compiled *k = ((core_compiled *)self)->compiled;
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < wick_compiled_nflow(k); i++) {
    wick_flow f = wick_compiled_flow(k, i);
    typedef unsigned long long u64;
    PyObject *row = f.kind == WICK_FLOW_IF
                        ? Py_BuildValue("sKK", f.location, (u64)f.ntaken[1], (u64)f.ntaken[0])
                        : Py_BuildValue("sKKKK", f.location, (u64)f.nloop, (u64)f.nstep,
                                        (u64)f.least, (u64)f.most);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}
static PyMethodDef compiled_methods[] = {
    {"load", compiled_load, METH_VARARGS | METH_STATIC, "load(path) -> Compiled"},
    {"save", compiled_save, METH_VARARGS, "save(path)"},
    {"wait", compiled_wait, METH_NOARGS,
     "waits until specializations that are being compiled are ready"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef compiled_getset[] = {
    {"inputs", compiled_inputs, NULL, "(name, element type, sizes, \"\"...) of each", NULL},
    {"outputs", compiled_outputs, NULL, "as inputs", NULL},
    {"states", compiled_states, NULL, "as inputs: what a session keeps from run to run", NULL},
    {"required_inputs", compiled_required_inputs, NULL,
     "for each input the bytes that it must hold, or None", NULL},
    {"donors", compiled_donors, NULL, "for each output the input whose memory it shares, or None",
     NULL},
    {"metadata", compiled_metadata, NULL, "the metadata of the model's file", NULL},
    {"contract", compiled_contract, NULL, "the numerical contract", NULL},
    {"cached", compiled_cached, NULL, "it came out of the cache", NULL},
    {"memory", compiled_memory, NULL, "bytes of constants, arena, scratch, states", NULL},
    {"sizes", compiled_sizes, NULL, "(name, least, most) of each size that varies", NULL},
    {"profile", compiled_profile, NULL,
     "(sizes, runs, state, origin, reason, nanoseconds, specialized nanoseconds, guards, contents "
     "of all runs) of each entry",
     NULL},
    {"flow", compiled_flow, NULL,
     "(location, then, else) of each branch, (location, times, steps, least, most) of each loop",
     NULL},
    {"kernels", compiled_kernels, NULL,
     "(name, location, schedule, flops, bytes, cycles, tasks, limit) of each", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot compiled_slots[] = {{Py_tp_dealloc, compiled_dealloc},
                                       {Py_tp_methods, compiled_methods},
                                       {Py_tp_getset, compiled_getset},
                                       {0, NULL}};
static PyType_Spec compiled_spec = {.name = "wick._core.Compiled",
                                    .basicsize = sizeof(core_compiled),
                                    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    .slots = compiled_slots};

bool core_add_compiled(PyObject *module)
{
  return (core.compiled = core_type(module, &compiled_spec));
}
