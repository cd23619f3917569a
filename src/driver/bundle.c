/* Compiles loop functions to a bundle's files. Begin with wick_bundle_make. */
#include "driver/bundle.h"

#include <ctype.h>
#include <string.h>

#include "codegen/abi.h"
#include "codegen/object.h"
#include "driver/bundle_data.h"
#include "driver/donate.h"
#include "driver/report/contract.h"
#include "driver/states.h"
#include "ir/copy.h"
#include "ir/verify.h"
#include "runtime/heap.h"
#include "wick/bundle.h"

/* ---- names ---- */

/* Words of C and C++ that look like names, and names with a meaning in every program. */
static const char *const bundle_taken[] = {"alignas",
                                           "alignof",
                                           "and",
                                           "asm",
                                           "auto",
                                           "bitand",
                                           "bitor",
                                           "bool",
                                           "break",
                                           "case",
                                           "catch",
                                           "char",
                                           "class",
                                           "compl",
                                           "const",
                                           "const_cast",
                                           "constexpr",
                                           "continue",
                                           "decltype",
                                           "default",
                                           "delete",
                                           "do",
                                           "double",
                                           "dynamic_cast",
                                           "else",
                                           "enum",
                                           "explicit",
                                           "export",
                                           "extern",
                                           "false",
                                           "float",
                                           "for",
                                           "friend",
                                           "goto",
                                           "if",
                                           "inline",
                                           "int",
                                           "long",
                                           "main",
                                           "memcpy",
                                           "memmove",
                                           "memset",
                                           "mutable",
                                           "namespace",
                                           "new",
                                           "noexcept",
                                           "not",
                                           "nullptr",
                                           "operator",
                                           "or",
                                           "private",
                                           "protected",
                                           "public",
                                           "register",
                                           "requires",
                                           "restrict",
                                           "return",
                                           "short",
                                           "signed",
                                           "sizeof",
                                           "static",
                                           "static_assert",
                                           "static_cast",
                                           "struct",
                                           "switch",
                                           "template",
                                           "this",
                                           "thread_local",
                                           "throw",
                                           "true",
                                           "try",
                                           "typedef",
                                           "typeid",
                                           "typename",
                                           "typeof",
                                           "union",
                                           "unsigned",
                                           "using",
                                           "virtual",
                                           "void",
                                           "volatile",
                                           "wchar_t",
                                           "while",
                                           "xor",
                                           "reinterpret_cast"};

enum { BUNDLE_NAME_MOST = 200 }; /* file names have at most 255 bytes */

static bool bundle_is_name(const char *s)
{
  size_t n = strlen(s);
  if (n == 0 || n > BUNDLE_NAME_MOST || isdigit((unsigned char)*s)) return false;
  for (size_t i = 0; i < n; i++)
    if (!(isalnum((unsigned char)s[i]) || s[i] == '_') || (unsigned char)s[i] > 127) return false;
  for (uint32_t i = 0; i < WICK_COUNT(bundle_taken); i++)
    if (strcmp(s, bundle_taken[i]) == 0) return false;
  return *s != '_'; /* such names are reserved */
}

const char *wick_bundle_name(const char *path, wick_arena *mem)
{
  char *s = wick_path_stem(mem, path);
  if (strlen(s) > BUNDLE_NAME_MOST / 2) s[BUNDLE_NAME_MOST / 2] = 0;
  for (char *at = s; *at; at++)
    if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127) *at = '_';
  return bundle_is_name(s) ? s : wick_str_printf(mem, "net%s%s", *s == '_' ? "" : "_", s);
}

/* ---- the entry ----
 * The entry of a bundle has three parameters: the constants, the mutable data with all inputs and
 * outputs, and the arena. */

static wick_type bundle_bytes(wick_module *m, uint64_t nbytes, wick_space space)
{
  wick_dim n = wick_dim_const((int64_t)nbytes);
  return wick_type_buffer(m, WICK_U8, 1, &n, space);
}

static wick_value bundle_view(wick_builder *b, wick_value data, uint64_t offset, wick_type t)
{
  uint64_t size = wick_elem_bytes(wick_type_get(b->module, t)->elem, 1);
  /* both are powers of two, and the offset is the larger one */
  return wick_build_view(b, data, t, (int64_t)(offset / size), NULL);
}

