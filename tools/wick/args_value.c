/* Reads and checks values of options. The table at the top has a row for each kind of value. */
#include "args_value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define VALUE_MOST_BYTES 0x1p62

static const wick_value_kind value_kinds[] = {
    [WICK_FLAG_BOOL] = {WICK_VALUE_NONE, 0, 0, "", false, false},
    [WICK_FLAG_STRING] = {WICK_VALUE_TEXT, 0, 0, "a text that is not empty", false, false},
    [WICK_FLAG_CHOICE] = {WICK_VALUE_TEXT, 0, 0, NULL, false, false},
    [WICK_FLAG_FILE] = {WICK_VALUE_TEXT, 0, 0, "the path of a file", true, false},
    [WICK_FLAG_FOLDER] = {WICK_VALUE_TEXT, 0, 0, "the path of a folder", true, false},
    [WICK_FLAG_NUMBERS] = {WICK_VALUE_TEXT, 0, 0, "finite numbers with commas between them", false,
                           false},
    [WICK_FLAG_INT] = {WICK_VALUE_WHOLE, -0x1p62, 0x1p62, "a whole number", false, false},
    [WICK_FLAG_COUNT] = {WICK_VALUE_WHOLE, 0, 1e9, "a whole number from 0 to 1000000000", false,
                         false},
    [WICK_FLAG_SMALL] = {WICK_VALUE_WHOLE, 0, 1024, "a whole number from 0 to 1024", false, false},
    [WICK_FLAG_THREADS] = {WICK_VALUE_WHOLE, 0, 4096, "a whole number from 0 to 4096", false,
                           false},
    [WICK_FLAG_BYTES] = {WICK_VALUE_WHOLE, 0, VALUE_MOST_BYTES, "a number of bytes, 0 to 2^62",
                         false, false},
    [WICK_FLAG_ALIGN] = {WICK_VALUE_WHOLE, 1, 0x1p30, "a power of two, 1 to 2^30", false, false},
    [WICK_FLAG_DOUBLE] = {WICK_VALUE_NUMBER, -HUGE_VAL, HUGE_VAL, "a finite number", false, false},
    [WICK_FLAG_SECONDS] = {WICK_VALUE_NUMBER, 0, 1e6, "a number from 0 to 1000000", false, false},
    [WICK_FLAG_LIST] = {WICK_VALUE_WORDS, 0, 0, "names that are not empty", false, false},
    [WICK_FLAG_FILES] = {WICK_VALUE_WORDS, 0, 0, "paths of files", true, false},
    [WICK_FLAG_DIMS] = {WICK_VALUE_WORDS, 0, 0, "NAME=N, NAME=LO..HI or NAME=LO..HI:STEP", false,
                        true},
    [WICK_FLAG_SIZES] = {WICK_VALUE_WORDS, 0, 0, "NAME=N or NAME=N,N...", false, true},
    [WICK_FLAG_CONTENTS] = {WICK_VALUE_WORDS, 0, 0,
                            "NAME=VALUE,VALUE..., of whole numbers or true and false", false, true},
};

const wick_value_kind *wick_value_kind_of(wick_flag_kind kind) { return &value_kinds[kind]; }

const char *wick_value_expected(const wick_flag *f, wick_arena *mem)
{
  const char *expected = value_kinds[f->kind].expected;
  if (expected) return expected;
  wick_text t = wick_text_begin(mem);
  for (const char *at = f->arg; *at; at++)
    wick_text_printf(&t, *at != '|' ? "%.1s" : strchr(at + 1, '|') ? ", " : " or ", at);
  return t.at;
}

/* ---- names with sizes and contents ---- */

bool wick_value_range(const char *word, wick_arena *mem, wick_size_range *out)
{
  const char *equal = strrchr(word, '=');
  if (!equal || equal == word) return false;
  *out = (wick_size_range){.name = wick_str_dupn(mem, word, (size_t)(equal - word)), .step = 1};
  const char *at = equal + 1;
  char *end;
  errno = 0;
  out->least = out->most = strtoll(at, &end, 10);
  bool good = end != at;
  if (good && strncmp(end, "..", 2) == 0) {
    at = end + 2;
    out->most = strtoll(at, &end, 10);
    good = end != at;
    if (good && *end == ':') out->step = strtoll(end + 1, &end, 10);
  }
  return good && !errno && !*end && out->least >= 0 && out->most >= out->least && out->step > 0;
}

