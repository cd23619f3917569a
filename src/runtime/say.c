/* Puts values into texts, in the form in which programs of the language write them. */
#include "runtime/say.h"

#include <stdio.h>
#include <string.h>

#include "runtime/host.h"

typedef struct say {
  wick_sayer *s;
  int32_t to;
} say;

static void say_text(const say *o, const char *at, size_t n)
{
  wick_sayer *s = o->s;
  if (!n) return;
  if (o->to != WICK_SAY_MESSAGE && s->print) {
    s->print(s->arg, at, n);
  } else if (o->to != WICK_SAY_MESSAGE) {
    fwrite(at, 1, n, stdout);
  } else {
    if (n > sizeof s->message - 1 - s->nmessage) n = sizeof s->message - 1 - s->nmessage;
    memcpy(s->message + s->nmessage, at, n);
    s->nmessage += n;
    s->message[s->nmessage] = 0;
  }
}

static void say_element(const say *o, const wick_host_tensor *t, int64_t k)
{
  char text[WICK_HOST_NUMBER];
  if (t->elem == WICK_BOOL) {
    bool x = ((const uint8_t *)t->data)[k];
    say_text(o, x ? "true" : "false", x ? 4 : 5);
  } else if (t->elem == WICK_STRING) {
    wick_string x = wick_string_table_get(o->s->strings, ((const int64_t *)t->data)[k]);
    say_text(o, "\"", 1);
    say_text(o, x.at, x.nbytes);
    say_text(o, "\"", 1);
  } else {
    say_text(o, text, (size_t)wick_host_number_text(t, k, text));
  }
}

static void say_axis(const say *o, const wick_host_tensor *t, uint32_t axis, int64_t at)
{
  if (axis == t->rank) {
    say_element(o, t, at);
    return;
  }
  say_text(o, "[", 1);
  for (int64_t i = 0; i < t->dim[axis]; i++) {
    if (i) say_text(o, ", ", 2);
    say_axis(o, t, axis + 1, at + i * t->stride[axis]);
  }
  say_text(o, "]", 1);
}

static void say_value(const say *o, const wick_said *v)
{
  wick_host_tensor t = {.elem = (wick_elem)v->elem, .rank = (uint32_t)v->rank};
  union {
    const void *c;
    void *p;
  } data = {v->data};
  t.data = data.p;
  int64_t step = 1;
  for (uint32_t k = t.rank; k-- > 0; step *= t.dim[k]) t.dim[k] = v->dim[k], t.stride[k] = step;
  say_axis(o, &t, 0, 0);
}

void wick_say_text(void *context, int32_t to, const char *text, int32_t n, const wick_said *value)
{
  say o = {context, to};
  int32_t next = 0;
  for (const char *place; (place = strstr(text, "{}")) && next < n; text = place + 2) {
    say_text(&o, text, (size_t)(place - text));
    say_value(&o, &value[next++]);
  }
  say_text(&o, text, strlen(text));
  for (bool first = !*text && !next; next < n; first = false) {
    if (!first) say_text(&o, " ", 1);
    say_value(&o, &value[next++]);
  }
  if (to != WICK_SAY_LINE) return;
  say_text(&o, "\n", 1);
  if (!o.s->print) fflush(stdout);
}
