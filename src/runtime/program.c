/* The section `program`: written and read field by field. */
#include "runtime/program.h"

#include <string.h>

#include "base/str.h"

enum { PROGRAM_ALIGN = 64 }; /* of contents */

/* ---- writing ---- */

static void program_u32(wick_text *t, uint32_t x)
{
  for (int i = 0; i < 4; i++) wick_text_char(t, (char)(x >> (8 * i)));
}
static void program_u64(wick_text *t, uint64_t x)
{
  program_u32(t, (uint32_t)x);
  program_u32(t, (uint32_t)(x >> 32));
}
static void program_str(wick_text *t, const char *s)
{
  if (!s) s = "";
  program_u32(t, (uint32_t)strlen(s));
  wick_text_add(t, s);
}

static void program_write_io(wick_text *t, const wick_io *io)
{
  program_str(t, io->name);
  program_u32(t, (uint32_t)io->elem);
  program_u32(t, io->rank);
  for (uint32_t k = 0; k < io->rank; k++) program_u64(t, (uint64_t)io->dim[k]);
  program_u64(t, io->nbytes);
}

static void program_write_fixed(wick_text *t, const wick_io *io, const void *fixed)
{
  program_u32(t, fixed ? 1 : 0);
  if (fixed) wick_text_addn(t, fixed, (size_t)io->nbytes);
}

wick_span wick_program_write(const wick_program *p, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  program_u32(&t, WICK_PROGRAM_VERSION);
  program_str(&t, p->entry);
  program_str(&t, p->contract);
  program_u64(&t, p->arena_bytes);
  program_u64(&t, p->scratch_bytes);
  program_u64(&t, p->packed_bytes);
  program_u32(&t, p->ninput);
  program_u32(&t, p->noutput);
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) program_write_io(&t, &p->io[i]);
  for (uint32_t i = 0; i < p->ninput; i++) program_write_fixed(&t, &p->io[i], p->fixed[i]);
  program_u32(&t, p->nkernel);
  for (uint32_t i = 0; i < p->nkernel; i++) {
    program_str(&t, p->kernel[i].name);
    program_str(&t, p->kernel[i].place);
    program_str(&t, p->kernel[i].schedule);
    program_u32(&t, (p->kernel[i].scratch ? 1u : 0u) | (p->kernel[i].fault ? 2u : 0u));
    program_u64(&t, p->kernel[i].flops);
    program_u64(&t, p->kernel[i].bytes);
    program_u64(&t, p->kernel[i].weights);
    program_u64(&t, p->kernel[i].cost);
    program_u64(&t, p->kernel[i].cycles);
    program_u64(&t, p->kernel[i].tasks);
    program_str(&t, p->kernel[i].limit);
  }
  program_u32(&t, p->nmetadata);
  for (uint32_t i = 0; i < p->nmetadata; i++) {
    program_str(&t, p->metadata[i].key);
    program_str(&t, p->metadata[i].value);
  }
  return (wick_span){(const unsigned char *)t.at, t.n};
}

/* ---- reading ---- */

static bool program_get_str(wick_reader *r, wick_arena *mem, const char **out)
{
  uint32_t n;
  wick_span s;
  if (!wick_read_u32(r, &n) || !wick_read_span(r, n, &s)) return false;
  *out = wick_str_dupn(mem, n ? (const char *)s.at : "", n);
  return true;
}

static bool program_get_io(wick_reader *r, wick_arena *mem, wick_io *io)
{
  uint32_t elem;
  if (!program_get_str(r, mem, &io->name) || !wick_read_u32(r, &elem) ||
      !wick_read_u32(r, &io->rank))
    return false;
  if (elem >= WICK_NELEM || io->rank > WICK_MAX_DIMS)
    return wick_reader_refuse(r, wick_reader_position(r),
                              "an input or output is not described correctly");
  io->elem = (wick_elem)elem;
  for (uint32_t k = 0; k < io->rank; k++) {
    uint64_t d;
    if (!wick_read_u64(r, &d)) return false;
    if (d > INT64_MAX)
      return wick_reader_refuse(r, wick_reader_position(r), "a dimension is negative");
    io->dim[k] = (int64_t)d;
    io->dim_name[k] = "";
  }
  return wick_read_u64(r, &io->nbytes);
}

