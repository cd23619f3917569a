/* Reads, merges and writes tuning records. */
#include "loop/tuning_records.h"

#include <string.h>

#include "base/file.h"
#include "ir/text.h"

static const char tuning_records_head[] = "wick records 1";

wick_tuning_records wick_tuning_records_begin(const char *path, wick_arena *mem)
{
  return (wick_tuning_records){.mem = mem, .path = path, .keys = wick_names_begin(mem)};
}

/* Prints the key on one line: white space becomes a single blank. */
const char *wick_tuning_records_key(const wick_func *g, const wick_target *t, wick_arena *mem)
{
  wick_func bare = *g;
  wick_text text = wick_text_begin(mem), key = wick_text_begin(mem);
  bare.schedule = bare.contract = NULL;
  wick_print_func(&bare, 0, &text);
  wick_target_name(t, &key);
  const char *at = strchr(text.at, '(');
  for (bool blank = true; at && *at; at++) {
    bool white = *at == ' ' || *at == '\n';
    if (!white && blank) wick_text_char(&key, ' ');
    if (!white) wick_text_char(&key, *at);
    blank = white;
  }
  return key.at;
}

wick_tuning_record *wick_tuning_records_add(wick_tuning_records *r, const char *key)
{
  uint32_t id = wick_names_add(&r->keys, key, strlen(key));
  if (id > r->list.n) wick_push(r->mem, &r->list, (wick_tuning_record){0});
  return &r->list.at[id - 1];
}

const wick_tuning_record *wick_tuning_records_find(const wick_tuning_records *r, const char *key)
{
  uint32_t id = wick_names_find(&r->keys, key, strlen(key));
  return id ? &r->list.at[id - 1] : NULL;
}

void wick_tuning_record_try(wick_tuning_records *r, wick_tuning_record *x, const char *steps,
                            uint64_t ns)
{
  for (uint32_t i = 0; i < x->trials.n; i++)
    if (strcmp(x->trials.at[i].steps, steps) == 0) {
      if (ns < x->trials.at[i].ns) x->trials.at[i].ns = ns;
      return;
    }
  wick_push(r->mem, &x->trials, (wick_trial){wick_str_dup(r->mem, steps), ns});
}

/* ---- choices ---- */

static void tuning_records_note(wick_tuning_records *r, const wick_choice *c)
{
  for (uint32_t i = 0; i < r->choices.n; i++)
    if (strcmp(r->choices.at[i].key, c->key) == 0) return;
  wick_option *option = wick_dup(r->mem, wick_option, c->option, c->noption);
  for (uint32_t i = 0; i < c->noption; i++) {
    option[i].steps = wick_str_dup(r->mem, option[i].steps);
    option[i].graph = wick_str_dup(r->mem, option[i].graph);
  }
  wick_choice kept = {wick_str_dup(r->mem, c->key), c->noption, c->first, option};
  wick_push(r->mem, &r->choices, kept);
}

wick_status wick_tuning_records_choose(wick_tuning_records *r, const wick_choice *c,
                                       wick_arena *mem, uint32_t *out)
{
  *out = c->first;
  if (!r) return NULL;
  if (r->tuning) tuning_records_note(r, c);
  const wick_tuning_record *x = wick_tuning_records_find(r, c->key);
  if (!x || !x->steps) return NULL;
  for (uint32_t i = 0; i < c->noption; i++) {
    if (strcmp(x->steps, c->option[i].steps) != 0) continue;
    *out = i;
    wick_push(r->mem, &r->used, wick_str_dup(r->mem, strchr(c->key, '(')));
    return NULL;
  }
  return wick_fail(mem, WICK_EINVAL, wick_path_base(r->path), "\"%s\" is no way to compute %s",
                   x->steps, strchr(c->key, '('));
}

/* ---- reading ---- */

typedef struct tuning_records_reader {
  wick_tuning_records *r;
  const char *path;
  uint32_t line;
  wick_tuning_record *x; /* the current group; NULL: none yet */
  const char *steps;     /* steps whose time has not been read yet */
} tuning_records_reader;

static wick_status tuning_records_fail(const tuning_records_reader *p, const char *what)
{
  return wick_fail(p->r->mem, WICK_EPARSE,
                   wick_str_printf(p->r->mem, "%s:%u", wick_path_base(p->path), p->line), "%s",
                   what);
}

