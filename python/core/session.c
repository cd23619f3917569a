/* Session: memory and threads for runs of one Compiled. One thread at a time uses it. */
#include "core.h"

enum { SESSION_ON_STACK = 16 }; /* inputs and outputs of most models */

typedef struct session_time {
  uint64_t nanoseconds;
  uint32_t kernel;
} session_time;

typedef struct core_session {
  PyObject_HEAD core_compiled *compiled;
  wick_session *session;
  session_time *time; /* times of the last run's kernels; NULL: no profile */
  uint32_t ntime, capacity;
} core_session;

static void session_profile(void *arg, uint32_t kernel, uint64_t nanoseconds)
{
  core_session *s = arg;
  if (s->ntime < s->capacity) s->time[s->ntime++] = (session_time){nanoseconds, kernel};
}

static void session_dealloc(PyObject *self)
{
  core_session *s = (core_session *)self;
  wick_session_free(s->session);
  Py_XDECREF((PyObject *)s->compiled);
  PyMem_Free(s->time);
  core_dealloc(self);
}

/* Session(compiled, threads, profile) */
static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
  static char *words[] = {"compiled", "threads", "profile", NULL};
  PyObject *compiled;
  unsigned threads = 0;
  int profile = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|Ip", words, core.compiled, &compiled, &threads,
                                   &profile))
    return NULL;
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  core_session *s = (core_session *)alloc(type, 0);
  if (!s) return NULL;
  s->compiled = (core_compiled *)Py_NewRef(compiled);
  wick_session_options o = {.size = sizeof o, .threads = threads};
  if (profile) {
    /* launches; further ones are not timed */
    s->capacity = 64 * wick_compiled_nkernel(s->compiled->compiled);
    s->time = PyMem_Calloc((size_t)s->capacity + 1, sizeof *s->time);
    if (!s->time) PyErr_NoMemory();
    o.profile = session_profile, o.arg = s;
  }
  wick_error *e = wick_session_create(s->compiled->compiled, &o, &s->session);
  if (e) core_raise(e);
  if (PyErr_Occurred()) Py_CLEAR(s);
  return (PyObject *)s;
}

/* ---- runs ---- */

typedef struct session_call {
  Py_buffer on_stack[SESSION_ON_STACK], *buffer;
  void *address_on_stack[SESSION_ON_STACK], **address;
  uint32_t n;
} session_call;

static bool session_begin(session_call *c, uint32_t n)
{
  c->n = 0;
  c->buffer = c->on_stack;
  c->address = c->address_on_stack;
  if (n <= SESSION_ON_STACK) return true;
  c->buffer = PyMem_Calloc(n, sizeof *c->buffer);
  c->address = PyMem_Calloc(n, sizeof *c->address);
  if (!c->buffer || !c->address) PyErr_NoMemory();
  return c->buffer && c->address;
}

static void session_end(session_call *c)
{
  for (uint32_t i = 0; i < c->n; i++) PyBuffer_Release(&c->buffer[i]);
  if (c->buffer == c->on_stack) return;
  PyMem_Free(c->buffer);
  PyMem_Free(c->address);
}

/* Takes the buffer of one input or output, and checks its size. */
static bool session_take(session_call *c, PyObject *o, const wick_io *io, int flags)
{
  Py_buffer *b = &c->buffer[c->n];
  if (io->data) {
    PyErr_Format(PyExc_TypeError,
                 "\"%s\" is a %s: call the function of the module that wick.load gives", io->name,
                 io->data->name);
    return false;
  }
  if (!o || PyObject_GetBuffer(o, b, flags) < 0) return false;
  c->address[c->n++] = b->buf;
  if ((uint64_t)b->len == io->nbytes) return true;
  PyErr_Format(PyExc_ValueError, "\"%s\" needs %llu bytes, but it has %zd", io->name,
               (unsigned long long)io->nbytes, b->len);
  return false;
}

