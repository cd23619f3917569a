/* A heap is emptied when no datum is left, and otherwise collected by copying what data refers to
 * into a new one: after a run that failed, and when it has grown to several times what it held,
 * because cycles through references are never freed by counts. */
#include "runtime/datum.h"

#include <stdio.h>
#include <string.h>

enum { DATUM_COLLECT_LEAST = 1 << 24 }; /* bytes; smaller heaps are not collected to save memory */

/* ---- the heap ---- */

wick_error *wick_data_heap_create(wick_context *context, uint64_t max_bytes,
                                  wick_data_heap **out_heap)
{
  if (!out_heap) return wick_invalid("wick_data_heap_create: out_heap is NULL");
  *out_heap = NULL;
  if (!context) return wick_invalid("wick_data_heap_create: context is NULL");
  wick_allocator a = context->allocator;
  wick_data_heap *h = a.alloc(a.self, sizeof *h);
  if (!h) return wick_error_nomem();
  *h = (wick_data_heap){.context = context, .max_bytes = max_bytes, .most = DATUM_COLLECT_LEAST};
  h->guard = wick_context_guard(context);
  h->mem = wick_arena_make(&h->guard);
  if (!wick_heap_map_make(&h->map, max_bytes)) {
    a.free(a.self, h, sizeof *h);
    return wick_error_nomem();
  }
  *out_heap = h;
  return NULL;
}

void wick_data_heap_free(wick_data_heap *h)
{
  if (!h) return;
  wick_allocator a = h->context->allocator;
  for (wick_datum *d = h->spare, *next; d; d = next) {
    next = d->next;
    a.free(a.self, d, sizeof *d);
  }
  wick_heap_map_free(&h->map);
  wick_arena_free(&h->mem);
  a.free(a.self, h, sizeof *h);
}

uint64_t wick_data_heap_used(const wick_data_heap *h)
{
  return h ? wick_heap_used(h->map.heap) : 0;
}

wick_error *wick_data_heap_full(void)
{
  static const struct wick_error full = {.code = WICK_ELIMIT,
                                         .message = "the heap of data is full"};
  return wick_error_export(&full);
}

const wick_datatype *wick_data_heap_type(wick_data_heap *h, const wick_datatype *t)
{
  for (uint32_t i = 0; i < h->types.n; i++)
    if (wick_datatype_same(h->types.at[i], t)) return h->types.at[i];
  wick_span bytes = wick_datatype_bytes(t);
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  wick_datatype_list list;
  if (!wick_datatypes_read(&r, &h->mem, &list)) return NULL; /* they were written by us */
  for (uint32_t i = 0; i < list.n; i++) wick_push(&h->mem, &h->types, list.at[i]);
  return list.at[0];
}

/* ---- collection ---- */

/* Returns where an object is in the new heap, with one reference more. 0: there is no memory. */
static int64_t datum_copy(wick_heap *from, wick_heap *to, int64_t object)
{
  if (object % 2) return object;
  uint64_t *at = wick_object_at(from, object);
  if ((uint32_t)*at) { /* it was not copied */
    uint64_t header = *at >> WICK_OBJECT_TAG << WICK_OBJECT_TAG;
    int64_t copy = wick_object_new(to, header);
    if (!copy) return 0;
    memcpy(wick_object_at(to, copy) + 1, at + 1,
           (size_t)(wick_heap_words((uint32_t)(header >> WICK_OBJECT_CLASS)) - 1) * 8);
    *at = (uint64_t)copy << WICK_HEAP_NEXT;
  }
  int64_t copy = (int64_t)(*at >> WICK_HEAP_NEXT);
  ++*wick_object_at(to, copy);
  return copy;
}

/* Copies all that data refers to into a new heap. It has the size of the old one, so that there is
 * room. Without memory nothing is changed. */
static void datum_collect(wick_data_heap *h)
{
  wick_heap_map new = {0};
  wick_heap *from = h->map.heap;
  if (!wick_heap_map_make(&new, h->map.nbytes)) return;
  if (new.nbytes < h->map.nbytes) {
    wick_heap_map_free(&new);
    return;
  }
  for (wick_datum *d = h->first; d; d = d->next) d->object = datum_copy(from, new.heap, d->object);
  for (uint64_t at = sizeof *new.heap; at < new.heap->top;) {
    uint64_t *block = wick_object_at(new.heap, (int64_t)at),
             refs = *block >> WICK_OBJECT_REFS & WICK_OBJECT_MOST_REFS;
    for (uint64_t k = 1; k <= refs; k++)
      block[k] = (uint64_t)datum_copy(from, new.heap, (int64_t)block[k]);
    at += wick_heap_words((uint32_t)(*block >> WICK_OBJECT_CLASS)) * 8;
  }
  wick_heap_map_free(&h->map);
  h->map = new;
  h->most = wick_max_u64(DATUM_COLLECT_LEAST, 4 * new.heap->top);
  h->failed = false;
}

