/* Writes the header of a bundle. It repeats the definitions of wick/bundle.h, because its users do
 * not have Wick. */
#include <ctype.h>
#include <string.h>

#include "driver/bundle_data.h"
#include "runtime/kernel.h"
#include "wick/bundle.h"

typedef struct bundle_number { /* a number type of wick/bundle.h */
  const char *name;
  int value;
  const char *doc;
} bundle_number;

static const bundle_number bundle_codes[] = {
    {"WICK_BUNDLE_OK", WICK_BUNDLE_OK, "it has run"},
    {"WICK_BUNDLE_EINVAL", WICK_BUNDLE_EINVAL, "an input has a value that it does not take"},
    {"WICK_BUNDLE_ETYPE", WICK_BUNDLE_ETYPE, "a branch that is taken is not for these sizes"},
    {"WICK_BUNDLE_ERANGE", WICK_BUNDLE_ERANGE, "an index in an input is out of range"},
    {"WICK_BUNDLE_ELIMIT", WICK_BUNDLE_ELIMIT,
     "calls are nested too deep, or there are too many objects"},
    {"WICK_BUNDLE_ENULL", WICK_BUNDLE_ENULL, "an address is NULL"},
    {"WICK_BUNDLE_EALIGN", WICK_BUNDLE_EALIGN, "an address is not aligned"},
};
_Static_assert((int)WICK_BUNDLE_STRING == (int)WICK_STRING, "numbers of wick_elem");
_Static_assert((int)WICK_BUNDLE_EINVAL == (int)WICK_EINVAL, "kernels return a wick_code");
_Static_assert((int)WICK_BUNDLE_ETYPE == (int)WICK_ETYPE, "kernels return a wick_code");
_Static_assert((int)WICK_BUNDLE_ERANGE == (int)WICK_ERANGE, "kernels return a wick_code");
_Static_assert((int)WICK_BUNDLE_ELIMIT == (int)WICK_ELIMIT, "kernels return a wick_code");

typedef struct bundle_elem {
  const char *c; /* the type of an element in memory */
  const char *name;
} bundle_elem;

/* For each element type: its number in wick_elem, and its C type in memory. */
#define BUNDLE_ELEMS(X)                                                                            \
  X(F64, "double")                                                                                 \
  X(F32, "float")                                                                                  \
  X(F16, "unsigned short")                                                                         \
  X(BF16, "unsigned short")                                                                        \
  X(F8E4M3, "unsigned char")                                                                       \
  X(F8E4M3FNUZ, "unsigned char")                                                                   \
  X(F8E5M2, "unsigned char")                                                                       \
  X(F8E5M2FNUZ, "unsigned char")                                                                   \
  X(F8E8M0, "unsigned char")                                                                       \
  X(F4E2M1, "unsigned char")                                                                       \
  X(I64, "long long")                                                                              \
  X(I32, "int")                                                                                    \
  X(I16, "short")                                                                                  \
  X(I8, "signed char")                                                                             \
  X(I4, "unsigned char")                                                                           \
  X(I2, "unsigned char")                                                                           \
  X(U64, "unsigned long long")                                                                     \
  X(U32, "unsigned int")                                                                           \
  X(U16, "unsigned short")                                                                         \
  X(U8, "unsigned char")                                                                           \
  X(U4, "unsigned char")                                                                           \
  X(U2, "unsigned char")                                                                           \
  X(BOOL, "unsigned char")                                                                         \
  X(C64, "float")                                                                                  \
  X(C128, "double")

