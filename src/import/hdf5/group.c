/* Groups: the links of the three forms, and paths. */
#include <string.h>

#include "import/hdf5/file.h"

enum { GROUP_DEPTH = 32, GROUP_SOFT = 16, GROUP_LINKS = 1 << 20 };

typedef struct group_walk {
  wick_hdf5_links *out;
  hdf5_fractal heap;
  bool old, dense;
  wick_span table; /* a message of the symbol table or of dense links */
} group_walk;

static bool group_add(wick_hdf5 *f, group_walk *w, wick_hdf5_link link, uint64_t at)
{
  if (w->out->n >= GROUP_LINKS)
    return hdf5_refuse(f, at, WICK_ELIMIT, "a group has too many members");
  wick_push(f->mem, w->out, link);
  return true;
}

/* ---- links in headers and in heaps ---- */

static bool group_link(wick_hdf5 *f, group_walk *w, wick_span body)
{
  wick_reader r = hdf5_reader(f, body);
  uint64_t at = wick_reader_position(&r);
  uint32_t version = (uint32_t)hdf5_uint(&r, 1), flags = (uint32_t)hdf5_uint(&r, 1);
  uint32_t type = flags >> 3 & 1 ? (uint32_t)hdf5_uint(&r, 1) : 0;
  hdf5_uint(&r, flags >> 2 & 1 ? 8 : 0); /* its order */
  hdf5_uint(&r, flags >> 4 & 1 ? 1 : 0); /* the encoding of its name */
  wick_hdf5_link link = {.name = hdf5_span(&r, hdf5_uint(&r, 1u << (flags & 3)))};
  if (!hdf5_whole(f, &r)) return false;
  if (version != 1) return hdf5_refuse(f, at, WICK_EPARSE, "a link of a group is damaged");
  if (type == 0) {
    link.at = hdf5_address(f, &r);
  } else if (type == 1) {
    link.soft = true;
    link.target = hdf5_span(&r, hdf5_uint(&r, 2));
  } else {
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "links to other files are not supported");
  }
  return hdf5_whole(f, &r) && group_add(f, w, link, at);
}

static bool group_dense_record(wick_hdf5 *f, void *arg, wick_reader *record)
{
  group_walk *w = arg;
  wick_span body;
  hdf5_uint(record, 4); /* hash of the name */
  wick_span id = hdf5_span(record, 7);
  return hdf5_whole(f, record) && hdf5_fractal_get(f, &w->heap, id, &body) &&
         group_link(f, w, body);
}

static bool group_dense(wick_hdf5 *f, group_walk *w)
{
  wick_reader r = hdf5_reader(f, w->table);
  hdf5_uint(&r, 1);
  uint32_t flags = (uint32_t)hdf5_uint(&r, 1);
  hdf5_uint(&r, flags & 1 ? 8 : 0);
  uint64_t heap = hdf5_address(f, &r), names = hdf5_address(f, &r);
  if (!hdf5_whole(f, &r)) return false;
  if (heap == HDF5_NOWHERE) return true; /* all links are in the header */
  return hdf5_fractal_open(f, heap, &w->heap) && hdf5_btree(f, names, 5, group_dense_record, w) &&
         !f->bad;
}

/* ---- symbol tables ---- */

static bool group_entry(wick_hdf5 *f, group_walk *w, wick_span heap, wick_reader *r)
{
  uint64_t at = wick_reader_position(r), name = hdf5_address(f, r);
  wick_hdf5_link link = {.at = hdf5_address(f, r)};
  uint32_t kind = (uint32_t)hdf5_uint(r, 4);
  hdf5_uint(r, 4);
  wick_span scratch = hdf5_span(r, 16);
  if (!hdf5_whole(f, r)) return false;
  if (kind == 2) { /* a soft link */
    wick_reader s = hdf5_reader(f, scratch);
    uint64_t target = hdf5_uint(&s, 4);
    if (target >= heap.nbytes) return hdf5_refuse(f, at, WICK_EPARSE, "a link has no target");
    link.soft = true;
    link.target = (wick_span){
        heap.at + target, strnlen((const char *)heap.at + target, heap.nbytes - (size_t)target)};
  }
  if (name >= heap.nbytes) return hdf5_refuse(f, at, WICK_EPARSE, "a link has no name");
  link.name = (wick_span){heap.at + name,
                          strnlen((const char *)heap.at + name, heap.nbytes - (size_t)name)};
  return group_add(f, w, link, at);
}

