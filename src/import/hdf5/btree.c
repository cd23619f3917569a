/* B-trees of version 2. Their nodes do not say how many records they hold: the parents do, in
 * numbers whose width follows from the size of a node. */
#include "import/hdf5/file.h"

enum { BTREE_DEPTH = 16, BTREE_FRAME = 10 }; /* bytes of a node around its records */

typedef struct btree_tree {
  uint32_t type, node_bytes, record_bytes, depth;
  uint32_t count_bytes;              /* of the number of records in a child */
  uint32_t total_bytes[BTREE_DEPTH]; /* of the number of records below a child, by its level */
  hdf5_record visit;
  void *arg;
  bool done;
} btree_tree;

/* Derives the widths of the numbers in inner nodes. */
static bool btree_widths(wick_hdf5 *f, uint64_t at, btree_tree *t)
{
  if (t->record_bytes == 0 || t->node_bytes < BTREE_FRAME + t->record_bytes ||
      t->depth >= BTREE_DEPTH)
    return hdf5_refuse(f, at, WICK_EPARSE, "the header of a B-tree is damaged");
  uint64_t most = (t->node_bytes - BTREE_FRAME) / t->record_bytes, all = most;
  t->count_bytes = hdf5_width(most);
  for (uint32_t level = 1; level <= t->depth; level++) {
    uint64_t pointer = f->noffset + t->count_bytes + t->total_bytes[level - 1];
    if (t->node_bytes < BTREE_FRAME + pointer)
      return hdf5_refuse(f, at, WICK_EPARSE, "the header of a B-tree is damaged");
    most = (t->node_bytes - BTREE_FRAME - pointer) / (t->record_bytes + pointer);
    if (wick_mul_overflows(most + 1, all, &all) || wick_add_overflows(all, most, &all))
      all = UINT64_MAX;
    t->total_bytes[level] = hdf5_width(all);
  }
  return true;
}

static bool btree_node(wick_hdf5 *f, btree_tree *t, uint64_t at, uint32_t level, uint64_t n)
{
  wick_reader r, pointer;
  uint64_t records = n * t->record_bytes;
  if (!hdf5_signed(f, at, t->node_bytes, level ? "BTIN" : "BTLF", 0, &r)) return false;
  hdf5_uint(&r, 1);
  wick_span all = hdf5_span(&r, records);
  pointer = r;
  uint32_t wide = f->noffset + t->count_bytes + t->total_bytes[level ? level - 1 : 0];
  hdf5_span(&r, level ? (n + 1) * wide : 0);
  if (!hdf5_whole(f, &r) || !hdf5_checksum(f, at, wick_reader_position(&r) - at)) return false;
  for (uint64_t i = 0; i <= n && !t->done; i++) {
    if (level) {
      uint64_t child = hdf5_address(f, &pointer), nchild = hdf5_uint(&pointer, t->count_bytes);
      hdf5_uint(&pointer, t->total_bytes[level - 1]);
      if (nchild > t->node_bytes) /* before the product with record_bytes */
        return hdf5_refuse(f, at, WICK_EPARSE, "a node of a B-tree has too many records");
      if (!btree_node(f, t, child, level - 1, nchild)) return false;
    }
    if (i == n || t->done) break;
    wick_reader record = hdf5_reader(f, (wick_span){all.at + i * t->record_bytes, t->record_bytes});
    t->done = !t->visit(f, t->arg, &record);
    if (!hdf5_whole(f, &record)) return false;
  }
  return true;
}

bool hdf5_btree(wick_hdf5 *f, uint64_t at, uint32_t type, hdf5_record visit, void *arg)
{
  uint64_t nbytes = 18 + (uint64_t)f->noffset + f->nlength;
  wick_reader r;
  if (at == HDF5_NOWHERE) return true; /* empty */
  if (!hdf5_signed(f, at, nbytes, "BTHD", 0, &r)) return false;
  btree_tree t = {.type = (uint32_t)hdf5_uint(&r, 1), .visit = visit, .arg = arg};
  t.node_bytes = (uint32_t)hdf5_uint(&r, 4), t.record_bytes = (uint32_t)hdf5_uint(&r, 2);
  t.depth = (uint32_t)hdf5_uint(&r, 2);
  hdf5_uint(&r, 2); /* when nodes are split and merged */
  uint64_t root = hdf5_address(f, &r), n = hdf5_uint(&r, 2);
  if (!hdf5_whole(f, &r) || !hdf5_checksum(f, at, nbytes)) return false;
  if (t.type != type)
    return hdf5_refuse(f, at, WICK_EPARSE, "a B-tree has type %u, expected %u", t.type, type);
  if (root == HDF5_NOWHERE) return true;
  return btree_widths(f, at, &t) && btree_node(f, &t, root, t.depth, n);
}