/* Before a run. */
static void datum_settle(wick_data_heap *h)
{
  if (!h->first && h->map.heap->top > sizeof *h->map.heap) {
    wick_heap_map_reset(&h->map);
    h->most = DATUM_COLLECT_LEAST, h->failed = false;
  } else if (h->failed || h->map.heap->top > h->most) {
    datum_collect(h);
  }
}

/* ---- data ---- */

wick_datum *wick_datum_make(wick_data_heap *h, const wick_datatype *type, int64_t object)
{
  wick_allocator a = h->context->allocator;
  wick_datum *d = h->spare;
  if (d)
    h->spare = d->next;
  else
    d = a.alloc(a.self, sizeof *d);
  if (!d) return NULL;
  *d = (wick_datum){.heap = h, .type = type, .object = object, .next = h->first};
  if (h->first) h->first->prev = d;
  h->first = d;
  return d;
}

/* Gives back a datum without its reference. */
static void datum_drop(wick_datum *d)
{
  wick_data_heap *h = d->heap;
  if (d->next) d->next->prev = d->prev;
  if (d->prev)
    d->prev->next = d->next;
  else
    h->first = d->next;
  *d = (wick_datum){.next = h->spare};
  h->spare = d;
}

void wick_datum_free(wick_datum *d)
{
  if (!d) return;
  wick_object_release(d->heap->map.heap, d->object);
  datum_drop(d);
}

uint32_t wick_datatype_find(const wick_datatype *t, const char *constructor)
{
  for (uint32_t k = 0; t && constructor && k < t->nconstructor; k++)
    if (strcmp(t->constructor[k].name, constructor) == 0) return k;
  return UINT32_MAX;
}

const void *wick_datatype_description(const wick_datatype *t, size_t *out_nbytes)
{
  wick_span bytes = t ? wick_datatype_bytes(t) : (wick_span){0};
  if (out_nbytes) *out_nbytes = bytes.nbytes;
  return bytes.at;
}

uint32_t wick_object_constructor(wick_data_heap *h, int64_t object)
{
  if (object % 2) return (uint32_t)(object >> 1);
  return (uint32_t)(*wick_object_at(h->map.heap, object) >> WICK_OBJECT_TAG) & WICK_OBJECT_MOST_TAG;
}

int64_t wick_datum_block(wick_data_heap *h, const wick_datatype *type, uint32_t constructor)
{
  const wick_constructor *c = &type->constructor[constructor];
  if (!c->nfield) return (int64_t)constructor << 1 | 1;
  uint64_t words = wick_datatype_words(c);
  if (words >= WICK_HEAP_MOST / 8) return 0;
  return wick_object_new(h->map.heap,
                         wick_object_header(constructor, wick_datatype_refs(c), words));
}

/* Checks the fields that are data. */
static wick_error *datum_check(const wick_data_heap *h, const wick_constructor *c,
                               const void *const *fields)
{
  for (uint32_t k = 0; k < c->nfield; k++) {
    const wick_datum *d = fields[k];
    const wick_io *io = &c->field[k];
    if (!fields[k] && io->nbytes)
      return wick_invalid("field \"%s\" of %s has no address", io->name, c->name);
    if (!io->data) continue;
    if (d->heap != h)
      return wick_invalid("field \"%s\" of %s is in another heap", io->name, c->name);
    if (wick_datatype_same(d->type, io->data)) continue;
    struct wick_error e = {.code = WICK_ETYPE};
    char text[512];
    snprintf(text, sizeof text, "field \"%s\" of %s is a %s, expected a %s", io->name, c->name,
             d->type->name, io->data->name);
    e.message = text;
    return wick_error_export(&e);
  }
  return NULL;
}

wick_error *wick_datum_create(wick_data_heap *h, const wick_datatype *type, uint32_t constructor,
                              const void *const *fields, wick_datum **out)
{
  if (!out) return wick_invalid("wick_datum_create: out_datum is NULL");
  *out = NULL;
  if (!h || !type) return wick_invalid("wick_datum_create: %s is NULL", h ? "type" : "heap");
  if (constructor >= type->nconstructor)
    return wick_invalid("%s has %u constructors, none has the index %u", type->name,
                        type->nconstructor, constructor);
  const wick_constructor *c = &type->constructor[constructor];
  if (c->nfield && !fields) return wick_invalid("wick_datum_create: fields is NULL");
  if (setjmp(h->guard.where)) return wick_guard_error(&h->guard);
  const wick_datatype *own = wick_data_heap_type(h, type);
  wick_error *e = datum_check(h, c, fields);
  if (e) return e;
  int64_t o = wick_datum_block(h, own, constructor);
  if (!o) return wick_data_heap_full();
  *out = wick_datum_make(h, own, o);
  if (!*out) {
    if (o % 2 == 0) wick_object_free(h->map.heap, o);
    return wick_error_nomem();
  }
  for (uint32_t k = 0; k < c->nfield; k++) {
    uint64_t *at = wick_object_at(h->map.heap, o) + 1 + wick_datatype_word(c, k);
    if (c->field[k].data) {
      const wick_datum *d = fields[k];
      *at = (uint64_t)d->object;
      wick_object_retain(h->map.heap, d->object);
    } else if (c->field[k].nbytes) {
      if (!c->field[k].rank) *at = 0;
      memcpy(at, fields[k], (size_t)c->field[k].nbytes);
    }
  }
  return NULL;
}