static wick_status bundle_entry(wick_compilation *c, const char *name, const wick_bundle *b,
                                const wick_func **out)
{
  const wick_func *f = wick_module_find(c->module, name);
  wick_copier k = {.f = f, .to = wick_new(&c->mem, wick_value, f->nvalue + 1)};
  wick_build_begin(&k.b, c->module, f->level, f->name, &c->mem);
  wick_type constants = bundle_bytes(c->module, b->constant_bytes, WICK_CONSTANT),
            data = bundle_bytes(c->module, b->mutable_bytes, WICK_IO),
            arena = bundle_bytes(c->module, b->arena_bytes, WICK_ARENA);
  wick_value in[WICK_NSPACE] = {{0}};
  in[WICK_CONSTANT] = wick_build_param(&k.b, constants, WICK_IN, "constants");
  in[WICK_IO] = wick_build_param(&k.b, data, WICK_INOUT, "mutable_data");
  in[WICK_ARENA] = wick_build_param(&k.b, arena, WICK_INOUT, "arena");
  uint32_t nio = 0;
  bool table = b->fill != NULL; /* the table is the first of the mutable data */
  for (uint32_t v = 1; v <= f->nparam; v++) {
    wick_space space = wick_info_of(f, (wick_value){v})->space;
    k.to[v] = in[space];
    if (space == WICK_IO && table) {
      k.to[v] = bundle_view(&k.b, in[space], b->table_offset, wick_type_of(f, (wick_value){v}));
      wick_attr a[] = {[WICK_ATTR_launch_callee] = {.s = b->fill},
                       [WICK_ATTR_launch_tasks] = {.i = 1},
                       [WICK_ATTR_launch_concurrent] = {.i = 0}};
      wick_build(&k.b, WICK_OP_launch, 1, &k.to[v], a, 0, NULL);
      table = false;
    } else if (space == WICK_IO)
      k.to[v] = bundle_view(&k.b, in[space], b->offset[nio++], wick_type_of(f, (wick_value){v}));
  }
  for (uint32_t i = 0; i < f->nnode; i++) wick_copy_node(&k, &f->node[i]);
  wick_func *r;
  WICK_TRY(wick_copy_finish(&k, &r));
  WICK_TRY(wick_verify_func(r, &c->tmp));
  wick_module_set(c->module, r);
  *out = r;
  return NULL;
}

/* ---- the layout ---- */

/* Refuses operators that need the runtime, by name. */
static wick_status bundle_check_host(const wick_compilation *c, const wick_lowered *l,
                                     wick_arena *mem)
{
  for (uint32_t i = 0; i < l->kernels.n; i++)
    if (l->kernels.at[i].host)
      return wick_fail(mem, WICK_EUNSUPPORTED, wick_loc_text(c->module, l->kernels.at[i].loc),
                       "%s is done by the runtime, which bundles are without",
                       wick_op_of(l->kernels.at[i].host)->name);
  return NULL;
}

static wick_status bundle_check_io(const wick_compilation *c, const wick_io *io, wick_arena *mem)
{
  if (io->elem != WICK_STRING) return NULL;
  return wick_fail(mem, WICK_EUNSUPPORTED, wick_path_base(c->model->path),
                   "\"%s\" is of strings, which bundles cannot hold", io->name);
}

/* Rounds up to a multiple of WICK_BUNDLE_ALIGN that is not 0, because C has no empty arrays. */
static uint64_t bundle_ram(uint64_t nbytes)
{
  return wick_align_up(nbytes ? nbytes : 1, WICK_BUNDLE_ALIGN);
}

/* Sets the largest sizes of an input or output. */
static void bundle_most(const wick_compilation *c, wick_value v, wick_io *io)
{
  const wick_type_info *t = wick_info_of(c->graph, v);
  bool dynamic = false;
  for (uint32_t k = 0; k < io->rank; k++) {
    if (io->dim[k] >= 0) continue;
    int64_t lo;
    wick_dim_range(c->module->dims, t->dim[k], &lo, &io->dim[k]);
    dynamic = true;
  }
  if (dynamic) io->nbytes = wick_type_most_nbytes(c->module, wick_type_of(c->graph, v));
}

