/* Finds the external symbols that an object needs, and checks that they are allowed. */
#include "codegen/object.h"

#include <string.h>

typedef wick_list(const char *) object_names;

enum { OBJECT_HIDDEN = 2 }; /* STV_HIDDEN */

static wick_status object_elf(wick_span object, wick_arena *mem, object_names *out)
{
  wick_elf elf;
  WICK_TRY(wick_elf_read(object, mem, &elf));
  for (uint32_t i = 1; i < elf.nsymbol; i++) {
    const wick_elf_symbol *s = &elf.symbol[i];
    if (s->section == WICK_ELF_UNDEFINED && s->visibility != OBJECT_HIDDEN && *s->name)
      wick_push(mem, out, s->name);
  }
  return NULL;
}

/* ---- wasm ----
 * A file is a list of sections with an id and a size. The section "linking" has the symbols; the
 * name of an undefined symbol is that of an import (WebAssembly/tool-conventions, Linking.md). */

enum {
  OBJECT_CUSTOM = 0,
  OBJECT_IMPORTS = 2,
  OBJECT_SYMBOL_TABLE = 8,
  OBJECT_WASM_HIDDEN = 4,
  OBJECT_WASM_UNDEFINED = 16,
  OBJECT_WASM_NAMED = 64
};
enum { OBJECT_FUNCTION, OBJECT_DATA, OBJECT_GLOBAL, OBJECT_SECTION, OBJECT_TAG, OBJECT_TABLE };

static bool object_name(wick_reader *r, wick_arena *mem, const char **out)
{
  uint64_t n;
  wick_span name;
  if (!wick_read_varint(r, &n) || !wick_read_span(r, n, &name)) return false;
  *out = wick_str_dupn(mem, (const char *)name.at, name.nbytes);
  return true;
}

static bool object_skip_limits(wick_reader *r)
{
  uint64_t flags, n;
  if (!wick_read_varint(r, &flags) || !wick_read_varint(r, &n)) return false;
  return !(flags & 1) || wick_read_varint(r, &n);
}

/* Reads the names of imports by kind, in order, because symbols refer to them by index. */
static bool object_wasm_imports(wick_reader *r, wick_arena *mem, object_names by_kind[5])
{
  uint64_t n, x;
  uint8_t kind, byte;
  const char *module, *name;
  if (!wick_read_varint(r, &n)) return false;
  for (uint64_t i = 0; i < n; i++) {
    if (!object_name(r, mem, &module) || !object_name(r, mem, &name) || !wick_read_u8(r, &kind))
      return false;
    bool ok = kind == 0   ? wick_read_varint(r, &x)
              : kind == 1 ? wick_read_u8(r, &byte) && object_skip_limits(r)
              : kind == 2 ? object_skip_limits(r)
              : kind == 3 ? wick_read_u8(r, &byte) && wick_read_u8(r, &byte)
                          : wick_reader_refuse(r, wick_reader_position(r), "an unknown import");
    if (!ok) return false;
    wick_push(mem, &by_kind[kind], name);
  }
  return true;
}

static bool object_wasm_data(wick_reader *r, wick_arena *mem, uint64_t flags, const char **out)
{
  uint64_t x;
  if (!object_name(r, mem, out)) return false;
  if (flags & OBJECT_WASM_UNDEFINED) return true;
  return wick_read_varint(r, &x) && wick_read_varint(r, &x) && wick_read_varint(r, &x);
}

/* Reads a symbol. *out is its name if it is undefined, else NULL. */
static bool object_wasm_symbol(wick_reader *r, wick_arena *mem, const object_names by_kind[5],
                               const char **out)
{
  static const uint8_t import_kind[] = {
      [OBJECT_FUNCTION] = 0, [OBJECT_GLOBAL] = 3, [OBJECT_TAG] = 4, [OBJECT_TABLE] = 1};
  uint8_t kind;
  uint64_t flags, index;
  const char *name = NULL;
  if (!wick_read_u8(r, &kind) || !wick_read_varint(r, &flags)) return false;
  if (kind == OBJECT_DATA) {
    if (!object_wasm_data(r, mem, flags, &name)) return false;
  } else {
    if (!wick_read_varint(r, &index)) return false;
    bool undefined = flags & OBJECT_WASM_UNDEFINED, named = flags & OBJECT_WASM_NAMED;
    if (kind != OBJECT_SECTION && (!undefined || named) && !object_name(r, mem, &name))
      return false;
    if (kind <= OBJECT_TABLE && kind != OBJECT_SECTION && undefined && !name) {
      const object_names *imports = &by_kind[import_kind[kind]];
      if (index >= imports->n)
        return wick_reader_refuse(r, wick_reader_position(r), "a symbol of no import");
      name = imports->at[index];
    }
  }
  *out = (flags & OBJECT_WASM_UNDEFINED) && !(flags & OBJECT_WASM_HIDDEN) ? name : NULL;
  return true;
}

