/* A reader of JSON. */
#include "import/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { JSON_DEPTH = 200 };

typedef struct json_reader {
  wick_arena *mem;
  const char *at, *end;
  uint32_t depth;
} json_reader;

static void json_blank(json_reader *r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
    r->at++;
}
static bool json_take(json_reader *r, char c)
{
  json_blank(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

/* The contents of a string, up to its quote. */
static bool json_string(json_reader *r, const char **out, size_t *nbytes)
{
  if (!json_take(r, '"')) return false;
  *out = r->at;
  while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
  if (r->at >= r->end) return false;
  *nbytes = (size_t)(r->at++ - *out);
  return true;
}

static wick_json *json_value(json_reader *r);

static bool json_items(json_reader *r, wick_json *j, char end)
{
  wick_json **to = &j->first;
  if (json_take(r, end)) return true;
  do {
    const char *key = NULL;
    size_t nkey = 0;
    if (end == '}' && (!json_string(r, &key, &nkey) || !json_take(r, ':'))) return false;
    wick_json *item = json_value(r);
    if (!item) return false;
    item->key = key, item->nkey = nkey;
    *to = item, to = &item->next;
    j->n++;
  } while (json_take(r, ','));
  return json_take(r, end);
}

/* The kind of a word without quotes. Returns false if it is none of JSON's or Python's. */
static bool json_word(wick_json *j)
{
  static const struct {
    const char *text;
    wick_json_kind kind;
  } word[] = {{"null", WICK_JSON_NULL},       {"true", WICK_JSON_TRUE},
              {"false", WICK_JSON_FALSE},     {"NaN", WICK_JSON_NUMBER},
              {"Infinity", WICK_JSON_NUMBER}, {"-Infinity", WICK_JSON_NUMBER}};
  for (size_t i = 0; i < WICK_COUNT(word); i++)
    if (j->nbytes == strlen(word[i].text) && memcmp(j->at, word[i].text, j->nbytes) == 0) {
      j->kind = word[i].kind;
      return true;
    }
  j->kind = WICK_JSON_NUMBER;
  for (size_t i = 0; i < j->nbytes; i++)
    if (!strchr("0123456789+-.eE", j->at[i])) return false;
  return j->nbytes > 0;
}

static wick_json *json_value(json_reader *r)
{
  wick_json *j = wick_new(r->mem, wick_json, 1);
  json_blank(r);
  if (r->at == r->end || ++r->depth > JSON_DEPTH) return NULL;
  bool ok = true;
  char c = *r->at;
  if (c == '[' || c == '{') {
    r->at++;
    j->kind = c == '[' ? WICK_JSON_ARRAY : WICK_JSON_OBJECT;
    ok = json_items(r, j, c == '[' ? ']' : '}');
  } else if (c == '"') {
    j->kind = WICK_JSON_STRING;
    ok = json_string(r, &j->at, &j->nbytes);
  } else {
    j->at = r->at;
    while (r->at < r->end && *r->at && !strchr(",]} \n\t\r", *r->at)) r->at++;
    j->nbytes = (size_t)(r->at - j->at);
    ok = json_word(j);
  }
  r->depth--;
  return ok ? j : NULL;
}

wick_json *wick_json_read(wick_arena *mem, const char *text, size_t nbytes, size_t *out_wrong)
{
  json_reader r = {mem, text, text + nbytes, 0};
  wick_json *j = json_value(&r);
  json_blank(&r);
  *out_wrong = (size_t)(r.at - text);
  return j && r.at == r.end ? j : NULL;
}

const wick_json *wick_json_member(const wick_json *j, const char *key)
{
  size_t n = strlen(key);
  if (!j || j->kind != WICK_JSON_OBJECT) return NULL;
  for (const wick_json *k = j->first; k; k = k->next)
    if (k->nkey == n && memcmp(k->key, key, n) == 0) return k;
  return NULL;
}

const wick_json *wick_json_item(const wick_json *j, int64_t k)
{
  if (!j || j->kind != WICK_JSON_ARRAY || k < 0) return NULL;
  const wick_json *item = j->first;
  while (item && k--) item = item->next;
  return item;
}

bool wick_json_int(const wick_json *j, int64_t *out)
{
  if (!j || (j->kind != WICK_JSON_NUMBER && j->kind != WICK_JSON_STRING)) return false;
  if (!j->nbytes || j->nbytes > 18) return false;
  size_t i = j->at[0] == '-';
  int64_t v = 0;
  if (i == j->nbytes) return false;
  for (; i < j->nbytes; i++) {
    if (j->at[i] < '0' || j->at[i] > '9') return false;
    v = 10 * v + (j->at[i] - '0');
  }
  *out = j->at[0] == '-' ? -v : v;
  return true;
}

bool wick_json_is(const wick_json *j, const char *text)
{
  return j && j->kind == WICK_JSON_STRING && j->nbytes == strlen(text) &&
         memcmp(j->at, text, j->nbytes) == 0;
}

bool wick_json_double(const wick_json *j, double *out)
{
  char text[64], *end;
  if (!j) return false;
  *out = j->kind == WICK_JSON_TRUE;
  if (j->kind == WICK_JSON_TRUE || j->kind == WICK_JSON_FALSE) return true;
  if (j->kind != WICK_JSON_NUMBER || j->nbytes >= sizeof text) return false;
  memcpy(text, j->at, j->nbytes);
  text[j->nbytes] = 0;
  *out = strtod(text, &end);
  return end != text && !*end;
}

/* ---- escapes ---- */

static int json_hex(char c)
{
  const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 32) : NULL;
  return at ? (int)(at - digits) : 0;
}

static uint32_t json_unit(const char *at)
{
  uint32_t x = 0;
  for (int i = 0; i < 4; i++) x = x << 4 | (uint32_t)json_hex(at[i]);
  return x;
}

static void json_utf8(wick_text *t, uint32_t x)
{
  uint32_t n = x < 0x80 ? 0 : x < 0x800 ? 1 : x < 0x10000 ? 2 : 3;
  static const uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
  wick_text_char(t, (char)(unsigned char)(lead[n] | x >> (6 * n)));
  while (n--) wick_text_char(t, (char)(unsigned char)(0x80 | (x >> (6 * n) & 63)));
}

const char *wick_json_unescaped(wick_arena *mem, const wick_json *j)
{
  if (!j || j->kind != WICK_JSON_STRING) return NULL;
  wick_text t = wick_text_begin(mem);
  for (const char *at = j->at, *end = j->at + j->nbytes; at < end; at++) {
    if (*at != '\\' || end - at < 2) {
      wick_text_char(&t, *at);
      continue;
    }
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *known = strchr(from, *++at);
    if (*at != 'u' || end - at < 5) {
      wick_text_char(&t, known && *at ? to[known - from] : *at);
      continue;
    }
    uint32_t x = json_unit(at + 1);
    at += 4;
    if (x >> 10 == 0x36 && end - at > 6 && at[1] == '\\' && at[2] == 'u') { /* a pair */
      x = 0x10000 + ((x & 0x3ff) << 10 | (json_unit(at + 3) & 0x3ff));
      at += 6;
    }
    json_utf8(&t, x ? x : '?'); /* a text has no zeros */
  }
  return t.at;
}