#define BUNDLE_ROW(x, c) [WICK_##x] = {c, "WICK_BUNDLE_" #x},
#define BUNDLE_SAME(x, c)                                                                          \
  _Static_assert((int)WICK_BUNDLE_##x == (int)WICK_##x, "numbers of wick_elem");
static const bundle_elem bundle_elems[WICK_NELEM] = {BUNDLE_ELEMS(BUNDLE_ROW)};
BUNDLE_ELEMS(BUNDLE_SAME)

const char *wick_bundle_c_type(wick_elem e) { return bundle_elems[e].c; }

typedef struct bundle_header {
  const wick_bundle *b;
  const char *macro; /* the name in upper case */
  wick_text *out;
} bundle_header;

/* ---- the comment ---- */

/* Writes `f` with the function's name for every @, its macro prefix for every #, and a # for every
 * $. */
static void bundle_lines(const bundle_header *h, const char *f)
{
  for (; *f; f++) {
    if (*f == '@')
      wick_text_add(h->out, h->b->name);
    else if (*f == '#')
      wick_text_add(h->out, h->macro);
    else
      wick_text_char(h->out, *f == '$' ? '#' : *f);
  }
}

static void bundle_needs(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  wick_text_printf(h->out, " *\n * %s.o needs from outside: ", b->name);
  for (uint32_t i = 0; i < b->nneed; i++)
    wick_text_printf(h->out, "%s%s", i == 0 ? "" : i % 4 ? ", " : ",\n *   ", b->needs[i]);
  wick_text_add(h->out, b->nneed ? ".\n" : "nothing.\n");
}

/* Converts a name to a part of a C name. */
static const char *bundle_word(const char *name, wick_arena *mem)
{
  char *s = wick_str_dup(mem, name);
  for (char *at = s; *at; at++)
    if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127) *at = '_';
  return s;
}

static void bundle_example(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  bundle_lines(h, " * Example (C11), from raw bytes to numbers:\n *\n"
                  " *   $include <stdio.h>\n"
                  " *   $include \"@.h\"\n *\n");
  if (!b->embed)
    bundle_lines(h, " *   static _Alignas(#_ALIGN) char weights[#_CONSTANTS_BYTES];\n");
  bundle_lines(h, " *   static _Alignas(#_ALIGN) char data[#_MUTABLE_BYTES];\n"
                  " *   static _Alignas(#_ALIGN) char arena[#_ARENA_BYTES];\n *\n"
                  " *   int main(void)\n *   {\n");
  if (!b->embed)
    bundle_lines(h, " *     FILE *f = fopen(\"@.weights.bin\", \"rb\");\n"
                    " *     if (!f || fread(weights, sizeof weights, 1, f) != 1) return 1;\n"
                    " *     fclose(f);\n");
  if (b->nstate)
    bundle_lines(h, b->embed ? " *     @_reset(@_constants, data);\n"
                             : " *     @_reset(weights, data);\n");
  if (b->ninput > b->nstate && b->io[0].nbytes)
    bundle_lines(h,
                 " *     if (fread(#_INPUT_0(data), #_INPUT_0_BYTES, 1, stdin) != 1) return 2;\n");
  for (uint32_t i = 0; i < b->nsize; i++) {
    const char *word = bundle_word(b->size[i].name, h->out->mem);
    wick_text_printf(h->out, " *     %s_SIZES(data)[%s_SIZE_%s] = %s_MOST_%s;\n", h->macro,
                     h->macro, word, h->macro, word);
  }
  bundle_lines(h, b->embed ? " *     if (@(@_constants, data, arena)) return 3;\n"
                           : " *     if (@(weights, data, arena)) return 3;\n");
  if (b->noutput > b->nstate)
    bundle_lines(h, " *     for (long i = 0; i < #_OUTPUT_0_ELEMENTS; i++)\n"
                    " *       printf(\"%g\\n\", (double)#_OUTPUT_0(data)[i]);\n");
  bundle_lines(h, " *     return 0;\n *   }\n");
}

/* Writes the contract. A name must not end the comment, so that `*` and `/` in a row lose one
 * character. */
static void bundle_contract(const bundle_header *h)
{
  wick_text_add(h->out, "/* The numbers, and the order in which each kernel computes them:\n *   ");
  for (const char *at = h->b->contract; *at; at++) {
    if (*at == '\n')
      wick_text_add(h->out, "\n *   ");
    else if (at[0] != '*' || at[1] != '/')
      wick_text_char(h->out, *at);
  }
  wick_text_add(h->out, "\n */\n");
}

static void bundle_comment(const bundle_header *h)
{
  wick_text target = wick_text_begin(h->out->mem);
  wick_target_name(h->b->target, &target);
  bundle_lines(h, "/* @.h: a network as a function of C. Made by Wick from a trained model.\n *\n");
  wick_text_printf(h->out, " * For %s (%s).\n", target.at, h->b->target->doc);
  bundle_needs(h);
  bundle_lines(h, " *\n");
  bundle_example(h);
  wick_text_add(h->out, " */\n");
  bundle_contract(h);
}

