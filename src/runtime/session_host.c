/* Strings of inputs get indices in the session's table, which extends the program's table. Strings
 * of results are read from it. */
#include "runtime/session_host.h"

#include <string.h>

enum { HOST_MESSAGE = 256 };

struct wick_session_host {
  const wick_program *program;
  wick_allocator allocator;
  wick_string_table strings;
  const wick_io *io;     /* descriptions of inputs and outputs for the next runs */
  int64_t **numbers;     /* per input and output: numbers of strings; NULL for other types */
  uint64_t *capacity;    /* capacity of each array in `numbers` */
  wick_host_call *call;  /* per kernel: .row is NULL if generated code executes it */
  wick_host_tensor *arg; /* of all calls */
  uint32_t narg;
  char message[HOST_MESSAGE];
};

static uint64_t host_count(const wick_io *io)
{
  return io->elem == WICK_STRING ? io->nbytes / sizeof(wick_string) : 0;
}

static void *host_alloc(wick_session_host *h, size_t nbytes)
{
  void *p = h->allocator.alloc(h->allocator.self, nbytes ? nbytes : 1);
  if (p) memset(p, 0, nbytes);
  return p;
}

static void host_free(wick_session_host *h, void *p, size_t nbytes)
{
  if (p) h->allocator.free(h->allocator.self, p, nbytes ? nbytes : 1);
}

void wick_session_host_drop(wick_session_host *h)
{
  if (!h) return;
  const wick_program *p = h->program;
  uint32_t nio = p->ninput + p->noutput;
  for (uint32_t k = 0; h->call && k < p->nkernel; k++)
    if (h->call[k].state) h->call[k].row->drop(&h->call[k]);
  for (uint32_t i = 0; h->numbers && h->capacity && i < nio; i++)
    host_free(h, h->numbers[i], (size_t)h->capacity[i] * sizeof(int64_t));
  host_free(h, h->numbers, nio * sizeof *h->numbers);
  host_free(h, h->capacity, nio * sizeof *h->capacity);
  host_free(h, h->call, p->nkernel * sizeof *h->call);
  host_free(h, h->arg, h->narg * sizeof *h->arg);
  wick_string_table_free(&h->strings);
  h->allocator.free(h->allocator.self, h, sizeof *h);
}

/* ---- creation ---- */

/* Provides an array of n numbers. If the old one is too small, it is replaced. */
static bool host_reserve(wick_session_host *h, uint32_t i, uint64_t n)
{
  if (h->numbers[i] && h->capacity[i] >= n) return true;
  int64_t *more = n > SIZE_MAX / 4 / sizeof *more ? NULL : host_alloc(h, (size_t)n * sizeof *more);
  if (!more) return false;
  host_free(h, h->numbers[i], (size_t)h->capacity[i] * sizeof *more);
  h->numbers[i] = more, h->capacity[i] = n;
  return true;
}

/* Sets the dimensions and strides of a call's operands. */
static void host_extents(wick_host_call *c, const wick_program_host *of, const int64_t *table)
{
  for (uint32_t k = 0; k < c->nout + c->nin; k++) {
    const wick_program_extent *e = &of->extent[k];
    for (uint32_t d = 0; d < c->arg[k].rank; d++) {
      if (e->dim[d] != WICK_PROGRAM_CONST) c->arg[k].dim[d] = table[e->dim[d]];
      if (e->stride[d] != WICK_PROGRAM_CONST) c->arg[k].stride[d] = table[e->stride[d]];
    }
  }
}

bool wick_session_host_resize(wick_session_host *h, const wick_io *io, const int64_t *table)
{
  for (uint32_t i = 0; i < h->program->ninput + h->program->noutput; i++)
    if (io[i].elem == WICK_STRING && !host_reserve(h, i, host_count(&io[i]))) return false;
  for (uint32_t k = 0; table && k < h->program->nkernel; k++)
    if (h->call[k].row) host_extents(&h->call[k], &h->program->kernel[k].host, table);
  h->io = io;
  return true;
}

static bool host_strings(wick_session_host *h)
{
  const wick_program *p = h->program;
  uint32_t nio = p->ninput + p->noutput;
  uint64_t capacity = 0;
  h->numbers = host_alloc(h, nio * sizeof *h->numbers);
  h->capacity = host_alloc(h, nio * sizeof *h->capacity);
  if (!h->numbers || !h->capacity || !wick_session_host_resize(h, p->io, NULL)) return false;
  for (uint32_t i = 0; i < nio; i++) capacity += host_count(&p->io[i]);
  if (capacity > UINT32_MAX / 4) capacity = UINT32_MAX / 4;
  return wick_string_table_make(&h->strings, h->allocator, &p->strings, (uint32_t)capacity + 16);
}

