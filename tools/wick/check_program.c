/* Checks programs of the language for `wick check`. */
#include "check_program.h"

#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "driver/pipeline.h"
#include "import/relay/relay.h"
#include "ir/call.h"
#include "lang/infer.h"
#include "lang/lower/lowering.h"

#include "command.h"

bool wick_check_is_program(const char *path)
{
  size_t n = strlen(path);
  char first[4] = {0};
  bool relay = wick_relay_is_path(path);
  if (!relay && (n < 5 || strcmp(path + n - 5, ".wick") != 0)) return false;
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  bool artifact = fread(first, 1, 4, f) == 4 && memcmp(first, "WICK", 4) == 0;
  fclose(f);
  return !artifact;
}

static json_t *check_program_place(const wick_lang_program *p, const wick_lang_problem *q,
                                   wick_arena *tmp)
{
  uint32_t line, column;
  wick_lang_position(&p->sources, q->at, &line, &column);
  return json_pack("{s:s, s:I, s:I, s:s}", "file",
                   wick_str_utf8(tmp, p->sources.list.at[q->at.source].path), "line",
                   (json_int_t)line, "column", (json_int_t)column, "message",
                   wick_str_utf8(tmp, q->text));
}

static json_t *check_program_problems(const wick_lang_program *p, wick_status s, wick_arena *tmp)
{
  json_t *all = json_array();
  for (uint32_t i = 0; i < p->sources.problems.n; i++) {
    const wick_lang_problem *q = p->sources.problems.at[i];
    json_t *o = check_program_place(p, q, tmp), *notes = json_array();
    for (const wick_lang_problem *n = q->note; n; n = n->next)
      json_array_append_new(notes, check_program_place(p, n, tmp));
    json_object_set_new(o, "notes", notes);
    json_array_append_new(all, o);
  }
  if (s && !p->sources.problems.n)
    json_array_append_new(all, json_pack("{s:s}", "message", wick_str_utf8(tmp, s->message)));
  return all;
}

/* The functions of the file with their types, those of other files excluded. */
static void check_program_print(const wick_lang_program *p, const wick_lang_module *m,
                                wick_types *t, wick_text *out)
{
  for (uint32_t i = 0; i < p->fns.n; i++)
    if (p->fns.at[i]->at.source == m->source)
      wick_text_printf(out, "  %s\n", wick_lang_signature(t, p->fns.at[i]));
}

static json_t *check_program_functions(const wick_lang_program *p, const wick_lang_module *m,
                                       wick_types *t, wick_arena *tmp)
{
  static const char *const effect[] = {"pure", "may fail", "effect"};
  json_t *all = json_array();
  for (uint32_t i = 0; i < p->fns.n; i++)
    if (p->fns.at[i]->at.source == m->source)
      json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "name",
                                           wick_str_utf8(tmp, p->fns.at[i]->name), "type",
                                           wick_str_utf8(tmp, wick_lang_signature(t, p->fns.at[i])),
                                           "effect", effect[p->fns.at[i]->typed->effect]));
  return all;
}

json_t *wick_check_remarks(uint32_t n, const char *const *remark, wick_arena *tmp)
{
  json_t *all = json_array();
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(all, json_string(wick_str_utf8(tmp, remark[i])));
  return all;
}

/* Returns the remarks of the passes that evaluate the program as far as it is known. A file without
 * a function main has none, and a function that has no graph has none. */
static wick_remarks check_program_remarks(wick_lang_program *p, const wick_lang_module *m,
                                          wick_types *t, wick_pipeline *run, wick_arena *tmp)
{
  const wick_lowering_options o = {.entry = wick_entry_name, .mem = tmp};
  const wick_func *f;
  if (wick_lang_lower(p, t, m, &o, NULL, &f)) return (wick_remarks){0};
  wick_pipeline_begin(run, f->module);
  if (wick_pipeline_run_named(run, "graph", "partial_eval", tmp)) return (wick_remarks){0};
  return run->remarks;
}

bool wick_check_program(const char *path, json_t *json, wick_arena *tmp)
{
  wick_lang_program p;
  wick_lang_module *m = NULL;
  wick_types types;
  wick_lang_program_begin(&p, tmp);
  p.reader = &wick_relay_reader;
  wick_types_begin(&types, tmp);
  wick_status s = wick_lang_program_load(&p, path, &m);
  if (!s) {
    wick_lang_resolve(&p);
    wick_lang_infer(&p, &types);
    s = wick_lang_problems(&p.sources);
  }
  wick_pipeline run = {0};
  wick_remarks remarks = {0};
  if (s) wick_command_message(s->message);
  if (!s) remarks = check_program_remarks(&p, m, &types, &run, tmp);
  if (json) {
    json_t *o =
        json_pack("{s:s, s:b, s:s, s:o}", "file", wick_str_utf8(tmp, path), "good", s == NULL,
                  "kind", "program", "problems", check_program_problems(&p, s, tmp));
    if (!s) json_object_set_new(o, "functions", check_program_functions(&p, m, &types, tmp));
    json_object_set_new(o, "remarks", wick_check_remarks(remarks.n, remarks.at, tmp));
    json_array_append_new(json, o);
  } else if (!s) {
    wick_text t = wick_text_begin(tmp);
    wick_text_printf(&t, "%s: %u functions, %u types\n", path, p.fns.n, p.datas.n);
    check_program_print(&p, m, &types, &t);
    for (uint32_t i = 0; i < remarks.n; i++) wick_text_printf(&t, "remark: %s\n", remarks.at[i]);
    fputs(wick_str_shown_lines(tmp, t.at), stdout);
  }
  wick_pipeline_free(&run);
  wick_types_end(&types);
  return !s;
}
