/* Converts rows of values to dicts, for maps. */
#include "core.h"

#include <string.h>

/* Sets keys[k] to the value in column order[k] of a row. */
static bool maps_fill(PyObject *dict, PyObject *keys, const Py_ssize_t *order, Py_ssize_t n,
                      const char *row)
{
  for (Py_ssize_t k = 0; k < n; k++) {
    float x;
    memcpy(&x, row + (size_t)order[k] * sizeof x, sizeof x);
    PyObject *value = PyFloat_FromDouble((double)x);
    int bad = value ? PyDict_SetItem(dict, PyTuple_GetItem(keys, k), value) : -1;
    Py_XDECREF(value);
    if (bad) return false;
  }
  return true;
}

/* Returns the column numbers as an array. NULL: an exception is set, or a number is out of
 * range. */
static Py_ssize_t *maps_order(PyObject *order, Py_ssize_t n)
{
  Py_ssize_t *at = PyMem_Calloc((size_t)n + 1, sizeof *at);
  if (!at) return (void)PyErr_NoMemory(), NULL;
  for (Py_ssize_t k = 0; k < n; k++) {
    at[k] = PyLong_AsSsize_t(PyTuple_GetItem(order, k));
    if (at[k] >= 0 && at[k] < n) continue;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_IndexError, "no column %zd", at[k]);
    PyMem_Free(at);
    return NULL;
  }
  return at;
}

/* dicts(keys, order, buffer of f32 [rows, n]) -> a list of dicts {keys[k]: row[order[k]]} */
static PyObject *maps_dicts(PyObject *module, PyObject *args)
{
  PyObject *keys, *columns, *buffer, *out = NULL, *first = NULL;
  Py_buffer b;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!O", &PyTuple_Type, &keys, &PyTuple_Type, &columns, &buffer))
    return NULL;
  Py_ssize_t n = PyTuple_Size(keys), nbytes = n * (Py_ssize_t)sizeof(float);
  if (!n || PyTuple_Size(columns) != n)
    return PyErr_Format(PyExc_ValueError, "expected keys, and as many columns");
  if (PyObject_GetBuffer(buffer, &b, PyBUF_SIMPLE) < 0) return NULL;
  Py_ssize_t rows = b.len / nbytes, *order = maps_order(columns, n);
  bool good = order && (out = PyList_New(rows));
  for (Py_ssize_t r = 0; good && r < rows; r++) {
    /* A copy of the first dict has the hash table already, so that only values are set. */
    PyObject *dict = first ? PyDict_Copy(first) : PyDict_New();
    good = dict && maps_fill(dict, keys, order, n, (const char *)b.buf + r * nbytes);
    if (good)
      PyList_SetItem(out, r, dict);
    else
      Py_XDECREF(dict);
    if (!first) first = dict;
  }
  PyMem_Free(order);
  PyBuffer_Release(&b);
  if (!good) Py_CLEAR(out);
  return out;
}

static PyMethodDef maps_functions[] = {
    {"dicts", maps_dicts, METH_VARARGS, "dicts(keys, order, rows of f32) -> a list of dicts"},
    {NULL, NULL, 0, NULL}};

bool core_add_maps(PyObject *module) { return PyModule_AddFunctions(module, maps_functions) == 0; }
