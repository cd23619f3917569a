/* Keeps the most recently used sizes in a hash table, each with its own memory. */
#include "runtime/sizes.h"

#include <string.h>

#include "base/hash.h"
#include "base/plan.h"
#include "base/str.h"

enum { SIZES_BUCKETS = 256, SIZES_ALIGN = 64 };

typedef struct sizes_entry sizes_entry;
struct sizes_entry {
  wick_sized sized;
  wick_arena arena;    /* contains everything that it points to */
  sizes_entry *next;   /* the next entry of its bucket */
  uint64_t hash, used; /* used: the number of the last search that returned it */
};

struct wick_sizing {
  const wick_program *program;
  wick_kernel fill;
  wick_guard guard;
  wick_arena tmp; /* scratch of the last search, and its error */
  sizes_entry *bucket[SIZES_BUCKETS];
  uint32_t n;
  uint64_t search;
};

wick_status wick_sizing_make(const wick_image *image, const wick_program *program, wick_allocator a,
                             wick_arena *mem, wick_sizing **out)
{
  *out = NULL;
  const wick_program_sizes *p = &program->sizes;
  if (!p->fill || !*p->fill) return NULL;
  wick_kernel fill = wick_image_kernel(image, p->fill);
  if (!fill) return wick_fail(mem, WICK_EPARSE, NULL, "the code has no function \"%s\"", p->fill);
  wick_sizing *s = a.alloc(a.self, sizeof *s);
  if (!s) return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory");
  *s = (wick_sizing){.program = program, .fill = fill, .guard = {.allocator = a}};
  s->tmp = wick_arena_make(&s->guard);
  *out = s;
  return NULL;
}

static void sizes_free(wick_sizing *s, sizes_entry *e)
{
  wick_allocator a = s->guard.allocator;
  wick_arena_free(&e->arena);
  a.free(a.self, e, sizeof *e);
}

void wick_sizing_drop(wick_sizing *s)
{
  if (!s) return;
  wick_allocator a = s->guard.allocator;
  wick_arena_free(&s->tmp);
  for (uint32_t b = 0; b < SIZES_BUCKETS; b++)
    for (sizes_entry *e = s->bucket[b], *next; e; e = next) next = e->next, sizes_free(s, e);
  a.free(a.self, s, sizeof *s);
}

/* ---- symbols ---- */

static wick_status sizes_fail(const wick_program *p, uint32_t input, wick_arena *mem,
                              wick_code code, const char *text)
{
  return wick_fail(mem, code, wick_str_printf(mem, "input \"%s\"", p->io[input].name), "%s", text);
}

static wick_status sizes_shape_fits(const wick_program *p, uint32_t i, const wick_shape *shape,
                                    wick_arena *mem)
{
  const wick_io *io = &p->io[i];
  if (shape->rank != io->rank)
    return sizes_fail(
        p, i, mem, WICK_ETYPE,
        wick_str_printf(mem, "its rank is %u, but %u was given", io->rank, shape->rank));
  for (uint32_t k = 0; k < io->rank; k++) {
    if (shape->dim[k] < 0 || (io->dim[k] >= 0 && io->dim[k] != shape->dim[k]))
      return sizes_fail(p, i, mem, WICK_ETYPE,
                        wick_str_printf(mem, "dimension %u is %s, but %lld was given", k,
                                        io->dim[k] < 0
                                            ? io->dim_name[k]
                                            : wick_str_printf(mem, "%lld", (long long)io->dim[k]),
                                        (long long)shape->dim[k]));
  }
  return NULL;
}

