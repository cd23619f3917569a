/* wick cache: prints the folder of the cache of compiled models, lists its entries and their sizes,
 * and empties it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "driver/cache_entries.h"

#include "args.h"
#include "command.h"
#include "invocation.h"

typedef struct cache_command {
  wick_invocation invocation; /* owns the memory and files */
  bool json;
  const char *folder; /* NULL: there is no cache */
  wick_cache_entry *entry;
  uint32_t n;
  uint64_t nbytes;
} cache_command;

static const char *cache_time(const wick_cache_entry *e, wick_arena *mem)
{
  time_t t = (time_t)e->used;
  struct tm tm;
  char *text = wick_arena_alloc(mem, 32, 1);
  if (!gmtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm)) return "";
  return text;
}

static json_t *cache_json(const cache_command *c)
{
  return json_pack("{s:o, s:i, s:I}", "path", wick_json_text(c->folder), "entries", (int)c->n,
                   "size_bytes", (json_int_t)c->nbytes);
}

static wick_status cache_list(cache_command *c)
{
  wick_invocation *j = &c->invocation;
  json_t *list = json_array();
  for (uint32_t i = 0; i < c->n; i++) {
    wick_cache_entry *e = &c->entry[i];
    wick_cache_describe(c->folder, e, &j->mem);
    if (!c->json)
      printf("%-28s %12llu  %s  %s  %s\n", e->name, (unsigned long long)e->nbytes,
             cache_time(e, &j->mem), *e->target ? e->target : "-", *e->model ? e->model : "-");
    json_array_append_new(
        list, json_pack("{s:o, s:I, s:s, s:o, s:o}", "name", wick_json_text(e->name), "size_bytes",
                        (json_int_t)e->nbytes, "used", cache_time(e, &j->mem), "target",
                        *e->target ? wick_json_text(e->target) : json_null(), "model",
                        *e->model ? wick_json_text(e->model) : json_null()));
  }
  if (!c->json) {
    json_decref(list);
    return NULL;
  }
  json_t *all = cache_json(c);
  json_object_set_new(all, "list", list);
  return wick_invocation_json(j, all);
}

/* Removing a file is safe while another process has it mapped: the mapping stays valid. */
static wick_status cache_clear(cache_command *c)
{
  wick_invocation *j = &c->invocation;
  uint32_t removed = 0;
  uint64_t nbytes = 0;
  const char *left = NULL;
  for (uint32_t i = 0; i < c->n; i++)
    if (wick_cache_remove(c->folder, c->entry[i].name, &j->mem))
      removed++, nbytes += c->entry[i].nbytes;
    else
      left = c->entry[i].name;
  if (c->json) {
    c->n -= removed, c->nbytes -= nbytes;
    json_t *all = cache_json(c);
    json_object_set_new(all, "removed_entries", json_integer(removed));
    json_object_set_new(all, "removed_bytes", json_integer((json_int_t)nbytes));
    WICK_TRY(wick_invocation_json(j, all));
  } else
    printf("removed %u entries, %.2f MiB\n", removed, (double)nbytes / 1048576);
  return left ? wick_fail(&j->mem, WICK_EIO, c->folder, "%s could not be removed", left) : NULL;
}

static wick_status cache_size(cache_command *c)
{
  if (c->json) return wick_invocation_json(&c->invocation, cache_json(c));
  printf("%s: %u entries, %.2f MiB\n", c->folder, c->n, (double)c->nbytes / 1048576);
  return NULL;
}

static wick_status cache_work(cache_command *c, const char *what)
{
  wick_invocation *j = &c->invocation;
  c->folder = wick_cache_folder(NULL, &j->mem);
  if (!c->folder)
    return wick_fail(&j->mem, WICK_EINVAL, NULL,
                     "there is no cache: none of WICK_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
  if (strcmp(what, "path") == 0 && !c->json) {
    puts(c->folder);
    return NULL;
  }
  c->n = wick_cache_entries(c->folder, &j->mem, &c->entry);
  for (uint32_t i = 0; i < c->n; i++) c->nbytes += c->entry[i].nbytes;
  if (strcmp(what, "list") == 0) return cache_list(c);
  return strcmp(what, "clear") == 0 ? cache_clear(c) : cache_size(c);
}

static int cache_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  static const char *const words[] = {"list", "size", "path", "clear", NULL};
  cache_command *c = arg;
  const wick_flag flag[] = {
      {"json", 0, WICK_FLAG_BOOL, &c->json, NULL, "prints one object of JSON (docs/json.md)"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .most = 1};
  int stop = wick_args_parse(&args, &j->mem, argc, argv);
  if (stop >= 0) return stop;
  const char *what = args.word.n ? args.word.at[0] : "size";
  uint32_t i = 0;
  while (words[i] && strcmp(words[i], what) != 0) i++;
  if (!words[i])
    return wick_invocation_usage(
        j, wick_str_printf(&j->mem, "\"%s\" is none of list, size, path, clear", what));
  return wick_invocation_end(j, cache_work(c, what));
}

int wick_cmd_cache(int argc, char **argv)
{
  cache_command c = {0};
  return wick_invocation_main(&c.invocation, cache_main, &c, argc, argv);
}
