/* Writes and reads the section `program`, field by field. */
#include "runtime/program.h"

#include <string.h>

#include "base/str.h"
#include "runtime/datatype.h"
#include "runtime/keys.h"
#include "runtime/put.h"

enum {
  PROGRAM_ALIGN = 64, /* alignment of contents */
  PROGRAM_SLOTS = 64,
  PROGRAM_MOST_SLOTS = 1 << 24, /* limit of the table of sizes */
};

/* ---- writing ---- */

static void program_write_io(wick_text *t, const wick_io *io)
{
  wick_put_str(t, io->name);
  wick_put_u32(t, (uint32_t)io->elem);
  wick_put_u32(t, io->rank);
  for (uint32_t k = 0; k < io->rank; k++) wick_put_u64(t, (uint64_t)io->dim[k]);
  for (uint32_t k = 0; k < io->rank; k++)
    if (io->dim[k] < 0) wick_put_str(t, io->dim_name[k]);
  wick_put_u64(t, io->nbytes);
}

/* Writes the data types of inputs and outputs, and how the user's parameters consist of them. */
static void program_write_data(wick_text *t, const wick_program *p, wick_arena *mem)
{
  wick_datatype_list list = {0};
  uint32_t n = p->ninput + p->noutput;
  for (uint32_t i = 0; i < n; i++) wick_datatype_reach(&list, p->io[i].data, mem);
  wick_datatypes_write(&list, t);
  for (uint32_t i = 0; i < n; i++) wick_put_u32(t, wick_datatype_number(&list, p->io[i].data));
  wick_parts_write(t, p->nparam_part, p->param_part);
  wick_parts_write(t, p->nresult_part, p->result_part);
}

static void program_write_sizes(wick_text *t, const wick_program *p)
{
  const wick_program_sizes *s = &p->sizes;
  wick_put_str(t, s->fill);
  if (!s->fill || !*s->fill) return;
  wick_put_u32(t, s->nslot);
  wick_put_u32(t, s->scratch);
  wick_put_u32(t, s->nsymbol);
  for (uint32_t i = 0; i < s->nsymbol; i++) {
    const wick_program_symbol *x = &s->symbol[i];
    wick_put_str(t, x->name);
    wick_put_u64(t, (uint64_t)x->lo);
    wick_put_u64(t, (uint64_t)x->hi);
    wick_put_u32(t, x->input);
    wick_put_u32(t, x->axis);
    wick_put_u64(t, (uint64_t)x->factor);
    wick_put_u64(t, (uint64_t)x->rest);
  }
  wick_put_u32(t, s->nbuffer);
  for (uint32_t i = 0; i < s->nbuffer; i++) {
    wick_put_u32(t, s->buffer[i].first);
    wick_put_u32(t, s->buffer[i].last);
    wick_put_u32(t, s->buffer[i].nbytes);
  }
  wick_put_u32(t, s->ncheck);
  for (uint32_t i = 0; i < s->ncheck; i++) {
    const wick_program_check *c = &s->check[i];
    wick_put_str(t, c->location);
    for (uint32_t k = 0; k < 2; k++) wick_put_u32(t, c->slot[k]);
    for (uint32_t k = 0; k < 2; k++) wick_put_str(t, c->text[k]);
  }
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) {
    for (uint32_t k = 0; k < p->io[i].rank; k++) wick_put_u32(t, s->port[i].dim[k]);
    wick_put_u32(t, s->port[i].nbytes);
  }
}

static void program_write_states(wick_text *t, const wick_program *p)
{
  wick_put_u32(t, p->nstate);
  for (uint32_t i = 0; i < p->nstate; i++) {
    const void *initial = p->initial[i];
    wick_put_u32(t, initial ? 1 : 0);
    if (initial) wick_text_addn(t, initial, (size_t)p->io[wick_program_ninput(p) + i].nbytes);
  }
}

static void program_string(wick_text *t, wick_string s)
{
  wick_put_u64(t, s.nbytes);
  if (s.nbytes) wick_text_addn(t, s.at, (size_t)s.nbytes);
}

