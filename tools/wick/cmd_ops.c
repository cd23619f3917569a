/* wick ops: lists the operators of the registry, and the ONNX operators that Wick reads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/formats.h"
#include "import/onnx/onnx.h"
#include "import/relay/table.h"
#include "ir/op.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"

#include "args.h"
#include "command.h"

static const char *const ops_kind[] = {
    [WICK_ATTR_INT] = "int",     [WICK_ATTR_BOOL] = "bool",      [WICK_ATTR_AXIS] = "axis",
    [WICK_ATTR_FLOAT] = "float", [WICK_ATTR_STRING] = "string",  [WICK_ATTR_ENUM] = "word",
    [WICK_ATTR_INTS] = "ints",   [WICK_ATTR_FLOATS] = "floats",  [WICK_ATTR_DIMS] = "dims",
    [WICK_ATTR_AXES] = "axes",   [WICK_ATTR_CONST] = "constant", [WICK_ATTR_FUNC] = "function"};

static void ops_levels(uint32_t level)
{
  static const char *const name[] = {"graph", "group", "low", "loop"};
  const char *between = "";
  for (int i = 0; i < 4; i++)
    if (level & 1u << i) printf("%s%s", between, name[i]), between = ", ";
}

static void ops_count(const char *what, const uint8_t n[2], const char *end)
{
  if (n[1] == WICK_ANY)
    printf("%s: %u or more%s", what, n[0], end);
  else if (n[0] != n[1])
    printf("%s: %u to %u%s", what, n[0], n[1], end);
  else if (n[0])
    printf("%s: %u%s", what, n[0], end);
}

static void ops_attr(const wick_attr_spec *a)
{
  printf("%s: %s", a->name, ops_kind[a->kind]);
  if (a->words) printf(" of %s", a->words);
  if (a->least != 0 || a->most != 0) printf(" from %.10g to %.10g", a->least, a->most);
  if (a->required) {
    printf(", required");
  } else if (a->kind == WICK_ATTR_ENUM) {
    const char *word = a->words;
    for (double i = 0; i < a->dflt; i++) word += strcspn(word, " ") + 1;
    printf(", %.*s", (int)strcspn(word, " "), word);
  } else if (a->kind != WICK_ATTR_INTS && a->kind != WICK_ATTR_FLOATS &&
             a->kind != WICK_ATTR_STRING && a->kind != WICK_ATTR_DIMS) {
    printf(", %.10g", a->dflt);
  }
}

static void ops_elems(uint64_t elems)
{
  printf("elements:");
  for (uint32_t e = 0; e < WICK_NELEM; e++)
    if (elems & WICK_BIT(e)) printf(" %s", wick_elem_name((wick_elem)e));
}

static const char *const ops_effect[] = {"", "may fail at run time", "has an effect"};

/* Describes how a graph operator is differentiated. */
static const char *ops_derivative(const wick_op *op)
{
  if (op->grad == wick_grad_zero) return "zero almost everywhere";
  if (op->grad == wick_grad_none) return "none";
  bool own = op->grad && op->grad != wick_grad_opened;
  return own ? "by a rule of its own" : "through its definition";
}

/* Prints an operator's entry. */
static void ops_row(const wick_op *op)
{
  printf("%s\n%s\nlevels: ", op->name, op->doc);
  ops_levels(op->level);
  putchar('\n');
  ops_count("operands", op->nin, "\n");
  ops_count("results", op->nout, "\n");
  ops_count("regions", op->nregion, "\n");
  if (wick_op_nattr(op)) puts("attributes:");
  for (uint32_t i = 0; i < WICK_MAX_ATTR && op->attr[i].name; i++) {
    fputs("  ", stdout);
    ops_attr(&op->attr[i]);
    putchar('\n');
  }
  if (op->elems) ops_elems(op->elems), putchar('\n');
  if (*ops_effect[op->effect]) puts(ops_effect[op->effect]);
  if (op->ulp > 0) printf("error: %g ulp\n", op->ulp);
  if (op->level & WICK_GRAPH) printf("derivative: %s\n", ops_derivative(op));
  if (op->batch.run == wick_batch_rows) puts("rows of a batch: one by one");
}

/* ---- docs/operators.md ---- */

/* Prints how the operator is defined, and the test that compares the definition with its
 * reference. */