bool wick_value_content(const char *word, const char **name, wick_arena *mem, const char **out)
{
  const char *equal = strrchr(word, '=');
  if (equal) *name = wick_str_dupn(mem, word, (size_t)(equal - word));
  *out = equal ? equal + 1 : word;
  const char *digit = **out == '-' ? *out + 1 : *out;
  bool number = *digit && strspn(digit, "0123456789") == strlen(digit);
  return *name && **name && (number || !strcmp(*out, "true") || !strcmp(*out, "false"));
}

/* N alone is a further size for the previous name. */
static bool value_size(const char *word, bool first, wick_arena *mem)
{
  wick_size_range r;
  if (!first && !strchr(word, '=')) word = wick_str_printf(mem, "x=%s", word);
  return wick_value_range(word, mem, &r) && !strstr(strrchr(word, '='), "..");
}

static bool value_word(wick_flag_kind kind, const char *word, bool first, wick_arena *mem)
{
  wick_size_range r;
  const char *name = first ? NULL : "x", *value;
  switch (kind) {
  case WICK_FLAG_DIMS: return wick_value_range(word, mem, &r);
  case WICK_FLAG_SIZES: return value_size(word, first, mem);
  case WICK_FLAG_CONTENTS: return wick_value_content(word, &name, mem, &value);
  default: return *word != 0;
  }
}

/* ---- one value ---- */

/* Adds the items of `a,b,c` to the list; `\,` is a comma within an item. */
static bool value_words(const wick_flag *f, wick_arena *mem, const char *value)
{
  wick_words *list = f->out;
  bool first = true;
  for (const char *at = value;; at++) {
    wick_text t = wick_text_begin(mem);
    for (; *at && *at != ','; at++) {
      at += at[0] == '\\' && at[1] == ',';
      wick_text_char(&t, *at);
    }
    if (!value_word(f->kind, t.at, first, mem)) return false;
    wick_push(mem, list, t.at);
    first = false;
    if (!*at) return true;
  }
}

static bool value_choice(const char *words, const char *value)
{
  size_t n = strlen(value);
  for (const char *at = words; n && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
    if (strcspn(at, "|") == n && strncmp(at, value, n) == 0) return true;
  return false;
}

static bool value_numbers(const char *value)
{
  for (const char *at = value;; at++) {
    char *end;
    double x = strtod(at, &end);
    if (end == at || !isfinite(x) || (*end && *end != ',')) return false;
    if (!*end) return true;
    at = end;
  }
}

static bool value_whole(const wick_flag *f, const char *value)
{
  const wick_value_kind *k = &value_kinds[f->kind];
  char *end;
  errno = 0;
  long long i = strtoll(value, &end, 10);
  if (end == value || *end || errno || (double)i < k->least || (double)i > k->most) return false;
  if (f->kind == WICK_FLAG_ALIGN && (i & (i - 1))) return false;
  *(int64_t *)f->out = i;
  return true;
}

static bool value_number(const wick_flag *f, const char *value)
{
  const wick_value_kind *k = &value_kinds[f->kind];
  char *end;
  double x = strtod(value, &end);
  if (end == value || *end || !isfinite(x) || x < k->least || x > k->most) return false;
  *(double *)f->out = x;
  return true;
}

bool wick_value_set(const wick_flag *f, wick_arena *mem, const char *value)
{
  switch (value_kinds[f->kind].form) {
  case WICK_VALUE_NONE: *(bool *)f->out = true; return true;
  case WICK_VALUE_WHOLE: return value_whole(f, value);
  case WICK_VALUE_NUMBER: return value_number(f, value);
  case WICK_VALUE_WORDS: return value_words(f, mem, value);
  case WICK_VALUE_TEXT: break;
  }
  if (!*value || (f->kind == WICK_FLAG_CHOICE && !value_choice(f->arg, value)) ||
      (f->kind == WICK_FLAG_NUMBERS && !value_numbers(value)))
    return false;
  *(const char **)f->out = value;
  return true;
}