static void program_write_fixed(wick_text *t, const wick_io *io, const void *fixed)
{
  wick_put_u32(t, fixed ? 1 : 0);
  if (!fixed) return;
  const wick_string *s = fixed;
  if (io->elem == WICK_STRING)
    for (uint64_t k = 0; k < io->nbytes / sizeof *s; k++) program_string(t, s[k]);
  else
    wick_text_addn(t, fixed, (size_t)io->nbytes);
}

static void program_write_host(wick_text *t, const wick_program_host *h)
{
  wick_put_str(t, h->row);
  if (!h->row) return;
  wick_put_u32(t, h->nattr);
  for (uint32_t k = 0; k < h->nattr; k++) {
    const wick_host_attr *a = &h->attr[k];
    uint64_t f;
    memcpy(&f, &a->f, sizeof f);
    wick_put_u64(t, (uint64_t)a->i);
    wick_put_u64(t, f);
    wick_put_u32(t, a->ints ? 1 : a->floats ? 2 : 0);
    wick_put_u32(t, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
      if (a->floats) memcpy(&f, &a->floats[i], sizeof f);
      wick_put_u64(t, a->floats ? f : (uint64_t)a->ints[i]);
    }
  }
  wick_put_u32(t, h->nout);
  wick_put_u32(t, h->nin);
  for (uint32_t k = 0; k < h->nout + h->nin; k++) {
    const wick_host_tensor *x = &h->arg[k];
    wick_put_u32(t, h->slot[k]);
    wick_put_u32(t, (uint32_t)x->elem);
    wick_put_u32(t, x->rank);
    for (uint32_t d = 0; d < x->rank; d++) {
      wick_put_u64(t, (uint64_t)x->dim[d]);
      wick_put_u64(t, (uint64_t)x->stride[d]);
      wick_put_u32(t, h->extent[k].dim[d]);
      wick_put_u32(t, h->extent[k].stride[d]);
    }
  }
}

/* Without the empty string, with which each table begins. */
static void program_write_strings(wick_text *t, const wick_string_table *s)
{
  uint32_t n = s->n ? wick_string_table_count(s) : 1;
  wick_put_u32(t, n - 1);
  for (uint32_t k = 1; k < n; k++) program_string(t, wick_string_table_get(s, k));
}

wick_span wick_program_write(const wick_program *p, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  wick_put_u32(&t, WICK_PROGRAM_VERSION);
  wick_put_str(&t, p->entry);
  wick_put_str(&t, p->contract);
  wick_put_u64(&t, p->arena_bytes);
  wick_put_u64(&t, p->scratch_bytes);
  wick_put_u64(&t, p->packed_bytes);
  wick_put_u32(&t, p->ninput);
  wick_put_u32(&t, p->noutput);
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) program_write_io(&t, &p->io[i]);
  for (uint32_t i = 0; i < p->noutput; i++) wick_put_u32(&t, p->donor ? p->donor[i] : UINT32_MAX);
  program_write_data(&t, p, mem);
  program_write_states(&t, p);
  for (uint32_t i = 0; i < p->ninput; i++) program_write_fixed(&t, &p->io[i], p->fixed[i]);
  program_write_sizes(&t, p);
  wick_put_u32(&t, p->nkernel);
  for (uint32_t i = 0; i < p->nkernel; i++) {
    wick_put_str(&t, p->kernel[i].name);
    wick_put_str(&t, p->kernel[i].location);
    wick_put_str(&t, p->kernel[i].schedule);
    wick_put_u32(&t, (p->kernel[i].scratch ? 1u : 0u) | (p->kernel[i].fault ? 2u : 0u) |
                         (p->kernel[i].stack ? 4u : 0u) | (p->kernel[i].heap ? 8u : 0u));
    wick_put_u64(&t, p->kernel[i].flops);
    wick_put_u64(&t, p->kernel[i].bytes);
    wick_put_u64(&t, p->kernel[i].weights);
    wick_put_u64(&t, p->kernel[i].cost);
    wick_put_u64(&t, p->kernel[i].cycles);
    wick_put_u64(&t, p->kernel[i].tasks);
    wick_put_str(&t, p->kernel[i].limit);
    program_write_host(&t, &p->kernel[i].host);
  }
  wick_put_u32(&t, p->nflow);
  for (uint32_t i = 0; i < p->nflow; i++) {
    wick_put_str(&t, p->flow[i].location);
    wick_put_u32(&t, p->flow[i].kind);
  }
  wick_put_u32(&t, p->nguard_input);
  for (uint32_t i = 0; i < p->nguard_input; i++) wick_put_u32(&t, p->guard_input[i]);
  program_write_strings(&t, &p->strings);
  wick_put_u32(&t, p->nmetadata);
  for (uint32_t i = 0; i < p->nmetadata; i++) {
    wick_put_str(&t, p->metadata[i].key);
    wick_put_str(&t, p->metadata[i].value);
  }
  return (wick_span){(const unsigned char *)t.at, t.n};
}