/* ---- macros ---- */

static void bundle_define(const bundle_header *h, const char *what, uint64_t value)
{
  wick_text_printf(h->out, "#define %s_%s %llu\n", h->macro, what, (unsigned long long)value);
}

/* Writes a C string. Characters that are not plain become octal escapes. */
static void bundle_string(const bundle_header *h, const char *s, uint64_t nbytes)
{
  wick_text_char(h->out, '"');
  for (uint64_t i = 0; i < nbytes; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c < ' ' || c > '~' || strchr("\"\\?", c))
      wick_text_printf(h->out, "\\%03o", c);
    else
      wick_text_char(h->out, (char)c);
  }
  wick_text_char(h->out, '"');
}

/* Writes a name of the model's, which must not end the comment. */
static void bundle_in_comment(const bundle_header *h, const char *name)
{
  for (const char *at = name; *at; at++) {
    bool ends = at[0] == '*' && at[1] == '/';
    wick_text_char(h->out, (unsigned char)*at < ' ' || *at == 0x7f || *at == '\\' ? '?' : *at);
    if (ends) wick_text_char(h->out, ' ');
  }
}

static void bundle_shape(const bundle_header *h, const char *what, const wick_io *io)
{
  wick_text_printf(h->out, "#define %s_%s_SHAPE {", h->macro, what);
  for (uint32_t k = 0; k < io->rank; k++)
    wick_text_printf(h->out, "%s%lld", k ? ", " : "", (long long)io->dim[k]);
  wick_text_add(h->out, io->rank ? "}" : "1}"); /* {} is not valid C */
  bool open = false;
  for (uint32_t k = 0; k < io->rank; k++) {
    if (!io->dim_name[k] || !*io->dim_name[k]) continue;
    wick_text_add(h->out, open ? ", " : " /* at most: ");
    bundle_in_comment(h, io->dim_name[k]);
    open = true;
  }
  wick_text_add(h->out, open ? " */\n" : "\n");
}

/* Writes the keys of a map: numbers or strings, in the order of the last dimension. */
static void bundle_keys(const bundle_header *h, const char *what, const wick_keys *keys)
{
  if (!keys->n) return;
  wick_text_printf(h->out, "#define %s_%s_KEYS {", h->macro, what);
  for (uint32_t i = 0; i < keys->n; i++) {
    if (i) wick_text_add(h->out, ", ");
    if (keys->text)
      bundle_string(h, keys->text[i].at, keys->text[i].nbytes);
    else if (keys->number[i] == INT64_MIN)
      wick_text_add(h->out, "-9223372036854775807 - 1"); /* C has no literal for this number */
    else
      wick_text_int(h->out, keys->number[i]);
  }
  wick_text_add(h->out, "}\n");
}

static void bundle_io(const bundle_header *h, const char *what, const wick_io *io, uint64_t offset)
{
  uint64_t nelem = 1;
  for (uint32_t k = 0; k < io->rank; k++) nelem *= (uint64_t)io->dim[k];
  wick_text_printf(h->out, "\n#define %s_%s_NAME ", h->macro, what);
  bundle_string(h, io->name, strlen(io->name));
  wick_text_printf(h->out, "\n#define %s_%s_TYPE %s\n", h->macro, what,
                   bundle_elems[io->elem].name);
  wick_text_printf(h->out, "#define %s_%s_RANK %u\n", h->macro, what, io->rank);
  bundle_shape(h, what, io);
  bundle_keys(h, what, &io->keys);
  wick_text_printf(h->out,
                   "#define %s_%s_ELEMENTS %llu\n#define %s_%s_BYTES %llu\n"
                   "#define %s_%s_OFFSET %llu\n",
                   h->macro, what, (unsigned long long)nelem, h->macro, what,
                   (unsigned long long)io->nbytes, h->macro, what, (unsigned long long)offset);
  wick_text_printf(h->out,
                   "#define %s_%s(mutable_data) \\\n"
                   "  ((%s *)(void *)((char *)(mutable_data) + %s_%s_OFFSET))\n",
                   h->macro, what, bundle_elems[io->elem].c, h->macro, what);
}

static void bundle_io_of(const bundle_header *h, const char *kind, uint32_t i, uint32_t k)
{
  const char *what = wick_str_printf(h->out->mem, "%s_%u", kind, i);
  bundle_io(h, what, &h->b->io[k], h->b->offset[k]);
}

