/* Parses the header, a Python dictionary, with a cursor that stops at the first error; then
 * converts the data to C order and little-endian. */
#include "npy.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* ---- types ---- */

typedef struct npy_type {
  const char *descr; /* without its byte order */
  wick_elem elem;
} npy_type;
/* If an element type has several rows, the first one is used for writing. */
static const npy_type npy_types[] = {
    {"f8", WICK_F64}, {"f4", WICK_F32},   {"f2", WICK_F16},  {"i8", WICK_I64},
    {"i4", WICK_I32}, {"i2", WICK_I16},   {"i1", WICK_I8},   {"u8", WICK_U64},
    {"u4", WICK_U32}, {"u2", WICK_U16},   {"u1", WICK_U8},   {"b1", WICK_BOOL},
    {"c8", WICK_C64}, {"c16", WICK_C128}, {"V2", WICK_BF16}, {"bfloat16", WICK_BF16},
};

static const char *npy_kind(char c)
{
  switch (c) {
  case 'O':
    return "Python objects, which only Python can read; strings can be saved with astype('U')";
  case 'T': return "strings of no fixed length, which can be saved with astype('U')";
  case 'M':
  case 'm': return "dates or times";
  case 'V': return "raw bytes";
  default: return NULL;
  }
}

/* ---- header ---- */

enum { NPY_DESCR = 1, NPY_FORTRAN = 2, NPY_SHAPE = 4 };

typedef struct npy_header {
  const char *start, *at, *end;
  const char *expected; /* the expected text at `at`; NULL if there is no error */
  unsigned seen;
  const char *descr;
  size_t ndescr;
  bool structure; /* descr is a list */
  bool fortran;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
} npy_header;

static bool npy_expected(npy_header *h, const char *what)
{
  if (!h->expected) h->expected = what;
  return false;
}

static void npy_space(npy_header *h)
{
  while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t' || *h->at == '\r'))
    h->at++;
}

/* Skips `c` after white space. Another character is no error. */
static bool npy_takes(npy_header *h, char c)
{
  npy_space(h);
  if (h->at == h->end || *h->at != c) return false;
  h->at++;
  return true;
}

static bool npy_word(npy_header *h, const char *word)
{
  size_t n = strlen(word);
  if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0) return false;
  h->at += n;
  return true;
}

static bool npy_string(npy_header *h, const char **out, size_t *out_n)
{
  npy_space(h);
  if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return npy_expected(h, "a string");
  char quote = *h->at;
  const char *from = ++h->at;
  while (h->at < h->end && *h->at != quote && *h->at != '\\') h->at++;
  if (h->at == h->end || *h->at == '\\') return npy_expected(h, "the end of the string");
  *out = from;
  *out_n = (size_t)(h->at++ - from);
  return true;
}

static bool npy_int(npy_header *h, int64_t *out)
{
  npy_space(h);
  const char *from = h->at;
  *out = 0;
  for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
    if (wick_mul_overflows(*out, 10, out) || wick_add_overflows(*out, *h->at - '0', out))
      return npy_expected(h, "a number below 2^63");
  if (h->at == from) return npy_expected(h, "a size");
  if (h->at < h->end && *h->at == 'L') h->at++; /* Python 2 wrote long integers with an L */
  return true;
}

/* "()", "(3,)", "(3, 4)" */
static bool npy_shape(npy_header *h)
{
  if (!npy_takes(h, '(')) return npy_expected(h, "'('");
  while (!npy_takes(h, ')')) {
    if (h->rank == WICK_MAX_RANK) return npy_expected(h, "at most 16 dimensions");
    if (!npy_int(h, &h->dim[h->rank++])) return false;
    if (npy_takes(h, ',')) continue;
    if (h->rank == 1) return npy_expected(h, "','"); /* "(3)" would be a number */
    if (!npy_takes(h, ')')) return npy_expected(h, "',' or ')'");
    return true;
  }
  return true;
}