/* ---- reading ---- */

static bool program_get_string(wick_reader *r, wick_arena *mem, wick_string *out)
{
  wick_span s;
  if (!wick_read_u64(r, &out->nbytes) || !wick_read_span(r, out->nbytes, &s)) return false;
  out->at = wick_str_dupn(mem, out->nbytes ? (const char *)s.at : "", (size_t)out->nbytes);
  return true;
}

static bool program_get_io(wick_reader *r, wick_arena *mem, wick_io *io)
{
  uint32_t elem;
  if (!wick_get_str(r, mem, &io->name) || !wick_read_u32(r, &elem) || !wick_read_u32(r, &io->rank))
    return false;
  if (elem >= WICK_NELEM || io->rank > WICK_MAX_DIMS)
    return wick_reader_refuse(r, wick_reader_position(r),
                              "an input or output is not described correctly");
  io->elem = (wick_elem)elem;
  for (uint32_t k = 0; k < io->rank; k++) {
    uint64_t d;
    if (!wick_read_u64(r, &d)) return false;
    if (d > INT64_MAX && d != UINT64_MAX)
      return wick_reader_refuse(r, wick_reader_position(r), "a dimension is negative");
    io->dim[k] = (int64_t)d;
    io->dim_name[k] = "";
  }
  for (uint32_t k = 0; k < io->rank; k++)
    if (io->dim[k] < 0 && !wick_get_str(r, mem, &io->dim_name[k])) return false;
  return wick_read_u64(r, &io->nbytes);
}

static bool program_get_data(wick_reader *r, wick_arena *mem, wick_program *p, wick_io *io)
{
  wick_datatype_list list;
  if (!wick_datatypes_read(r, mem, &list)) return false;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) {
    uint32_t k;
    if (!wick_read_u32(r, &k)) return false;
    if (k > list.n || (k && (io[i].elem != WICK_I64 || io[i].nbytes != sizeof(int64_t))))
      return wick_reader_refuse(r, wick_reader_position(r), "there is no such data type");
    io[i].data = k ? list.at[k - 1] : NULL;
  }
  return wick_parts_read(r, mem, p->ninput, &p->nparam_part, &p->param_part) &&
         wick_parts_read(r, mem, p->noutput, &p->nresult_part, &p->result_part);
}

/* Each is an input of the same type, and no other output's. */
static bool program_get_donors(wick_reader *r, wick_arena *mem, wick_program *p)
{
  uint32_t *donor = wick_new(mem, uint32_t, (uint64_t)p->noutput + 1);
  bool *taken = wick_new(mem, bool, (uint64_t)p->ninput + 1);
  p->donor = donor;
  for (uint32_t i = 0; i < p->noutput; i++) {
    if (!wick_read_u32(r, &donor[i])) return false;
    if (donor[i] == UINT32_MAX) continue;
    const wick_io *out = &p->io[p->ninput + i],
                  *in = donor[i] < p->ninput ? &p->io[donor[i]] : NULL;
    if (!in || taken[donor[i]] || in->elem != out->elem || in->elem == WICK_STRING ||
        in->nbytes != out->nbytes || in->rank != out->rank)
      return wick_reader_refuse(r, wick_reader_position(r), "an output cannot share this input");
    taken[donor[i]] = true;
  }
  return true;
}