static void ops_definition(const wick_op *op)
{
  static const char rows[] = "src/graph/operators_test.c",
                    scalars[] = "src/ops/elementwise/scalar_test.c";
  if (op->scalar != WICK_NOT_SCALAR)
    printf("- defined element by element%s; `%s`\n",
           op->expand ? ", in code by other scalar rows" : "", scalars);
  else if (op->compute)
    printf("- defined by stages%s; `%s`\n", op->expand ? ", or by other rows" : "", rows);
  else if (op->expand)
    printf("- defined by other rows; `%s`\n", rows);
  else
    printf("- %s\n",
           op->view_of.kind == WICK_VIEW_SAME ? "a view: no code" : "a part of the representation");
}

static void ops_markdown_row(const wick_op *op)
{
  printf("\n### %s\n\n%s.\n\n", op->name, op->doc);
  ops_definition(op);
  printf("- levels: ");
  ops_levels(op->level);
  ops_count("; operands", op->nin, "");
  ops_count("; results", op->nout, "");
  ops_count("; regions", op->nregion, "");
  if (*ops_effect[op->effect]) printf("; %s", ops_effect[op->effect]);
  if (op->ulp > 0) printf("; error: %g ulp", op->ulp);
  if (op->level & WICK_GRAPH) printf("; derivative: %s", ops_derivative(op));
  if (op->batch.run == wick_batch_rows) printf("; rows of a batch: one by one");
  putchar('\n');
  for (uint32_t i = 0; i < WICK_MAX_ATTR && op->attr[i].name; i++) {
    fputs("- attribute ", stdout);
    ops_attr(&op->attr[i]);
    putchar('\n');
  }
  if (!op->elems) return;
  fputs("- ", stdout);
  ops_elems(op->elems);
  putchar('\n');
}

static void ops_markdown(void)
{
  static const struct {
    const char *title;
    bool scalar;
    uint32_t level, without;
  } part[] = {{"Tensors", false, WICK_GRAPH, 0},
              {"Scalars, and tensors element by element", true, UINT32_MAX, 0},
              {"Groups", false, WICK_GROUP, WICK_GRAPH},
              {"Buffers", false, WICK_LOW, WICK_GRAPH | WICK_GROUP},
              {"Loops", false, WICK_LOOP, WICK_GRAPH | WICK_GROUP | WICK_LOW}};
  puts(
      "# Operators\n\nOf all levels, as their rows in `src/ops` have them (`make docs` writes this "
      "page). Each\nrow says what it computes, with its rule for not-a-numbers, signed zeros, "
      "rounding and\noverflow; what it is defined by, with the test that compares this with the "
      "row's reference;\nits attributes with range and default; the element types that it takes, "
      "where not all.");
  for (size_t p = 0; p < sizeof part / sizeof *part; p++) {
    printf("\n## %s\n", part[p].title);
    for (uint32_t i = 1; i < WICK_NOP; i++) {
      const wick_op *op = wick_ops[i];
      if ((op->scalar != WICK_NOT_SCALAR) == part[p].scalar && (op->level & part[p].level) &&
          !(op->level & part[p].without))
        ops_markdown_row(op);
    }
  }
}

static void ops_list(uint32_t levels)
{
  for (uint32_t i = 1; i < WICK_NOP; i++) {
    const wick_op *op = wick_ops[i];
    if (!(op->level & levels)) continue;
    printf("%-20s %s\n", op->name, op->doc);
  }
}

static void ops_onnx(void)
{
  wick_onnx_support s;
  const char *last = "";
  for (size_t i = 0; wick_onnx_supported(i, &s); i++) {
    if (strcmp(last, s.op_type) != 0) printf("%s%-28s", *last ? "\n" : "", s.op_type);
    printf(" %d-%d", s.since, s.until);
    last = s.op_type;
  }
  putchar('\n');
}

/* The attributes of a row: those of its template, then those that its function reads. */
static void ops_relay_attrs(const relay_row *row)
{
  const char *comma = "";
  for (const char *at = row->expr; at && (at = strchr(at, '{')); comma = " ")
    at++, printf("%s%.*s", comma, (int)strcspn(at, ":"), at);
  for (const char *at = row->attrs ? row->attrs : ""; *at; comma = " ") {
    size_t n = strcspn(at, " ");
    printf("%s%.*s", comma, (int)n, at);
    at += n;
    at += *at == ' ';
  }
}