static bool npy_value(npy_header *h, const char *key, size_t n)
{
  unsigned which = n == 5 && memcmp(key, "descr", n) == 0            ? NPY_DESCR
                   : n == 13 && memcmp(key, "fortran_order", n) == 0 ? NPY_FORTRAN
                   : n == 5 && memcmp(key, "shape", n) == 0          ? NPY_SHAPE
                                                                     : 0;
  if (!which || (h->seen & which)) {
    h->at = key;
    return npy_expected(h, "each of the keys descr, fortran_order, shape once");
  }
  h->seen |= which;
  npy_space(h);
  if (which == NPY_SHAPE) return npy_shape(h);
  if (which == NPY_FORTRAN) {
    h->fortran = npy_word(h, "True");
    return h->fortran || npy_word(h, "False") || npy_expected(h, "True or False");
  }
  h->structure = h->at < h->end && (*h->at == '[' || *h->at == '(');
  if (h->structure) return false; /* a structure is refused without parsing it */
  return npy_string(h, &h->descr, &h->ndescr);
}

static bool npy_dictionary(npy_header *h)
{
  if (!npy_takes(h, '{')) return npy_expected(h, "'{'");
  while (!npy_takes(h, '}')) {
    const char *key;
    size_t n;
    if (!npy_string(h, &key, &n)) return false;
    if (!npy_takes(h, ':')) return npy_expected(h, "':'");
    if (!npy_value(h, key, n)) return false;
    if (npy_takes(h, ',')) continue;
    if (!npy_takes(h, '}')) return npy_expected(h, "',' or '}'");
    break;
  }
  npy_space(h);
  if (h->at != h->end) return npy_expected(h, "the end of the header");
  if (h->seen != (NPY_DESCR | NPY_FORTRAN | NPY_SHAPE))
    return npy_expected(h, "descr, fortran_order and shape");
  return true;
}

static wick_status npy_elem(const npy_header *h, const char *location, wick_arena *mem,
                            wick_elem *out, bool *out_swap)
{
  const char *d = h->descr;
  size_t n = h->ndescr;
  /* '=' means the writer's byte order, which is assumed to be little-endian */
  bool order = n && strchr("<>|=", *d);
  *out_swap = order && *d == '>' && n > 1 && d[1] != 'V'; /* raw bytes have no order */
  if (order) d++, n--;
  for (size_t i = 0; i < WICK_COUNT(npy_types); i++)
    if (strlen(npy_types[i].descr) == n && memcmp(npy_types[i].descr, d, n) == 0) {
      *out = npy_types[i].elem;
      return NULL;
    }
  const char *kind = n ? npy_kind(*d) : NULL;
  int most = h->ndescr > 40 ? 40 : (int)h->ndescr;
  if (kind)
    return wick_fail(mem, WICK_EUNSUPPORTED, location,
                     "its elements (\"%.*s\") are %s; expected numbers, bool or strings", most,
                     h->descr, kind);
  return wick_fail(mem, WICK_EUNSUPPORTED, location, "its element type \"%.*s\" is not known", most,
                   h->descr);
}

/* Reads the header. `r` is then at the data. */
static wick_status npy_parse(wick_reader *r, const char *location, wick_arena *mem, npy_header *h)
{
  wick_span magic, text = {0};
  uint8_t major = 0, minor = 0;
  uint16_t n16 = 0;
  uint32_t n = 0;
  if (!wick_read_span(r, 6, &magic) || memcmp(magic.at, WICK_NPY_MAGIC, 6) != 0)
    return wick_fail(mem, WICK_EPARSE, location, "it does not begin like an .npy file");
  if (wick_read_u8(r, &major) && wick_read_u8(r, &minor) && (major < 1 || major > 3 || minor))
    return wick_fail(mem, WICK_EUNSUPPORTED, location, "its format is %u.%u, expected 1.0 to 3.0",
                     major, minor);
  if (major == 1 && wick_read_u16(r, &n16))
    n = n16;
  else if (major != 1)
    (void)!wick_read_u32(r, &n); /* the reader keeps the fault */
  if (!wick_read_span(r, n, &text)) return wick_reader_status(r, mem, location);
  h->start = h->at = (const char *)text.at;
  h->end = h->start + text.nbytes;
  if (npy_dictionary(h)) return NULL;
  if (h->structure)
    return wick_fail(mem, WICK_EUNSUPPORTED, location,
                     "its elements are structures; expected numbers, bool or strings");
  return wick_fail(mem, WICK_EPARSE, location, "at byte %zu: expected %s",
                   (size_t)((const unsigned char *)h->at - r->start), h->expected);
}