wick_status wick_sizing_symbols(const wick_program *p, const wick_shape *shape, wick_arena *mem,
                                int64_t *out)
{
  for (uint32_t i = 0; i < p->ninput; i++)
    if (shape[i].rank != UINT32_MAX) WICK_TRY(sizes_shape_fits(p, i, &shape[i], mem));
  for (uint32_t i = 0; i < p->sizes.nsymbol; i++) {
    const wick_program_symbol *x = &p->sizes.symbol[i];
    const wick_shape *from = &shape[x->input];
    if (from->rank == UINT32_MAX)
      return wick_fail_size(mem, WICK_ETYPE,
                            wick_str_printf(mem, "input \"%s\"", p->io[x->input].name), x->name,
                            "its shape is not given: the size %s follows from it", x->name);
    int64_t d = from->dim[x->axis], over;
    if (wick_sub_overflows(d, x->rest, &over) || over % x->factor)
      return sizes_fail(p, x->input, mem, WICK_ERANGE,
                        wick_str_printf(mem, "dimension %u is %lld: it is not %s for any size %s",
                                        x->axis, (long long)d, p->io[x->input].dim_name[x->axis],
                                        x->name));
    out[i] = over / x->factor;
    if (out[i] < x->lo || out[i] > x->hi)
      return sizes_fail(p, x->input, mem, WICK_ERANGE,
                        wick_str_printf(mem, "the size %s is %lld, outside of its range %lld..%lld",
                                        x->name, (long long)out[i], (long long)x->lo,
                                        (long long)x->hi));
  }
  return NULL;
}

/* ---- finding ---- */

static wick_status sizes_checks(const wick_program_sizes *p, const int64_t *table, wick_arena *mem)
{
  if (table[p->nslot - 1])
    return wick_fail(mem, WICK_ERANGE, NULL, "for these shapes a size is too large");
  for (uint32_t i = 0; i < p->ncheck; i++) {
    const wick_program_check *c = &p->check[i];
    int64_t x = table[c->slot[0]], y = table[c->slot[1]];
    if (x == y) continue;
    wick_text sizes = wick_text_begin(mem);
    for (uint32_t k = 0; k < p->nsymbol; k++)
      wick_text_printf(&sizes, "%s%s = %lld", k ? ", " : "", p->symbol[k].name,
                       (long long)table[k]);
    return wick_fail(mem, WICK_ETYPE, c->location, "sizes %s and %s differ: %lld and %lld, for %s",
                     c->text[0], c->text[1], (long long)x, (long long)y, sizes.at);
  }
  return NULL;
}

static wick_status sizes_places(const wick_program_sizes *p, const int64_t *table, wick_arena *keep,
                                wick_arena *mem, wick_sized *out)
{
  wick_plan_buffer *buffer = wick_new(keep, wick_plan_buffer, p->nbuffer + 1);
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    const wick_program_buffer *b = &p->buffer[i];
    int64_t n = table[b->nbytes];
    if (n < 0) n = 0; /* of a branch that fails if it is entered with these sizes */
    buffer[i] = (wick_plan_buffer){.nbytes = (uint64_t)n, .first = b->first, .last = b->last};
  }
  wick_plan_options options = {.align_bytes = SIZES_ALIGN};
  wick_plan plan;
  wick_status bad = wick_plan_make(buffer, p->nbuffer, &options, keep, mem, &plan);
  if (bad) return wick_fail(mem, bad->code, NULL, "%s", bad->message);
  int64_t *offsets = wick_new(keep, int64_t, p->nbuffer + 1);
  for (uint32_t i = 0; i < p->nbuffer; i++)
    offsets[i] = (int64_t)(plan.offset_bytes[i] / SIZES_ALIGN);
  out->offsets = offsets, out->arena_bytes = plan.nbytes;
  out->scratch_bytes = (uint64_t)wick_max_i64(table[p->scratch], 0);
  return NULL;
}

static wick_status sizes_ports(const wick_program *p, const int64_t *table, wick_arena *keep,
                               wick_arena *mem, wick_sized *out)
{
  uint32_t n = p->ninput + p->noutput;
  wick_io *io = wick_dup(keep, wick_io, p->io, n);
  for (uint32_t i = 0; i < n; i++) {
    const wick_program_port *port = &p->sizes.port[i];
    for (uint32_t k = 0; k < io[i].rank; k++) {
      if (port->dim[k] == WICK_PROGRAM_CONST) continue;
      io[i].dim[k] = table[port->dim[k]];
      io[i].dim_name[k] = "";
      if (io[i].dim[k] < 0)
        return wick_fail(mem, WICK_ERANGE, NULL, "for these shapes dimension %u of \"%s\" is %lld",
                         k, io[i].name, (long long)io[i].dim[k]);
    }
    if (port->nbytes != WICK_PROGRAM_CONST)
      io[i].nbytes = wick_io_nbytes(io[i].elem, (uint64_t)table[port->nbytes]);
  }
  out->io = io;
  return NULL;
}