static bool session_take_all(session_call *c, const core_session *s, PyObject *inputs,
                             PyObject *outputs)
{
  const wick_compiled *k = s->compiled->compiled;
  uint32_t nin = wick_compiled_ninput(k), nout = wick_compiled_noutput(k);
  if (PyTuple_Size(inputs) != (Py_ssize_t)nin || PyTuple_Size(outputs) != (Py_ssize_t)nout) {
    PyErr_Format(PyExc_ValueError, "expected %u inputs and %u outputs", nin, nout);
    return false;
  }
  for (uint32_t i = 0; i < nin; i++)
    if (!session_take(c, PyTuple_GetItem(inputs, (Py_ssize_t)i), wick_session_input(s->session, i),
                      PyBUF_SIMPLE))
      return false;
  for (uint32_t i = 0; i < nout; i++)
    if (!session_take(c, PyTuple_GetItem(outputs, (Py_ssize_t)i),
                      wick_session_output(s->session, i), PyBUF_WRITABLE))
      return false;
  return true;
}

/* ---- shapes ---- */

typedef struct session_shapes {
  wick_shape *shape;
  int64_t (*dim)[WICK_MAX_DIMS];
} session_shapes;

static bool session_shapes_of(const wick_compiled *k, PyObject *tuple, session_shapes *out)
{
  uint32_t n = wick_compiled_ninput(k);
  if (PyTuple_Size(tuple) != (Py_ssize_t)n) {
    PyErr_Format(PyExc_ValueError, "expected %u shapes", n);
    return false;
  }
  out->shape = PyMem_Calloc((size_t)n + 1, sizeof *out->shape);
  out->dim = PyMem_Calloc((size_t)n + 1, sizeof *out->dim);
  if (!out->shape || !out->dim) {
    PyErr_NoMemory();
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    PyObject *one = PyTuple_GetItem(tuple, (Py_ssize_t)i);
    Py_ssize_t rank = PyTuple_Size(one);
    if (rank < 0) return false;
    for (Py_ssize_t d = 0; d < rank && d < WICK_MAX_DIMS; d++)
      out->dim[i][d] = PyLong_AsLongLong(PyTuple_GetItem(one, d));
    if (PyErr_Occurred()) return false;
    out->shape[i] = (wick_shape){wick_compiled_input(k, i)->name, (uint32_t)rank, out->dim[i]};
  }
  return true;
}

static PyObject *session_output_shapes(const core_session *s)
{
  uint32_t n = wick_compiled_noutput(s->compiled->compiled);
  PyObject *all = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; all && i < n; i++) {
    const wick_io *io = wick_session_output(s->session, i);
    PyObject *one = PyTuple_New((Py_ssize_t)io->rank);
    for (uint32_t d = 0; one && d < io->rank; d++)
      PyTuple_SetItem(one, (Py_ssize_t)d, PyLong_FromLongLong(io->dim[d]));
    if (!one) Py_CLEAR(all);
    if (all) PyTuple_SetItem(all, (Py_ssize_t)i, one);
  }
  if (PyErr_Occurred()) Py_CLEAR(all);
  return all;
}

/* shape(shapes): tuples, by input, for the next runs. Returns the shapes of the outputs. */
static PyObject *session_shape(PyObject *self, PyObject *tuple)
{
  core_session *s = (core_session *)self;
  session_shapes x = {0};
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple of shapes");
    return NULL;
  }
  bool good = session_shapes_of(s->compiled->compiled, tuple, &x);
  if (good) {
    wick_error *e =
        wick_session_shape(s->session, wick_compiled_ninput(s->compiled->compiled), x.shape);
    if (e) core_raise(e);
    good = !e;
  }
  PyMem_Free(x.shape);
  PyMem_Free(x.dim);
  return good ? session_output_shapes(s) : NULL;
}

