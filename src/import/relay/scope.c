/* Names of Relay's programs. Functions, constructors and locals, which Relay tells apart by `@` and
 * `%`, share their names in the language: a local that has the name of a function gets another. */
#include "import/relay/state.h"
#include "lang/library.h"

static wick_lang_entity scope_any;

const char *wick_relay_intern(relay_parser *p, const char *name)
{
  return wick_names_get(&p->p->names, wick_names_add(&p->p->names, name, strlen(name)));
}

uint32_t wick_relay_mark(const relay_parser *p) { return p->undo.n; }

void wick_relay_leave(relay_parser *p, uint32_t mark)
{
  while (p->undo.n > mark) {
    p->undo.n--;
    wick_lang_map_set(&p->locals, p->undo.at[p->undo.n].name, p->undo.at[p->undo.n].before, p->mem);
  }
}

static const char *scope_name(relay_parser *p, const char *name)
{
  while (wick_lang_map_get(&p->fixed, name))
    name = wick_relay_intern(p, wick_str_printf(p->mem, "%s_", name));
  return name;
}

const char *wick_relay_declare(relay_parser *p, const char *name)
{
  name = scope_name(p, name);
  relay_undo u = {name, wick_lang_map_set(&p->locals, name, &scope_any, p->mem)};
  wick_push(p->mem, &p->undo, u);
  return name;
}

const char *wick_relay_local(relay_parser *p, const char *name)
{
  name = scope_name(p, name);
  return wick_lang_map_get(&p->locals, name) ? name : NULL;
}

void wick_relay_bind(relay_parser *p, const char *name, wick_ast *value)
{
  if (!value) return;
  wick_lang_entity e = {.value = value};
  wick_lang_map_set(&p->locals, name, wick_dup(p->mem, wick_lang_entity, &e, 1), p->mem);
}

const wick_ast *wick_relay_bound(const relay_parser *p, const char *name)
{
  const wick_lang_entity *e = wick_lang_map_get(&p->locals, name);
  return e ? e->value : NULL;
}

static void scope_fix(relay_parser *p, wick_lang_map *map, const char *name)
{
  wick_lang_map_set(map, name, &scope_any, p->mem);
}

/* Types of the language begin with a capital letter. */
static void scope_type(relay_parser *p, const char *name)
{
  wick_lang_entity *e = wick_new(p->mem, wick_lang_entity, 1);
  char *as = wick_str_dup(p->mem, name);
  if (as[0] >= 'a' && as[0] <= 'z') as[0] = (char)(as[0] - 'a' + 'A');
  if (as[0] == '_') as = wick_str_printf(p->mem, "T%s", name);
  e->name = wick_relay_intern(p, as);
  wick_lang_map_set(&p->types, name, e, p->mem);
}

/* ---- the std library ---- */

static const char scope_library[] = "relay_prelude";

/* The types of the std library and their constructors. */
static const struct {
  const char *type, *ctors[4];
} scope_std[] = {{"List", {"Cons", "Nil"}},
                 {"Option", {"Some", "None"}},
                 {"Tree", {"Rose"}},
                 {"nat", {"zero", "succ"}},
                 {"GradCell", {"Raw", "One", "Zero"}}};

static bool scope_is_std(const char *function)
{
  const wick_lang_library *library = wick_lang_library_find(scope_library);
  size_t n = strlen(function);
  for (const char *at = library ? library->text : NULL; at && (at = strstr(at, "\ndef @"));) {
    at += 6;
    if (strncmp(at, function, n) == 0 && (at[n] == '[' || at[n] == '(')) return true;
  }
  return false;
}

static void scope_import(relay_parser *p, const relay_token *t, const char *name, relay_nodes *out)
{
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i]->name == name) return;
  wick_push(p->mem, out,
            wick_relay_named(p, WICK_AST_IMPORT, (uint32_t)(t - p->tokens.at), name, 0, NULL));
}

