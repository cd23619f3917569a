/* Data as bytes:
 *   8 bytes "wickdata", u32 version, u32 0
 *   u64 the bytes of the type's description (runtime/datatype.h), these bytes, zeros up to a multiple
 *       of 8
 *   u64 the number of blocks; the blocks; u64 the value; u64 a hash of all before it, or 0 in bytes
 *       that a program makes and passes on at once
 * A block is a u32 number of its type in the description, from 0, a u32 constructor, and the words of
 * its fields as they are in memory (runtime/heap.h). A value is 2 * constructor + 1, if that has no
 * fields, or 2 * block: only blocks before it, so that there are no cycles, and reading needs no
 * stack. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "runtime/datum.h"
#include "runtime/put.h"

enum { FILE_VERSION = 1 };

static const char file_magic[] = "wickdata";

/* ---- writing ---- */

typedef struct file_block { /* an object that is written, or whose fields are */
  int64_t object;
  uint32_t type;
  uint32_t field; /* the next of its fields that are objects */
} file_block;

typedef struct file_writer {
  wick_data_heap *heap;
  wick_datatype_list types;
  wick_arena *mem;
  wick_text out;
  wick_list(file_block) stack;
  uint64_t nblock, nslot;
  int64_t *slot; /* hash table: objects, and their blocks */
  uint64_t *block;
} file_writer;

static uint64_t file_slot(const file_writer *w, int64_t object)
{
  uint64_t at = wick_hash_u64(WICK_HASH_SEED, (uint64_t)object) & (w->nslot - 1);
  while (w->slot[at] && w->slot[at] != object) at = (at + 1) & (w->nslot - 1);
  return at;
}

static void file_number(file_writer *w, int64_t object)
{
  if (2 * w->nblock >= w->nslot) {
    uint64_t n = w->nslot;
    int64_t *slot = w->slot;
    uint64_t *block = w->block;
    w->nslot = n ? 2 * n : 64;
    w->slot = wick_new(w->mem, int64_t, w->nslot);
    w->block = wick_new(w->mem, uint64_t, w->nslot);
    for (uint64_t i = 0; i < n; i++) {
      if (!slot[i]) continue;
      uint64_t at = file_slot(w, slot[i]);
      w->slot[at] = slot[i], w->block[at] = block[i];
    }
  }
  uint64_t at = file_slot(w, object);
  w->slot[at] = object, w->block[at] = w->nblock++;
}

static bool file_known(const file_writer *w, int64_t object)
{
  return object % 2 || (w->nslot && w->slot[file_slot(w, object)]);
}

static uint64_t file_value(const file_writer *w, int64_t object)
{
  return object % 2 ? (uint64_t)object : 2 * w->block[file_slot(w, object)];
}

static const wick_constructor *file_constructor(const file_writer *w, const file_block *b)
{
  return &w->types.at[b->type]->constructor[wick_object_constructor(w->heap, b->object)];
}

static void file_write_block(file_writer *w, const file_block *b)
{
  const wick_constructor *c = file_constructor(w, b);
  const uint64_t *at = wick_object_at(w->heap->map.heap, b->object) + 1;
  uint64_t refs = wick_datatype_refs(c), words = wick_datatype_words(c);
  wick_put_u32(&w->out, b->type);
  wick_put_u32(&w->out, wick_object_constructor(w->heap, b->object));
  for (uint64_t k = 0; k < refs; k++) wick_put_u64(&w->out, file_value(w, (int64_t)at[k]));
  wick_text_addn(&w->out, (const char *)(at + refs), (size_t)(words - refs) * 8);
  file_number(w, b->object);
}

/* Writes what an object refers to before it, with a stack of its own. */
static void file_write_object(file_writer *w, int64_t object)
{
  if (file_known(w, object)) return;
  wick_push(w->mem, &w->stack, ((file_block){object, 0, 0}));
  while (w->stack.n) {
    file_block *b = &w->stack.at[w->stack.n - 1];
    const wick_constructor *c = file_constructor(w, b);
    int64_t next = 1;
    uint32_t type = 0;
    while (file_known(w, next) && b->field < c->nfield) {
      const wick_io *io = &c->field[b->field];
      if (io->data) {
        type = wick_datatype_number(&w->types, io->data) - 1;
        next = (int64_t)wick_object_at(w->heap->map.heap,
                                       b->object)[1 + wick_datatype_word(c, b->field)];
      }
      b->field++;
    }
    if (!file_known(w, next)) {
      wick_push(w->mem, &w->stack, ((file_block){next, type, 0}));
      continue;
    }
    if (!file_known(w, b->object)) file_write_block(w, b);
    w->stack.n--;
  }
}

