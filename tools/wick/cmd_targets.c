/* wick targets: lists the targets and what each requires, and names the target of this machine. */
#include <stdio.h>
#include <string.h>

#include "target/target.h"

#include "args.h"
#include "command.h"
#include "invocation.h"

typedef struct targets_state {
  wick_invocation invocation; /* provides memory */
  bool json, markdown;
} targets_state;

/* Joins the items of a list with commas. */
static const char *targets_list(const char *(*get)(const wick_target *, uint32_t),
                                const wick_target *t, wick_arena *mem)
{
  wick_text text = wick_text_begin(mem);
  const char *one;
  for (uint32_t i = 0; (one = get(t, i)); i++) wick_text_printf(&text, "%s%s", i ? ", " : "", one);
  return text.at;
}

static const char *targets_makes(const wick_target *t)
{
  return wick_target_has_artifacts(t) ? "artifact, bundle" : "bundle";
}

static const char *targets_name(const wick_target *t, wick_arena *mem)
{
  wick_text text = wick_text_begin(mem);
  wick_target_name(t, &text);
  return text.at;
}

static json_t *targets_json_list(const char *(*get)(const wick_target *, uint32_t),
                                 const wick_target *t)
{
  json_t *list = json_array();
  const char *one;
  for (uint32_t i = 0; (one = get(t, i)); i++) json_array_append_new(list, json_string(one));
  return list;
}

static json_t *targets_json(wick_arena *mem, wick_cpu cpu, const wick_target *host)
{
  json_t *list = json_array();
  const wick_target *t;
  for (uint32_t i = 0; (t = wick_target_row(i)); i++)
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:i, s:i, s:b, s:b, s:b}", "name", t->row,
                        "architecture", wick_machine_name(t->machine), "description", t->doc,
                        "needs", targets_json_list(wick_target_need, t), "extras",
                        targets_json_list(wick_target_extra, t), "pointer_bits",
                        (int)t->pointer_bits, "vector_bits", (int)(8 * t->vector_bytes),
                        "artifacts", (int)wick_target_has_artifacts(t), "bundles", 1, "runs_here",
                        (int)wick_target_runs_on(t, cpu)));
  json_t *processors = json_array();
  const wick_processor *p;
  for (uint32_t i = 0; (p = wick_processor_row(i)); i++)
    json_array_append_new(processors,
                          json_pack("{s:s, s:s, s:s}", "name", p->name, "architecture",
                                    wick_machine_name(p->machine), "description", p->doc));
  return json_pack(
      "{s:o, s:o, s:o, s:o}", "host",
      cpu.machine ? json_string(targets_name(host, mem)) : json_null(), "host_processor",
      wick_processor_is_known() ? json_string(wick_target_processor(host)->name) : json_null(),
      "targets", list, "processors", processors);
}

/* The table of processors of docs/targets.md. */
static void targets_processors_markdown(void)
{
  puts("\n## Processors\n\n"
       "Which schedules and layouts are chosen depends on the processor, and the results do not "
       "depend on it beyond what the\nmodel's contract says. `--tune NAME` names one of these; "
       "`--tune FILE` reads one that `wick calibrate -o FILE` measured\n(text, also written by "
       "hand). Without it, code for `host` is for this processor, as measured by `wick calibrate` "
       "if that\nhas run, else as recognised by its own numbers; code for another target is for "
       "the typical processor of that target.\n\n"
       "Caches are those of one core, the last one its share. A line has 64 bytes; its cycles are "
       "those after which the next one\narrives in a streaming read from the second cache, the "
       "third and memory. The rows are those that are read as fast\nas one, a few lines of each in "
       "turn.\n\n"
       "| processor | for | caches | line | rows | multiply-adds per cycle | latency | loads per "
       "cycle |\n"
       "| --- | --- | --- | --- | ---: | --- | ---: | --- |");
  const wick_processor *p;
  for (uint32_t i = 0; (p = wick_processor_row(i)); i++)
    printf("| `%s` | %s: %s | %g, %g, %g KiB | %g, %g, %g | %g | %g of %g bits | %g | %g of %g "
           "bits |\n",
           p->name, wick_machine_name(p->machine), p->doc, (double)p->cache_bytes[0] / 1024,
           (double)p->cache_bytes[1] / 1024, (double)p->cache_bytes[2] / 1024, p->line[0],
           p->line[1], p->line[2], p->streams, p->products, 8 * p->products_bytes, p->latency,
           p->loads, 8 * p->loads_bytes);
}

