/* Gives every name of the syntax tree its entity, and numbers the nodes of each item.
 *
 * A value's name is looked for among the locals, then the variables of the item's types (a size is
 * a value, too), the items and imports of the file, the element types, and the prelude. */
#include "lang/program.h"

#include <string.h>

#include "lang/hints.h"
#include "lang/library.h"

typedef struct names_undo {
  const char *name;
  wick_lang_entity *before;
} names_undo;

/* A reduction before the place that is read, and the sum or product that it is the beginning of. */
typedef struct names_reduction {
  const wick_ast *reduce, *chain; /* chain: NULL if it is an operand of nothing else */
} names_reduction;

typedef struct names {
  wick_lang_program *p;
  wick_lang_module *m;
  wick_lang_entity *item;
  wick_lang_map locals, variables;
  wick_list(names_undo) undo;
  wick_list(wick_lang_entity *) declared;
  wick_list(names_reduction) ended; /* in the definition of a result */
  const wick_ast *chain;            /* the outermost operation of two operands around the place */
  uint32_t nlocal;
  bool signature; /* names in types declare variables of the item */
  bool literal;   /* ... of a function literal */
  bool sizes;     /* in a size: names are those of variables */
} names;

static void names_expr(names *s, wick_ast *n);
static void names_type(names *s, wick_ast *n);

static void names_bind(names *s, wick_ast *n, bool fixed)
{
  wick_lang_entity *e = wick_new(s->p->mem, wick_lang_entity, 1);
  *e = (wick_lang_entity){.kind = WICK_ENTITY_LOCAL,
                          .name = n->name,
                          .decl = n,
                          .at = n->name_at,
                          .parent = s->item,
                          .fixed = fixed,
                          .number = s->nlocal++};
  n->ref = e;
  names_undo u = {n->name, wick_lang_map_set(&s->locals, n->name, e, s->p->mem)};
  wick_push(s->p->mem, &s->undo, u);
}

static void names_leave(names *s, uint32_t mark)
{
  while (s->undo.n > mark) {
    s->undo.n--;
    wick_lang_map_set(&s->locals, s->undo.at[s->undo.n].name, s->undo.at[s->undo.n].before,
                      s->p->mem);
  }
}

/* The name with that of a module which has it; NULL: no module that the file uses does. */
static const char *names_elsewhere(const names *s, const wick_ast *n)
{
  const wick_lang_map *all = &s->m->values;
  const char *best = NULL;
  for (uint32_t i = 0; i < all->nslot && !n->module; i++) {
    const wick_lang_entity *e = all->key[i] ? all->value[i] : NULL;
    if (!e || e->kind != WICK_ENTITY_MODULE || e->index == UINT32_MAX) continue;
    const wick_lang_module *m = s->p->modules.at[e->index];
    if (!wick_lang_map_get(&m->own_values, n->name) && !wick_lang_map_get(&m->own_types, n->name))
      continue;
    if (!best || strcmp(all->key[i], best) < 0) best = all->key[i];
  }
  return best ? wick_str_printf(s->p->mem, "%s.%s", best, n->name) : NULL;
}

/* Returns whether the line declares a type of that name, or one with that constructor. */
static const char *names_declares(const char *line, const char *name, wick_arena *mem)
{
  const char *at = strncmp(line, "type ", 5) == 0 ? line + 5 : line + 7;
  size_t n = strcspn(at, " [{\n"), most = strcspn(at, "\n"), length = strlen(name);
  bool found = n == length && strncmp(at, name, n) == 0;
  int depth = 0;
  for (size_t i = 0; i < most && !found && strncmp(line, "type ", 5) == 0; i++) {
    depth += (at[i] == '(' || at[i] == '[') - (at[i] == ')' || at[i] == ']');
    bool begins =
        i >= 2 && depth == 0 && at[i - 1] == ' ' && (at[i - 2] == '{' || at[i - 2] == ',');
    found = begins && strncmp(at + i, name, length) == 0 && strcspn(at + i, "(,} ") == length;
  }
  return found ? wick_str_dupn(mem, at, n) : NULL;
}

