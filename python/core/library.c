/* Programs of the language: their functions, types, and how values consist of parts. */
#include "core.h"

PyObject *core_parts(const wick_part *part, uint32_t n)
{
  if (!part) Py_RETURN_NONE;
  PyObject *all = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; all && i < n; i++) {
    PyObject *one = Py_BuildValue("ssOI", part[i].name, part[i].type,
                                  part[i].leaf ? Py_True : Py_False, (unsigned)part[i].nitem);
    if (!one) Py_CLEAR(all);
    if (all) PyTuple_SetItem(all, (Py_ssize_t)i, one);
  }
  return all;
}

PyObject *core_description(const wick_io *io)
{
  if (!io->data) Py_RETURN_NONE;
  size_t n;
  const void *bytes = wick_datatype_description(io->data, &n);
  return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n);
}

/* Appends, and drops the reference to the item. */
static bool library_append(PyObject *list, PyObject *item)
{
  bool good = item && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return good;
}

static PyObject *library_functions(const wick_declarations *l)
{
  PyObject *all = PyList_New(0);
  const wick_function *f;
  for (uint32_t i = 0; all && (f = wick_declarations_function(l, i)); i++) {
    PyObject *names = PyList_New(0);
    for (uint32_t k = 0; names && k < f->nparam; k++)
      if (!library_append(names, PyUnicode_FromString(f->param[k]))) Py_CLEAR(names);
    if (!names || !library_append(all, Py_BuildValue("ssN", f->name, f->type, names)))
      Py_CLEAR(all);
  }
  return all;
}

static PyObject *library_types(const wick_declarations *l)
{
  PyObject *all = PyList_New(0);
  const wick_datatype *t;
  for (uint32_t i = 0; all && (t = wick_declarations_type(l, i)); i++) {
    PyObject *constructors = PyList_New(0);
    for (uint32_t k = 0; constructors && k < t->nconstructor; k++) {
      const wick_constructor *c = &t->constructor[k];
      PyObject *fields = PyList_New(0);
      for (uint32_t f = 0; fields && f < c->nfield; f++)
        if (!library_append(fields, PyUnicode_FromString(c->field[f].name))) Py_CLEAR(fields);
      if (!fields || !library_append(constructors, Py_BuildValue("sN", c->name, fields)))
        Py_CLEAR(constructors);
    }
    PyObject *is_struct = wick_declarations_is_struct(l, i) ? Py_True : Py_False;
    if (!constructors ||
        !library_append(all, Py_BuildValue("sON", t->name, is_struct, constructors)))
      Py_CLEAR(all);
  }
  return all;
}

/* library(path) -> (functions, types) */
static PyObject *library(PyObject *self, PyObject *args)
{
  (void)self;
  PyObject *path = NULL, *functions = NULL, *types = NULL;
  wick_declarations *l = NULL;
  if (!PyArg_ParseTuple(args, "O&:library", PyUnicode_FSConverter, &path)) return NULL;
  core_context *context = core_context_new(false, NULL);
  if (context) {
    const char *name = PyBytes_AsString(path);
    wick_error *e;
    Py_BEGIN_ALLOW_THREADS e = wick_declarations_load(context->context, name, &l);
    Py_END_ALLOW_THREADS if (core_done(e))
    {
      functions = library_functions(l);
      types = functions ? library_types(l) : NULL;
    }
  }
  wick_declarations_free(l);
  Py_XDECREF((PyObject *)context);
  Py_DECREF(path);
  if (types) return Py_BuildValue("NN", functions, types);
  Py_XDECREF(functions);
  return NULL;
}

/* is_program(bytes) -> bool */
static PyObject *library_is_program(PyObject *self, PyObject *args)
{
  (void)self;
  Py_buffer bytes;
  if (!PyArg_ParseTuple(args, "y*:is_program", &bytes)) return NULL;
  bool program = wick_is_program(bytes.buf, (size_t)bytes.len);
  PyBuffer_Release(&bytes);
  return PyBool_FromLong(program);
}

static PyMethodDef library_methods[] = {
    {"is_program", library_is_program, METH_VARARGS,
     "is_program(bytes) -> do these look like the beginning of a program?"},
    {"library", library, METH_VARARGS, "library(path) -> (functions, types) of a program"},
    {NULL, NULL, 0, NULL}};

bool core_add_library(PyObject *module)
{
  return PyModule_AddFunctions(module, library_methods) == 0;
}