static wick_status host_call(wick_session_host *h, uint32_t k, wick_host_tensor *arg,
                             wick_arena *mem)
{
  const wick_program_host *of = &h->program->kernel[k].host;
  wick_host_call *c = &h->call[k];
  *c = (wick_host_call){.row = wick_host_find(of->row),
                        .nattr = of->nattr,
                        .nout = of->nout,
                        .nin = of->nin,
                        .attr = of->attr,
                        .arg = arg,
                        .strings = &h->strings,
                        .allocator = h->allocator,
                        .message = h->message,
                        .message_nbytes = HOST_MESSAGE};
  if (!c->row)
    return wick_fail(mem, WICK_EPARSE, h->program->kernel[k].location,
                     "this runtime has no operator \"%s\"", of->row);
  memcpy(arg, of->arg, ((size_t)of->nout + of->nin) * sizeof *arg);
  wick_code code = c->row->prepare ? c->row->prepare(c) : WICK_OK;
  return code == WICK_OK ? NULL
                         : wick_fail(mem, code, h->program->kernel[k].location, "%s", h->message);
}

static wick_status host_calls(wick_session_host *h, wick_arena *mem)
{
  const wick_program *p = h->program;
  uint32_t at = 0;
  for (uint32_t k = 0; k < p->nkernel; k++)
    if (p->kernel[k].host.row) h->narg += p->kernel[k].host.nout + p->kernel[k].host.nin;
  h->call = host_alloc(h, p->nkernel * sizeof *h->call);
  h->arg = host_alloc(h, h->narg * sizeof *h->arg);
  if (!h->call || !h->arg || !host_strings(h))
    return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory");
  for (uint32_t k = 0; k < p->nkernel; k++) {
    if (!p->kernel[k].host.row) continue;
    WICK_TRY(host_call(h, k, h->arg + at, mem));
    at += p->kernel[k].host.nout + p->kernel[k].host.nin;
  }
  return NULL;
}

wick_status wick_session_host_make(const wick_program *p, wick_allocator a, wick_arena *mem,
                                   wick_session_host **out)
{
  bool any = false;
  *out = NULL;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) any = any || p->io[i].elem == WICK_STRING;
  for (uint32_t k = 0; k < p->nkernel; k++) any = any || p->kernel[k].host.row;
  if (!any) return NULL;
  wick_session_host *h = a.alloc(a.self, sizeof *h);
  if (!h) return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory");
  *h = (wick_session_host){.program = p, .allocator = a};
  wick_status s = host_calls(h, mem);
  if (s)
    wick_session_host_drop(h);
  else
    *out = h;
  return s;
}

/* ---- runs ---- */

wick_code wick_session_host_begin(wick_session_host *h, const void *const *inputs, void **args)
{
  const wick_program *p = h->program;
  wick_string_table_clear(&h->strings);
  h->message[0] = 0;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) {
    if (!h->numbers[i]) continue;
    args[i] = h->numbers[i];
    if (i >= p->ninput) continue;
    const wick_string *s = inputs[i];
    for (uint64_t k = 0, n = host_count(&h->io[i]); k < n; k++)
      if ((h->numbers[i][k] = wick_string_table_add(&h->strings, s[k].at, s[k].nbytes, false)) < 0)
        return WICK_ENOMEM;
  }
  return WICK_OK;
}

void wick_session_host_end(wick_session_host *h, void *const *outputs)
{
  const wick_program *p = h->program;
  for (uint32_t i = p->ninput; i < p->ninput + p->noutput; i++) {
    wick_string *s = h->numbers[i] ? outputs[i - p->ninput] : NULL;
    for (uint64_t k = 0, n = host_count(&h->io[i]); s && k < n; k++)
      s[k] = wick_string_table_get(&h->strings, h->numbers[i][k]);
  }
}

wick_code wick_session_host_run(wick_session_host *h, uint32_t kernel, void *const *args)
{
  wick_host_call *c = &h->call[kernel];
  const wick_program_host *of = &h->program->kernel[kernel].host;
  for (uint32_t k = 0; k < c->nout + c->nin; k++) c->arg[k].data = args[of->slot[k]];
  return c->row->run(c);
}

const wick_string_table *wick_session_host_strings(const wick_session_host *h)
{
  return &h->strings;
}

const char *wick_session_host_message(const wick_session_host *h) { return h->message; }
