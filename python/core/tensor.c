/* Tensor: memory imported through DLPack, as a buffer; and export of buffers.
 *
 * NumPy itself exchanges the types that it has. This is for others: bfloat16, float8. The
 * structs are those of DLPack 1.0, https://dmlc.github.io/dlpack/latest/c_api.html. */
#include <string.h>

#include "core.h"

enum { DLPACK_CPU = 1 };

typedef struct dlpack_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides; /* strides in elements; NULL: dense */
  uint64_t byte_offset;
} dlpack_tensor;

typedef struct dlpack_managed { /* "dltensor" */
  dlpack_tensor tensor;
  void *manager;
  void (*deleter)(struct dlpack_managed *self);
} dlpack_managed;

typedef struct dlpack_versioned { /* "dltensor_versioned" */
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dlpack_versioned *self);
  uint64_t flags;
  dlpack_tensor tensor;
} dlpack_versioned;

typedef struct core_tensor {
  PyObject_HEAD dlpack_managed *managed; /* one of the two is set */
  dlpack_versioned *versioned;
  Py_ssize_t nbytes;
} core_tensor;

static const dlpack_tensor *tensor_of(const core_tensor *t)
{
  return t->managed ? &t->managed->tensor : &t->versioned->tensor;
}

static void tensor_dealloc(PyObject *self)
{
  core_tensor *t = (core_tensor *)self;
  if (t->managed && t->managed->deleter) t->managed->deleter(t->managed);
  if (t->versioned && t->versioned->deleter) t->versioned->deleter(t->versioned);
  core_dealloc(self);
}

/* ---- import ---- */

/* Returns the bytes of a dense tensor on the CPU; -1: an exception is set. */
static Py_ssize_t tensor_nbytes(const dlpack_tensor *d)
{
  if (d->device_type != DLPACK_CPU) {
    PyErr_SetString(PyExc_ValueError, "the tensor is not in the memory of the CPU");
    return -1;
  }
  if (d->lanes != 1 || d->bits % 8 || d->ndim < 0 || d->ndim > WICK_MAX_DIMS) {
    PyErr_SetString(PyExc_ValueError, "elements of this type, or this rank, are not supported");
    return -1;
  }
  int64_t n = 1;
  for (int32_t k = d->ndim; k-- > 0;) {
    if (d->shape[k] < 0 || (d->strides && d->shape[k] != 1 && d->strides[k] != n)) {
      PyErr_SetString(PyExc_ValueError, "the tensor is not dense: make it contiguous first");
      return -1;
    }
    if (d->shape[k] && n > (int64_t)PY_SSIZE_T_MAX / d->shape[k] / 16) {
      PyErr_SetString(PyExc_ValueError, "the tensor's size overflows");
      return -1;
    }
    n *= d->shape[k];
  }
  return (Py_ssize_t)(n * (d->bits / 8));
}

/* from_dlpack(capsule) -> Tensor, which owns the memory from now on */
static PyObject *tensor_from(PyObject *module, PyObject *capsule)
{
  (void)module;
  dlpack_managed *managed = NULL;
  dlpack_versioned *versioned = NULL;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  else if (!(managed = PyCapsule_GetPointer(capsule, "dltensor")))
    return NULL;
  if (versioned && versioned->major != 1) {
    PyErr_Format(PyExc_ValueError, "DLPack %u.%u is not supported", versioned->major,
                 versioned->minor);
    return NULL;
  }
  Py_ssize_t nbytes = tensor_nbytes(managed ? &managed->tensor : &versioned->tensor);
  if (nbytes < 0) return NULL;
  core_tensor *t = PyObject_New(core_tensor, core.tensor);
  if (!t) return NULL;
  t->managed = managed;
  t->versioned = versioned;
  t->nbytes = nbytes;
  PyCapsule_SetName(capsule, managed ? "used_dltensor" : "used_dltensor_versioned");
  return (PyObject *)t;
}

static int tensor_buffer(PyObject *self, Py_buffer *view, int flags)
{
  core_tensor *t = (core_tensor *)self;
  const dlpack_tensor *d = tensor_of(t);
  bool readonly = t->versioned && (t->versioned->flags & 1);
  return PyBuffer_FillInfo(view, self, (char *)d->data + d->byte_offset, t->nbytes, readonly,
                           flags);
}