/* Each is an input of constant shape, and the donor of its output. */
static bool program_get_states(wick_reader *r, wick_arena *mem, wick_program *p)
{
  if (!wick_get_count(r, sizeof(uint32_t), &p->nstate)) return false;
  bool good = p->nstate <= p->ninput && p->nstate <= p->noutput;
  for (uint32_t i = 0; i < p->ninput + p->noutput && p->nstate; i++) good = good && !p->io[i].data;
  const void **initial = wick_new(mem, const void *, (uint64_t)p->nstate + 1);
  p->initial = initial;
  for (uint32_t i = 0; i < p->nstate; i++) {
    uint32_t in = wick_program_ninput(p) + i, out = wick_program_noutput(p) + i, given;
    for (uint32_t k = 0; good && k < p->io[in].rank; k++) good = p->io[in].dim[k] >= 0;
    if (!good || p->donor[out] != in)
      return wick_reader_refuse(r, wick_reader_position(r), "a state is not described correctly");
    if (!wick_read_u32(r, &given)) return false;
    wick_span s;
    if (!given) continue;
    if (!wick_read_span(r, p->io[in].nbytes, &s)) return false;
    initial[i] = wick_arena_copy(mem, s.at, s.nbytes, PROGRAM_ALIGN);
  }
  return true;
}

static bool program_get_fixed(wick_reader *r, wick_arena *mem, const wick_io *io, const void **out)
{
  uint32_t given;
  wick_span s;
  if (!wick_read_u32(r, &given)) return false;
  if (!given) return true;
  if (io->elem == WICK_STRING) {
    uint64_t n = io->nbytes / sizeof(wick_string);
    if (!wick_reader_fits(r, n, sizeof(uint64_t))) return false;
    wick_string *text = wick_new(mem, wick_string, n);
    for (uint64_t k = 0; k < n; k++)
      if (!program_get_string(r, mem, &text[k])) return false;
    *out = text;
    return true;
  }
  if (!wick_read_span(r, io->nbytes, &s)) return false;
  *out = wick_arena_copy(mem, s.at, s.nbytes, PROGRAM_ALIGN);
  return true;
}

static bool program_get_symbol(wick_reader *r, wick_arena *mem, const wick_program *p,
                               wick_program_symbol *x)
{
  if (!wick_get_str(r, mem, &x->name) || !wick_get_i64(r, &x->lo) || !wick_get_i64(r, &x->hi) ||
      !wick_read_u32(r, &x->input) || !wick_read_u32(r, &x->axis) || !wick_get_i64(r, &x->factor) ||
      !wick_get_i64(r, &x->rest))
    return false;
  if (x->input >= p->ninput || x->axis >= p->io[x->input].rank || x->factor <= 0 || x->lo > x->hi)
    return wick_reader_refuse(r, wick_reader_position(r), "a size is not described correctly");
  return true;
}

static bool program_get_slot(wick_reader *r, const wick_program_sizes *s, bool may_be_const,
                             uint32_t *out)
{
  if (!wick_read_u32(r, out)) return false;
  if (*out < s->nslot || (may_be_const && *out == WICK_PROGRAM_CONST)) return true;
  return wick_reader_refuse(r, wick_reader_position(r), "the table of sizes has no such slot");
}

static bool program_get_check(wick_reader *r, wick_arena *mem, const wick_program_sizes *s,
                              wick_program_check *c)
{
  if (!wick_get_str(r, mem, &c->location)) return false;
  for (uint32_t k = 0; k < 2; k++)
    if (!program_get_slot(r, s, false, &c->slot[k])) return false;
  return wick_get_str(r, mem, &c->text[0]) && wick_get_str(r, mem, &c->text[1]);
}