/* Is an output where a donated input is? */
static bool bundle_shares(const wick_bundle *b)
{
  for (uint32_t k = b->ninput; k < b->ninput + b->noutput - b->nstate; k++)
    for (uint32_t i = 0; i < b->ninput - b->nstate; i++)
      if (b->offset[k] == b->offset[i]) return true;
  return false;
}

static void bundle_open(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  if (!b->nsize) return;
  bundle_lines(
      h, "\n/* Sizes that vary. Before a run their values are written into the mutable data:\n"
         " *   #_SIZES(data)[#_SIZE_...] = ...;\n"
         " * One outside of its range fails with WICK_BUNDLE_ERANGE, sizes that do not fit\n"
         " * together with WICK_BUNDLE_EINVAL; nothing else is written then. Inputs and outputs\n"
         " * lie where they are at most sizes, dense for those of the run; the memory below is\n"
         " * what all of them want. */\n");
  for (uint32_t i = 0; i < b->nsize; i++) {
    const wick_bundle_size *s = &b->size[i];
    const char *word = bundle_word(s->name, h->out->mem);
    wick_text_printf(
        h->out, "#define %s_SIZE_%s %u\n#define %s_LEAST_%s %lld\n#define %s_MOST_%s %lld\n",
        h->macro, word, i, h->macro, word, (long long)s->least, h->macro, word, (long long)s->most);
  }
  bundle_define(h, "SIZES_OFFSET", b->table_offset);
  bundle_lines(h, "$define #_SIZES(mutable_data) \\\n"
                  "  ((long long *)(void *)((char *)(mutable_data) + #_SIZES_OFFSET))\n");
}

static void bundle_ios(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  wick_text_printf(
      h->out,
      "\n/* Where inputs and outputs lie in the mutable data, last dimension fastest.%s */\n",
      bundle_shares(b) ? "\n * A donated input is updated: its output has the same place." : "");
  bundle_define(h, "INPUTS", b->ninput - b->nstate);
  bundle_define(h, "OUTPUTS", b->noutput - b->nstate);
  for (uint32_t i = 0; i < b->ninput - b->nstate; i++) bundle_io_of(h, "INPUT", i, i);
  for (uint32_t i = 0; i < b->noutput - b->nstate; i++) bundle_io_of(h, "OUTPUT", i, b->ninput + i);
}

/* ---- states ---- */

static void bundle_reset(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  bundle_lines(
      h, "\n$ifdef __GNUC__\n__attribute__((unused))\n$endif\n"
         "static void @_reset(const void *constants, void *mutable_data)\n{\n"
         "  static const unsigned long state[#_STATES][3] = { /* offset, bytes, initial value */");
  for (uint32_t i = 0; i < b->nstate; i++) {
    uint32_t k = b->ninput - b->nstate + i;
    wick_text_printf(h->out, "%s\n    {%lluUL, %lluUL, %lluUL}", i ? "," : "",
                     (unsigned long long)b->offset[k], (unsigned long long)b->io[k].nbytes,
                     (unsigned long long)b->initial[i]);
  }
  bundle_lines(
      h, "};\n  unsigned long i, k;\n"
         "  for (i = 0; i < #_STATES; i++)\n"
         "    for (k = 0; k < state[i][1]; k++)\n"
         "      ((unsigned char *)mutable_data)[state[i][0] + k] = (unsigned char)\n"
         "        (state[i][2] ? ((const unsigned char *)constants)[state[i][2] + k] : 0);\n}\n");
}

static void bundle_states(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  if (!b->nstate) return;
  bundle_lines(
      h, "\n/* States: what a run leaves in the mutable data for the next. Before the first run, "
         "and to\n"
         " * begin anew, call\n"
         " *   @_reset(constants, mutable_data)\n"
         " * A run that fails may leave some states of the run before, and some of its own. */\n");
  bundle_define(h, "STATES", b->nstate);
  for (uint32_t i = 0; i < b->nstate; i++) bundle_io_of(h, "STATE", i, b->ninput - b->nstate + i);
  bundle_reset(h);
}