static PyObject *tensor_shape(PyObject *self, void *arg)
{
  (void)arg;
  const dlpack_tensor *d = tensor_of((core_tensor *)self);
  PyObject *shape = PyTuple_New(d->ndim);
  for (int32_t k = 0; shape && k < d->ndim; k++)
    PyTuple_SetItem(shape, k, PyLong_FromLongLong(d->shape[k]));
  return shape;
}

static PyObject *tensor_dtype(PyObject *self, void *arg)
{
  (void)arg;
  const dlpack_tensor *d = tensor_of((core_tensor *)self);
  return Py_BuildValue("II", (unsigned)d->code, (unsigned)d->bits);
}

/* ---- export ---- */

typedef struct tensor_export {
  dlpack_managed managed;
  Py_buffer buffer;
  int64_t shape[WICK_MAX_DIMS];
} tensor_export;

static void tensor_export_free(dlpack_managed *m)
{
  PyGILState_STATE state = PyGILState_Ensure(); /* the owner may free it on any thread */
  tensor_export *x = m->manager;
  PyBuffer_Release(&x->buffer);
  PyMem_Free(x);
  PyGILState_Release(state);
}

static void tensor_capsule_free(PyObject *capsule)
{
  if (!PyCapsule_IsValid(capsule, "dltensor")) return; /* the consumer has taken it, and frees it */
  dlpack_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
  m->deleter(m);
}

/* to_dlpack(buffer, shape, code, bits) -> capsule, which keeps the buffer alive */
static PyObject *tensor_to(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *buffer, *shape;
  unsigned code, bits;
  if (!PyArg_ParseTuple(args, "OO!II:to_dlpack", &buffer, &PyTuple_Type, &shape, &code, &bits))
    return NULL;
  tensor_export *x = PyMem_Calloc(1, sizeof *x);
  if (!x) return PyErr_NoMemory();
  Py_ssize_t rank = PyTuple_Size(shape);
  if (rank > WICK_MAX_DIMS || PyObject_GetBuffer(buffer, &x->buffer, PyBUF_SIMPLE) < 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "its rank is too large");
    PyMem_Free(x);
    return NULL;
  }
  for (Py_ssize_t k = 0; k < rank; k++) x->shape[k] = PyLong_AsLongLong(PyTuple_GetItem(shape, k));
  x->managed = (dlpack_managed){.tensor = {.data = x->buffer.buf,
                                           .device_type = DLPACK_CPU,
                                           .ndim = (int32_t)rank,
                                           .code = (uint8_t)code,
                                           .bits = (uint8_t)bits,
                                           .lanes = 1,
                                           .shape = x->shape},
                                .manager = x,
                                .deleter = tensor_export_free};
  PyObject *capsule =
      PyErr_Occurred() ? NULL : PyCapsule_New(&x->managed, "dltensor", tensor_capsule_free);
  if (!capsule) tensor_export_free(&x->managed);
  return capsule;
}

/* ---- the type ---- */

static PyMethodDef tensor_functions[] = {
    {"from_dlpack", tensor_from, METH_O, "from_dlpack(capsule) -> Tensor"},
    {"to_dlpack", tensor_to, METH_VARARGS, "to_dlpack(buffer, shape, code, bits) -> capsule"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef tensor_getset[] = {{"shape", tensor_shape, NULL, NULL, NULL},
                                      {"dtype", tensor_dtype, NULL, "DLPack's (code, bits)", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot tensor_slots[] = {{Py_tp_dealloc, tensor_dealloc},
                                     {Py_tp_getset, tensor_getset},
                                     {Py_bf_getbuffer, tensor_buffer},
                                     {0, NULL}};
static PyType_Spec tensor_spec = {.name = "wick._core.Tensor",
                                  .basicsize = sizeof(core_tensor),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = tensor_slots};

bool core_add_tensor(PyObject *module)
{
  return (core.tensor = core_type(module, &tensor_spec)) &&
         PyModule_AddFunctions(module, tensor_functions) == 0;
}
