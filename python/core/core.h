/* The extension module wick._core: libwick's public interface as Python objects.
 *
 * Users see the package python/wick/, which is written in Python. Here an array is an object
 * with the buffer protocol whose bytes are dense; Python code compares element types and shapes.
 * The global interpreter lock is released while a model is loaded, compiled or run. Uses the
 * stable ABI of Python 3.11. */
#ifndef WICK_PYTHON_CORE_CORE_H
#define WICK_PYTHON_CORE_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "wick/wick.h"

/* The tables of the stable ABI contain functions as void pointers, which ISO C does not allow. */
#pragma GCC diagnostic ignored "-Wpedantic"

typedef struct core_context { /* owns models and compiled models */
  PyObject_HEAD wick_context *context;
  char *ops; /* the path that its options name, or NULL */
} core_context;

typedef struct core_compiled {
  PyObject_HEAD core_context *context;
  wick_compiled *compiled;
} core_compiled;

/* The module's types; set once, when it is imported. */
typedef struct core_types {
  PyTypeObject *context, *model, *compiled, *session, *tensor;
  PyObject *error;    /* wick._core.Error(code, message) */
  unsigned long main; /* the thread that runs Python's signal handlers */
} core_types;
extern core_types core;

/* module.c */
PyObject *core_raise(wick_error *e); /* frees the error; returns NULL */
bool core_done(wick_error *e); /* returns false if the work failed; an exception is then set */
/* wick_options.allow_links and .ops, or NULL */
core_context *core_context_new(bool allow_links, const char *ops);
PyObject *core_io(const wick_io *io); /* (name, element type, sizes, names of dynamic sizes) */
PyObject *core_elem(wick_elem e);
/* ((name, type, leaf, items), ...); NULL: None */
PyObject *core_parts(const wick_part *part, uint32_t n);
PyObject *core_description(const wick_io *io); /* of a data type, as bytes; None: a tensor */
/* adds the type; NULL: an exception is set */
PyTypeObject *core_type(PyObject *module, PyType_Spec *spec);
void core_dealloc(PyObject *self); /* the object's own memory */

/* Each is in a file of its own. They return false if an exception is set. */
bool core_add_maps(PyObject *module);
bool core_add_model(PyObject *module);
bool core_add_compiled(PyObject *module);
bool core_add_session(PyObject *module);
bool core_add_tensor(PyObject *module);
bool core_add_text(PyObject *module);
bool core_add_library(PyObject *module);

core_compiled *core_compiled_new(core_context *context); /* without code */

#endif