static wick_status sizes_new(wick_sizing *s, const int64_t *symbol, wick_arena *keep,
                             wick_arena *mem, wick_sized *out)
{
  const wick_program_sizes *p = &s->program->sizes;
  int64_t *table = wick_new(keep, int64_t, p->nslot);
  wick_fault fault = {0};
  memcpy(table, symbol, p->nsymbol * sizeof *table);
  s->fill((void *[]){table, &fault}, 0, 1);
  out->table = table;
  if (fault.code)
    return wick_fail(mem, WICK_ERANGE, NULL, "for these shapes a size is out of range");
  WICK_TRY(sizes_checks(p, table, mem));
  WICK_TRY(sizes_ports(s->program, table, keep, mem, out));
  return sizes_places(p, table, keep, mem, out);
}

static const struct wick_error sizes_nomem = {.code = WICK_ENOMEM, .message = "out of memory"};

bool wick_sizing_most(wick_sizing *s, uint64_t *arena_bytes, uint64_t *scratch_bytes)
{
  const wick_program_sizes *p = &s->program->sizes;
  wick_arena keep = wick_arena_make(&s->guard);
  wick_sized sized = {0};
  bool found = false;
  if (!setjmp(s->guard.where)) {
    int64_t *symbol = wick_new(&keep, int64_t, p->nsymbol + 1);
    for (uint32_t i = 0; i < p->nsymbol; i++) symbol[i] = p->symbol[i].hi;
    /* the planner rewinds the arena that it gets */
    found = !sizes_new(s, symbol, &keep, &s->tmp, &sized);
    *arena_bytes = sized.arena_bytes, *scratch_bytes = sized.scratch_bytes;
  }
  wick_arena_free(&keep);
  return found;
}

static void sizes_forget(wick_sizing *s)
{
  sizes_entry **oldest = NULL;
  for (uint32_t b = 0; b < SIZES_BUCKETS; b++)
    for (sizes_entry **e = &s->bucket[b]; *e; e = &(*e)->next)
      if (!oldest || (*e)->used < (*oldest)->used) oldest = e;
  if (!oldest) return;
  sizes_entry *gone = *oldest;
  *oldest = gone->next;
  sizes_free(s, gone);
  s->n--;
}

wick_status wick_sizing_find(wick_sizing *s, const int64_t *symbol, const wick_sized **out)
{
  size_t nbytes = s->program->sizes.nsymbol * sizeof *symbol;
  uint64_t hash = wick_hash_bytes(WICK_HASH_SEED, symbol, nbytes);
  sizes_entry **bucket = &s->bucket[hash % SIZES_BUCKETS];
  s->search++;
  for (sizes_entry *e = *bucket; e; e = e->next)
    if (e->hash == hash && memcmp(e->sized.table, symbol, nbytes) == 0) {
      e->used = s->search;
      *out = &e->sized;
      return NULL;
    }
  wick_allocator a = s->guard.allocator;
  sizes_entry *e = a.alloc(a.self, sizeof *e);
  if (!e) return &sizes_nomem;
  *e = (sizes_entry){.arena = wick_arena_make(&s->guard), .hash = hash, .used = s->search};
  wick_arena_free(&s->tmp);
  wick_status bad =
      setjmp(s->guard.where) ? &sizes_nomem : sizes_new(s, symbol, &e->arena, &s->tmp, &e->sized);
  if (bad) {
    sizes_free(s, e);
    return bad;
  }
  if (s->n == WICK_SIZES_KEPT) sizes_forget(s);
  e->next = *bucket;
  *bucket = e;
  s->n++;
  *out = &e->sized;
  return NULL;
}