static void bundle_sizes(wick_compilation *c, const wick_lowered *l, wick_bundle *b)
{
  if (!l->fill) return;
  wick_bundle_size *size = wick_new(&c->mem, wick_bundle_size, l->sizes.nsymbol);
  for (uint32_t i = 0; i < l->sizes.nsymbol; i++) {
    wick_text name = wick_text_begin(&c->mem);
    wick_dim_print(c->module->dims, l->sizes.slot.at[i], &name);
    size[i].name = name.at;
    wick_dim_range(c->module->dims, l->sizes.slot.at[i], &size[i].least, &size[i].most);
  }
  b->size = size, b->nsize = l->sizes.nsymbol, b->fill = l->fill;
  b->table_offset = b->mutable_bytes;
  b->mutable_bytes += bundle_ram(((uint64_t)l->sizes.slot.n + 1) * sizeof(int64_t));
}

/* Places the initial values of the states after the constants. */
static void bundle_states(wick_compilation *c, wick_bundle *b)
{
  const void *const *value = wick_states_initial(c->graph, &c->mem);
  uint64_t *initial = wick_new(&c->mem, uint64_t, b->nstate + 1u);
  for (uint32_t i = 0; i < b->nstate; i++) {
    if (!value[i]) continue;
    initial[i] = b->constant_bytes;
    b->constant_bytes += bundle_ram(b->io[b->ninput - b->nstate + i].nbytes);
  }
  b->initial = initial;
}

static bool bundle_says_strings(const wick_module *m)
{
  for (uint32_t i = 0; i < m->funcs.n; i++)
    for (uint32_t k = 0; k < m->funcs.at[i]->nnode; k++) {
      const wick_node *n = &m->funcs.at[i]->node[k];
      if (n->op == WICK_OP_say && n->attr[WICK_ATTR_say_strings].n) return true;
    }
  return false;
}

static wick_status bundle_layout(wick_compilation *c, const wick_lowered *l, wick_bundle *b)
{
  wick_model_describe(c->graph, &c->mem, &b->ninput, &b->noutput, &b->io);
  wick_io *io = wick_dup(&c->mem, wick_io, b->io, b->ninput + b->noutput);
  const wick_node *ret = wick_return(c->graph);
  for (uint32_t i = 0; i < b->ninput + b->noutput; i++)
    bundle_most(c, i < b->ninput ? (wick_value){i + 1} : ret->in[i - b->ninput], &io[i]);
  b->io = io;
  WICK_TRY(bundle_check_host(c, l, &c->mem));
  bundle_sizes(c, l, b);
  uint64_t *offset = wick_new(&c->mem, uint64_t, (size_t)b->ninput + b->noutput);
  const uint32_t *donor = wick_donors(c->graph, &c->mem);
  for (uint32_t i = 0; i < b->ninput + b->noutput; i++) {
    WICK_TRY(bundle_check_io(c, &b->io[i], &c->mem));
    if (i >= b->ninput && donor[i - b->ninput] != UINT32_MAX) {
      offset[i] = offset[donor[i - b->ninput]];
      continue;
    }
    offset[i] = b->mutable_bytes;
    b->mutable_bytes += bundle_ram(b->io[i].nbytes);
  }
  b->offset = offset;
  b->mutable_bytes = bundle_ram(b->mutable_bytes);
  b->constant_bytes = bundle_ram(l->constant_bytes);
  b->arena_bytes = bundle_ram(l->arena_bytes);
  b->nstate = wick_states_count(c->graph);
  b->strings = bundle_says_strings(c->module) ? &c->module->strings : NULL;
  bundle_states(c, b);
  return NULL;
}

static wick_status bundle_fits(const wick_compilation *c, const wick_bundle *b, wick_arena *mem)
{
  uint64_t most = c->target.pointer_bits == 32 ? INT32_MAX : INT64_MAX / 4;
  uint64_t all = b->constant_bytes + b->mutable_bytes + b->arena_bytes;
  if (all <= most) return NULL;
  return wick_fail(mem, WICK_ELIMIT, wick_path_base(c->model->path),
                   "it needs %llu bytes of memory, more than a program for %s can have",
                   (unsigned long long)all, c->target.row);
}

/* ---- the files ---- */

