/* Regular expressions with PCRE2. Back references, which RE2 does not have, are refused, and the
 * effort is limited, so that a pattern from a model cannot stall a run. */
#include <string.h>

#include "runtime/host.h"
#include "runtime/library.h"

#ifdef WICK_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { REGEX_STEPS = 10000000, REGEX_KIB = 64 << 10 };

enum { REGEX_PATTERN, REGEX_REWRITE, REGEX_ALL }; /* attributes */
enum { REGEX_GROUPS = 10 };                       /* the whole match, and \1 to \9 */

#define REGEX_FILE "libpcre2-8.so.0"
typedef struct regex_api {
  __typeof__(pcre2_compile) *compile;
  __typeof__(pcre2_code_free) *code_free;
  __typeof__(pcre2_get_error_message) *message;
  __typeof__(pcre2_match) *match;
  __typeof__(pcre2_dfa_match) *dfa_match;
  __typeof__(pcre2_get_ovector_pointer) *ovector;
  __typeof__(pcre2_match_context_create) *context_create;
  __typeof__(pcre2_match_context_free) *context_free;
  __typeof__(pcre2_match_data_create) *data_create;
  __typeof__(pcre2_match_data_free) *data_free;
  __typeof__(pcre2_pattern_info) *info;
  __typeof__(pcre2_set_heap_limit) *heap_limit;
  __typeof__(pcre2_set_match_limit) *match_limit;
} regex_api;

static const wick_library_symbol regex_symbols[] = {
    WICK_SYMBOL(regex_api, compile, pcre2_compile_8),
    WICK_SYMBOL(regex_api, code_free, pcre2_code_free_8),
    WICK_SYMBOL(regex_api, message, pcre2_get_error_message_8),
    WICK_SYMBOL(regex_api, match, pcre2_match_8),
    WICK_SYMBOL(regex_api, dfa_match, pcre2_dfa_match_8),
    WICK_SYMBOL(regex_api, ovector, pcre2_get_ovector_pointer_8),
    WICK_SYMBOL(regex_api, context_create, pcre2_match_context_create_8),
    WICK_SYMBOL(regex_api, context_free, pcre2_match_context_free_8),
    WICK_SYMBOL(regex_api, data_create, pcre2_match_data_create_8),
    WICK_SYMBOL(regex_api, data_free, pcre2_match_data_free_8),
    WICK_SYMBOL(regex_api, info, pcre2_pattern_info_8),
    WICK_SYMBOL(regex_api, heap_limit, pcre2_set_heap_limit_8),
    WICK_SYMBOL(regex_api, match_limit, pcre2_set_match_limit_8),
    {0},
};

typedef struct regex_state {
  regex_api api;
  pcre2_code *code;
  pcre2_match_data *match;
  pcre2_match_context *limits;
} regex_state;

static void regex_drop(wick_host_call *c)
{
  regex_state *s = c->state;
  if (s->match) s->api.data_free(s->match);
  if (s->limits) s->api.context_free(s->limits);
  if (s->code) s->api.code_free(s->code);
  c->allocator.free(c->allocator.self, s, sizeof *s);
}

/* Compiles a pattern as c->state. */
static wick_code regex_open(wick_host_call *c, wick_string p, uint32_t options)
{
  regex_state *s = c->allocator.alloc(c->allocator.self, sizeof *s);
  int error = 0;
  PCRE2_SIZE at = 0;
  uint32_t back = 0;
  if (!s) return wick_host_fail(c, WICK_ENOMEM, "out of memory");
  *s = (regex_state){0};
  c->state = s;
  if (!wick_library_load(REGEX_FILE, regex_symbols, &s->api)) {
    regex_drop(c);
    c->state = NULL;
    return wick_host_fail(c, WICK_EUNSUPPORTED, "the library " REGEX_FILE " is not here");
  }
  s->code = s->api.compile((PCRE2_SPTR)p.at, (PCRE2_SIZE)p.nbytes,
                           PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | options, &error, &at, NULL);
  if (!s->code) {
    char text[120];
    s->api.message(error, (PCRE2_UCHAR *)text, sizeof text);
    regex_drop(c);
    c->state = NULL;
    return wick_host_fail(c, WICK_EINVAL, "the pattern, at byte %zu: %s", (size_t)at, text);
  }
  s->match = s->api.data_create(REGEX_GROUPS, NULL);
  s->limits = s->api.context_create(NULL);
  s->api.info(s->code, PCRE2_INFO_BACKREFMAX, &back);
  if (!s->match || !s->limits || back) {
    regex_drop(c);
    c->state = NULL;
    return back ? wick_host_fail(c, WICK_EUNSUPPORTED, "the pattern has a back reference")
                : wick_host_fail(c, WICK_ENOMEM, "out of memory");
  }
  s->api.match_limit(s->limits, REGEX_STEPS);
  s->api.heap_limit(s->limits, REGEX_KIB);
  return WICK_OK;
}