/* run(inputs, outputs): tuples of buffers */
static PyObject *session_run(PyObject *self, PyObject *args)
{
  core_session *s = (core_session *)self;
  const wick_compiled *k = s->compiled->compiled;
  PyObject *inputs, *outputs;
  if (!PyArg_ParseTuple(args, "O!O!:run", &PyTuple_Type, &inputs, &PyTuple_Type, &outputs))
    return NULL;
  uint32_t nin = wick_compiled_ninput(k);
  session_call c;
  bool good =
      session_begin(&c, nin + wick_compiled_noutput(k)) && session_take_all(&c, s, inputs, outputs);
  if (good) {
    wick_error *e;
    s->ntime = 0;
    Py_BEGIN_ALLOW_THREADS e =
        wick_run(s->session, (const void *const *)c.address, c.address + nin);
    Py_END_ALLOW_THREADS if (e) core_raise(e);
    good = !e;
  }
  session_end(&c);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

/* ---- data ---- */

typedef struct session_data { /* per input, then output: a datum, or NULL */
  wick_datum **datum;
  bool *donated;
  void **address;
  Py_buffer *buffer;
  uint32_t n;
} session_data;

/* Takes an input or output: a tensor's buffer, or bytes of data, of which a datum is made. */
static bool session_data_take(session_data *d, const core_session *s, PyObject *o,
                              const wick_io *io, bool in)
{
  uint32_t i = d->n;
  d->address[i] = &d->datum[i];
  if (!in && io->data) return ++d->n;
  if (PyObject_GetBuffer(o, &d->buffer[i], in ? PyBUF_SIMPLE : PyBUF_WRITABLE) < 0) return false;
  d->n++;
  if (!io->data) {
    d->address[i] = d->buffer[i].buf;
    if ((uint64_t)d->buffer[i].len == io->nbytes) return true;
    PyErr_Format(PyExc_ValueError, "\"%s\" needs %llu bytes, but it has %zd", io->name,
                 (unsigned long long)io->nbytes, d->buffer[i].len);
    return false;
  }
  wick_error *e = wick_datum_read(wick_session_heap(s->session), io->data, d->buffer[i].buf,
                                  (size_t)d->buffer[i].len, &d->datum[i]);
  if (e) core_raise(e);
  d->address[i] = d->datum[i];
  d->donated[i] = true;
  return !e;
}

/* The bytes of the results that are data; None for others. */
static PyObject *session_data_results(const session_data *d, uint32_t nin)
{
  PyObject *all = PyTuple_New((Py_ssize_t)(d->n - nin));
  for (uint32_t i = nin; all && i < d->n; i++) {
    PyObject *one = NULL;
    void *bytes;
    size_t n;
    if (!d->datum[i]) {
      one = Py_NewRef(Py_None);
    } else {
      wick_error *e = wick_datum_write(d->datum[i], &bytes, &n);
      if (e) core_raise(e);
      if (!e) one = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n);
      if (!e) wick_datum_free_bytes(d->datum[i], bytes, n);
    }
    if (one)
      PyTuple_SetItem(all, (Py_ssize_t)(i - nin), one);
    else
      Py_CLEAR(all);
  }
  return all;
}

static PyObject *session_data_call(session_data *d, core_session *s, PyObject *inputs,
                                   PyObject *outputs)
{
  uint32_t nin = (uint32_t)PyTuple_Size(inputs), nout = (uint32_t)PyTuple_Size(outputs);
  for (uint32_t i = 0; i < nin; i++)
    if (!session_data_take(d, s, PyTuple_GetItem(inputs, (Py_ssize_t)i),
                           wick_session_input(s->session, i), true))
      return NULL;
  for (uint32_t i = 0; i < nout; i++)
    if (!session_data_take(d, s, PyTuple_GetItem(outputs, (Py_ssize_t)i),
                           wick_session_output(s->session, i), false))
      return NULL;
  wick_error *e;
  Py_BEGIN_ALLOW_THREADS e =
      wick_run_donating(s->session, (const void *const *)d->address, d->donated, d->address + nin);
  Py_END_ALLOW_THREADS for (uint32_t i = 0; i < nin; i++) d->datum[i] = NULL; /* freed by the run */
  if (e) return core_raise(e);
  return session_data_results(d, nin);
}

/* call(inputs, outputs): as run; inputs that are data are their bytes, outputs that are data are
 * anything. Returns the bytes of the outputs, None for tensors. */