static wick_span file_write(const wick_datum *d, wick_arena *mem)
{
  file_writer w = {.heap = d->heap, .mem = mem, .out = wick_text_begin(mem)};
  wick_span type = wick_datatype_bytes(d->type);
  wick_datatype_reach(&w.types, d->type, mem);
  wick_text_addn(&w.out, file_magic, 8);
  wick_put_u32(&w.out, FILE_VERSION);
  wick_put_u32(&w.out, 0);
  wick_put_u64(&w.out, type.nbytes);
  wick_text_addn(&w.out, (const char *)type.at, type.nbytes);
  while (w.out.n % 8) wick_text_char(&w.out, 0);
  size_t count = w.out.n;
  wick_put_u64(&w.out, 0);
  file_write_object(&w, d->object);
  for (uint32_t i = 0; i < 8; i++) w.out.at[count + i] = (char)(w.nblock >> (8 * i));
  wick_put_u64(&w.out, file_value(&w, d->object));
  wick_put_u64(&w.out, wick_hash_bytes(WICK_HASH_SEED, w.out.at, w.out.n));
  return (wick_span){(const unsigned char *)w.out.at, w.out.n};
}

wick_error *wick_datum_write(const wick_datum *d, void **out_bytes, size_t *out_nbytes)
{
  if (!out_bytes || !out_nbytes)
    return wick_invalid("wick_datum_write: %s is NULL", out_bytes ? "out_nbytes" : "out_bytes");
  *out_bytes = NULL, *out_nbytes = 0;
  if (!d) return wick_invalid("wick_datum_write: datum is NULL");
  wick_allocator a = d->heap->context->allocator;
  wick_guard guard = wick_context_guard(d->heap->context);
  wick_arena mem = wick_arena_make(&guard);
  wick_error *e = NULL;
  if (setjmp(guard.where)) {
    e = wick_guard_error(&guard);
  } else {
    wick_span bytes = file_write(d, &mem);
    *out_bytes = a.alloc(a.self, bytes.nbytes);
    if (*out_bytes)
      memcpy(*out_bytes, bytes.at, *out_nbytes = bytes.nbytes);
    else
      e = wick_error_nomem();
  }
  wick_arena_free(&mem);
  return e;
}

void wick_datum_free_bytes(const wick_datum *d, void *bytes, size_t nbytes)
{
  if (!d || !bytes) return;
  wick_allocator a = d->heap->context->allocator;
  a.free(a.self, bytes, nbytes);
}

wick_error *wick_datum_save(const wick_datum *d, const char *path)
{
  if (!d || !path) return wick_invalid("wick_datum_save: %s is NULL", d ? "path" : "datum");
  wick_guard guard = wick_context_guard(d->heap->context);
  wick_arena mem = wick_arena_make(&guard);
  wick_error *e = NULL;
  if (setjmp(guard.where)) {
    e = wick_guard_error(&guard);
  } else {
    wick_span bytes = file_write(d, &mem);
    const wick_bytes part = {bytes.at, bytes.nbytes};
    e = wick_error_export(wick_file_write(&mem, path, &part, 1));
  }
  wick_arena_free(&mem);
  return e;
}

/* ---- reading ---- */

typedef struct file_reader {
  wick_data_heap *heap;
  wick_datatype_list types;
  wick_reader r;
  uint64_t nblock;
  int64_t *object; /* of each block so far; each has a reference for this table */
  uint32_t *type;
  bool full;
} file_reader;

static bool file_refuse(file_reader *f, const char *why)
{
  return wick_reader_refuse(&f->r, wick_reader_position(&f->r), why);
}