static void ops_relay(bool markdown)
{
  size_t n = 0, refused = 0;
  for (const relay_row *const *kind = wick_relay_kinds; *kind; kind++)
    for (const relay_row *row = *kind; row->name; row++) n++;
  while (wick_relay_refused[refused].name) refused++;
  if (markdown) {
    printf("# Operators of Relay\n\nThe operators that programs in Relay's text may call "
           "([from_relay.md](from_relay.md)), and what "
           "computes each: an expression of\nthe language on the operands a, b, c, ..., in which "
           "{name:default} is an attribute, or "
           "the operators of Wick that it is\nwritten with. Other attributes than those listed are "
           "refused, but for those that only "
           "say how TVM computes a call.\n`make docs` writes this page.\n\n## Supported: %zu\n\n| "
           "operator | computed by | attributes "
           "|\n|---|---|---|\n",
           n);
  }
  for (const relay_row *const *kind = wick_relay_kinds; *kind; kind++)
    for (const relay_row *row = *kind; row->name; row++) {
      if (!markdown) {
        puts(row->name);
        continue;
      }
      printf("| `%s` | %s%s%s | ", row->name, row->doc ? "" : "`", row->doc ? row->doc : row->expr,
             row->doc ? "" : "`");
      ops_relay_attrs(row);
      puts(" |");
    }
  if (!markdown) return;
  printf("\n## Refused: %zu\n\n| operator | because |\n|---|---|\n", refused);
  for (const relay_refused *r = wick_relay_refused; r->name; r++)
    printf("| `%s` | %s |\n", r->name, r->why);
}

/* An operator that several rows describe is listed once. */
static void ops_format(const wick_import_format *format, bool markdown)
{
  size_t n = 0;
  if (markdown)
    printf(
        "\n## %s\n\n| operator | operands | results | not supported because |\n|---|---|---|---|\n",
        format->name);
  for (size_t f = 0; f < format->nfamily; f++)
    for (const wick_import_op *op = format->families[f]; op->name; op++) {
      if (op != format->families[f] && strcmp(op[-1].name, op->name) == 0) continue;
      n += op->import != NULL;
      if (!markdown) {
        puts(op->name);
        continue;
      }
      printf("| `%s` | %u", op->name, op->nin[0]);
      if (op->nin[1] == WICK_ANY)
        printf(" or more");
      else if (op->nin[1] > op->nin[0])
        printf(" to %u", op->nin[1]);
      if (op->nout == WICK_ANY)
        printf(" | any");
      else
        printf(" | %u", op->nout);
      printf(" | %s |\n", op->why ? op->why : "");
    }
  if (markdown) printf("\nSupported: %zu operators.\n", n);
}

static void ops_formats(bool markdown)
{
  if (markdown)
    puts("# Formats\n\nThe operators of the formats that Wick reads besides ONNX "
         "([onnx.md](onnx.md)). A file's contents tell its\nformat, never its name. `make docs` "
         "writes this page.");
  for (const wick_import_format *const *f = wick_import_formats; *f; f++) ops_format(*f, markdown);
}

static int ops_named(const wick_words *words)
{
  for (uint32_t i = 0; i < words->n; i++) {
    wick_opcode op = wick_op_find(words->at[i], strlen(words->at[i]));
    if (op == WICK_OP_none) {
      wick_command_say("ops", "there is no operator \"%s\"; `wick ops` lists them", words->at[i]);
      return WICK_EXIT_FAILURE;
    }
    if (i) putchar('\n');
    ops_row(wick_ops[op]);
  }
  return WICK_EXIT_OK;
}

static int ops_run(int argc, char **argv, wick_arena *mem)
{
  bool all = false, onnx = false, relay = false, formats = false, markdown = false;
  const wick_flag flag[] = {
      {"all", 'a', WICK_FLAG_BOOL, &all, NULL,
       "lists the operators of all levels, not only of graphs"},
      {"onnx", 0, WICK_FLAG_BOOL, &onnx, NULL,
       "lists the ONNX operators that Wick reads, with their opsets"},
      {"relay", 0, WICK_FLAG_BOOL, &relay, NULL,
       "lists the operators of Relay that programs in its text may call"},
      {"formats", 0, WICK_FLAG_BOOL, &formats, NULL,
       "lists the operators of the other formats that Wick reads"},
      {"markdown", 0, WICK_FLAG_BOOL, &markdown, NULL,
       "prints docs/operators.md; with --relay docs/relay.md, with --formats docs/formats.md"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 0, .most = UINT32_MAX};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  if (args.word.n) return ops_named(&args.word);
  if (relay)
    ops_relay(markdown);
  else if (formats)
    ops_formats(markdown);
  else if (markdown)
    ops_markdown();
  else if (onnx)
    ops_onnx();
  else
    ops_list(all ? UINT32_MAX : WICK_GRAPH);
  return WICK_EXIT_OK;
}

int wick_cmd_ops(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    wick_command_say("ops", "out of memory");
  else
    status = ops_run(argc, argv, &mem);
  wick_arena_free(&mem);
  return status;
}