static bool group_leaf(wick_hdf5 *f, group_walk *w, wick_span heap, uint64_t at)
{
  wick_reader r;
  if (!hdf5_signed(f, at, 8, "SNOD", 1, &r)) return false;
  hdf5_uint(&r, 1);
  uint64_t n = hdf5_uint(&r, 2), entry = 2 * (uint64_t)f->noffset + 24;
  if (!hdf5_block(f, at + 8, n * entry, &r)) return false;
  for (uint64_t i = 0; i < n; i++)
    if (!group_entry(f, w, heap, &r)) return false;
  return true;
}

/* A node of the B-tree of version 1 at `level`, or of any level if it is -1. */
static bool group_node(wick_hdf5 *f, group_walk *w, wick_span heap, uint64_t at, int level)
{
  wick_reader r;
  uint64_t head = 8 + 2 * (uint64_t)f->noffset;
  if (!hdf5_signed(f, at, head, "TREE", 0, &r)) return false;
  int mine = (int)hdf5_uint(&r, 1);
  uint64_t n = hdf5_uint(&r, 2);
  if (mine >= GROUP_DEPTH || (level >= 0 && mine != level))
    return hdf5_refuse(f, at, WICK_EPARSE, "a node of a B-tree has the wrong level");
  if (!hdf5_block(f, at + head, n * (f->nlength + f->noffset) + f->nlength, &r)) return false;
  for (uint64_t i = 0; i < n; i++) {
    hdf5_length(f, &r);
    uint64_t child = hdf5_address(f, &r);
    if (!hdf5_whole(f, &r)) return false;
    bool good = mine ? group_node(f, w, heap, child, mine - 1) : group_leaf(f, w, heap, child);
    if (!good) return false;
  }
  return true;
}

static bool group_table(wick_hdf5 *f, group_walk *w)
{
  wick_reader r = hdf5_reader(f, w->table);
  uint64_t tree = hdf5_address(f, &r), heap = hdf5_address(f, &r);
  wick_span names;
  return hdf5_whole(f, &r) && hdf5_local_heap(f, heap, &names) && group_node(f, w, names, tree, -1);
}

/* ---- the interface ---- */

static bool group_message(wick_hdf5 *f, void *arg, uint32_t type, uint32_t flags, wick_span body)
{
  group_walk *w = arg;
  (void)flags;
  if (type == HDF5_LINK) return group_link(f, w, body);
  if (type != HDF5_SYMBOL_TABLE && type != HDF5_LINK_INFO) return true;
  w->old = type == HDF5_SYMBOL_TABLE, w->dense = !w->old;
  w->table = body;
  return true;
}

static bool group_list(wick_hdf5 *f, uint64_t at, wick_hdf5_links *out)
{
  group_walk w = {.out = out};
  *out = (wick_hdf5_links){0};
  if (!hdf5_messages(f, at, group_message, &w)) return false;
  return w.old ? group_table(f, &w) : w.dense ? group_dense(f, &w) : true;
}

wick_status wick_hdf5_list(wick_hdf5 *f, wick_hdf5_object group, wick_hdf5_links *out)
{
  hdf5_begin(f);
  (void)group_list(f, group.at, out);
  return f->bad;
}

/* Follows one name, and soft links from it, whose number is limited. */
static bool group_find(wick_hdf5 *f, uint64_t from, wick_span path, uint32_t soft, bool *found,
                       uint64_t *out)
{
  size_t i = 0;
  uint64_t at = path.nbytes && path.at[0] == '/' ? f->root : from;
  *found = false;
  while (i < path.nbytes) {
    size_t end = i;
    while (end < path.nbytes && path.at[end] != '/') end++;
    wick_span name = {path.at + i, end - i};
    i = end + 1;
    if (!name.nbytes || (name.nbytes == 1 && name.at[0] == '.')) continue;
    wick_hdf5_links links;
    hdf5_begin(f);
    if (!group_list(f, at, &links)) return false;
    uint32_t k = 0;
    while (k < links.n && (links.at[k].name.nbytes != name.nbytes ||
                           memcmp(links.at[k].name.at, name.at, name.nbytes) != 0))
      k++;
    if (k == links.n) return true;
    uint64_t next = links.at[k].at;
    if (links.at[k].soft) {
      if (!soft) return hdf5_refuse(f, at, WICK_EPARSE, "soft links form a cycle");
      if (!group_find(f, at, links.at[k].target, soft - 1, found, &next)) return false;
      if (!*found) return true;
      *found = false;
    }
    at = next;
  }
  *found = true;
  *out = at;
  return true;
}

wick_status wick_hdf5_find(wick_hdf5 *f, wick_hdf5_object from, const char *path, bool *found,
                           wick_hdf5_object *out)
{
  wick_span s = {(const unsigned char *)path, strlen(path)};
  hdf5_begin(f);
  (void)group_find(f, from.at, s, GROUP_SOFT, found, &out->at);
  return f->bad;
}