static bool object_wasm_symbols(wick_reader *r, wick_arena *mem, const object_names by_kind[5],
                                object_names *out)
{
  uint64_t n;
  if (!wick_read_varint(r, &n)) return false;
  for (uint64_t i = 0; i < n; i++) {
    const char *name = NULL;
    if (!object_wasm_symbol(r, mem, by_kind, &name)) return false;
    /* symbols that the linker itself provides */
    if (name && strncmp(name, "__stack_pointer", 16) != 0 &&
        strncmp(name, "__indirect_function_table", 26) != 0)
      wick_push(mem, out, name);
  }
  return true;
}

static bool object_wasm_linking(wick_reader *r, wick_arena *mem, const object_names by_kind[5],
                                object_names *out)
{
  uint64_t version, nbytes;
  uint8_t type;
  wick_reader part;
  if (!wick_read_varint(r, &version)) return false;
  while (wick_reader_left(r)) {
    if (!wick_read_u8(r, &type) || !wick_read_varint(r, &nbytes) ||
        !wick_read_part(r, nbytes, &part))
      return false;
    if (type == OBJECT_SYMBOL_TABLE && !object_wasm_symbols(&part, mem, by_kind, out)) {
      *r = part;
      return false;
    }
  }
  return true;
}

static wick_status object_wasm(wick_span object, wick_arena *mem, object_names *out)
{
  wick_reader r = wick_reader_make(object.at, object.nbytes), part;
  wick_span head;
  object_names by_kind[5] = {{0}};
  uint64_t nbytes;
  uint8_t id;
  if (!wick_read_span(&r, 8, &head)) return wick_reader_status(&r, mem, "object");
  while (wick_reader_left(&r)) {
    if (!wick_read_u8(&r, &id) || !wick_read_varint(&r, &nbytes) ||
        !wick_read_part(&r, nbytes, &part))
      return wick_reader_status(&r, mem, "object");
    const char *name = "";
    if (id == OBJECT_IMPORTS) (void)!object_wasm_imports(&part, mem, by_kind);
    if (id == OBJECT_CUSTOM) (void)!object_name(&part, mem, &name);
    if (strcmp(name, "linking") == 0) (void)!object_wasm_linking(&part, mem, by_kind, out);
    if (part.fault) return wick_reader_status(&part, mem, "object");
  }
  return NULL;
}

/* ---- both ---- */

wick_status wick_object_undefined(wick_span object, wick_arena *mem, const char *const **out_name,
                                  uint32_t *out_n)
{
  object_names names = {0};
  if (object.nbytes >= 4 && memcmp(object.at, "\0asm", 4) == 0)
    WICK_TRY(object_wasm(object, mem, &names));
  else
    WICK_TRY(object_elf(object, mem, &names));
  *out_name = names.at;
  *out_n = names.n;
  return NULL;
}

wick_status wick_object_check(wick_span object, const wick_target *t, const char *bundle,
                              wick_arena *mem)
{
  const char *const *name;
  uint32_t n;
  WICK_TRY(wick_object_undefined(object, mem, &name, &n));
  wick_text bad = wick_text_begin(mem);
  const char *print = bundle ? wick_str_printf(mem, "%s_print", bundle) : "",
             *part = wick_str_printf(mem, "%s_part", print);
  for (uint32_t i = 0; i < n; i++)
    if (!wick_target_may_call(t, name[i]) && strcmp(name[i], print) != 0 &&
        strcmp(name[i], part) != 0)
      wick_text_printf(&bad, " %s", name[i]);
  if (!bad.n) return NULL;
  return wick_fail(mem, WICK_EINTERNAL, t->row,
                   "generated code needs functions that the target does not have:%s", bad.at);
}