static wick_code regex_prepare(wick_host_call *c)
{
  return regex_open(c, wick_string_table_get(c->strings, c->attr[REGEX_PATTERN].i),
                    PCRE2_ANCHORED | PCRE2_ENDANCHORED);
}

wick_code wick_host_pattern_open(wick_host_call *c, wick_string pattern)
{
  return regex_open(c, pattern, 0);
}

void wick_host_pattern_close(wick_host_call *c)
{
  if (c->state) regex_drop(c);
  c->state = NULL;
}

/* All ways to match are followed at once: the first match that is found is the longest. */
wick_code wick_host_pattern_find(wick_host_call *c, wick_string text, uint64_t from, int64_t out[2])
{
  enum { REGEX_ROOM = 4096 };
  const regex_state *s = c->state;
  int room[REGEX_ROOM];
  out[0] = out[1] = -1;
  int r =
      s->api.dfa_match(s->code, (PCRE2_SPTR)(text.nbytes ? text.at : ""), (PCRE2_SIZE)text.nbytes,
                       (PCRE2_SIZE)from, 0, s->match, s->limits, room, REGEX_ROOM);
  if (r == PCRE2_ERROR_NOMATCH) return WICK_OK;
  if (r < 0 && r >= PCRE2_ERROR_UTF8_ERR21)
    return wick_host_fail(c, WICK_EINVAL, "a text is not UTF-8");
  if (r < 0) return wick_host_fail(c, WICK_ELIMIT, "a text takes too long to match");
  const PCRE2_SIZE *at = s->api.ovector(s->match);
  out[0] = (int64_t)at[0], out[1] = (int64_t)at[1];
  return WICK_OK;
}

/* Text that is not UTF-8 does not match. */
static wick_code regex_full_match(wick_host_call *c)
{
  const wick_host_tensor *out = &c->arg[0];
  const regex_state *s = c->state;
  for (int64_t k = 0, n = wick_host_numel(out); k < n; k++) {
    wick_string x = wick_host_text(c, &c->arg[1], k);
    int r = s->api.match(s->code, (PCRE2_SPTR)(x.nbytes ? x.at : ""), (PCRE2_SIZE)x.nbytes, 0, 0,
                         s->match, s->limits);
    if (r < PCRE2_ERROR_UTF8_ERR21 - 1 && r != PCRE2_ERROR_NOMATCH)
      return wick_host_fail(c, WICK_ELIMIT, "element %lld takes too long to match", (long long)k);
    ((uint8_t *)out->data)[wick_host_at(out, k)] = r >= 0;
  }
  return WICK_OK;
}

/* ---- replacement ---- */

/* The bytes of a result: counted first, and then written to `at`. */
typedef struct regex_out {
  char *at; /* NULL: only count */
  uint64_t n;
} regex_out;

static void regex_add(regex_out *o, wick_string s, uint64_t begin, uint64_t end)
{
  if (o->at && end > begin) memcpy(o->at + o->n, s.at + begin, (size_t)(end - begin));
  o->n += end > begin ? end - begin : 0;
}

/* Returns the number of groups that a rewrite needs, -1 if it is no rewrite of RE2. */
static int regex_rewrite_groups(wick_string by)
{
  int most = 0;
  for (uint64_t k = 0; k < by.nbytes; k++) {
    if (by.at[k] != '\\') continue;
    char next = ++k < by.nbytes ? by.at[k] : 0;
    if (next != '\\' && (next < '0' || next > '9')) return -1;
    if (next != '\\' && next - '0' > most) most = next - '0';
  }
  return most;
}

/* Adds the rewrite, where \N is group N of the match `at`. */
static void regex_rewrite(regex_out *o, wick_string s, wick_string by, const PCRE2_SIZE *at,
                          int found)
{
  for (uint64_t k = 0; k < by.nbytes; k++) {
    int group = by.at[k] == '\\' && by.at[++k] != '\\' ? by.at[k] - '0' : -1;
    if (group < 0)
      regex_add(o, by, k, k + 1);
    else if (group < found && at[2 * group] != PCRE2_UNSET)
      regex_add(o, s, at[2 * group], at[2 * group + 1]);
  }
}