/* ---- data ---- */

static void npy_swap(unsigned char *at, uint64_t nbytes, size_t unit)
{
  for (unsigned char *end = at + nbytes; at < end; at += unit)
    for (size_t i = 0; i < unit / 2; i++) {
      unsigned char c = at[i];
      at[i] = at[unit - 1 - i];
      at[unit - 1 - i] = c;
    }
}

/* Copies n items of `size` bytes, `step` bytes apart, to contiguous memory. */
static void npy_gather(unsigned char *to, const unsigned char *from, int64_t n, size_t step,
                       size_t size)
{
  switch (size) { /* constant sizes, so that a copy is a single move */
  case 1:
    for (; n--; to += 1, from += step) *to = *from;
    break;
  case 2:
    for (; n--; to += 2, from += step) memcpy(to, from, 2);
    break;
  case 4:
    for (; n--; to += 4, from += step) memcpy(to, from, 4);
    break;
  case 8:
    for (; n--; to += 8, from += step) memcpy(to, from, 8);
    break;
  default:
    for (; n--; to += size, from += step) memcpy(to, from, size);
  }
}

/* Converts Fortran order to C order. Not for empty arrays or rank 0. */
static void npy_reorder(const wick_array *a, const unsigned char *from, unsigned char *to,
                        size_t size)
{
  size_t step[WICK_MAX_RANK], at = 0;
  int64_t index[WICK_MAX_RANK] = {0};
  step[0] = size;
  for (uint32_t i = 1; i < a->rank; i++) step[i] = step[i - 1] * (size_t)a->dim[i - 1];
  uint32_t last = a->rank - 1;
  for (;;) {
    npy_gather(to, from + at, a->dim[last], step[last], size);
    to += (size_t)a->dim[last] * size;
    uint32_t k = last;
    while (k > 0 && index[k - 1] == a->dim[k - 1] - 1) {
      k--;
      at -= step[k] * (size_t)index[k];
      index[k] = 0;
    }
    if (k == 0) return;
    index[k - 1]++;
    at += step[k - 1];
  }
}

/* Returns the data in place, or a copy in Wick's order. */
static const void *npy_data(const wick_array *a, wick_span s, bool swap, bool fortran,
                            wick_arena *mem)
{
  const wick_storage *row = &wick_elem_storage[a->elem];
  size_t size = row->bits / 8, unit = row->cls == WICK_COMPLEX ? size / 2 : size;
  bool reorder = fortran && a->rank > 1 && s.nbytes, dirty = false;
  swap = swap && unit > 1;
  for (size_t i = 0; a->elem == WICK_BOOL && i < s.nbytes; i++) dirty |= s.at[i] > 1;
  if (!s.nbytes) return "";
  if (!reorder && !swap && !dirty && (uintptr_t)s.at % row->align == 0) return s.at;
  unsigned char *to = wick_arena_alloc(mem, s.nbytes, 64);
  if (reorder)
    npy_reorder(a, s.at, to, size);
  else
    memcpy(to, s.at, s.nbytes);
  if (swap) npy_swap(to, s.nbytes, unit);
  for (size_t i = 0; dirty && i < s.nbytes; i++) to[i] = to[i] != 0;
  return to;
}

enum { NPY_MOST_EMPTY = 1 << 24 }; /* most strings without bytes in the file */

/* Converts one element to UTF-8. Returns false if one of its codes is not a character. */
static bool npy_string_of(const unsigned char *at, uint64_t letters, bool wide, bool swap,
                          wick_arena *mem, wick_string *out)
{
  uint32_t unit = wide ? 4 : 1;
  static const unsigned char none[4] = {0};
  while (letters && memcmp(at + (letters - 1) * unit, none, unit) == 0) letters--;
  if (!wide) {
    *out = (wick_string){(const char *)at, letters};
    return true;
  }
  char *to = wick_arena_alloc(mem, (size_t)letters * 4 + 1, 1), *end = to;
  for (uint64_t i = 0; i < letters; i++, at += 4) {
    uint32_t c =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    if (swap) c = __builtin_bswap32(c);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
    if (c < 0x80) {
      *end++ = (char)c;
      continue;
    }
    uint32_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; /* number of bytes after the first one */
    *end++ = (char)((0xffu << (7 - more) & 0xff) | c >> 6 * more);
    while (more-- > 0) *end++ = (char)(0x80 | (c >> 6 * more & 0x3f));
  }
  *out = (wick_string){to, (uint64_t)(end - to)};
  return true;
}