wick_error *wick_datum_again(const wick_datum *d, wick_datum **out)
{
  if (!out) return wick_invalid("wick_datum_again: out_datum is NULL");
  *out = NULL;
  if (!d) return wick_invalid("wick_datum_again: datum is NULL");
  *out = wick_datum_make(d->heap, d->type, d->object);
  if (!*out) return wick_error_nomem();
  wick_object_retain(d->heap->map.heap, d->object);
  return NULL;
}

const wick_datatype *wick_datum_type(const wick_datum *d) { return d ? d->type : NULL; }

uint32_t wick_datum_constructor(const wick_datum *d)
{
  return d ? wick_object_constructor(d->heap, d->object) : 0;
}

/* Returns the address of a field; NULL: the constructor has none of that index. */
static const uint64_t *datum_field(const wick_datum *d, uint32_t field, bool data)
{
  const wick_constructor *c = d ? &d->type->constructor[wick_datum_constructor(d)] : NULL;
  if (!c || field >= c->nfield || (c->field[field].data != NULL) != data) return NULL;
  return wick_object_at(d->heap->map.heap, d->object) + 1 + wick_datatype_word(c, field);
}

const void *wick_datum_tensor(const wick_datum *d, uint32_t field)
{
  return datum_field(d, field, false);
}

static wick_error *datum_no_field(const wick_datum *d, uint32_t field)
{
  if (!d) return wick_invalid("the datum is NULL");
  return wick_invalid("%s has no field %u that is data",
                      d->type->constructor[wick_datum_constructor(d)].name, field);
}

static const wick_datatype *datum_field_type(const wick_datum *d, uint32_t field)
{
  return d->type->constructor[wick_datum_constructor(d)].field[field].data;
}

wick_error *wick_datum_field(const wick_datum *d, uint32_t field, wick_datum **out)
{
  if (!out) return wick_invalid("wick_datum_field: out_datum is NULL");
  *out = NULL;
  const uint64_t *at = datum_field(d, field, true);
  if (!at) return datum_no_field(d, field);
  *out = wick_datum_make(d->heap, datum_field_type(d, field), (int64_t)*at);
  if (!*out) return wick_error_nomem();
  wick_object_retain(d->heap->map.heap, (*out)->object);
  return NULL;
}

wick_error *wick_datum_step(wick_datum *d, uint32_t field)
{
  const uint64_t *at = datum_field(d, field, true);
  if (!at) return datum_no_field(d, field);
  int64_t to = (int64_t)*at, from = d->object;
  d->type = datum_field_type(d, field);
  wick_object_retain(d->heap->map.heap, to);
  d->object = to;
  wick_object_release(d->heap->map.heap, from);
  return NULL;
}

/* ---- runs ---- */

static void data_ports_size(const wick_program *p, size_t size[5])
{
  size_t n = (size_t)p->ninput + p->noutput;
  size[0] = sizeof(wick_data_ports);
  size[1] = size[0] + n * sizeof(void *);                /* types */
  size[2] = size[1] + n * sizeof(void *);                /* arguments */
  size[3] = size[2] + n * sizeof(int64_t);               /* objects */
  size[4] = size[3] + p->noutput * sizeof(wick_datum *); /* results */
}

