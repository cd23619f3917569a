/* Makes JSON values from any text and number, and prints them. */
#include "json_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *wick_json_textn(const char *text, size_t n)
{
  static const char replacement[] = "\xef\xbf\xbd";
  if (!text) return n ? NULL : json_string("");
  json_t *s = json_stringn(text, n);
  if (s) return s;
  char *clean = malloc(3 * n + 1), *to = clean;
  for (size_t i = 0; i < n && clean; i++)
    if ((unsigned char)text[i] < 128)
      *to++ = text[i];
    else
      memcpy(to, replacement, 3), to += 3;
  s = clean ? json_stringn(clean, (size_t)(to - clean)) : NULL;
  free(clean);
  return s;
}

json_t *wick_json_text(const char *text)
{
  return text ? wick_json_textn(text, strlen(text)) : json_null();
}

json_t *wick_json_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

bool wick_json_print(json_t *object)
{
  char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
  bool good = text != NULL;
  if (good) puts(text);
  free(text);
  json_decref(object);
  return good;
}