/* Reads a value of this type. */
static bool file_read_value(file_reader *f, const wick_datatype *type, int64_t *out)
{
  uint64_t v;
  if (!wick_read_u64(&f->r, &v)) return false;
  *out = (int64_t)v;
  if (v % 2)
    return (v / 2 < type->nconstructor && !type->constructor[v / 2].nfield) ||
           file_refuse(f, "the type has no such constructor without fields");
  if (v / 2 >= f->nblock) return file_refuse(f, "a value is none of the blocks before it");
  if (f->types.at[f->type[v / 2]] != type) return file_refuse(f, "a value has another type");
  *out = f->object[v / 2];
  return true;
}

static bool file_is_bool(const wick_io *io, const unsigned char *at)
{
  bool good = true;
  for (uint64_t k = 0; k < io->nbytes && io->elem == WICK_BOOL; k++) good = good && at[k] <= 1;
  return good;
}

static bool file_read_fields(file_reader *f, const wick_constructor *c, uint64_t *at)
{
  uint64_t refs = wick_datatype_refs(c), words = wick_datatype_words(c);
  wick_span s;
  for (uint32_t k = 0; k < c->nfield; k++) /* objects are in the order of the fields */
    if (c->field[k].data &&
        !file_read_value(f, c->field[k].data, (int64_t *)at + wick_datatype_word(c, k)))
      return false;
  if (!wick_read_span(&f->r, (words - refs) * 8, &s)) return false;
  if (s.nbytes) memcpy(at + refs, s.at, s.nbytes);
  for (uint32_t k = 0; k < c->nfield; k++)
    if (!file_is_bool(&c->field[k], (const unsigned char *)(at + wick_datatype_word(c, k))))
      return file_refuse(f, "a bool is neither 0 nor 1");
  return true;
}

static bool file_read_block(file_reader *f)
{
  uint32_t type, constructor;
  if (!wick_read_u32(&f->r, &type) || !wick_read_u32(&f->r, &constructor)) return false;
  if (type >= f->types.n || constructor >= f->types.at[type]->nconstructor ||
      !f->types.at[type]->constructor[constructor].nfield)
    return file_refuse(f, "there is no such constructor with fields");
  const wick_constructor *c = &f->types.at[type]->constructor[constructor];
  if (!wick_reader_fits(&f->r, wick_datatype_words(c), 8)) return false;
  int64_t o = wick_datum_block(f->heap, f->types.at[type], constructor);
  f->full = !o;
  if (!o) return file_refuse(f, "the heap is full");
  uint64_t *at = wick_object_at(f->heap->map.heap, o) + 1;
  if (!file_read_fields(f, c, at)) {
    wick_object_free(f->heap->map.heap, o);
    return false;
  }
  for (uint64_t k = 0; k < wick_datatype_refs(c); k++)
    wick_object_retain(f->heap->map.heap, (int64_t)at[k]);
  f->object[f->nblock] = o, f->type[f->nblock++] = type;
  return true;
}

/* Reads up to the blocks. */
static wick_status file_read_head(file_reader *f, const wick_datatype *type, wick_span bytes,
                                  const char *location, wick_arena *mem, uint64_t *n)
{
  wick_span magic, own = wick_datatype_bytes(type), given, zeros;
  uint32_t version, zero;
  uint64_t ntype;
  f->r = wick_reader_make(bytes.at, bytes.nbytes);
  if (!wick_read_span(&f->r, 8, &magic) || memcmp(magic.at, file_magic, 8) != 0)
    return wick_fail(mem, WICK_EPARSE, location, "this is no data that Wick has written");
  if (!wick_read_u32(&f->r, &version) || !wick_read_u32(&f->r, &zero))
    return wick_reader_status(&f->r, mem, location);
  if (version != FILE_VERSION || zero)
    return wick_fail(mem, WICK_EPARSE, location, "the data is of version %u, expected %d", version,
                     FILE_VERSION);
  uint64_t sum = bytes.nbytes < 40 ? 0 : wick_hash_word(bytes.at + bytes.nbytes - 8);
  if (bytes.nbytes < 40 || bytes.nbytes % 8 ||
      (sum && wick_hash_bytes(WICK_HASH_SEED, bytes.at, bytes.nbytes - 8) != sum))
    return wick_fail(mem, WICK_EPARSE, location, "the data is damaged: its check sum is another");
  if (!wick_read_u64(&f->r, &ntype) || !wick_read_span(&f->r, ntype, &given) ||
      !wick_read_span(&f->r, -ntype % 8, &zeros))
    return wick_reader_status(&f->r, mem, location);
  if (given.nbytes != own.nbytes || memcmp(given.at, own.at, own.nbytes) != 0) {
    wick_reader r = wick_reader_make(given.at, given.nbytes);
    wick_datatype_list other;
    bool named = wick_datatypes_read(&r, mem, &other) && other.n;
    return wick_fail(mem, WICK_ETYPE, location, "the data is a %s, expected a %s%s",
                     named ? other.at[0]->name : "value of another type", type->name,
                     named && strcmp(other.at[0]->name, type->name) == 0
                         ? "; the types have one name, but other constructors or fields"
                         : "");
  }
  if (!wick_read_u64(&f->r, n) || !wick_reader_fits(&f->r, *n, 16))
    return wick_reader_status(&f->r, mem, location);
  return NULL;
}

