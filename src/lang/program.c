/* Reads the files of a program, and enters their items into tables. */
#include "lang/program.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "lang/library.h"

/* ---- maps ---- */

static uint32_t program_slot(const wick_lang_map *m, const char *name)
{
  uint64_t h = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;
  uint32_t i = (uint32_t)(h >> 32) & (m->nslot - 1);
  while (m->key[i] && m->key[i] != name) i = (i + 1) & (m->nslot - 1);
  return i;
}

wick_lang_entity *wick_lang_map_get(const wick_lang_map *m, const char *name)
{
  return m->nslot && name ? m->value[program_slot(m, name)] : NULL;
}

static void program_grow(wick_lang_map *m, wick_arena *mem)
{
  wick_lang_map old = *m;
  m->nslot = old.nslot ? old.nslot * 2 : 16;
  m->key = wick_new(mem, const char *, m->nslot);
  m->value = wick_new(mem, wick_lang_entity *, m->nslot);
  for (uint32_t i = 0; i < old.nslot; i++) {
    if (!old.key[i]) continue;
    uint32_t to = program_slot(m, old.key[i]);
    m->key[to] = old.key[i], m->value[to] = old.value[i];
  }
}

wick_lang_entity *wick_lang_map_set(wick_lang_map *m, const char *name, wick_lang_entity *e,
                                    wick_arena *mem)
{
  if (m->n * 2 >= m->nslot) program_grow(m, mem);
  uint32_t i = program_slot(m, name);
  wick_lang_entity *before = m->value[i];
  if (!m->key[i]) m->n++;
  m->key[i] = name, m->value[i] = e;
  return before;
}

/* Whether both are names of values, or of types and constructors, or differ in that alone. */
static bool program_alike(const char *a, const char *b)
{
  return !isupper((unsigned char)*a) == !isupper((unsigned char)*b) || strcasecmp(a, b) == 0;
}

/* Returns whether a suggestion is better than another one at the same distance. */
static bool program_nearer(const char *name, const char *a, const char *b)
{
  size_t na = 0, nb = 0;
  while (name[na] && a[na] == name[na]) na++;
  while (name[nb] && b[nb] == name[nb]) nb++;
  return na != nb ? na > nb : strcmp(a, b) < 0;
}

const char *wick_lang_nearest(const char *name, uint32_t n, const wick_lang_map *const *map)
{
  const char *best = NULL;
  size_t length = strlen(name), least = length / 3 + 1;
  if (length == 1) return NULL;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < map[k]->nslot; i++) {
      const char *key = map[k]->key[i];
      if (!key || !map[k]->value[i] || !program_alike(name, key)) continue;
      size_t d = wick_str_distance(name, key);
      if (d > least || d > strlen(key)) continue;
      if (best && d == least && !program_nearer(name, key, best)) continue;
      least = d, best = key;
    }
  return best;
}

/* ---- the prelude ---- */

static const struct {
  const char *name;
  wick_form form;
} program_forms[] = {
    {"square", WICK_FORM_SQUARE},
    {"ref", WICK_FORM_REF},
    {"read", WICK_FORM_READ},
    {"write", WICK_FORM_WRITE},
    {"print", WICK_FORM_PRINT},
    {"assert", WICK_FORM_ASSERT},
    {"len", WICK_FORM_LEN},
    {"grad", WICK_FORM_GRAD},
    {"value_and_grad", WICK_FORM_VALUE_AND_GRAD},
    {"vjp", WICK_FORM_VJP},
    {"jvp", WICK_FORM_JVP},
    {"vmap", WICK_FORM_VMAP},
    {"checkpoint", WICK_FORM_CHECKPOINT},
    {"stop_gradient", WICK_FORM_STOP_GRADIENT},
    {"with_vjp", WICK_FORM_WITH_VJP},
    {"specialize", WICK_FORM_SPECIALIZE},
    {"map_tensors", WICK_FORM_MAP_TENSORS},
    {"zip_tensors", WICK_FORM_ZIP_TENSORS},
};