static PyObject *session_call_data(PyObject *self, PyObject *args)
{
  core_session *s = (core_session *)self;
  const wick_compiled *k = s->compiled->compiled;
  PyObject *inputs, *outputs, *result = NULL;
  if (!PyArg_ParseTuple(args, "O!O!:call", &PyTuple_Type, &inputs, &PyTuple_Type, &outputs))
    return NULL;
  size_t n = (size_t)wick_compiled_ninput(k) + wick_compiled_noutput(k);
  if (PyTuple_Size(inputs) != (Py_ssize_t)wick_compiled_ninput(k) ||
      PyTuple_Size(outputs) != (Py_ssize_t)wick_compiled_noutput(k))
    return PyErr_Format(PyExc_ValueError, "expected %u inputs and %u outputs",
                        wick_compiled_ninput(k), wick_compiled_noutput(k));
  session_data d = {.datum = PyMem_Calloc(n + 1, sizeof *d.datum),
                    .donated = PyMem_Calloc(n + 1, sizeof *d.donated),
                    .address = PyMem_Calloc(n + 1, sizeof *d.address),
                    .buffer = PyMem_Calloc(n + 1, sizeof *d.buffer)};
  if (d.datum && d.donated && d.address && d.buffer)
    result = session_data_call(&d, s, inputs, outputs);
  else
    PyErr_NoMemory();
  for (uint32_t i = 0; i < d.n && d.buffer; i++) {
    if (d.datum) wick_datum_free(d.datum[i]);
    PyBuffer_Release(&d.buffer[i]);
  }
  PyMem_Free(d.datum), PyMem_Free(d.donated), PyMem_Free(d.address), PyMem_Free(d.buffer);
  return result;
}

/* ---- states ---- */

static PyObject *session_reset(PyObject *self, PyObject *none)
{
  (void)none;
  wick_session_reset(((core_session *)self)->session);
  Py_RETURN_NONE;
}

/* state_get(name, buffer), state_set(name, buffer) */
static PyObject *session_state(PyObject *self, PyObject *args, bool get)
{
  const char *name;
  PyObject *o;
  Py_buffer b;
  wick_session *s = ((core_session *)self)->session;
  if (!PyArg_ParseTuple(args, "sO", &name, &o)) return NULL;
  if (PyObject_GetBuffer(o, &b, get ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0) return NULL;
  wick_error *e = get ? wick_session_state_get(s, name, b.buf, (uint64_t)b.len)
                      : wick_session_state_set(s, name, b.buf, (uint64_t)b.len);
  PyBuffer_Release(&b);
  if (!core_done(e)) return NULL;
  Py_RETURN_NONE;
}

static PyObject *session_state_get(PyObject *self, PyObject *args)
{
  return session_state(self, args, true);
}

static PyObject *session_state_set(PyObject *self, PyObject *args)
{
  return session_state(self, args, false);
}

static PyObject *session_threads(PyObject *self, void *arg)
{
  (void)arg;
  return PyLong_FromUnsignedLong(wick_session_threads(((core_session *)self)->session));
}

static PyObject *session_times(PyObject *self, void *arg)
{
  (void)arg;
  core_session *s = (core_session *)self;
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < s->ntime; i++) {
    PyObject *row = Py_BuildValue("IK", (unsigned)s->time[i].kernel,
                                  (unsigned long long)s->time[i].nanoseconds);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

/* ---- the type ---- */

static PyMethodDef session_methods[] = {
    {"run", session_run, METH_VARARGS, "run(inputs, outputs): tuples of buffers"},
    {"call", session_call_data, METH_VARARGS,
     "call(inputs, outputs): with data as bytes -> the bytes of the outputs that are data"},
    {"reset", session_reset, METH_NOARGS, "sets the initial values of the states again"},
    {"state_get", session_state_get, METH_VARARGS, "state_get(name, buffer): reads a state"},
    {"state_set", session_state_set, METH_VARARGS, "state_set(name, buffer): writes a state"},
    {"shape", session_shape, METH_O, "shape(shapes): of the inputs -> those of the outputs"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef session_getset[] = {
    {"threads", session_threads, NULL, "with the caller's", NULL},
    {"times", session_times, NULL, "(kernel, nanoseconds) of the last run, in order", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot session_slots[] = {{Py_tp_new, session_new},
                                      {Py_tp_dealloc, session_dealloc},
                                      {Py_tp_methods, session_methods},
                                      {Py_tp_getset, session_getset},
                                      {0, NULL}};
static PyType_Spec session_spec = {.name = "wick._core.Session",
                                   .basicsize = sizeof(core_session),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = session_slots};

bool core_add_session(PyObject *module)
{
  return (core.session = core_type(module, &session_spec));
}