static wick_status file_read(file_reader *f, const wick_datatype *type, wick_span bytes,
                             const char *location, wick_arena *mem, wick_datum **out)
{
  uint64_t n, hash;
  int64_t root = 1;
  WICK_TRY(file_read_head(f, type, bytes, location, mem, &n));
  wick_datatype_reach(&f->types, type, mem);
  f->object = wick_new(mem, int64_t, n + 1);
  f->type = wick_new(mem, uint32_t, n + 1);
  *out = wick_datum_make(f->heap, type, 1);
  if (!*out) return wick_fail(mem, WICK_ENOMEM, location, "out of memory");
  bool good = true;
  while (good && f->nblock < n) good = file_read_block(f);
  good = good && file_read_value(f, type, &root) && wick_read_u64(&f->r, &hash);
  if (good && wick_reader_left(&f->r)) good = file_refuse(f, "there are bytes after the data");
  if (good) wick_object_retain(f->heap->map.heap, root);
  if (good) (*out)->object = root;
  for (uint64_t k = f->nblock; k-- > 0;) wick_object_release(f->heap->map.heap, f->object[k]);
  if (good) return NULL;
  wick_datum_free(*out);
  *out = NULL;
  if (f->full) return wick_fail(mem, WICK_ELIMIT, location, "the heap of data is full");
  return wick_reader_status(&f->r, mem, location);
}

/* Nothing between the two calls of file_read unwinds with objects: the table comes first. */
static wick_error *file_load(wick_data_heap *h, const wick_datatype *type, const char *path,
                             wick_span bytes, wick_datum **out)
{
  wick_guard guard = wick_context_guard(h->context);
  wick_arena mem = wick_arena_make(&guard);
  wick_files files = {0};
  file_reader f = {.heap = h};
  wick_error *e;
  if (setjmp(guard.where)) {
    e = wick_guard_error(&guard);
  } else if (setjmp(h->guard.where)) {
    e = wick_guard_error(&h->guard);
  } else {
    wick_file *file = NULL;
    wick_status s = NULL;
    files = wick_files_begin(&mem);
    if (path) s = wick_files_map(&files, path, &file);
    if (file) bytes = (wick_span){file->at, file->nbytes};
    if (!s) s = file_read(&f, wick_data_heap_type(h, type), bytes, path, &mem, out);
    e = wick_error_export(s);
  }
  wick_files_close(&files);
  wick_arena_free(&mem);
  return e;
}

static wick_error *file_arguments(const char *name, const wick_data_heap *h,
                                  const wick_datatype *type, const void *from, wick_datum **out)
{
  if (!out) return wick_invalid("%s: out_datum is NULL", name);
  *out = NULL;
  if (h && type && from) return NULL;
  return wick_invalid("%s: %s is NULL", name, !h ? "heap" : !type ? "type" : "the source");
}

wick_error *wick_datum_read(wick_data_heap *h, const wick_datatype *type, const void *bytes,
                            size_t nbytes, wick_datum **out)
{
  wick_error *e = file_arguments("wick_datum_read", h, type, bytes, out);
  return e ? e : file_load(h, type, NULL, (wick_span){bytes, nbytes}, out);
}

wick_error *wick_datum_load(wick_data_heap *h, const wick_datatype *type, const char *path,
                            wick_datum **out)
{
  wick_error *e = file_arguments("wick_datum_load", h, type, path, out);
  return e ? e : file_load(h, type, path, (wick_span){0}, out);
}