static bool program_get_buffers(wick_reader *r, wick_arena *mem, wick_program_sizes *s)
{
  if (!wick_get_count(r, 12, &s->nbuffer)) return false;
  wick_program_buffer *buffer = wick_new(mem, wick_program_buffer, s->nbuffer + 1);
  s->buffer = buffer;
  for (uint32_t i = 0; i < s->nbuffer; i++) {
    if (!wick_read_u32(r, &buffer[i].first) || !wick_read_u32(r, &buffer[i].last) ||
        !program_get_slot(r, s, false, &buffer[i].nbytes))
      return false;
    if (buffer[i].first > buffer[i].last)
      return wick_reader_refuse(r, wick_reader_position(r), "a buffer ends before it begins");
  }
  return true;
}

static bool program_get_sizes(wick_reader *r, wick_arena *mem, wick_program *p)
{
  wick_program_sizes *s = &p->sizes;
  if (!wick_get_str(r, mem, &s->fill)) return false;
  if (!*s->fill) return true;
  if (!wick_read_u32(r, &s->nslot) || !program_get_slot(r, s, false, &s->scratch) ||
      !wick_get_count(r, 44, &s->nsymbol))
    return false;
  if (s->nslot <= s->nsymbol || s->nslot > PROGRAM_MOST_SLOTS)
    return wick_reader_refuse(r, wick_reader_position(r), "the table of sizes is too small");
  wick_program_symbol *symbol = wick_new(mem, wick_program_symbol, s->nsymbol + 1);
  s->symbol = symbol;
  for (uint32_t i = 0; i < s->nsymbol; i++)
    if (!program_get_symbol(r, mem, p, &symbol[i])) return false;
  if (!program_get_buffers(r, mem, s) || !wick_get_count(r, 20, &s->ncheck)) return false;
  wick_program_check *check = wick_new(mem, wick_program_check, s->ncheck + 1);
  s->check = check;
  for (uint32_t i = 0; i < s->ncheck; i++)
    if (!program_get_check(r, mem, s, &check[i])) return false;
  wick_program_port *port = wick_new(mem, wick_program_port, (uint64_t)p->ninput + p->noutput + 1);
  s->port = port;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) {
    for (uint32_t k = 0; k < p->io[i].rank; k++)
      if (!program_get_slot(r, s, p->io[i].dim[k] >= 0, &port[i].dim[k])) return false;
    if (!program_get_slot(r, s, true, &port[i].nbytes)) return false;
  }
  return true;
}

static bool program_get_attr(wick_reader *r, wick_arena *mem, wick_host_attr *a)
{
  int64_t f;
  uint32_t kind;
  if (!wick_get_i64(r, &a->i) || !wick_get_i64(r, &f) || !wick_read_u32(r, &kind) ||
      !wick_get_count(r, 8, &a->n))
    return false;
  memcpy(&a->f, &f, sizeof f);
  int64_t *ints = wick_new(mem, int64_t, a->n + 1);
  double *floats = wick_new(mem, double, a->n + 1);
  for (uint32_t k = 0; k < a->n; k++) {
    if (!wick_get_i64(r, &ints[k])) return false;
    memcpy(&floats[k], &ints[k], sizeof *floats);
  }
  if (kind == 1) a->ints = ints;
  if (kind == 2) a->floats = floats;
  return true;
}

static bool program_get_tensor(wick_reader *r, uint32_t nslot, uint32_t *slot, wick_host_tensor *x,
                               wick_program_extent *e)
{
  uint32_t elem;
  if (!wick_read_u32(r, slot) || !wick_read_u32(r, &elem) || !wick_read_u32(r, &x->rank))
    return false;
  if (elem >= WICK_NELEM || x->rank > WICK_MAX_DIMS || *slot >= PROGRAM_SLOTS)
    return wick_reader_refuse(r, wick_reader_position(r), "an operand is not described correctly");
  x->elem = (wick_elem)elem;
  for (uint32_t d = 0; d < x->rank; d++) {
    if (!wick_get_i64(r, &x->dim[d]) || !wick_get_i64(r, &x->stride[d]) ||
        !wick_read_u32(r, &e->dim[d]) || !wick_read_u32(r, &e->stride[d]))
      return false;
    if ((e->dim[d] >= nslot && e->dim[d] != WICK_PROGRAM_CONST) ||
        (e->stride[d] >= nslot && e->stride[d] != WICK_PROGRAM_CONST))
      return wick_reader_refuse(r, wick_reader_position(r), "an operand's size is not there");
  }
  return true;
}