static bool tuning_records_number(const char **at, uint64_t *out)
{
  const char *s = *at;
  uint64_t n = 0;
  for (; *s >= '0' && *s <= '9' && n < (uint64_t)1 << 50; s++) n = 10 * n + (uint64_t)(*s - '0');
  bool ok = s > *at && n > 0 && (*s == ' ' || !*s);
  *at = s + (*s == ' ');
  *out = n;
  return ok;
}

static wick_status tuning_records_time(tuning_records_reader *p, const char *rest)
{
  uint64_t ns, was;
  bool ok = tuning_records_number(&rest, &ns) && strncmp(rest, "was ", 4) == 0;
  rest += ok ? 4 : 0;
  if (!ok || !tuning_records_number(&rest, &was) || *rest)
    return tuning_records_fail(p, "expected `time N was N`, in nanoseconds");
  if (!p->steps) return tuning_records_fail(p, "a time without its steps");
  if (!p->x->steps || ns < p->x->ns) p->x->steps = p->steps, p->x->ns = ns, p->x->was = was;
  p->steps = NULL;
  return NULL;
}

static wick_status tuning_records_line(tuning_records_reader *p, const char *line)
{
  const char *rest = strchr(line, ' ');
  size_t n = rest ? (size_t)(rest - line) : strlen(line);
  rest = rest ? rest + 1 : line + n;
  if (!*line || *line == '#') return NULL;
  bool group = n == 5 && memcmp(line, "group", n) == 0;
  if (group && p->steps) return tuning_records_fail(p, "the steps above it have no time");
  if (group) {
    if (!strchr(rest, '('))
      return tuning_records_fail(p, "expected a target and the text of a group");
    p->x = wick_tuning_records_add(p->r, rest);
    return NULL;
  }
  if (!p->x) return tuning_records_fail(p, "expected a group first");
  if (n == 5 && memcmp(line, "steps", n) == 0) {
    if (p->steps) return tuning_records_fail(p, "the steps above it have no time");
    p->steps = wick_str_dup(p->r->mem, rest);
    return NULL;
  }
  if (n == 4 && memcmp(line, "time", n) == 0) return tuning_records_time(p, rest);
  uint64_t ns;
  if (n == 5 && memcmp(line, "tried", n) == 0) {
    if (!tuning_records_number(&rest, &ns))
      return tuning_records_fail(p, "expected `tried N STEPS`");
    wick_tuning_record_try(p->r, p->x, rest, ns);
    return NULL;
  }
  return tuning_records_fail(p, "a line is none of group, steps, time, tried");
}

wick_status wick_tuning_records_read(wick_tuning_records *r, const char *path, const char *text,
                                     size_t n)
{
  tuning_records_reader p = {.r = r, .path = path, .line = 1};
  const char *end = text + n;
  for (const char *at = text; at < end; p.line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    const char *line = wick_str_dupn(r->mem, at, length);
    if (strlen(line) != length) return tuning_records_fail(&p, "a line of text has a zero byte");
    if (p.line > 1)
      WICK_TRY(tuning_records_line(&p, line));
    else if (strcmp(line, tuning_records_head) != 0)
      return tuning_records_fail(&p, "it does not begin with `wick records 1`");
    at = stop ? stop + 1 : end;
  }
  if (!n) return tuning_records_fail(&p, "it does not begin with `wick records 1`");
  return p.steps ? tuning_records_fail(&p, "the last steps have no time") : NULL;
}

/* ---- writing ---- */

void wick_tuning_records_print(const wick_tuning_records *r, wick_text *out)
{
  wick_text_printf(out, "%s\n", tuning_records_head);
  for (uint32_t i = 0; i < r->list.n; i++) {
    const wick_tuning_record *x = &r->list.at[i];
    wick_text_printf(out, "group %s\n", wick_names_get(&r->keys, i + 1));
    if (x->steps)
      wick_text_printf(out, "steps %s\ntime %llu was %llu\n", x->steps, (unsigned long long)x->ns,
                       (unsigned long long)x->was);
    for (uint32_t k = 0; k < x->trials.n; k++)
      wick_text_printf(out, "tried %llu %s\n", (unsigned long long)x->trials.at[k].ns,
                       x->trials.at[k].steps);
  }
}
