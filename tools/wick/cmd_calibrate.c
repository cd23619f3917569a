/* wick calibrate: measures this machine's processor and keeps the numbers in the cache's folder,
 * where compilations for this machine find them, or in a file for --tune. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "driver/cache_entries.h"
#include "driver/processor.h"
#include "driver/report/calibrate.h"

#include "args.h"
#include "command.h"
#include "invocation.h"

typedef struct calibrate_command {
  wick_invocation invocation; /* owns the memory */
  const char *output;
  bool json;
} calibrate_command;

static wick_status calibrate_path(calibrate_command *c, const char **out)
{
  wick_arena *mem = &c->invocation.mem;
  *out = c->output;
  if (*out) return NULL;
  const char *folder = wick_cache_folder(NULL, mem);
  if (!folder)
    return wick_fail(mem, WICK_EINVAL, NULL,
                     "there is no cache: none of WICK_CACHE_DIR, XDG_CACHE_HOME and HOME is set; "
                     "-o FILE names another place");
  WICK_TRY(wick_folder_make(mem, folder));
  *out = wick_processor_path(folder, mem);
  return NULL;
}

static json_t *calibrate_json(const wick_processor *p, const char *path)
{
  return json_pack("{s:o, s:s, s:[I,I,I], s:[f,f,f], s:f, s:f, s:f, s:f, s:f, s:f}", "path",
                   wick_json_text(path), "machine", wick_machine_name(p->machine), "cache_bytes",
                   (json_int_t)p->cache_bytes[0], (json_int_t)p->cache_bytes[1],
                   (json_int_t)p->cache_bytes[2], "line_cycles", p->line[0], p->line[1], p->line[2],
                   "products", p->products, "products_bytes", p->products_bytes, "latency_cycles",
                   p->latency, "loads", p->loads, "loads_bytes", p->loads_bytes, "ghz", p->ghz);
}

static wick_status calibrate_work(calibrate_command *c)
{
  wick_invocation *j = &c->invocation;
  const char *path;
  wick_processor measured;
  wick_target host = wick_target_host();
  wick_text text = wick_text_begin(&j->mem);
  WICK_TRY(calibrate_path(c, &path));
  WICK_TRY(wick_calibrate(&host, &j->guard, &j->mem, &measured));
  wick_processor_print(&measured, &text);
  wick_bytes all = {text.at, text.n};
  WICK_TRY(wick_file_write(&j->mem, path, &all, 1));
  if (c->json) return wick_invocation_json(j, calibrate_json(&measured, path));
  printf("%s\n%s: written\n", strchr(text.at, '\n') + 1, path);
  return NULL;
}

static int calibrate_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  calibrate_command *c = arg;
  const wick_flag flag[] = {
      {"output", 'o', WICK_FLAG_FILE, &c->output, "FILE",
       "writes to this file, which --tune reads, and not to the cache"},
      {"json", 0, WICK_FLAG_BOOL, &c->json, NULL, "prints one object of JSON (docs/json.md)"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag)};
  int stop = wick_args_parse(&args, &j->mem, argc, argv);
  return stop >= 0 ? stop : wick_invocation_end(j, calibrate_work(c));
}

int wick_cmd_calibrate(int argc, char **argv)
{
  calibrate_command c = {0};
  return wick_invocation_main(&c.invocation, calibrate_main, &c, argc, argv);
}