/* Reads the number after "U" or "S", the characters of each element. Returns -1 for other types. */
static int64_t npy_letters(const npy_header *h)
{
  const char *d = h->descr;
  size_t n = h->ndescr;
  if (n && strchr("<>|=", *d)) d++, n--;
  if (n < 2 || n > 10 || !strchr("USa", *d)) return -1;
  int64_t letters = 0;
  for (size_t i = 1; i < n; i++) {
    if (d[i] < '0' || d[i] > '9') return -1;
    letters = 10 * letters + (d[i] - '0');
  }
  return letters;
}

static wick_status npy_data_fits(const wick_reader *r, uint64_t nbytes, const char *type,
                                 const char *location, wick_arena *mem)
{
  if (nbytes == wick_reader_left(r)) return NULL;
  return wick_fail(mem, WICK_EPARSE, location, "it has %zu bytes of data, %s needs %llu",
                   wick_reader_left(r), type, (unsigned long long)nbytes);
}

/* "U" has four bytes for each character, "S" has one. The rest of an element is zeros. */
static wick_status npy_strings(const npy_header *h, wick_reader *r, const char *location,
                               wick_arena *mem, wick_array *out)
{
  bool swap = h->ndescr && *h->descr == '>', wide = memchr(h->descr, 'U', h->ndescr) != NULL;
  uint64_t letters = (uint64_t)npy_letters(h), size = letters * (wide ? 4 : 1), count, all;
  out->elem = WICK_STRING;
  const char *type = wick_array_type(mem, out->elem, out->rank, out->dim);
  if (!wick_array_nbytes(WICK_BOOL, out->rank, out->dim, &count) ||
      wick_mul_overflows(count, size, &all) || count > SIZE_MAX / 2 / sizeof(wick_string))
    return wick_fail(mem, WICK_ERANGE, location, "the size of %s overflows", type);
  WICK_TRY(npy_data_fits(r, all, type, location, mem));
  if (!size && count > NPY_MOST_EMPTY)
    return wick_fail(mem, WICK_ELIMIT, location, "%llu empty strings are too many",
                     (unsigned long long)count);
  const unsigned char *at = r->at;
  if (h->fortran && out->rank > 1 && all) {
    unsigned char *to = wick_arena_alloc(mem, (size_t)all, 64);
    npy_reorder(out, at, to, (size_t)size);
    at = to;
  }
  wick_string *text = wick_new(mem, wick_string, count + 1);
  out->data = text, out->nbytes = count * sizeof *text;
  for (uint64_t i = 0; i < count; i++, at += size)
    if (!npy_string_of(at, letters, wide, swap, mem, &text[i]))
      return wick_fail(mem, WICK_EPARSE, location, "element %llu has a code that is no character",
                       (unsigned long long)i);
  return NULL;
}

wick_status wick_npy_read(wick_span bytes, const char *location, wick_arena *mem, wick_array *out)
{
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  npy_header h = {0};
  bool swap;
  WICK_TRY(npy_parse(&r, location, mem, &h));
  *out = (wick_array){.name = "", .rank = h.rank};
  memcpy(out->dim, h.dim, sizeof h.dim);
  if (npy_letters(&h) >= 0) return npy_strings(&h, &r, location, mem, out);
  WICK_TRY(npy_elem(&h, location, mem, &out->elem, &swap));
  const char *type = wick_array_type(mem, out->elem, out->rank, out->dim);
  if (!wick_array_nbytes(out->elem, out->rank, out->dim, &out->nbytes))
    return wick_fail(mem, WICK_ERANGE, location, "the size of %s overflows", type);
  WICK_TRY(npy_data_fits(&r, out->nbytes, type, location, mem));
  out->data = npy_data(out, (wick_span){r.at, (size_t)out->nbytes}, swap, h.fortran, mem);
  return NULL;
}

