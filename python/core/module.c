/* The module, its errors, and functions that all of its objects share. */
#include "core.h"

#include <string.h>

core_types core;

/* ---- errors ---- */

bool core_done(wick_error *e)
{
  if (PyErr_Occurred()) /* a signal handler has raised an exception, which canceled the work */
    wick_error_free(e);
  else if (e)
    core_raise(e);
  return !PyErr_Occurred();
}

/* Raises Error(code, message). python/wick/errors.py converts it to one of the exceptions that
 * users see. */
PyObject *core_raise(wick_error *e)
{
  PyObject *args = Py_BuildValue("is", (int)wick_error_code(e), wick_error_message(e));
  wick_error_free(e);
  if (args) PyErr_SetObject(core.error, args);
  Py_XDECREF(args);
  return NULL;
}

/* ---- objects ---- */

void core_dealloc(PyObject *self)
{
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type); /* every instance of a heap type has a reference to it */
}

PyTypeObject *core_type(PyObject *module, PyType_Spec *spec)
{
  PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
  if (type && PyModule_AddType(module, type) < 0) Py_CLEAR(type);
  return type;
}

static void core_context_dealloc(PyObject *self)
{
  wick_context_free(((core_context *)self)->context);
  PyMem_Free(((core_context *)self)->ops);
  core_dealloc(self);
}

/* Long work calls this every few milliseconds. Python runs signal handlers on its main thread. If a
 * handler raises an exception, as for Ctrl-C, the work is canceled and the call raises that
 * exception. */
static bool core_cancel(void *arg)
{
  (void)arg;
  /* on other threads there are no handlers to run */
  if (PyThread_get_thread_ident() != core.main) return false;
  PyGILState_STATE state = PyGILState_Ensure();
  bool raised = PyErr_Occurred() || PyErr_CheckSignals() < 0;
  PyGILState_Release(state);
  return raised;
}

core_context *core_context_new(bool allow_links, const char *ops)
{
  core_context *c = PyObject_New(core_context, core.context);
  if (!c) return NULL;
  c->context = NULL;
  c->ops = NULL;
  if (ops) {
    size_t n = strlen(ops) + 1;
    c->ops = PyMem_Malloc(n);
    if (!c->ops) {
      Py_DECREF(c);
      return (core_context *)PyErr_NoMemory();
    }
    memcpy(c->ops, ops, n);
  }
  const wick_options o = {
      .size = sizeof o, .cancel = core_cancel, .allow_links = allow_links, .ops = c->ops};
  wick_error *e = wick_context_create(&o, &c->context);
  if (!e) return c;
  Py_DECREF(c);
  core_raise(e);
  return NULL;
}

static PyType_Slot core_context_slots[] = {{Py_tp_dealloc, core_context_dealloc}, {0, NULL}};
static PyType_Spec core_context_spec = {
    .name = "wick._core.Context",
    .basicsize = sizeof(core_context),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = core_context_slots,
};

/* ---- inputs and outputs ---- */

PyObject *core_elem(wick_elem e)
{
  static const char *const names[] = {
      [WICK_F64] = "f64",       [WICK_F32] = "f32",
      [WICK_F16] = "f16",       [WICK_BF16] = "bf16",
      [WICK_F8E4M3] = "f8e4m3", [WICK_F8E4M3FNUZ] = "f8e4m3fnuz",
      [WICK_F8E5M2] = "f8e5m2", [WICK_F8E5M2FNUZ] = "f8e5m2fnuz",
      [WICK_F8E8M0] = "f8e8m0", [WICK_F4E2M1] = "f4e2m1",
      [WICK_I64] = "i64",       [WICK_I32] = "i32",
      [WICK_I16] = "i16",       [WICK_I8] = "i8",
      [WICK_I4] = "i4",         [WICK_I2] = "i2",
      [WICK_U64] = "u64",       [WICK_U32] = "u32",
      [WICK_U16] = "u16",       [WICK_U8] = "u8",
      [WICK_U4] = "u4",         [WICK_U2] = "u2",
      [WICK_BOOL] = "bool",     [WICK_C64] = "c64",
      [WICK_C128] = "c128",     [WICK_STRING] = "string",
  };
  _Static_assert(sizeof names / sizeof *names == WICK_NELEM, "a name for each element type");
  return PyUnicode_FromString(names[e]);
}

PyObject *core_io(const wick_io *io)
{
  PyObject *elem = core_elem(io->elem), *dim = PyTuple_New((Py_ssize_t)io->rank),
           *name = PyTuple_New((Py_ssize_t)io->rank);
  for (uint32_t k = 0; dim && name && k < io->rank; k++) {
    PyObject *size = PyLong_FromLongLong(io->dim[k]), *text = PyUnicode_FromString(io->dim_name[k]);
    PyTuple_SetItem(dim, (Py_ssize_t)k, size);
    PyTuple_SetItem(name, (Py_ssize_t)k, text);
  }
  if (PyErr_Occurred()) {
    Py_XDECREF(elem);
    Py_XDECREF(dim);
    Py_XDECREF(name);
    return NULL;
  }
  if (io->unranked) {
    Py_DECREF(dim);
    dim = Py_NewRef(Py_None);
  }
  return Py_BuildValue("sNNN", io->name, elem, dim, name);
}

/* ---- the module ---- */

/* Reads threading.main_thread().ident, because another thread may import this module. */
static bool core_find_main(void)
{
  PyObject *threading = PyImport_ImportModule("threading"),
           *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL,
           *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
  core.main = ident ? PyLong_AsUnsignedLong(ident) : 0;
  Py_XDECREF(ident);
  Py_XDECREF(thread);
  Py_XDECREF(threading);
  return !PyErr_Occurred();
}

static bool core_fill(PyObject *module)
{
  core.error = PyErr_NewExceptionWithDoc("wick._core.Error", "(code, message)", NULL, NULL);
  core.context = core_type(module, &core_context_spec);
  return core.error && core.context && core_find_main() &&
         PyModule_AddObjectRef(module, "Error", core.error) == 0 &&
         PyModule_AddIntConstant(module, "VERSION_MAJOR", WICK_VERSION_MAJOR) == 0 &&
         PyModule_AddIntConstant(module, "VERSION_MINOR", WICK_VERSION_MINOR) == 0 &&
         core_add_model(module) && core_add_compiled(module) && core_add_session(module) &&
         core_add_tensor(module) && core_add_text(module) && core_add_maps(module) &&
         core_add_library(module);
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
  static PyModuleDef def = {.m_base = PyModuleDef_HEAD_INIT,
                            .m_name = "wick._core",
                            .m_doc = "libwick as Python objects; users import wick",
                            .m_size = -1};
  PyObject *module = PyModule_Create(&def);
  if (module && !core_fill(module)) Py_CLEAR(module);
  return module;
}