/* Reductions and others that the prelude has under short names. */
static const struct {
  const char *name;
  wick_opcode op;
} program_short[] = {
    {"sum", WICK_OP_reduce_sum},     {"mean", WICK_OP_reduce_mean},   {"prod", WICK_OP_reduce_prod},
    {"maximum", WICK_OP_reduce_max}, {"minimum", WICK_OP_reduce_min},
};

/* Operators whose nodes have regions, or that only modules in text have. */
static bool program_internal(const wick_op *op)
{
  static const wick_opcode internal[] = {
      WICK_OP_const,         WICK_OP_return,           WICK_OP_yield,
      WICK_OP_pack,          WICK_OP_unpack,           WICK_OP_cast,
      WICK_OP_reinterpret,   WICK_OP_conv_packed,      WICK_OP_conv_winograd,
      WICK_OP_matmul_packed, WICK_OP_depthwise_packed, WICK_OP_narrow};
  if (!(op->level & WICK_GRAPH) || op->nregion[1] || op->objects) return true;
  for (size_t i = 0; i < WICK_COUNT(internal); i++)
    if (wick_ops[internal[i]] == op) return true;
  return false;
}

static const char *program_intern(wick_lang_program *p, const char *name)
{
  return wick_names_get(&p->names, wick_names_add(&p->names, name, strlen(name)));
}

static wick_lang_entity *program_add(wick_lang_program *p, wick_lang_map *map, const char *name,
                                     wick_entity_kind kind)
{
  wick_lang_entity *e = wick_new(p->mem, wick_lang_entity, 1);
  e->kind = kind, e->name = program_intern(p, name);
  wick_lang_map_set(map, e->name, e, p->mem);
  return e;
}

void wick_lang_program_begin(wick_lang_program *p, wick_arena *mem)
{
  *p = (wick_lang_program){
      .mem = mem, .sources = wick_lang_sources_begin(mem), .names = wick_names_begin(mem)};
  for (int e = 0; e < WICK_NELEM; e++)
    program_add(p, &p->elements, wick_elem_name((wick_elem)e), WICK_ENTITY_ELEM)->elem =
        (wick_elem)e;
  for (int op = 1; op < WICK_NOP; op++) {
    if (program_internal(wick_ops[op])) continue;
    wick_lang_entity *e = program_add(p, &p->operators, wick_ops[op]->name, WICK_ENTITY_OPERATOR);
    e->op = (wick_opcode)op;
    wick_lang_map_set(&p->forms, e->name, e, mem);
  }
  for (size_t i = 0; i < WICK_COUNT(program_short); i++) {
    wick_lang_entity *e = program_add(p, &p->forms, program_short[i].name, WICK_ENTITY_OPERATOR);
    e->op = program_short[i].op, e->fixed = true;
  }
  for (size_t i = 0; i < WICK_COUNT(program_forms); i++)
    program_add(p, &p->forms, program_forms[i].name, WICK_ENTITY_FORM)->form =
        program_forms[i].form;
}

wick_lang_entity *wick_lang_operator(wick_lang_program *p, const char *name)
{
  return wick_lang_map_get(&p->operators, name);
}

/* ---- items ---- */

static void program_define(wick_lang_program *p, wick_lang_map *own, wick_lang_map *all,
                           wick_lang_entity *e)
{
  const wick_lang_entity *before = wick_lang_map_get(own, e->name);
  if (before) {
    wick_lang_report(&p->sources, e->at, "`%s` is defined twice", e->name);
    wick_lang_note(&p->sources, before->at, "the first definition is here");
    return;
  }
  wick_lang_map_set(own, e->name, e, p->mem);
  wick_lang_map_set(all, e->name, e, p->mem);
}

static wick_lang_entity *program_entity(wick_lang_program *p, wick_entity_kind kind, wick_ast *n)
{
  wick_lang_entity *e = wick_new(p->mem, wick_lang_entity, 1);
  *e = (wick_lang_entity){.kind = kind, .name = n->name, .decl = n, .at = n->name_at};
  n->ref = e;
  return e;
}