static void bundle_shared(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  bool used[WICK_NELEM] = {false};
  wick_text_add(h->out, "\n/* What is returned, and element types: as in wick/bundle.h. */\n");
  for (uint32_t i = 0; i < WICK_COUNT(bundle_codes); i++)
    wick_text_printf(h->out, "#define %s %d /* %s */\n", bundle_codes[i].name,
                     bundle_codes[i].value, bundle_codes[i].doc);
  for (uint32_t i = 0; i < b->ninput + b->noutput; i++) used[b->io[i].elem] = true;
  for (uint32_t e = 0; e < WICK_NELEM; e++)
    if (used[e]) wick_text_printf(h->out, "#define %s %u\n", bundle_elems[e].name, e);
}

/* Writes a macro that reads a member of the record of a failure. */
static void bundle_member(const bundle_header *h, const char *name, const char *type,
                          uint64_t offset)
{
  bundle_lines(h, "$define #_FAILURE_");
  wick_text_printf(h->out,
                   "%s(arena) \\\n  (*(%s *)(const void *)((const char *)(arena) + %llu))\n", name,
                   type, (unsigned long long)(h->b->failure_offset + offset));
}

static void bundle_call(const bundle_header *h, const char *name, const char *type, uint64_t offset)
{
  bundle_lines(h, "$define #_FAILURE_CALL_");
  wick_text_printf(
      h->out,
      "%s(arena, i) \\\n  (*(%s *)(const void *)((const char *)(arena) + %llu + \\\n"
      "      ((i) < %d ? (i) : %d + (i) %% %d) * %u))\n",
      name, type, (unsigned long long)(h->b->failure_offset + offsetof(wick_fault, call) + offset),
      WICK_FAULT_FIRST, WICK_FAULT_FIRST, WICK_FAULT_LAST, (unsigned)sizeof(wick_fault_call));
}

/* The offsets of 64-bit machines are those of all. */
static void bundle_failure(const bundle_header *h)
{
  static const char number[] = "const long long", place[] = "const char *const";
  if (!h->b->failure_bytes) return;
  wick_text_add(h->out,
                "\n/* Why the last call with that arena has failed: see wick/bundle.h. */\n");
  bundle_member(h, "PLACE", place, offsetof(wick_fault, place));
  bundle_member(h, "DETAIL", number, offsetof(wick_fault, detail));
  bundle_member(h, "OF", number, offsetof(wick_fault, of));
  bundle_member(h, "TEXT", place, offsetof(wick_fault, text));
  if (h->b->failure_bytes < sizeof(wick_fault)) return;
  bundle_member(h, "NCALL", number, offsetof(wick_fault, ncall));
  bundle_call(h, "PLACE", place, offsetof(wick_fault_call, place));
  bundle_call(h, "COUNT", number, offsetof(wick_fault_call, count));
}

static void bundle_sizes(const bundle_header *h)
{
  const wick_bundle *b = h->b;
  wick_text target = wick_text_begin(h->out->mem);
  wick_target_name(b->target, &target);
  wick_text_printf(h->out, "#define %s_TARGET \"%s\"\n", h->macro, target.at);
  wick_text_add(h->out, "\n/* Bytes, and what the three addresses are multiples of. */\n");
  bundle_define(h, "ALIGN", WICK_BUNDLE_ALIGN);
  bundle_define(h, "CONSTANTS_BYTES", b->constant_bytes);
  bundle_define(h, "MUTABLE_BYTES", b->mutable_bytes);
  bundle_define(h, "ARENA_BYTES", b->arena_bytes);
  bundle_failure(h);
  wick_text_printf(h->out,
                   "\n/* Flash: code, tables and constants. RAM: mutable data and arena. %s */\n",
                   b->stack_bytes ? "Stack: of one call,\n * at most." : "");
  bundle_define(h, "FLASH_BYTES", b->flash_bytes);
  bundle_define(h, "RAM_BYTES", b->mutable_bytes + b->arena_bytes);
  if (b->stack_bytes) bundle_define(h, "STACK_BYTES", b->stack_bytes);
  if (b->heap_bytes || b->recursion_bytes)
    wick_text_add(h->out,
                  "\n/* Parts of the arena, for objects, and of the stack, for recursion. A "
                  "run that needs\n * more returns WICK_BUNDLE_ELIMIT. */\n");
  if (b->heap_bytes) bundle_define(h, "HEAP_BYTES", b->heap_bytes);
  if (b->recursion_bytes) bundle_define(h, "RECURSION_BYTES", b->recursion_bytes);
}