/* The use of the library that brings a type or a constructor; NULL: it has none of that name. */
static const char *names_of_library(const names *s, const char *name)
{
  for (const wick_lang_library *l = wick_lang_libraries; l->name; l++)
    for (const char *line = l->text; line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
      if (strncmp(line, "type ", 5) != 0 && strncmp(line, "struct ", 7) != 0) continue;
      const char *type = names_declares(line, name, s->p->mem);
      if (type) return wick_str_printf(s->p->mem, "use %s { %s }", l->name, type);
    }
  return NULL;
}

/* The length of what comes before a parenthesis of the text that closes none of its own. */
static size_t names_inside(const char *text, size_t n)
{
  int depth = 0;
  for (size_t i = 0; i < n; i++) {
    depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    if (depth < 0) return i;
  }
  return n;
}

/* Reports a use of a reduction's index after its end, as in `sum(k) a[k] + b[k]`. */
static bool names_after_reduction(names *s, const wick_ast *n)
{
  names_reduction r = {0};
  for (uint32_t i = 0; i < s->ended.n; i++)
    for (uint32_t k = 0; k < s->ended.at[i].reduce->kid[0]->nkid; k++)
      if (s->ended.at[i].reduce->kid[0]->kid[k]->name == n->name) r = s->ended.at[i];
  if (!r.reduce) return false;
  const char *text = s->p->sources.list.at[n->at.source].text;
  uint32_t begin = r.reduce->name_at.begin, body = r.reduce->kid[0]->at.end;
  const char *next = text + r.reduce->at.end;
  int nhead = (int)(body - begin);
  next += strspn(next, " \t\r\n"), body += (uint32_t)strspn(text + body, " \t\r\n");
  wick_lang_report(&s->p->sources, n->name_at,
                   "there is no value `%s` here: the reduction `%.*s` ends before `%.*s`", n->name,
                   nhead, text + begin, (int)strcspn(next, " \t\r\n"), next);
  size_t nbody = r.chain ? names_inside(text + body, r.chain->at.end - body) : 0;
  if (body + nbody >= n->at.end)
    wick_lang_help(&s->p->sources, "`%.*s (%.*s)` reduces all of it", nhead, text + begin,
                   (int)nbody, text + body);
  return true;
}

