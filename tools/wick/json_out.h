/* Output for programs: each command prints one JSON object on stdout. */
#ifndef WICK_TOOLS_JSON_OUT_H
#define WICK_TOOLS_JSON_OUT_H

#include <jansson.h>
#include <stdbool.h>

/* Bytes that are not UTF-8 become U+FFFD; NULL becomes null. */
json_t *wick_json_text(const char *text);
json_t *wick_json_textn(const char *text, size_t n);
/* null for NaN and infinities, which JSON does not have. */
json_t *wick_json_real(double x);

/* Prints the object and a newline, and frees it. Returns false if memory runs out. */
bool wick_json_print(json_t *object);

#endif
