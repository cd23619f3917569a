/* A reader of JSON. */
#include "import/relay/json.h"

#include <string.h>

enum { JSON_DEPTH = 100 };

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

static relay_json *json_value(json_reader *r);

static bool json_items(json_reader *r, relay_json *j, char end)
{
  relay_json **to = &j->first;
  if (json_take(r, end)) return true;
  do {
    const char *key = NULL;
    size_t nkey = 0;
    if (end == '}' && (!json_string(r, &key, &nkey) || !json_take(r, ':'))) return false;
    relay_json *item = json_value(r);
    if (!item) return false;
    item->key = key, item->nkey = nkey;
    *to = item, to = &item->next;
  } while (json_take(r, ','));
  return json_take(r, end);
}

static relay_json *json_value(json_reader *r)
{
  relay_json *j = wick_new(r->mem, relay_json, 1);
  json_blank(r);
  if (r->at == r->end || ++r->depth > JSON_DEPTH) return NULL;
  bool ok = true;
  char c = *r->at;
  if (c == '[' || c == '{') {
    r->at++;
    j->kind = c == '[' ? RELAY_JSON_ARRAY : RELAY_JSON_OBJECT;
    ok = json_items(r, j, c == '[' ? ']' : '}');
  } else if (c == '"') {
    j->kind = RELAY_JSON_STRING;
    ok = json_string(r, &j->at, &j->nbytes);
  } else {
    j->at = r->at;
    while (r->at < r->end && *r->at && !strchr(",]} \n\t\r", *r->at)) r->at++;
    j->nbytes = (size_t)(r->at - j->at);
    j->kind = (c >= '0' && c <= '9') || c == '-' ? RELAY_JSON_NUMBER
              : c == 'n'                         ? RELAY_JSON_NULL
                                                 : RELAY_JSON_TRUTH;
    ok = j->nbytes > 0;
  }
  r->depth--;
  return ok ? j : NULL;
}

relay_json *wick_relay_json(wick_arena *mem, const char *text, size_t nbytes, size_t *out_wrong)
{
  json_reader r = {mem, text, text + nbytes, 0};
  relay_json *j = json_value(&r);
  json_blank(&r);
  *out_wrong = (size_t)(r.at - text);
  return j && r.at == r.end ? j : NULL;
}

const relay_json *wick_relay_json_member(const relay_json *j, const char *key)
{
  size_t n = strlen(key);
  if (!j || j->kind != RELAY_JSON_OBJECT) return NULL;
  for (const relay_json *k = j->first; k; k = k->next)
    if (k->nkey == n && memcmp(k->key, key, n) == 0) return k;
  return NULL;
}

const relay_json *wick_relay_json_item(const relay_json *j, int64_t k)
{
  if (!j || j->kind != RELAY_JSON_ARRAY || k < 0) return NULL;
  const relay_json *item = j->first;
  while (item && k--) item = item->next;
  return item;
}

bool wick_relay_json_int(const relay_json *j, int64_t *out)
{
  if (!j || (j->kind != RELAY_JSON_NUMBER && j->kind != RELAY_JSON_STRING)) return false;
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

bool wick_relay_json_is(const relay_json *j, const char *text)
{
  return j && j->kind == RELAY_JSON_STRING && j->nbytes == strlen(text) &&
         memcmp(j->at, text, j->nbytes) == 0;
}
