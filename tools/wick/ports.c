/* Reads the metadata that the importer writes about inputs and outputs (import/onnx/ports.c). */
#include "ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* "AT COUNT TYPE" or "AT COUNT TYPE KEYS"; returns false for other texts. */
static bool ports_note(const char *name, const char *text, wick_arena *mem, uint32_t *out_at,
                       wick_port *out)
{
  char *end;
  unsigned long at = strtoul(text, &end, 10);
  if (end == text || *end++ != ' ' || at > UINT16_MAX) return false;
  bool open = *end == '?';
  const char *from = end;
  long count = open ? WICK_PORT_OPEN : strtol(from, &end, 10);
  if (open) end++;
  if (end == from || *end++ != ' ' || count < WICK_PORT_OPEN || count > UINT16_MAX) return false;
  *out_at = (uint32_t)at;
  *out = (wick_port){.name = name, .count = count, .n = count > 0 ? (uint32_t)count : 0};
  out->type = wick_str_dupn(mem, end, strcspn(end, " "));
  if (!wick_value_type_parse(out->type, &out->is)) return false;
  if (count == WICK_PORT_OPEN) return true;
  if (out->is.map) return count == 1 || count == 2;
  if (count < 0) return out->is.optional;
  return out->is.seq || count == 1;
}

wick_ports wick_ports_of(const char *kind, uint32_t nnote, const wick_pair *note, uint32_t n,
                         const char *const *name, wick_arena *mem)
{
  const char *prefix = wick_str_printf(mem, "onnx.%s.", kind);
  uint32_t most = n + nnote, nport = 0, nlist = 0;
  wick_port *noted = wick_new(mem, wick_port, most + 1), *port = wick_new(mem, wick_port, most + 1);
  for (uint32_t i = 0; i < nnote; i++) {
    wick_port p;
    uint32_t at;
    if (strncmp(note[i].key, prefix, strlen(prefix)) == 0 &&
        ports_note(note[i].key + strlen(prefix), note[i].value, mem, &at, &p) && at < most)
      noted[at] = p;
  }
  for (uint32_t at = 0; at < n || noted[nport].name;) {
    wick_port *p = &port[nport];
    *p = noted[nport];
    if (!p->name || p->n > n - at) {
      if (at == n) break;
      *p = (wick_port){.name = name[at], .type = "", .count = 1, .n = 1};
    }
    p->first = at;
    at += p->n;
    nlist += *p->type != 0;
    nport++;
  }
  return (wick_ports){nport, nlist, port};
}