/* ---- the declaration ---- */

/* Whether the object needs the function of that name after the bundle's. */
static bool bundle_prints(const bundle_header *h, const char *end)
{
  const char *name = wick_str_printf(h->out->mem, "%s_%s", h->b->name, end);
  for (uint32_t i = 0; i < h->b->nneed; i++)
    if (strcmp(h->b->needs[i], name) == 0) return true;
  return false;
}

/* Writes the function that gives the texts of printed strings. */
static void bundle_strings(const bundle_header *h)
{
  const wick_string_table *t = h->b->strings;
  if (!t) return;
  bundle_lines(h, "/* The text of an element of a value whose elem is WICK_BUNDLE_STRING. */\n"
                  "$ifndef WICK_BUNDLE_STRING\n"
                  "$define WICK_BUNDLE_STRING 25\n"
                  "$endif\n");
  wick_text_add(h->out, WICK_BUNDLE_STATIC_TEXT);
  bundle_lines(h, "WICK_BUNDLE_STATIC const char *@_string(long long number)\n{\n"
                  "  static const char *const text[] = {\n");
  for (uint32_t i = 0, n = wick_string_table_count(t); i < n; i++) {
    wick_string s = wick_string_table_get(t, i);
    wick_text_add(h->out, "      ");
    bundle_string(h, s.at, s.nbytes);
    wick_text_add(h->out, i + 1 < n ? ",\n" : "};\n");
  }
  bundle_lines(h, "  return text[number];\n}\n\n");
}

/* Declares the functions that programs which print call. */
static void bundle_print(const bundle_header *h)
{
  bool line = bundle_prints(h, "print"), part = bundle_prints(h, "print_part");
  if (!line && !part) return;
  bundle_lines(
      h,
      "/* To be defined by the user: gets each line that the program prints. Each {} in the text\n"
      " * stands for one of the values. Its stack is not counted. */\n"
      "$ifndef WICK_BUNDLE_VALUE\n"
      "$define WICK_BUNDLE_VALUE\n"
      "struct wick_bundle_value {\n"
      "  const void *data; /* the elements, dense */\n"
      "  const int *dim;   /* rank sizes */\n"
      "  int elem, rank;   /* elem: WICK_BUNDLE_F32, ... */\n"
      "};\n"
      "$endif\n"
      "void @_print(const char *text, int n, const struct wick_bundle_value *value);\n");
  if (part)
    bundle_lines(h, "/* Gets parts of a line, before @_print gets its end. */\n"
                    "void @_print_part(const char *text, int n,\n"
                    "                  const struct wick_bundle_value *value);\n");
  wick_text_char(h->out, '\n');
  bundle_strings(h);
}

static void bundle_declaration(const bundle_header *h)
{
  bundle_lines(h, "\n$ifdef __cplusplus\nextern \"C\" {\n$endif\n\n");
  if (h->b->embed)
    bundle_lines(h, "/* What to pass as `constants`. */\n"
                    "extern const unsigned char @_constants[#_CONSTANTS_BYTES];\n\n");
  bundle_print(h);
  bundle_lines(
      h,
      "/* Runs the network once, on the calling thread. Reads the constants and the inputs,\n"
      " * writes the outputs and the arena; keeps nothing. Threads may run it at the same time\n"
      " * on mutable data and arenas of their own. Returns WICK_BUNDLE_OK, or why it could not.\n"
      " */\n"
      "int @(const void *constants, void *mutable_data, void *arena);\n"
      "\n$ifdef __cplusplus\n}\n$endif\n\n$endif\n");
}

void wick_bundle_header(const wick_bundle *b, wick_arena *tmp, wick_text *out)
{
  char *macro = wick_str_dup(tmp, b->name);
  for (char *at = macro; *at; at++) *at = (char)toupper((unsigned char)*at);
  bundle_header h = {b, macro, out};
  bundle_comment(&h);
  bundle_lines(&h, "$ifndef #_NETWORK_H\n$define #_NETWORK_H\n\n");
  bundle_sizes(&h);
  bundle_shared(&h);
  bundle_open(&h);
  bundle_ios(&h);
  bundle_states(&h);
  wick_bundle_data(b, macro, out);
  bundle_declaration(&h);
}
