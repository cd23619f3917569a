/* The section `#[metadata]`: objects of TVM as JSON, the nodes of a graph that refer to each other by
 * number, and tensors in base64. The tensors' bytes are little-endian: a magic number, 8 bytes for
 * later, the device (type, number), the rank, the element type (class, bits, lanes), the sizes as
 * i64, the number of bytes of data, and the data. */
#include "import/json.h"
#include "import/relay/state.h"

struct relay_section {
  const wick_json *nodes, *map, *tensors; /* NULL: they cannot be read */
  bool missing;
};

static const wick_json *meta_node(const struct relay_section *m, const wick_json *index)
{
  int64_t k;
  return wick_json_int(index, &k) ? wick_json_item(m->nodes, k) : NULL;
}

static void meta_read(relay_parser *p)
{
  struct relay_section *m = p->meta = wick_new(p->mem, struct relay_section, 1);
  const relay_token *t = &p->tokens.at[p->tokens.n - 1];
  if (p->tokens.n < 2 || (--t)->kind != RELAY_METADATA) {
    m->missing = true;
    return;
  }
  const char *begin = (const char *)memchr(p->text + t->begin, ']', t->end - t->begin) + 1;
  size_t wrong, skip = (size_t)(begin - p->text);
  const wick_json *all = wick_json_read(p->mem, begin, t->end - skip, &wrong);
  const wick_json *root = wick_json_member(all, "root");
  uint32_t at = (uint32_t)(skip + wrong);
  if (!all)
    wick_lang_report(&p->p->sources, (wick_lang_at){p->source, at, at + 1},
                     "the metadata section is no JSON: this is not expected here");
  m->nodes = wick_json_member(all, "nodes");
  m->tensors = wick_json_member(all, "b64ndarrays");
  m->map = meta_node(m, root);
  if (all && !m->map)
    wick_lang_report(&p->p->sources, relay_place(p, t), "the metadata section has no root node");
}

/* The number in `data` of the object `name`; NULL: there is none. */
static const wick_json *meta_object(const struct relay_section *m, const char *name, int64_t index)
{
  const wick_json *keys = wick_json_member(m->map, "keys"),
                  *data = wick_json_member(m->map, "data");
  const wick_json *key = keys ? keys->first : NULL;
  for (int64_t k = 0; key; key = key->next, k++) {
    if (!wick_json_is(key, name)) continue;
    const wick_json *array = meta_node(m, wick_json_item(data, k));
    return meta_node(m, wick_json_item(wick_json_member(array, "data"), index));
  }
  return NULL;
}

/* ---- tensors ---- */

static int meta_digit(char c)
{
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes base64. Returns false if it is none. */
static bool meta_bytes(wick_arena *mem, const wick_json *j, unsigned char **out, size_t *nbytes)
{
  uint32_t bits = 0, nbit = 0;
  size_t n = 0, i = 0;
  *out = wick_new(mem, unsigned char, j->nbytes / 4 * 3 + 3);
  for (; i < j->nbytes && j->at[i] != '='; i++) {
    int d = meta_digit(j->at[i]);
    if (d < 0) return false;
    bits = (bits << 6 | (uint32_t)d) & 0xffffff;
    nbit += 6;
    if (nbit < 8) continue;
    nbit -= 8;
    (*out)[n++] = (unsigned char)(bits >> nbit);
  }
  for (; i < j->nbytes; i++)
    if (j->at[i] != '=') return false;
  *nbytes = n;
  return true;
}

static uint64_t meta_number(const unsigned char *at, uint32_t n)
{
  uint64_t v = 0;
  for (uint32_t i = 0; i < n; i++) v |= (uint64_t)at[i] << (8 * i);
  return v;
}

static bool meta_elem(uint64_t class, uint64_t bits, wick_elem *out)
{
  static const struct {
    uint8_t class, bits;
    wick_elem elem;
  } row[] = {{0, 8, WICK_I8},   {0, 16, WICK_I16}, {0, 32, WICK_I32}, {0, 64, WICK_I64},
             {1, 8, WICK_U8},   {1, 16, WICK_U16}, {1, 32, WICK_U32}, {1, 64, WICK_U64},
             {2, 16, WICK_F16}, {2, 32, WICK_F32}, {2, 64, WICK_F64}, {4, 16, WICK_BF16},
             {1, 1, WICK_BOOL}, {6, 8, WICK_BOOL}};
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (row[i].class == class && row[i].bits == bits) {
      *out = row[i].elem;
      return true;
    }
  return false;
}

/* Returns what is wrong; NULL: nothing. */
static const char *meta_tensor(wick_arena *mem, const unsigned char *at, size_t nbytes,
                               wick_tensor *out)
{
  enum { HEAD = 32 }; /* bytes before the sizes */
  if (nbytes < HEAD || meta_number(at, 8) != UINT64_C(0xdd5e40f096b4a13f))
    return "this is no serialized tensor";
  uint64_t rank = meta_number(at + 24, 4), nelem = 1, size;
  if (rank > WICK_MAX_RANK) return "the tensor has too many dimensions";
  if (nbytes < HEAD + 8 * rank + 8) return "the tensor is cut off";
  if (!meta_elem(at[28], at[29], &out->elem) || meta_number(at + 30, 2) != 1)
    return "this element type is not supported";
  out->rank = (uint32_t)rank;
  for (uint32_t i = 0; i < rank; i++) {
    uint64_t d = meta_number(at + HEAD + 8 * i, 8);
    if (d > INT32_MAX || (d && nelem > (uint64_t)INT64_MAX / 8 / d)) return "a size is too large";
    out->dim[i] = (int64_t)d, nelem *= d;
  }
  size = meta_number(at + HEAD + 8 * rank, 8);
  uint64_t want = nelem * (wick_elem_storage[out->elem].bits / 8u);
  if (size != want || nbytes - HEAD - 8 * rank - 8 < want)
    return "the tensor's data does not have the size of its type";
  out->data = wick_dup(mem, unsigned char, at + HEAD + 8 * rank + 8, want + 1);
  return NULL;
}

const wick_tensor *wick_relay_constant(relay_parser *p, const relay_token *t)
{
  unsigned char *bytes;
  size_t nbytes;
  int64_t k;
  if (!p->meta) meta_read(p);
  const struct relay_section *m = p->meta;
  if (strcmp(t->name, "relay.Constant") != 0) {
    wick_lang_report(&p->p->sources, relay_place(p, t), "objects of `%s` are not supported here",
                     t->name);
    return NULL;
  }
  if (m->missing) {
    wick_lang_report(&p->p->sources, relay_place(p, t), "the file has no section #[metadata]");
    return NULL;
  }
  if (!m->map) return NULL; /* reported */
  const wick_json *object = meta_object(m, t->name, t->i);
  const wick_json *data = wick_json_member(wick_json_member(object, "attrs"), "data");
  const wick_json *text = data && wick_json_int(data, &k) ? wick_json_item(m->tensors, k) : NULL;
  const char *wrong = !object ? "the section #[metadata] has no such constant"
                      : !text ? "the constant has no data in the section #[metadata]"
                              : NULL;
  if (!wrong && !meta_bytes(p->mem, text, &bytes, &nbytes)) wrong = "the constant is no base64";
  wick_tensor *out = wick_new(p->mem, wick_tensor, 1);
  if (!wrong) wrong = meta_tensor(p->mem, bytes, nbytes, out);
  if (wrong) wick_lang_report(&p->p->sources, relay_place(p, t), "%s", wrong);
  return wrong ? NULL : out;
}