static void names_unknown(names *s, const wick_ast *n, const char *what, uint32_t nmap,
                          const wick_lang_map *const *map)
{
  bool many = s->p->sources.problems.n > WICK_LANG_MOST_PROBLEMS;
  bool value = strcmp(what, "value") == 0;
  const char *near = many ? NULL : names_elsewhere(s, n);
  const char *brings = many || near || n->module || value ? NULL : names_of_library(s, n->name);
  const char *help = many || near || n->module || !value ? NULL : wick_lang_foreign_value(n->name);
  if (!near && !many && !help) near = wick_lang_nearest(n->name, nmap, map);
  if (brings)
    wick_lang_report(&s->p->sources, n->name_at,
                     "there is no %s `%s`; `%s` brings that of the library", what, n->name, brings);
  else
    wick_lang_report(&s->p->sources, n->name_at, "there is no %s `%s`%s%s%s", what, n->name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  if (help) wick_lang_help(&s->p->sources, "%s", help);
}

/* A name that an item or an import of a file with mistakes would have brought. */
static bool names_lost(const names *s, const char *name)
{
  for (uint32_t i = 0; i < s->p->sources.lost.n; i++)
    if (s->p->sources.lost.at[i].source == s->m->file->at.source &&
        s->p->sources.lost.at[i].name == name)
      return true;
  for (uint32_t i = 0; i < s->m->file->nkid; i++) {
    const wick_ast *use = s->m->file->kid[i];
    if (use->kind != WICK_AST_USE) continue;
    for (uint32_t k = 0; k < use->nkid; k++) {
      const wick_ast *n = use->kid[k];
      if (n->flag && (n->alias ? n->alias : n->name) == name) return true;
    }
  }
  return false;
}

/* The module of a qualified name, or NULL; *out_known: nothing needs to be reported. */
static wick_lang_module *names_module(names *s, const char *name, wick_lang_at at, bool *out_known)
{
  const wick_lang_entity *e = wick_lang_map_get(&s->m->values, name);
  *out_known = true;
  if (e && e->kind == WICK_ENTITY_MODULE)
    return e->index == UINT32_MAX ? NULL : s->p->modules.at[e->index];
  *out_known = false;
  if (wick_lang_map_get(&s->locals, name)) {
    wick_lang_report(&s->p->sources, at,
                     "`%s` is no module, and names of fields begin with a small letter", name);
    return NULL;
  }
  wick_lang_report(&s->p->sources, at, "there is no module `%s`; `use %s` reads it", name, name);
  return NULL;
}

/* ---- types ---- */

static void names_variable(names *s, wick_ast *n, bool spread)
{
  wick_lang_entity *e = wick_lang_map_get(&s->locals, n->name);
  if (e && e->fixed && !spread) { /* a static parameter is a size, too */
    n->ref = e;
    return;
  }
  e = wick_lang_map_get(&s->variables, n->name);
  if (!e && !s->signature && !s->literal) {
    const wick_lang_map *maps[2] = {&s->variables, &s->p->elements};
    const char *near = wick_lang_nearest(n->name, 2, maps);
    wick_lang_report(&s->p->sources, n->name_at, "no signature declares `%s`%s%s%s", n->name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return;
  }
  if (!e) {
    e = wick_new(s->p->mem, wick_lang_entity, 1);
    *e = (wick_lang_entity){.kind = WICK_ENTITY_VARIABLE,
                            .name = n->name,
                            .decl = n,
                            .at = n->name_at,
                            .parent = s->item,
                            .spread = spread,
                            .inner = !s->signature,
                            .index = s->declared.n};
    wick_lang_map_set(&s->variables, n->name, e, s->p->mem);
    wick_push(s->p->mem, &s->declared, e);
  }
  if (e->spread != spread) {
    wick_lang_report(&s->p->sources, n->name_at,
                     e->spread ? "`%s` stands for several sizes: write `...%s`"
                               : "`%s` is not declared as several sizes",
                     n->name, n->name);
    wick_lang_note(&s->p->sources, e->at, "it is declared here");
    return;
  }
  n->ref = e;
}

static void names_type_name(names *s, wick_ast *n)
{
  bool known = false;
  if (n->module) {
    const wick_lang_module *m = names_module(s, n->module, n->at, &known);
    n->ref = m ? wick_lang_map_get(&m->own_types, n->name) : NULL;
    const wick_lang_map *map = m ? &m->own_types : NULL;
    if (m && !n->ref) names_unknown(s, n, "type", 1, &map);
  } else if (n->name[0] >= 'A' && n->name[0] <= 'Z') {
    n->ref = wick_lang_map_get(&s->m->types, n->name);
    const wick_lang_map *map = &s->m->types;
    if (!n->ref && strcmp(n->name, "Ref") != 0 && strcmp(n->name, "Cotangent") != 0 &&
        !names_lost(s, n->name))
      names_unknown(s, n, "type", 1, &map);
  } else {
    n->ref = wick_lang_map_get(&s->p->elements, n->name);
    const char *elem = n->ref || wick_lang_map_get(&s->variables, n->name)
                           ? NULL
                           : wick_lang_foreign_elem(n->name);
    if (elem)
      wick_lang_report(&s->p->sources, n->name_at,
                       "there is no element type `%s`; did you mean `%s`?", n->name, elem);
    else if (!n->ref)
      names_variable(s, n, false);
  }
}

static void names_number(names *s, wick_ast *n) { n->id = s->item->nnode++; }

static void names_type(names *s, wick_ast *n)
{
  if (!n) return;
  names_number(s, n);
  if (n->kind == WICK_AST_TYPE_NAME) names_type_name(s, n);
  if (n->kind == WICK_AST_NAME) n->ref = wick_lang_map_get(&s->p->elements, n->name);
  if (n->kind == WICK_AST_SPREAD || (n->kind == WICK_AST_NAME && !n->ref))
    names_variable(s, n, n->kind == WICK_AST_SPREAD);
  for (uint32_t i = 0; i < n->nkid; i++) names_type(s, n->kid[i]);
}

/* ---- patterns ---- */

static wick_lang_entity *names_ctor(names *s, wick_ast *n)
{
  bool known = false;
  wick_lang_map *map = &s->m->values;
  if (n->module) {
    wick_lang_module *m = names_module(s, n->module, n->at, &known);
    if (!m) return NULL;
    map = &m->own_values;
  }
  wick_lang_entity *e = wick_lang_map_get(map, n->name);
  if (e && e->kind == WICK_ENTITY_CTOR) return e;
  const wick_lang_map *maps[1] = {map};
  if (!names_lost(s, n->name)) names_unknown(s, n, "constructor", 1, maps);
  return NULL;
}

static void names_twice(names *s, wick_ast *n, uint32_t mark)
{
  for (uint32_t i = mark; i < s->undo.n; i++)
    if (s->undo.at[i].name == n->name) {
      wick_lang_report(&s->p->sources, n->name_at, "the pattern binds `%s` twice", n->name);
      return;
    }
}

static void names_pattern(names *s, wick_ast *n, uint32_t mark)
{
  names_number(s, n);
  if (n->kind == WICK_AST_BIND) {
    names_twice(s, n, mark);
    names_bind(s, n, false);
  }
  if (n->kind == WICK_AST_PATTERN_CTOR) n->ref = names_ctor(s, n);
  for (uint32_t i = 0; i < n->nkid; i++) names_pattern(s, n->kid[i], mark);
}

/* ---- expressions ---- */

static void names_value(names *s, wick_ast *n)
{
  wick_lang_map *const all[] = {&s->locals, &s->variables, &s->m->values, &s->p->elements,
                                &s->p->forms};
  bool capital = n->name[0] >= 'A' && n->name[0] <= 'Z', known = false;
  if (n->module) {
    const wick_lang_module *m = names_module(s, n->module, n->at, &known);
    n->ref = m ? wick_lang_map_get(&m->own_values, n->name) : NULL;
    const wick_lang_map *map = m ? &m->own_values : NULL;
    if (m && !n->ref) names_unknown(s, n, capital ? "constructor" : "value", 1, &map);
    return;
  }
  for (size_t i = 0; i < WICK_COUNT(all) && !n->ref; i++)
    n->ref = wick_lang_map_get(all[i], n->name);
  if (n->ref && n->ref->kind == WICK_ENTITY_MODULE) {
    wick_lang_report(&s->p->sources, n->name_at, "the module `%s` is no value", n->name);
    n->ref = NULL;
  } else if (!n->ref && !names_lost(s, n->name) && !names_after_reduction(s, n)) {
    const wick_lang_map *maps[] = {&s->locals, &s->variables, &s->m->values, &s->p->forms};
    names_unknown(s, n, capital ? "constructor" : "value", WICK_COUNT(maps), maps);
  }
}

/* m.f of a module becomes a NAME. */
static bool names_qualified(names *s, wick_ast *n)
{
  wick_ast *object = n->kid[0];
  if (!n->name || object->kind != WICK_AST_NAME || object->module ||
      wick_lang_map_get(&s->locals, object->name))
    return false;
  const wick_lang_entity *e = wick_lang_map_get(&s->m->values, object->name);
  bool operators = !e && strcmp(object->name, "op") == 0;
  if (!operators && (!e || e->kind != WICK_ENTITY_MODULE)) return false;
  n->kind = WICK_AST_NAME, n->module = object->name, n->nkid = 0;
  if (!operators) {
    names_value(s, n);
  } else {
    n->ref = wick_lang_operator(s->p, n->name);
    const wick_lang_map *map = &s->p->operators;
    if (!n->ref) names_unknown(s, n, "operator", 1, &map);
  }
  return true;
}

static void names_params(names *s, wick_ast *list)
{
  uint32_t mark = s->undo.n;
  names_number(s, list);
  for (uint32_t i = 0; i < list->nkid; i++) {
    wick_ast *n = list->kid[i];
    for (uint32_t k = mark; k < s->undo.n && strcmp(n->name, "_") != 0; k++)
      if (s->undo.at[k].name == n->name)
        wick_lang_report(&s->p->sources, n->name_at, "two parameters have the name `%s`", n->name);
    names_number(s, n);
    names_bind(s, n, n->flag);
    n->ref->index = i;
  }
  for (uint32_t i = 0; i < list->nkid; i++) names_type(s, list->kid[i]->kid[0]);
}

static void names_literal(names *s, wick_ast *n)
{
  uint32_t mark = s->undo.n;
  bool literal = s->literal;
  s->literal = true;
  names_params(s, n->kid[0]);
  names_type(s, n->kid[1]);
  s->literal = literal;
  names_expr(s, n->kid[2]);
  names_leave(s, mark);
}

/* Notes the expressions of what a `let` names: they may be sizes. */
static void names_let(wick_ast *pattern, wick_ast *value)
{
  if (pattern->kind == WICK_AST_BIND && pattern->ref) pattern->ref->value = value;
  if (pattern->kind != WICK_AST_PATTERN_TUPLE || value->kind != WICK_AST_TUPLE ||
      pattern->nkid != value->nkid)
    return;
  for (uint32_t i = 0; i < value->nkid; i++) names_let(pattern->kid[i], value->kid[i]);
}

static void names_block(names *s, wick_ast *n)
{
  uint32_t mark = s->undo.n;
  for (uint32_t i = 0; i < n->nkid; i++) {
    wick_ast *k = n->kid[i];
    if (k->kind != WICK_AST_LET) {
      names_expr(s, k);
      continue;
    }
    names_number(s, k);
    names_type(s, k->kid[1]);
    names_expr(s, k->kid[2]);
    names_pattern(s, k->kid[0], s->undo.n);
    names_let(k->kid[0], k->kid[2]);
  }
  names_leave(s, mark);
}

static void names_kids(names *s, wick_ast *n, uint32_t first)
{
  for (uint32_t i = first; i < n->nkid; i++)
    if (n->kid[i]) names_expr(s, n->kid[i]);
}

/* The indices of a result or a reduction; each may have a size. */
static void names_indices(names *s, wick_ast *list)
{
  uint32_t mark = s->undo.n;
  names_number(s, list);
  for (uint32_t i = 0; i < list->nkid; i++) {
    wick_ast *n = list->kid[i];
    names_number(s, n);
    if (n->nkid) names_expr(s, n->kid[0]);
    names_twice(s, n, mark);
    names_bind(s, n, false);
  }
}

static void names_expr(names *s, wick_ast *n)
{
  uint32_t mark = s->undo.n;
  const wick_ast *chain = s->chain;
  names_number(s, n);
  if (n->kind != WICK_AST_BINARY)
    s->chain = NULL;
  else if (!chain)
    s->chain = n;
  switch (n->kind) {
  case WICK_AST_NAME: names_value(s, n); break;
  case WICK_AST_FIELD:
    if (n->kid[0] && !names_qualified(s, n)) names_expr(s, n->kid[0]);
    break;
  case WICK_AST_FN: names_literal(s, n); break;
  case WICK_AST_BLOCK: names_block(s, n); break;
  case WICK_AST_ASCRIBE:
    names_expr(s, n->kid[0]);
    names_type(s, n->kid[1]);
    break;
  case WICK_AST_ARM:
    names_pattern(s, n->kid[0], mark);
    names_expr(s, n->kid[1]);
    names_leave(s, mark);
    break;
  case WICK_AST_FOR:
    names_expr(s, n->kid[1]);
    names_expr(s, n->kid[2]);
    if (n->kid[4]) names_expr(s, n->kid[4]);
    names_pattern(s, n->kid[0], mark);
    if (n->kid[3]) names_pattern(s, n->kid[3], mark);
    names_expr(s, n->kid[5]);
    names_leave(s, mark);
    break;
  case WICK_AST_WHILE:
    if (n->kid[2]) names_expr(s, n->kid[2]);
    if (n->kid[1]) names_pattern(s, n->kid[1], mark);
    names_expr(s, n->kid[0]);
    names_expr(s, n->kid[3]);
    names_leave(s, mark);
    break;
  case WICK_AST_REDUCE:
    names_indices(s, n->kid[0]);
    names_expr(s, n->kid[1]);
    names_leave(s, mark);
    wick_push(s->p->mem, &s->ended, ((names_reduction){n, chain}));
    break;
  default: names_kids(s, n, 0);
  }
  s->chain = chain;
}

/* ---- index notation ---- */

static void names_defines(names *s, wick_ast *list)
{
  names_number(s, list);
  for (uint32_t i = 0; i < list->nkid; i++) {
    wick_ast *n = list->kid[i];
    uint32_t mark = s->undo.n;
    names_number(s, n);
    names_indices(s, n->kid[0]);
    s->ended.n = 0;
    names_expr(s, n->kid[1]);
    names_leave(s, mark);
    names_bind(s, n, false); /* later results may read it */
  }
}

/* ---- items ---- */

static void names_item(names *s, wick_ast *n)
{
  s->item = n->ref;
  s->item->nnode = 0;
  s->nlocal = 0;
  s->locals = s->variables = (wick_lang_map){0};
  s->undo.n = 0;
  s->declared.n = s->declared.cap = 0;
  s->declared.at = NULL;
  names_number(s, n);
  if (n->kind == WICK_AST_TYPE || n->kind == WICK_AST_STRUCT) {
    s->signature = true;
    for (uint32_t i = 0; i < n->kid[0]->nkid; i++) {
      const wick_ast *k = n->kid[0]->kid[i];
      if (wick_lang_map_get(&s->variables, k->name))
        wick_lang_report(&s->p->sources, k->name_at, "two parameters have the name `%s`", k->name);
      names_type(s, n->kid[0]->kid[i]);
    }
    s->signature = false;
    s->item->nvariable = s->declared.n;
    for (uint32_t i = 0; i < n->kid[1]->nkid; i++)
      for (uint32_t k = 0; k < n->kid[1]->kid[i]->nkid; k++)
        names_type(s, n->kid[1]->kid[i]->kid[k]);
  } else {
    s->signature = true;
    names_params(s, n->kid[0]);
    names_type(s, n->kid[1]);
    s->signature = false;
    if (n->kind == WICK_AST_OP)
      names_defines(s, n->kid[2]);
    else
      names_expr(s, n->kid[2]);
    s->item->nvariable = s->declared.n;
  }
  s->item->variable = s->declared.at;
  s->item->number = s->nlocal;
}

void wick_lang_resolve_module(wick_lang_program *p, wick_lang_module *m)
{
  names s = {.p = p, .m = m};
  for (uint32_t k = 0; k < m->file->nkid; k++)
    if (m->file->kid[k]->ref && m->file->kid[k]->kind != WICK_AST_USE)
      names_item(&s, m->file->kid[k]);
}

void wick_lang_resolve(wick_lang_program *p)
{
  for (uint32_t i = 0; i < p->modules.n; i++) wick_lang_resolve_module(p, p->modules.at[i]);
}