static void targets_markdown(wick_arena *mem)
{
  puts("# Targets\n\n"
       "`wick targets` lists them and names this machine's; this page is `wick targets "
       "--markdown`. `--target NAME`\nchooses one: a row, with extra instructions after it "
       "(`x86-64-v4+avx512vnni`), or `host`. An artifact (`X.wick`) runs\nunder libwick_rt, a "
       "bundle needs no runtime. Code for a target runs on processors that have what it "
       "needs.\n\n"
       "| target | for | needs | extras | pointers | vectors | makes |\n"
       "| --- | --- | --- | --- | --- | --- | --- |");
  const wick_target *t;
  for (uint32_t i = 0; (t = wick_target_row(i)); i++)
    printf("| `%s` | %s: %s | %s | %s | %u bits | %u bits | %s |\n", t->row,
           wick_machine_name(t->machine), t->doc, targets_list(wick_target_need, t, mem),
           targets_list(wick_target_extra, t, mem), (unsigned)t->pointer_bits,
           8 * (unsigned)t->vector_bytes, targets_makes(t));
  targets_processors_markdown();
}

static const char *targets_host(const wick_target *host)
{
  return wick_processor_is_known() ? wick_target_processor(host)->name
                                   : "not in the table (wick calibrate measures it)";
}

static void targets_print(wick_arena *mem, wick_cpu cpu, const wick_target *host)
{
  if (cpu.machine)
    printf("host: %s, processor %s\n\n", targets_name(host, mem), targets_host(host));
  else
    printf("host: none of these\n\n");
  const wick_target *t;
  for (uint32_t i = 0; (t = wick_target_row(i)); i++) {
    const char *needs = targets_list(wick_target_need, t, mem),
               *extras = targets_list(wick_target_extra, t, mem);
    printf("%c %-17s %-8s %-16s  %s", wick_target_runs_on(t, cpu) ? '*' : ' ', t->row,
           wick_machine_name(t->machine), targets_makes(t), t->doc);
    if (*needs) printf("; needs %s", needs);
    if (*extras) printf("; +%s", extras);
    putchar('\n');
  }
  puts("\n* runs here. NAME+EXTRA adds instructions: --target x86-64-v4+avx512vnni\n\n"
       "processors, for --tune:");
  const wick_processor *p;
  for (uint32_t i = 0; (p = wick_processor_row(i)); i++)
    printf("  %-15s %-8s %s\n", p->name, wick_machine_name(p->machine), p->doc);
}

static int targets_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  targets_state *s = arg;
  const wick_flag flag[] = {
      {"json", 0, WICK_FLAG_BOOL, &s->json, NULL, "prints one object of JSON (docs/json.md)"},
      {"markdown", 0, WICK_FLAG_BOOL, &s->markdown, NULL, "prints docs/targets.md"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag)};
  int stop = wick_args_parse(&args, &j->mem, argc, argv);
  if (stop >= 0) return stop;
  wick_cpu cpu = wick_cpu_detect();
  wick_target host = wick_target_host();
  if (s->json)
    return wick_invocation_end(j, wick_invocation_json(j, targets_json(&j->mem, cpu, &host)));
  if (s->markdown)
    targets_markdown(&j->mem);
  else
    targets_print(&j->mem, cpu, &host);
  return WICK_EXIT_OK;
}

int wick_cmd_targets(int argc, char **argv)
{
  targets_state s = {0};
  return wick_invocation_main(&s.invocation, targets_main, &s, argc, argv);
}