static void program_fields(wick_lang_program *p, const wick_ast *list)
{
  for (uint32_t i = 0; i < list->nkid; i++)
    for (uint32_t k = 0; k < i; k++)
      if (list->kid[i]->name == list->kid[k]->name) {
        wick_lang_report(&p->sources, list->kid[i]->name_at, "two fields have the name `%s`",
                         list->kid[i]->name);
        break;
      }
}

static void program_data(wick_lang_program *p, wick_lang_module *m, wick_ast *n)
{
  bool data = n->kind == WICK_AST_TYPE;
  wick_lang_entity *e = program_entity(p, data ? WICK_ENTITY_TYPE : WICK_ENTITY_STRUCT, n);
  program_define(p, &m->own_types, &m->types, e);
  wick_push(p->mem, &p->datas, e);
  if (!data) program_fields(p, n->kid[1]);
  e->nctor = data ? n->kid[1]->nkid : 1;
  e->ctor = wick_new(p->mem, wick_lang_entity *, e->nctor);
  for (uint32_t i = 0; i < e->nctor; i++) {
    wick_ast *c = data ? n->kid[1]->kid[i] : n;
    wick_lang_entity *ctor = wick_new(p->mem, wick_lang_entity, 1);
    *ctor = (wick_lang_entity){.kind = WICK_ENTITY_CTOR,
                               .name = c->name,
                               .decl = data ? c : n->kid[1],
                               .at = c->name_at,
                               .parent = e,
                               .index = i};
    if (data) c->ref = ctor;
    e->ctor[i] = ctor;
    program_define(p, &m->own_values, &m->values, ctor);
  }
}

static void program_items(wick_lang_program *p, wick_lang_module *m)
{
  for (uint32_t i = 0; i < m->file->nkid; i++) {
    wick_ast *n = m->file->kid[i];
    if (n->kind == WICK_AST_TYPE || n->kind == WICK_AST_STRUCT) program_data(p, m, n);
    if (n->kind != WICK_AST_FN && n->kind != WICK_AST_OP) continue;
    wick_lang_entity *e =
        program_entity(p, n->kind == WICK_AST_FN ? WICK_ENTITY_FN : WICK_ENTITY_INDEX_OP, n);
    program_define(p, &m->own_values, &m->values, e);
    wick_push(p->mem, &p->fns, e);
  }
}

/* ---- modules ---- */

static void program_import_one(wick_lang_program *p, wick_lang_map *into, wick_ast *n,
                               wick_lang_entity *e)
{
  const char *name = n->alias ? n->alias : n->name;
  const wick_lang_entity *before = wick_lang_map_get(into, name);
  if (before && before != e) {
    wick_lang_report(&p->sources, n->name_at, "`%s` is defined twice", name);
    if (before->at.source) wick_lang_note(&p->sources, before->at, "the other definition is here");
    return;
  }
  wick_lang_map_set(into, name, e, p->mem);
}