/* ---- writing ---- */

static void npy_header_of(const wick_array *a, const char *descr, wick_arena *mem, wick_bytes *out)
{
  enum { PREFIX = 10 /* magic, version and length */, ALIGN = 64, GROWTH = 21 };
  wick_text t = wick_text_begin(mem);
  wick_text_addn(&t, WICK_NPY_MAGIC "\1\0\0\0", PREFIX);
  wick_text_printf(&t, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (uint32_t i = 0; i < a->rank; i++)
    wick_text_printf(&t, "%s%lld", i ? ", " : "", (long long)a->dim[i]);
  wick_text_add(&t, a->rank == 1 ? ",), }" : "), }");
  if (a->rank) { /* NumPy leaves space for a larger first size */
    int digits = snprintf(NULL, 0, "%lld", (long long)a->dim[0]);
    wick_text_printf(&t, "%*s", GROWTH - digits, "");
  }
  while ((t.n + 1) % ALIGN) wick_text_char(&t, ' ');
  wick_text_char(&t, '\n');
  t.at[PREFIX - 2] = (char)((t.n - PREFIX) & 255);
  t.at[PREFIX - 1] = (char)((t.n - PREFIX) >> 8);
  *out = (wick_bytes){t.at, t.n};
}

wick_status wick_npy_header(const wick_array *a, const char *location, wick_arena *mem,
                            wick_bytes *out)
{
  size_t k = 0;
  while (k < WICK_COUNT(npy_types) && npy_types[k].elem != a->elem) k++;
  if (k == WICK_COUNT(npy_types))
    return wick_fail(mem, WICK_EUNSUPPORTED, location, "an .npy file has no type for %s, a .pb has",
                     wick_elem_name(a->elem));
  char order = wick_elem_storage[a->elem].bits == 8 ? '|' : '<';
  npy_header_of(a, wick_str_printf(mem, "%c%s", order, npy_types[k].descr), mem, out);
  return NULL;
}

/* ---- strings ---- */

/* Returns the end of the next character. */
static uint64_t npy_letter(wick_string s, uint64_t at)
{
  for (at++; at < s.nbytes && ((unsigned char)s.at[at] & 0xc0) == 0x80;) at++;
  return at;
}

/* Returns the character that these bytes encode. */
static uint32_t npy_code(const char *at, uint64_t n)
{
  const unsigned char *s = (const unsigned char *)at;
  static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07},
                             lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  if (n > 4 || (s[0] & ~mask[n] & 0xff) != lead[n]) return 0xfffd;
  uint32_t c = s[0] & mask[n];
  for (uint64_t k = 1; k < n; k++) c = c << 6 | (s[k] & 0x3f);
  return c;
}

wick_status wick_npy_texts(const wick_array *a, const char *location, wick_arena *mem,
                           wick_bytes out[2])
{
  const wick_string *s = a->data;
  uint64_t count = a->nbytes / sizeof *s, longest = 1, all;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t n = 0;
    for (uint64_t at = 0; at < s[i].nbytes; n++) at = npy_letter(s[i], at);
    longest = wick_max_u64(longest, n);
  }
  if (wick_mul_overflows(count, longest * sizeof(uint32_t), &all) || all > SIZE_MAX / 4)
    return wick_fail(mem, WICK_ELIMIT, location, "strings of %llu characters are too long",
                     (unsigned long long)longest);
  unsigned char *data = wick_new(mem, unsigned char, (size_t)all + 1);
  for (uint64_t i = 0; i < count; i++) {
    unsigned char *to = data + i * longest * sizeof(uint32_t);
    for (uint64_t at = 0, end; at < s[i].nbytes; at = end, to += sizeof(uint32_t)) {
      uint32_t c = npy_code(s[i].at + at, (end = npy_letter(s[i], at)) - at);
      for (int b = 0; b < 4; b++) to[b] = (unsigned char)(c >> 8 * b);
    }
  }
  npy_header_of(a, wick_str_printf(mem, "<U%llu", (unsigned long long)longest), mem, &out[0]);
  out[1] = (wick_bytes){data, (size_t)all};
  return NULL;
}