static bool program_get_host(wick_reader *r, wick_arena *mem, uint32_t nslot, wick_program_host *h)
{
  const char *row;
  if (!wick_get_str(r, mem, &row)) return false;
  if (!*row) return true;
  h->row = row;
  if (!wick_get_count(r, 24, &h->nattr)) return false;
  wick_host_attr *attr = wick_new(mem, wick_host_attr, h->nattr + 1);
  h->attr = attr;
  for (uint32_t k = 0; k < h->nattr; k++)
    if (!program_get_attr(r, mem, &attr[k])) return false;
  if (!wick_get_count(r, 12, &h->nout) || !wick_get_count(r, 12, &h->nin)) return false;
  uint64_t n = (uint64_t)h->nout + h->nin;
  wick_host_tensor *arg = wick_new(mem, wick_host_tensor, n + 1);
  uint32_t *slot = wick_new(mem, uint32_t, n + 1);
  wick_program_extent *extent = wick_new(mem, wick_program_extent, n + 1);
  h->arg = arg, h->slot = slot, h->extent = extent;
  for (uint64_t k = 0; k < n; k++)
    if (!program_get_tensor(r, nslot, &slot[k], &arg[k], &extent[k])) return false;
  return true;
}

static bool program_get_strings(wick_reader *r, wick_arena *mem, wick_string_table *out)
{
  uint32_t n;
  if (!wick_get_count(r, 8, &n)) return false;
  *out = wick_string_table_in(mem);
  for (uint32_t k = 0; k < n; k++) {
    wick_string s;
    if (!program_get_string(r, mem, &s)) return false;
    wick_string_table_add(out, s.at, s.nbytes, false);
  }
  return true;
}

static bool program_get_kernel(wick_reader *r, wick_arena *mem, uint32_t nslot,
                               wick_program_kernel *k)
{
  uint32_t flags;
  if (!wick_get_str(r, mem, &k->name) || !wick_get_str(r, mem, &k->location) ||
      !wick_get_str(r, mem, &k->schedule) || !wick_read_u32(r, &flags))
    return false;
  k->scratch = flags & 1;
  k->fault = flags >> 1 & 1;
  k->stack = flags >> 2 & 1;
  k->heap = flags >> 3 & 1;
  return wick_read_u64(r, &k->flops) && wick_read_u64(r, &k->bytes) &&
         wick_read_u64(r, &k->weights) && wick_read_u64(r, &k->cost) &&
         wick_read_u64(r, &k->cycles) && wick_read_u64(r, &k->tasks) &&
         wick_get_str(r, mem, &k->limit) && program_get_host(r, mem, nslot, &k->host);
}

static bool program_get_flow(wick_reader *r, wick_arena *mem, wick_program *p)
{
  if (!wick_get_count(r, 8, &p->nflow)) return false;
  wick_program_flow *flow = wick_new(mem, wick_program_flow, p->nflow + 1);
  p->flow = flow;
  for (uint32_t i = 0; i < p->nflow; i++) {
    if (!wick_get_str(r, mem, &flow[i].location) || !wick_read_u32(r, &flow[i].kind)) return false;
    if (flow[i].kind > WICK_FLOW_LOOP)
      return wick_reader_refuse(r, wick_reader_position(r), "a branch is not described correctly");
  }
  return true;
}

static bool program_get_guard_inputs(wick_reader *r, wick_arena *mem, wick_program *p)
{
  if (!wick_get_count(r, 4, &p->nguard_input)) return false;
  if (p->nguard_input > WICK_GUARD_INPUTS_MAX)
    return wick_reader_refuse(r, wick_reader_position(r), "too many inputs have guards");
  uint32_t *guard_input = wick_new(mem, uint32_t, p->nguard_input + 1);
  p->guard_input = guard_input;
  for (uint32_t i = 0; i < p->nguard_input; i++) {
    if (!wick_read_u32(r, &guard_input[i])) return false;
    const wick_io *io = guard_input[i] < p->ninput ? &p->io[guard_input[i]] : NULL;
    if (!io || (i && guard_input[i] <= guard_input[i - 1]) || io->elem == WICK_STRING ||
        !io->nbytes || io->nbytes > WICK_GUARD_BYTES_MAX)
      return wick_reader_refuse(r, wick_reader_position(r), "no input can have such guards");
  }
  return true;
}