static bool program_get_fixed(wick_reader *r, wick_arena *mem, const wick_io *io, const void **out)
{
  uint32_t given;
  wick_span s;
  if (!wick_read_u32(r, &given)) return false;
  if (!given) return true;
  if (!wick_read_span(r, io->nbytes, &s)) return false;
  *out = wick_arena_copy(mem, s.at, s.nbytes, PROGRAM_ALIGN);
  return true;
}

static bool program_get_kernel(wick_reader *r, wick_arena *mem, wick_program_kernel *k)
{
  uint32_t flags;
  if (!program_get_str(r, mem, &k->name) || !program_get_str(r, mem, &k->place) ||
      !program_get_str(r, mem, &k->schedule) || !wick_read_u32(r, &flags))
    return false;
  k->scratch = flags & 1;
  k->fault = flags >> 1 & 1;
  return wick_read_u64(r, &k->flops) && wick_read_u64(r, &k->bytes) &&
         wick_read_u64(r, &k->weights) && wick_read_u64(r, &k->cost) &&
         wick_read_u64(r, &k->cycles) && wick_read_u64(r, &k->tasks) &&
         program_get_str(r, mem, &k->limit);
}

static bool program_get_count(wick_reader *r, uint64_t size, uint32_t *out)
{
  return wick_read_u32(r, out) && wick_reader_fits(r, *out, size);
}

static bool program_get(wick_reader *r, wick_arena *mem, wick_program *p)
{
  uint32_t version;
  if (!wick_read_u32(r, &version)) return false;
  if (version != WICK_PROGRAM_VERSION)
    return wick_reader_refuse(r, 0, "the program is of another version of Wick");
  if (!program_get_str(r, mem, &p->entry) || !program_get_str(r, mem, &p->contract) ||
      !wick_read_u64(r, &p->arena_bytes) || !wick_read_u64(r, &p->scratch_bytes) ||
      !wick_read_u64(r, &p->packed_bytes) || !program_get_count(r, 20, &p->ninput) ||
      !program_get_count(r, 20, &p->noutput))
    return false;
  wick_io *io = wick_new(mem, wick_io, (uint64_t)p->ninput + p->noutput);
  p->io = io;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++)
    if (!program_get_io(r, mem, &io[i])) return false;
  const void **fixed = wick_new(mem, const void *, p->ninput);
  p->fixed = fixed;
  for (uint32_t i = 0; i < p->ninput; i++)
    if (!program_get_fixed(r, mem, &io[i], &fixed[i])) return false;
  if (!program_get_count(r, 68, &p->nkernel)) return false;
  wick_program_kernel *kernel = wick_new(mem, wick_program_kernel, p->nkernel);
  p->kernel = kernel;
  for (uint32_t i = 0; i < p->nkernel; i++)
    if (!program_get_kernel(r, mem, &kernel[i])) return false;
  if (!program_get_count(r, 8, &p->nmetadata)) return false;
  wick_program_pair *pair = wick_new(mem, wick_program_pair, p->nmetadata);
  p->metadata = pair;
  for (uint32_t i = 0; i < p->nmetadata; i++)
    if (!program_get_str(r, mem, &pair[i].key) || !program_get_str(r, mem, &pair[i].value))
      return false;
  return true;
}

wick_status wick_program_read(wick_span bytes, const char *place, wick_arena *mem,
                              wick_program *out)
{
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  *out = (wick_program){0};
  if (!bytes.at) return wick_fail(mem, WICK_EPARSE, place, "there is no section `program`");
  if (!program_get(&r, mem, out)) return wick_reader_status(&r, mem, place);
  return NULL;
}
