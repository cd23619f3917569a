/* Prints the tables of passes, pipelines and schedule steps, for a terminal or as Markdown. */
#include "opt_pages.h"

#include <stdio.h>

#include "driver/passes.h"
#include "graph/group/template.h"
#include "loop/schedule.h"

static const struct {
  uint32_t bit;
  const char *name;
} pages_levels[] = {
    {WICK_GRAPH, "graph"}, {WICK_GROUP, "group"}, {WICK_LOW, "low"}, {WICK_LOOP, "loop"}};

static void pages_print_levels(uint32_t levels)
{
  const char *comma = "";
  for (size_t i = 0; i < sizeof pages_levels / sizeof *pages_levels; i++)
    if (levels & pages_levels[i].bit) {
      printf("%s%s", comma, pages_levels[i].name);
      comma = ", ";
    }
}

static const char *pages_class(const wick_pass *p)
{
  return p->cls == WICK_EXACT ? "exact" : "rounding";
}

static void pages_passes_text(void)
{
  for (const wick_pass *p = wick_passes; p->name; p++) printf("%-24s %s\n", p->name, p->doc);
  printf("\npipelines, and the order of their passes\n");
  for (const wick_named_pipeline *p = wick_pipelines; p->name; p++) {
    printf("%-20s %s:", p->name, p->doc);
    for (const wick_step *s = p->step; s->pass; s++) printf(" %s%s", s->pass, s->when ? "?" : "");
    putchar('\n');
  }
}

static void pages_passes_markdown(void)
{
  puts("# Passes\n\n"
       "`wick opt --passes` lists them; this page is `wick opt --passes --markdown`. `wick opt "
       "--pass NAME` runs one on the text of a\nmodule; the comment at the top of its header says "
       "what it needs, what it guarantees, and what it leaves alone.\n\n"
       "The class says what a pass may do to numbers: `exact` passes keep every bit, `rounding` "
       "passes round in another order or at\nanother point. The contract of a compiled model names "
       "every pass that has rounded.\n\n"
       "| pass | functions | class | what it does |\n| --- | --- | --- | --- |");
  for (const wick_pass *p = wick_passes; p->name; p++) {
    printf("| `%s` | ", p->name);
    pages_print_levels(p->levels);
    printf(" | %s | %s |\n", pages_class(p), p->doc);
  }
  puts(
      "\n## Pipelines\n\n"
      "`wick opt --pipeline NAME` runs one, `--until PASS` stops after a pass. A step is a pass, "
      "or "
      "a pipeline by name; a step with\na condition is left out where the condition does not hold. "
      "`src/driver/passes.c` holds the table.");
  for (const wick_named_pipeline *p = wick_pipelines; p->name; p++) {
    printf("\n### %s\n\n%s\n\n", p->name, p->doc);
    uint32_t n = 0;
    for (const wick_step *s = p->step; s->pass; s++) {
      printf("%u. `%s`%s", ++n, s->pass, wick_pipeline_find(s->pass) ? " (pipeline)" : "");
      if (s->when) printf(", only for %s", s->when->name);
      putchar('\n');
    }
  }
}

void wick_opt_passes(bool markdown)
{
  if (markdown)
    pages_passes_markdown();
  else
    pages_passes_text();
}

static void pages_templates(bool markdown)
{
  puts(markdown
           ? "\n## Templates\n\nThe first schedule of a group comes from a template. "
             "`src/graph/group/template_table.c` holds the table; the first row that matches the "
             "group\nschedules it. The step `template` keeps the name: `wick explain MODEL` shows "
             "it for each kernel. A template leaves numbers open, such as\ntile sizes; the cost "
             "model sets them, and `wick tune` searches better ones.\n\n"
             "| template | groups | schedule |\n| --- | --- | --- |"
           : "\nTemplates, in the order in which they are tried:");
  for (const wick_template *t = wick_templates; t->name; t++)
    printf(markdown ? "| `%s` | %s | %s |\n" : "%s\n    %s\n    %s\n", t->name, t->takes, t->makes);
}

void wick_opt_schedule_steps(bool markdown)
{
  if (markdown)
    puts(
        "# Schedules\n\n"
        "A schedule says how the loops of a kernel (a group) are built: for each stage its loops, "
        "their order and kinds, and where the\nstage is computed and stored. Each step edits this "
        "record; no step rewrites code. `src/loop/nest.h` builds the loops once,\nfrom the record. "
        "`wick compile MODEL --emit kernels` shows the groups of a model with their schedules; "
        "this page is\n`wick opt --schedule-steps --markdown`.\n\n"
        "Steps are separated by `;`. `STAGE` is a stage's name and `LOOP` one of its loops: at "
        "first each axis is a loop with the\naxis' name. A step that is not legal is refused, and "
        "the message gives the reason.\n\n"
        "| step | what it does | legal if |\n| --- | --- | --- |");
  for (const wick_schedule_step *s = wick_schedule_steps; s->name; s++)
    if (markdown) {
      printf("| `%s ", s->name);
      for (const char *c = s->form; *c; c++) printf(*c == '|' ? "\\|" : "%c", *c);
      printf("` | %s | %s |\n", s->doc, s->legal);
    } else
      printf("%s %s\n    %s\n    Legal: %s\n", s->name, s->form, s->doc, s->legal);
  if (markdown)
    puts("\nA step is legal by itself, as the table says; what needs the whole schedule (loops "
         "named "
         "by `at`, tiles in registers) is\nchecked before the loops are built. The contract of the "
         "group (`src/loop/contract.h`) states the order of every sum that\nfollows from the "
         "steps.");
  pages_templates(markdown);
}