/* Enters what `use m { ... }` names. A data type brings its constructors with it. */
static void program_import(wick_lang_program *p, wick_lang_module *m, wick_ast *use,
                           const wick_lang_module *from)
{
  for (uint32_t i = 0; i < use->nkid; i++) {
    wick_ast *n = use->kid[i];
    wick_lang_entity *type = wick_lang_map_get(&from->own_types, n->name),
                     *value = wick_lang_map_get(&from->own_values, n->name);
    if (type) program_import_one(p, &m->types, n, type);
    if (value) program_import_one(p, &m->values, n, value);
    for (uint32_t k = 0; type && type->kind == WICK_ENTITY_TYPE && k < type->nctor; k++)
      if (!wick_lang_map_get(&m->values, type->ctor[k]->name))
        wick_lang_map_set(&m->values, type->ctor[k]->name, type->ctor[k], p->mem);
    if (type || value) continue;
    const wick_lang_map *maps[2] = {&from->own_values, &from->own_types};
    const char *near = wick_lang_nearest(n->name, 2, maps);
    wick_lang_report(&p->sources, n->name_at, "the module `%s` has no `%s`%s%s%s", use->name,
                     n->name, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  }
}

/* Where the text of a module is: in a file, or in the library. */
typedef struct program_place {
  const char *name, *path;
  const wick_lang_library *library;
} program_place;

static wick_status program_file(wick_lang_program *p, program_place at, wick_lang_module **out);

static const wick_lang_source *program_known(const wick_lang_program *p, const char *path)
{
  for (uint32_t i = 0; i < p->nknown; i++)
    if (strcmp(p->known[i].path, path) == 0) return &p->known[i];
  return NULL;
}

static void program_cycle(wick_lang_program *p, const wick_ast *n, const wick_lang_module *to)
{
  wick_text t = wick_text_begin(p->mem);
  bool in = false;
  for (uint32_t i = 0; i < p->loading.n; i++) {
    in = in || p->loading.at[i] == to;
    if (in) wick_text_printf(&t, "`%s` uses ", p->loading.at[i]->name);
  }
  wick_lang_report(&p->sources, n->name_at, "modules use each other: %s`%s`", t.at, to->name);
}

/* Finds the module that `use` names: beside the file, or in the library, whose own modules use
 * each other and nothing else. Reports that there is none. */
static bool program_find(wick_lang_program *p, const wick_lang_module *m, const wick_ast *n,
                         program_place *out)
{
  const wick_lang_library *library = wick_lang_library_find(n->name);
  *out = (program_place){.name = n->name, .library = library};
  if (library) out->path = library->path;
  if (m->library) return library;
  const char *path = wick_path_join(p->mem, wick_path_folder(p->mem, m->path),
                                    wick_str_printf(p->mem, "%s.wick", n->name));
  if (program_known(p, path) || wick_file_exists(path)) {
    *out = (program_place){.name = n->name, .path = path};
    return true;
  }
  if (library) return true;
  wick_lang_map names = {0};
  for (const wick_lang_library *l = wick_lang_libraries; l->name; l++)
    program_add(p, &names, l->name, WICK_ENTITY_MODULE);
  const char *near = wick_lang_nearest(n->name, 1, &(const wick_lang_map *){&names});
  wick_lang_report(&p->sources, n->name_at,
                   "there is no file %s, and the library has no module `%s`%s%s%s", path, n->name,
                   near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return false;
}

static void program_use(wick_lang_program *p, wick_lang_module *m, wick_ast *n)
{
  const char *as = n->alias ? n->alias : n->name;
  wick_lang_module *from = NULL;
  if (strcmp(n->name, "op") == 0) return; /* the module of operators is always there */
  program_place at;
  if (program_find(p, m, n, &at)) {
    wick_status s = program_file(p, at, &from);
    if (s) wick_lang_report(&p->sources, n->name_at, "%s", s->message);
  }
  if (from && from->state) {
    program_cycle(p, n, from);
    from = NULL;
  }
  wick_lang_entity *e = program_entity(p, WICK_ENTITY_MODULE, n);
  e->name = as, e->index = UINT32_MAX;
  for (uint32_t i = 0; from && i < p->modules.n; i++)
    if (p->modules.at[i] == from) e->index = i;
  const wick_lang_entity *before = wick_lang_map_get(&m->values, as);
  bool same = before && before->kind == WICK_ENTITY_MODULE && before->index == e->index;
  if (!before)
    wick_lang_map_set(&m->values, as, e, p->mem);
  else if (!same) /* `use trees` beside `use trees { Tree }` says nothing new */
    wick_lang_report(&p->sources, n->name_at, "`%s` already means something else here", as);
  if (from) program_import(p, m, n, from);
  if (from) return;
  for (uint32_t i = 0; i < n->nkid; i++) n->kid[i]->flag = true; /* unknown, but reported */
}

/* The text of a module, without its lines. */
static wick_status program_text(wick_lang_program *p, const program_place *at,
                                wick_lang_source *out)
{
  bool piped = strcmp(at->path, "-") == 0;
  *out = (wick_lang_source){.path = piped ? "<stdin>" : at->path};
  const wick_lang_source *known = program_known(p, out->path);
  if (at->library) {
    out->text = at->library->text, out->nbytes = at->library->nbytes;
  } else if (known) {
    out->text = wick_dup(p->mem, char, known->text, known->nbytes + 1u);
    out->nbytes = known->nbytes;
  } else {
    char *text = NULL;
    size_t nbytes = 0;
    WICK_TRY(wick_file_read(p->mem, piped ? "/dev/stdin" : at->path, INT32_MAX, &text, &nbytes));
    out->text = text, out->nbytes = (uint32_t)nbytes;
  }
  return NULL;
}

static wick_ast *program_parse(wick_lang_program *p, uint32_t source)
{
  const wick_lang_source *text = &p->sources.list.at[source];
  if (p->reader && p->reader->reads(text->path, text->text, text->nbytes))
    return p->reader->parse(p, source);
  wick_lang_tokens tokens = wick_lang_lex(&p->sources, source, &p->names, p->mem);
  return wick_lang_parse(&p->sources, source, &tokens, &p->names, p->mem);
}

wick_lang_module *wick_lang_program_text(wick_lang_program *p, const char *path, const char *text,
                                         uint32_t nbytes)
{
  wick_lang_module *m = wick_new(p->mem, wick_lang_module, 1);
  m->name = m->path = path;
  m->source = wick_lang_source_add(&p->sources, path, text, nbytes);
  wick_lang_tokens tokens = wick_lang_lex(&p->sources, m->source, &p->names, p->mem);
  m->file = wick_lang_parse(&p->sources, m->source, &tokens, &p->names, p->mem);
  program_items(p, m);
  wick_push(p->mem, &p->modules, m);
  return m;
}

static wick_status program_file(wick_lang_program *p, program_place at, wick_lang_module **out)
{
  enum { DEPTH = 100 };
  for (uint32_t i = 0; i < p->modules.n + p->loading.n; i++) {
    *out = i < p->modules.n ? p->modules.at[i] : p->loading.at[i - p->modules.n];
    if (strcmp((*out)->path, at.path) == 0) return NULL;
  }
  *out = NULL;
  if (p->loading.n > DEPTH)
    return wick_fail(p->mem, WICK_ELIMIT, at.path, "modules use each other too deeply");
  wick_lang_source text;
  WICK_TRY(program_text(p, &at, &text));
  wick_lang_module *m = wick_new(p->mem, wick_lang_module, 1);
  *m = (wick_lang_module){.name = at.name, .path = at.path, .library = at.library, .state = 1};
  m->source = wick_lang_source_add(&p->sources, text.path, text.text, text.nbytes);
  wick_push(p->mem, &p->loading, m);
  m->file = program_parse(p, m->source);
  for (uint32_t i = 0; i < m->file->nkid; i++)
    if (m->file->kid[i]->kind == WICK_AST_USE) program_use(p, m, m->file->kid[i]);
  program_items(p, m);
  p->loading.n--;
  m->state = 0;
  wick_push(p->mem, &p->modules, m);
  *out = m;
  return NULL;
}

wick_status wick_lang_program_load(wick_lang_program *p, const char *path, wick_lang_module **out)
{
  return program_file(p, (program_place){.name = wick_path_stem(p->mem, path), .path = path}, out);
}

wick_lang_entity *wick_lang_program_expression(wick_lang_program *p, wick_lang_module *module,
                                               const char *text, uint32_t nbytes)
{
  wick_lang_module *m = wick_new(p->mem, wick_lang_module, 1);
  if (module) m->values = module->values, m->types = module->types;
  m->name = m->path = "<expression>";
  m->source = wick_lang_source_add(&p->sources, "<expression>", text, nbytes);
  wick_lang_tokens tokens = wick_lang_lex(&p->sources, m->source, &p->names, p->mem);
  wick_ast *fn = wick_lang_parse_statements(&p->sources, m->source, &tokens, &p->names, p->mem);
  m->file = wick_new(p->mem, wick_ast, 1);
  *m->file =
      (wick_ast){.kind = WICK_AST_FILE, .nkid = 1, .kid = wick_dup(p->mem, wick_ast *, &fn, 1)};
  wick_lang_entity *e = program_entity(p, WICK_ENTITY_FN, fn);
  wick_push(p->mem, &p->fns, e);
  wick_push(p->mem, &p->modules, m);
  return e;
}
