/* Object headers: lists of messages, of version 1 and 2, in several blocks. */
#include "import/hdf5/file.h"

#include <string.h>

enum { HEADER_BLOCKS = 4096, HEADER_MESSAGES = 1 << 20 };

typedef struct header_walk {
  wick_hdf5 *f;
  hdf5_visit visit;
  void *arg;
  bool old;                   /* version 1 */
  bool ordered;               /* messages have a number of their order */
  bool done;                  /* the visitor has what it wants */
  uint32_t nmessage;          /* messages that may still come */
  wick_list(wick_span) block; /* a list of blocks that grows as continuations are met */
} header_walk;

static bool header_continue(header_walk *w, wick_span body)
{
  wick_hdf5 *f = w->f;
  wick_reader r = hdf5_reader(f, body), block;
  uint64_t at = hdf5_address(f, &r), nbytes = hdf5_length(f, &r);
  if (!hdf5_whole(f, &r)) return false;
  if (w->block.n == HEADER_BLOCKS)
    return hdf5_refuse(f, at, WICK_ELIMIT, "an object's header has too many blocks");
  if (w->old) {
    if (!hdf5_block(f, at, nbytes, &block)) return false;
  } else {
    if (nbytes < 8) return hdf5_refuse(f, at, WICK_EPARSE, "a block OCHK is too small");
    if (!hdf5_block(f, at, nbytes, &block) || !hdf5_checksum(f, at, nbytes - 4)) return false;
    if (memcmp(block.at, "OCHK", 4) != 0)
      return hdf5_refuse(f, at, WICK_EPARSE, "a block does not begin with OCHK");
    block.at += 4, block.end -= 4;
  }
  wick_push(f->mem, &w->block, (wick_span){block.at, wick_reader_left(&block)});
  return true;
}

static bool header_block(header_walk *w, wick_span s)
{
  wick_hdf5 *f = w->f;
  wick_reader r = hdf5_reader(f, s);
  size_t head = w->old ? 8 : w->ordered ? 6 : 4;
  while (!w->done && wick_reader_left(&r) >= head && w->nmessage) {
    uint32_t type = (uint32_t)hdf5_uint(&r, w->old ? 2 : 1), size = (uint32_t)hdf5_uint(&r, 2);
    uint32_t flags = (uint32_t)hdf5_uint(&r, 1);
    hdf5_uint(&r, w->old ? 3 : w->ordered ? 2 : 0);
    wick_span body = hdf5_span(&r, size);
    if (!hdf5_whole(f, &r)) return false;
    w->nmessage--;
    if (type == HDF5_CONTINUATION) {
      if (!header_continue(w, body)) return false;
    } else if (!w->visit(f, w->arg, type, flags, body)) {
      w->done = true;
      if (f->bad) return false;
    }
  }
  return true;
}

/* The first block of a header of version 2. */
static bool header_new(header_walk *w, uint64_t at, wick_reader *r)
{
  wick_hdf5 *f = w->f;
  hdf5_uint(r, 4);
  uint32_t version = (uint32_t)hdf5_uint(r, 1), flags = (uint32_t)hdf5_uint(r, 1);
  if (version != 2)
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "version %u of an object header is not known",
                       version);
  w->ordered = flags >> 2 & 1;
  hdf5_span(r, (flags >> 5 & 1 ? 16 : 0) + (flags >> 4 & 1 ? 4u : 0u));
  uint64_t size = hdf5_uint(r, 1u << (flags & 3));
  if (!hdf5_whole(f, r)) return false;
  uint64_t head = wick_reader_position(r) - at;
  wick_reader block;
  if (size > f->nbytes || !hdf5_block(f, at, head + size, &block))
    return hdf5_refuse(f, at, WICK_EPARSE, "an object header is not within the file");
  if (!hdf5_checksum(f, at, head + size)) return false;
  w->nmessage = HEADER_MESSAGES;
  wick_push(f->mem, &w->block, (wick_span){block.at + head, (size_t)size});
  return true;
}

static bool header_old(header_walk *w, uint64_t at, wick_reader *r)
{
  wick_hdf5 *f = w->f;
  uint32_t version = (uint32_t)hdf5_uint(r, 1);
  if (version != 1) return hdf5_refuse(f, at, WICK_EPARSE, "there is no header of an object here");
  hdf5_uint(r, 1);
  w->old = true;
  w->nmessage = (uint32_t)hdf5_uint(r, 2);
  hdf5_uint(r, 4); /* references */
  uint64_t size = hdf5_uint(r, 4);
  hdf5_uint(r, 4); /* padding */
  if (!hdf5_whole(f, r)) return false;
  wick_reader block;
  if (!hdf5_block(f, at + 16, size, &block)) return false;
  wick_push(f->mem, &w->block, (wick_span){block.at, (size_t)size});
  return true;
}

bool hdf5_messages(wick_hdf5 *f, uint64_t at, hdf5_visit visit, void *arg)
{
  header_walk w = {.f = f, .visit = visit, .arg = arg};
  if (at > f->nbytes || f->nbytes - at < 16)
    return hdf5_refuse(f, at, WICK_EPARSE, "an object's header is not within the file");
  wick_reader r = hdf5_reader(f, (wick_span){f->at + at, f->nbytes - at});
  bool good = memcmp(r.at, "OHDR", 4) == 0 ? header_new(&w, at, &r) : header_old(&w, at, &r);
  for (uint32_t i = 0; good && i < w.block.n && !w.done; i++)
    good = header_block(&w, w.block.at[i]);
  return good;
}

typedef struct header_find {
  uint32_t type;
  wick_span body;
} header_find;

static bool header_is(wick_hdf5 *f, void *arg, uint32_t type, uint32_t flags, wick_span body)
{
  header_find *want = arg;
  if (type != want->type) return true;
  want->body = body;
  if (flags & 2) (void)!hdf5_shared(f, type, body, &want->body);
  return false;
}

bool hdf5_message(wick_hdf5 *f, uint64_t at, uint32_t type, wick_span *out)
{
  header_find want = {.type = type};
  bool good = hdf5_messages(f, at, header_is, &want);
  *out = want.body;
  return good;
}