/* An empty match right after another match is none: one character is kept instead, as in RE2. */
static wick_code regex_replaced(wick_host_call *c, wick_string s, regex_out *o)
{
  const regex_state *state = c->state;
  const wick_string by = wick_string_table_get(c->strings, c->attr[REGEX_REWRITE].i);
  const PCRE2_SIZE *at = state->api.ovector(state->match);
  uint64_t from = 0, last = UINT64_MAX;
  while (from <= s.nbytes) {
    int r = state->api.match(state->code, (PCRE2_SPTR)(s.nbytes ? s.at : ""), (PCRE2_SIZE)s.nbytes,
                             (PCRE2_SIZE)from, 0, state->match, state->limits);
    if (r == PCRE2_ERROR_NOMATCH) break;
    if (r < 0 && r >= PCRE2_ERROR_UTF8_ERR21)
      return wick_host_fail(c, WICK_EINVAL, "a text is not UTF-8");
    if (r < 0) return wick_host_fail(c, WICK_ELIMIT, "a text takes too long to match");
    regex_add(o, s, from, at[0]);
    from = at[1];
    if (at[0] == at[1] && at[0] == last) {
      uint64_t end = from + 1;
      while (end < s.nbytes && ((unsigned char)s.at[end] & 0xc0) == 0x80) end++;
      if (from < s.nbytes) regex_add(o, s, from, end);
      from = end;
      continue;
    }
    regex_rewrite(o, s, by, at, r);
    last = from;
    if (!c->attr[REGEX_ALL].i) break;
  }
  regex_add(o, s, from, s.nbytes);
  return WICK_OK;
}

static wick_code regex_replace_one(wick_host_call *c, int64_t k)
{
  wick_string s = wick_host_text(c, &c->arg[1], k);
  regex_out count = {0}, to = {0};
  wick_code code = regex_replaced(c, s, &count);
  if (code) return code;
  to.at = wick_string_table_reserve(c->strings, count.n);
  if (!to.at) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  if ((code = regex_replaced(c, s, &to))) return code;
  int64_t number = wick_string_table_take(c->strings, to.at, to.n);
  if (number < 0) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  wick_host_set(&c->arg[0], k, number);
  return WICK_OK;
}

static wick_code regex_replace(wick_host_call *c)
{
  wick_code code = WICK_OK;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n && code == WICK_OK; k++)
    code = regex_replace_one(c, k);
  return code;
}

static wick_code regex_replace_prepare(wick_host_call *c)
{
  uint32_t groups = 0;
  int need = regex_rewrite_groups(wick_string_table_get(c->strings, c->attr[REGEX_REWRITE].i));
  if (need < 0)
    return wick_host_fail(c, WICK_EINVAL, "in a rewrite, \\ is followed by a digit or by \\");
  wick_code code = regex_open(c, wick_string_table_get(c->strings, c->attr[REGEX_PATTERN].i), 0);
  if (code) return code;
  const regex_state *s = c->state;
  s->api.info(s->code, PCRE2_INFO_CAPTURECOUNT, &groups);
  if ((uint32_t)need <= groups) return WICK_OK;
  wick_host_pattern_close(c);
  return wick_host_fail(c, WICK_EINVAL, "the rewrite has group %d, the pattern %u groups", need,
                        groups);
}

#else

static wick_code regex_prepare(wick_host_call *c)
{
  return wick_host_fail(c, WICK_EUNSUPPORTED,
                        "this build of Wick has no regular expressions: it was made without PCRE2");
}
#define regex_drop NULL
#define regex_full_match NULL
#define regex_replace_prepare regex_prepare
#define regex_replace NULL

wick_code wick_host_pattern_open(wick_host_call *c, wick_string pattern)
{
  (void)pattern;
  return regex_prepare(c);
}

void wick_host_pattern_close(wick_host_call *c) { (void)c; }

wick_code wick_host_pattern_find(wick_host_call *c, wick_string text, uint64_t from, int64_t out[2])
{
  (void)text, (void)from, (void)out;
  return regex_prepare(c);
}

#endif

const wick_host_row wick_host_regex_rows[] = {
    {"regex_full_match", regex_prepare, regex_drop, regex_full_match},
    {"regex_replace", regex_replace_prepare, regex_drop, regex_replace},
    {0},
};