/* Computes the constants, padded to the size in the header. */
static wick_span bundle_constants(wick_compilation *c, const wick_lowered *l, const wick_bundle *b)
{
  unsigned char *at = wick_arena_alloc(&c->mem, b->constant_bytes, WICK_BUNDLE_ALIGN);
  wick_compile_constants(c, l, at);
  const void *const *value = wick_states_initial(c->graph, &c->mem);
  for (uint32_t i = 0; i < b->nstate; i++)
    if (b->initial[i])
      memcpy(at + b->initial[i], value[i], b->io[b->ninput - b->nstate + i].nbytes);
  return (wick_span){at, b->constant_bytes};
}

/* Computes the bytes of the object that are in memory: all bytes if it is not ELF. */
static wick_status bundle_flash(wick_compilation *c, wick_bundle *b, wick_span object)
{
  enum { ALLOC = 2, NOBITS = 8 };
  b->flash_bytes = b->embed ? 0 : b->constant_bytes;
  if (c->target.machine == WICK_MACHINE_WASM32) return b->flash_bytes += object.nbytes, NULL;
  wick_elf elf;
  WICK_TRY(wick_elf_read(object, &c->tmp, &elf));
  for (uint32_t i = 0; i < elf.nsection; i++) {
    const wick_elf_section *s = &elf.section[i];
    if ((s->flags & ALLOC) && s->type != NOBITS)
      b->flash_bytes = wick_align_up(b->flash_bytes, s->align > 1 ? s->align : 1) + s->nbytes;
  }
  return NULL;
}

/* Returns the bytes of the heap of objects. */
static uint64_t bundle_heap(const wick_compilation *c, const wick_frame *frame, uint64_t given,
                            const wick_bundle *b)
{
  uint64_t small = c->target.pointer_bits == 32 ? WICK_BUNDLE_HEAP_SMALL : WICK_BUNDLE_HEAP;
  if (!frame->heap && !wick_bundle_has_data(b)) return 0;
  given = wick_min_u64(given ? given : small, WICK_HEAP_MOST);
  return bundle_ram(wick_max_u64(given, sizeof(wick_heap)));
}

/* Sets the bytes of the stack for recursion, if the program is recursive. */
static wick_status bundle_recursion(wick_compilation *c, const wick_frame *frame, uint64_t given,
                                    wick_bundle *b)
{
  if (given > WICK_BUNDLE_RECURSION_MOST)
    return wick_fail(&c->mem, WICK_EINVAL, NULL, "recursion takes at most %d bytes of the stack",
                     WICK_BUNDLE_RECURSION_MOST);
  uint64_t usual =
      c->target.pointer_bits == 32 ? WICK_BUNDLE_RECURSION_SMALL : WICK_BUNDLE_RECURSION;
  b->recursion_bytes = frame->stack ? given ? given : usual : 0;
  return NULL;
}

/* Says where inputs are that are objects. */
static void bundle_objects(wick_compilation *c, const wick_bundle *b, wick_codegen_options *o)
{
  wick_codegen_object *object = wick_new(&c->mem, wick_codegen_object, b->ninput + 1u);
  for (uint32_t i = 0; i < b->ninput; i++)
    if (b->io[i].data) object[o->nobject++] = (wick_codegen_object){i, b->offset[i]};
  o->object = object;
  o->keeps_heap = wick_bundle_has_data(b);
}

static wick_status bundle_object(wick_compilation *c, wick_bundle *b, wick_span constants,
                                 wick_span *out)
{
  wick_codegen_options o = {.output = WICK_OUTPUT_OBJECT,
                            .direct = true,
                            .bundle = b->name,
                            .heap_bytes = b->heap_bytes,
                            .recursion_bytes = b->recursion_bytes};
  o.stack = c->target.machine != WICK_MACHINE_WASM32; /* on wasm the stack is in linear memory */
  bundle_objects(c, b, &o);
  o.absolute = c->target.pointer_bits == 32; /* programs of small machines have fixed addresses */
  if (b->embed) {
    WICK_TRY(wick_compile_constants_end(c));
    o.constants = constants;
  }
  wick_span *object;
  uint32_t n;
  WICK_TRY(wick_compile_objects(c, &o, &object, &n));
  *out = object[0];
  if (o.stack) out->nbytes -= 8;
  for (int i = 0; i < 8 && o.stack; i++)
    b->stack_bytes |= (uint64_t)object[0].at[out->nbytes + (size_t)i] << 8 * i;
  WICK_TRY(bundle_flash(c, b, *out));
  return wick_object_undefined(*out, &c->mem, &b->needs, &b->nneed);
}

