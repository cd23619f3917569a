/* Converts Python's strings to those of the interface, and back. */
#include "core.h"

/* addresses(list) -> bytes of wick_string, valid as long as the list. Elements that are neither str
 * nor bytes are replaced by str(element). */
static PyObject *text_addresses(PyObject *module, PyObject *list)
{
  (void)module;
  if (!PyList_Check(list)) return PyErr_Format(PyExc_TypeError, "expected a list");
  Py_ssize_t n = PyList_Size(list);
  PyObject *out = PyByteArray_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(wick_string));
  wick_string *to = out ? (wick_string *)(void *)PyByteArray_AsString(out) : NULL;
  for (Py_ssize_t k = 0; to && k < n; k++) {
    PyObject *s = PyList_GetItem(list, k);
    Py_ssize_t size = 0;
    if (PyBytes_Check(s)) {
      to[k] = (wick_string){PyBytes_AsString(s), (uint64_t)PyBytes_Size(s)};
      continue;
    }
    if (!PyUnicode_Check(s) && ((s = PyObject_Str(s)) == NULL || PyList_SetItem(list, k, s) < 0)) {
      Py_DECREF(out);
      return NULL;
    }
    /* belongs to s, which the list keeps alive */
    const char *at = PyUnicode_AsUTF8AndSize(s, &size);
    if (!at) {
      Py_DECREF(out);
      return NULL;
    }
    to[k] = (wick_string){at, (uint64_t)size};
  }
  return out;
}

/* texts(bytes of wick_string) -> list of str */
static PyObject *text_texts(PyObject *module, PyObject *buffer)
{
  (void)module;
  Py_buffer b;
  if (PyObject_GetBuffer(buffer, &b, PyBUF_SIMPLE) < 0) return NULL;
  const wick_string *s = b.buf;
  Py_ssize_t n = b.len / (Py_ssize_t)sizeof *s;
  PyObject *out = PyList_New(n);
  for (Py_ssize_t k = 0; out && k < n; k++) {
    PyObject *one = PyUnicode_DecodeUTF8(s[k].nbytes ? s[k].at : "", (Py_ssize_t)s[k].nbytes,
                                         "surrogateescape");
    if (!one)
      Py_CLEAR(out);
    else
      PyList_SetItem(out, k, one);
  }
  PyBuffer_Release(&b);
  return out;
}

static PyMethodDef text_functions[] = {
    {"addresses", text_addresses, METH_O, "addresses(strings) -> bytes, good as long as the list"},
    {"texts", text_texts, METH_O, "texts(bytes) -> strings"},
    {NULL, NULL, 0, NULL}};

bool core_add_text(PyObject *module) { return PyModule_AddFunctions(module, text_functions) == 0; }