wick_error *wick_data_ports_make(const wick_context *context, const wick_program *p,
                                 wick_data_heap *heap, uint64_t heap_bytes, wick_data_ports **out)
{
  bool any = false;
  size_t size[5];
  wick_allocator a = context->allocator;
  *out = NULL;
  for (uint32_t i = 0; i < p->ninput + p->noutput; i++) any = any || p->io[i].data;
  if (!any) return NULL;
  data_ports_size(p, size);
  char *block = a.alloc(a.self, size[4]);
  if (!block) return wick_error_nomem();
  wick_data_ports *d = (wick_data_ports *)(void *)block;
  *d = (wick_data_ports){.heap = heap, .own = !heap, .context = context, .program = p};
  d->type = (const wick_datatype **)(void *)(block + size[0]);
  d->input = (const void **)(void *)(block + size[1]);
  d->output = (void **)(void *)(block + size[1]) + p->ninput;
  d->object = (int64_t *)(void *)(block + size[2]);
  d->made = (wick_datum **)(void *)(block + size[3]);
  wick_error *e =
      heap ? NULL : wick_data_heap_create((wick_context *)(uintptr_t)context, heap_bytes, &d->heap);
  if (!e && setjmp(d->heap->guard.where)) e = wick_guard_error(&d->heap->guard);
  for (uint32_t i = 0; i < p->ninput + p->noutput && !e; i++)
    d->type[i] = p->io[i].data ? wick_data_heap_type(d->heap, p->io[i].data) : NULL;
  if (e)
    wick_data_ports_free(d);
  else
    *out = d;
  return e;
}

void wick_data_ports_free(wick_data_ports *d)
{
  size_t size[5];
  if (!d) return;
  wick_allocator a = d->context->allocator;
  data_ports_size(d->program, size);
  if (d->own) wick_data_heap_free(d->heap);
  a.free(a.self, d, size[4]);
}

static wick_error *data_ports_check(const wick_data_ports *d, const void *const *inputs,
                                    const bool *donated)
{
  const wick_program *p = d->program;
  for (uint32_t i = 0; i < p->ninput; i++) {
    const wick_datum *x = inputs[i];
    if (donated && donated[i] && !d->type[i])
      return wick_invalid("input \"%s\" is a tensor, and only data can be donated", p->io[i].name);
    if (!d->type[i]) continue;
    if (x->heap != d->heap)
      return wick_invalid("input \"%s\" is not in the session's heap", p->io[i].name);
    for (uint32_t k = 0; k < i && donated; k++)
      if (inputs[k] == inputs[i] && (donated[i] || donated[k]))
        return wick_invalid("input \"%s\" is donated, and also given as \"%s\"",
                            p->io[donated[i] ? i : k].name, p->io[donated[i] ? k : i].name);
    if (x->type == d->type[i] || wick_datatype_same(x->type, d->type[i])) continue;
    char text[512];
    snprintf(text, sizeof text, "input \"%s\" is a %s, expected a %s", p->io[i].name, x->type->name,
             d->type[i]->name);
    const struct wick_error e = {.code = WICK_ETYPE, .message = text};
    return wick_error_export(&e);
  }
  return NULL;
}

wick_error *wick_data_ports_begin(wick_data_ports *d, const void *const *inputs,
                                  const bool *donated, void *const *outputs)
{
  const wick_program *p = d->program;
  wick_error *e = data_ports_check(d, inputs, donated);
  if (e) return e;
  datum_settle(d->heap);
  /* Data for the results exists before the run, so that nothing fails after it. */
  for (uint32_t i = 0; i < p->noutput; i++) {
    const wick_datatype *type = d->type[p->ninput + i];
    d->output[i] = type ? &d->object[p->ninput + i] : outputs[i];
    d->made[i] = type ? wick_datum_make(d->heap, type, 1) : NULL;
    if (!type || d->made[i]) continue;
    while (i-- > 0)
      if (d->made[i]) datum_drop(d->made[i]);
    return wick_error_nomem();
  }
  for (uint32_t i = 0; i < p->ninput; i++) {
    d->input[i] = inputs[i];
    if (!d->type[i]) continue;
    union {
      const void *c;
      wick_datum *d;
    } x = {inputs[i]};
    d->object[i] = x.d->object;
    d->input[i] = &d->object[i];
    if (donated && donated[i])
      datum_drop(x.d);
    else
      wick_object_retain(d->heap->map.heap, x.d->object);
  }
  return NULL;
}

void wick_data_ports_end(wick_data_ports *d, bool good, void *const *outputs)
{
  const wick_program *p = d->program;
  d->heap->failed = d->heap->failed || !good;
  for (uint32_t i = 0; i < p->noutput; i++) {
    if (!d->made[i]) continue;
    if (good) {
      d->made[i]->object = d->object[p->ninput + i];
      *(wick_datum **)outputs[i] = d->made[i];
    } else {
      datum_drop(d->made[i]);
    }
  }
}

void wick_data_ports_give_up(wick_data_ports *d, const void *const *inputs, const bool *donated)
{
  for (uint32_t i = 0; i < d->program->ninput; i++) {
    bool again = false; /* it was given up as another input */
    for (uint32_t k = 0; k < i; k++) again = again || (donated[k] && inputs[k] == inputs[i]);
    union {
      const void *c;
      wick_datum *d;
    } x = {inputs[i]};
    if (donated[i] && d->type[i] && !again) wick_datum_free(x.d);
  }
}