static void scope_import_type(relay_parser *p, const relay_token *t, size_t k, relay_nodes *out)
{
  const char *type = wick_relay_intern(p, scope_std[k].type);
  scope_type(p, type);
  scope_import(p, t, wick_lang_map_get(&p->types, type)->name, out);
  for (size_t i = 0; i < WICK_COUNT(scope_std[k].ctors) && scope_std[k].ctors[i]; i++) {
    const char *ctor = wick_relay_intern(p, scope_std[k].ctors[i]);
    scope_fix(p, &p->fixed, ctor);
    scope_fix(p, &p->ctors, ctor);
  }
}

/* A word that is a type of the std library or one of its constructors, and no attribute's value. */
static void scope_word(relay_parser *p, const relay_token *t, relay_nodes *out)
{
  bool attribute = t - p->tokens.at > 1 && t[-1].kind == '=' && t[-2].kind == RELAY_WORD;
  for (size_t k = 0; k < WICK_COUNT(scope_std); k++) {
    if (wick_lang_map_get(&p->types, wick_relay_intern(p, scope_std[k].type))) continue;
    bool is = strcmp(t->name, scope_std[k].type) == 0;
    for (size_t i = 0; i < WICK_COUNT(scope_std[k].ctors) && scope_std[k].ctors[i]; i++)
      is = is || (strcmp(t->name, scope_std[k].ctors[i]) == 0 &&
                  !wick_lang_map_get(&p->ctors, t->name) && !attribute);
    if (is) scope_import_type(p, t, k, out);
  }
}

wick_ast *wick_relay_imports(relay_parser *p)
{
  relay_nodes names = {0};
  const relay_token *t = p->tokens.at;
  bool library = strcmp(p->path, wick_str_printf(p->mem, "<%s>", scope_library)) == 0;
  for (uint32_t i = 1; i + 1 < p->tokens.n; i++)
    if (t[i].kind == RELAY_GLOBAL && t[i - 1].kind == RELAY_WORD &&
        strcmp(t[i - 1].name, "def") == 0)
      scope_fix(p, &p->functions, t[i].name);
  for (uint32_t i = 0; i + 1 < p->tokens.n; i++) {
    if (library) break;
    if (t[i].kind == RELAY_WORD && i) scope_word(p, &t[i], &names);
    if (t[i].kind != RELAY_GLOBAL || wick_lang_map_get(&p->functions, t[i].name) ||
        !scope_is_std(t[i].name))
      continue;
    scope_fix(p, &p->functions, t[i].name);
    scope_import(p, &t[i], t[i].name, &names);
  }
  if (!names.n) return NULL;
  return wick_relay_named(p, WICK_AST_USE, 0, wick_relay_intern(p, scope_library), names.n,
                          names.at);
}

void wick_relay_scan(relay_parser *p)
{
  const relay_token *t = p->tokens.at;
  for (uint32_t i = 0; i + 1 < p->tokens.n; i++) {
    if (t[i].kind == RELAY_GLOBAL) scope_fix(p, &p->fixed, t[i].name);
    if (t[i].kind != RELAY_WORD || strcmp(t[i].name, "type") != 0 || t[i + 1].kind != RELAY_WORD)
      continue;
    scope_type(p, t[i + 1].name);
    uint32_t depth = 0, k = i + 2; /* constructors come after `{` and after each comma there */
    for (; k + 1 < p->tokens.n; k++) {
      int kind = t[k].kind;
      if (kind == '{' || kind == '(' || kind == '[') depth++;
      bool first = depth == 1 && (kind == '{' || kind == ',') && t[k + 1].kind == RELAY_WORD;
      if (kind == '}' || kind == ')' || kind == ']') depth -= depth > 0;
      if (first) scope_fix(p, &p->fixed, t[k + 1].name);
      if (first) scope_fix(p, &p->ctors, t[k + 1].name);
      if (!depth && kind != ']') break;
    }
  }
}