static wick_status bundle_write(wick_compilation *c, const wick_bundle *b, const char *folder,
                                wick_span object, wick_span constants)
{
  wick_text header = wick_text_begin(&c->mem);
  wick_bundle_header(b, &c->tmp, &header);
  const char *stem = wick_path_join(&c->mem, folder, b->name);
  const wick_bytes part[3] = {
      {object.at, object.nbytes}, {header.at, header.n}, {constants.at, constants.nbytes}};
  const wick_output file[3] = {{wick_str_printf(&c->mem, "%s.o", stem), &part[0], 1},
                               {wick_str_printf(&c->mem, "%s.h", stem), &part[1], 1},
                               {wick_str_printf(&c->mem, "%s.weights.bin", stem), &part[2], 1}};
  WICK_TRY(wick_folder_make(&c->mem, folder));
  WICK_TRY(wick_files_write(&c->mem, file, b->embed ? 2 : 3));
  return wick_compilation_stage(c, "write");
}

wick_status wick_bundle_make(wick_compilation *c, const wick_bundle_options *o)
{
  wick_bundle b = {.target = &c->target, .embed = o->embed};
  b.name = o->name ? o->name : wick_bundle_name(c->model->path, &c->mem);
  if (!bundle_is_name(b.name))
    return wick_fail(&c->mem, WICK_EINVAL, NULL, "a C function cannot have the name \"%s\"",
                     b.name);
  if (c->nspecialize_dim || c->nspecialize_input)
    return wick_fail(&c->mem, WICK_EUNSUPPORTED, wick_path_base(c->model->path),
                     "a bundle has no specializations: artifacts do");
  wick_lowered l;
  const wick_func *entry;
  wick_frame frame;
  c->planned = true;
  WICK_TRY(wick_compile_loops(c, &l));
  b.contract = wick_contract_text(&l, &c->pipeline, &c->mem);
  WICK_TRY(bundle_layout(c, &l, &b));
  WICK_TRY(bundle_entry(c, l.entry, &b, &entry));
  WICK_TRY(wick_frame_of(entry, &c->target, true, &c->mem, &frame));
  /* after the arena are the heap, the record of a failure, and the scratch memory */
  b.heap_bytes = bundle_heap(c, &frame, o->heap_bytes, &b);
  b.failure_offset = b.arena_bytes + b.heap_bytes;
  b.failure_bytes = wick_fault_bytes(c->module, &frame);
  b.arena_bytes += b.heap_bytes + b.failure_bytes + wick_lowered_most_scratch(&l, c->module);
  WICK_TRY(bundle_recursion(c, &frame, o->recursion_bytes, &b));
  WICK_TRY(bundle_fits(c, &b, &c->mem));
  wick_span constants = bundle_constants(c, &l, &b), object;
  WICK_TRY(bundle_object(c, &b, constants, &object));
  WICK_TRY(wick_compile_constants_end(c));
  if (o->report)
    *o->report = (wick_bundle_report){.flash_bytes = b.flash_bytes,
                                      .ram_bytes = b.mutable_bytes + b.arena_bytes,
                                      .stack_bytes = b.stack_bytes,
                                      .constants_bytes = b.constant_bytes};
  return bundle_write(c, &b, o->folder ? o->folder : ".", object, constants);
}

/* ---- the public interface ---- */

wick_error *wick_bundle_write(wick_model *m, const wick_compile_options *options,
                              const wick_bundle_options *bundle)
{
  if (!m) return wick_invalid("wick_bundle_write: model is NULL");
  wick_compile_options o;
  wick_bundle_options b;
  wick_error *wrong = wick_options_take("wick_compile_options", &o, sizeof o, options);
  if (wrong) return wrong;
  wrong = wick_options_take("wick_bundle_options", &b, sizeof b, bundle);
  if (wrong) return wrong;
  wick_compilation c;
  wick_compilation_begin(&c, m);
  wick_error *e;
  if (setjmp(m->guard.where)) {
    e = wick_guard_error(&m->guard);
  } else {
    wick_status s = wick_compilation_take(&c, &o);
    e = wick_error_export(s ? s : wick_bundle_make(&c, &b));
  }
  wick_compilation_free(&c);
  wick_arena_free(&m->tmp); /* the import puts errors there */
  return e;
}