static bool program_get(wick_reader *r, wick_arena *mem, wick_program *p)
{
  uint32_t version;
  if (!wick_read_u32(r, &version)) return false;
  if (version != WICK_PROGRAM_VERSION)
    return wick_reader_refuse(r, 0, "the program is of another version of Wick");
  if (!wick_get_str(r, mem, &p->entry) || !wick_get_str(r, mem, &p->contract) ||
      !wick_read_u64(r, &p->arena_bytes) || !wick_read_u64(r, &p->scratch_bytes) ||
      !wick_read_u64(r, &p->packed_bytes) || !wick_get_count(r, 20, &p->ninput) ||
      !wick_get_count(r, 20, &p->noutput))
    return false;
  wick_io *io = wick_new(mem, wick_io, (uint64_t)p->ninput + p->noutput);
  p->io = io;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++)
    if (!program_get_io(r, mem, &io[i])) return false;
  if (!program_get_donors(r, mem, p)) return false;
  if (!program_get_data(r, mem, p, io) || !program_get_states(r, mem, p)) return false;
  const void **fixed = wick_new(mem, const void *, p->ninput);
  p->fixed = fixed;
  for (uint32_t i = 0; i < p->ninput; i++)
    if (!program_get_fixed(r, mem, &io[i], &fixed[i])) return false;
  if (!program_get_sizes(r, mem, p)) return false;
  if (!wick_get_count(r, 68, &p->nkernel)) return false;
  wick_program_kernel *kernel = wick_new(mem, wick_program_kernel, p->nkernel);
  p->kernel = kernel;
  for (uint32_t i = 0; i < p->nkernel; i++)
    if (!program_get_kernel(r, mem, p->sizes.nslot, &kernel[i])) return false;
  if (!program_get_flow(r, mem, p) || !program_get_guard_inputs(r, mem, p) ||
      !program_get_strings(r, mem, &p->strings))
    return false;
  if (!wick_get_count(r, 8, &p->nmetadata)) return false;
  wick_program_pair *pair = wick_new(mem, wick_program_pair, p->nmetadata);
  p->metadata = pair;
  for (uint32_t i = 0; i < p->nmetadata; i++) {
    if (!wick_get_str(r, mem, &pair[i].key) || !wick_get_str(r, mem, &pair[i].value)) return false;
    wick_keys_take(pair[i].key, pair[i].value, p->ninput, p->noutput, io, mem);
  }
  return true;
}

wick_status wick_program_read(wick_span bytes, const char *location, wick_arena *mem,
                              wick_program *out)
{
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  *out = (wick_program){0};
  if (!bytes.at) return wick_fail(mem, WICK_EPARSE, location, "there is no section `program`");
  if (!program_get(&r, mem, out)) return wick_reader_status(&r, mem, location);
  return NULL;
}

bool wick_program_may_fail(const wick_program *p)
{
  bool may = p->nflow > 0; /* a branch may be for other sizes */
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) may = may || p->io[i].elem == WICK_STRING;
  for (uint32_t i = 0; i < p->nkernel && !may; i++) {
    const wick_program_kernel *k = &p->kernel[i];
    may = k->fault || k->stack || k->heap || k->host.row;
  }
  return may;
}

/* ---- contents ---- */

bool wick_io_same(const wick_io *io, const void *a, const void *b)
{
  if (io->elem != WICK_STRING) return memcmp(a, b, (size_t)io->nbytes) == 0;
  const wick_string *x = a, *y = b;
  for (uint64_t k = 0; k < io->nbytes / sizeof *x; k++)
    if (x[k].nbytes != y[k].nbytes ||
        (x[k].nbytes && memcmp(x[k].at, y[k].at, (size_t)x[k].nbytes) != 0))
      return false;
  return true;
}
