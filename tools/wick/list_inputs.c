/* Files of inputs that are no tensors. The kind of a message is that of its input, so the input is
 * found first: by the name that the command line or the message says, or by order. */
#include "list_inputs.h"

#include <string.h>

#include "base/str.h"
#include "map.h"

typedef struct list_inputs {
  const wick_ports *ports;
  const wick_io *const *io;
  wick_arena *mem;
  uint32_t *of; /* by tensor or message: its port; ports->n: none */
  bool *taken;  /* by port */
  wick_arrays *out;
  wick_paths *out_from;
} list_inputs;

static bool list_inputs_message(const wick_array *a) { return a->message.at != NULL; }

static uint32_t list_inputs_named(const list_inputs *l, const char *name, bool list, bool tensor)
{
  uint32_t p = 0;
  for (; p < l->ports->n && *name; p++) {
    bool is_list = *l->ports->at[p].type != 0;
    if (!l->taken[p] && (is_list ? list : tensor) && strcmp(l->ports->at[p].name, name) == 0)
      return p;
  }
  return l->ports->n;
}

static uint32_t list_inputs_find(const list_inputs *l, const wick_array *a)
{
  if (!list_inputs_message(a) || *a->name) return list_inputs_named(l, a->name, true, true);
  uint32_t p = list_inputs_named(l, wick_value_name(a->message, false, l->mem), true, false);
  if (p < l->ports->n) return p;
  return list_inputs_named(l, wick_value_name(a->message, true, l->mem), false, true);
}

static void list_inputs_assign(list_inputs *l, const wick_arrays *given)
{
  uint32_t none = l->ports->n;
  for (int pass = 0; pass < 2; pass++) /* those with names first */
    for (uint32_t k = 0, next = 0; k < given->n; k++) {
      const wick_array *a = &given->at[k];
      if (!pass) {
        l->of[k] = list_inputs_find(l, a);
      } else if (l->of[k] == none && !a->by_name) {
        while (next < none && (l->taken[next] || (a->json && !l->ports->at[next].is.map))) next++;
        l->of[k] = next;
      }
      if (l->of[k] < none) l->taken[l->of[k]] = true;
    }
}

static void list_inputs_push(list_inputs *l, wick_array a, const char *name, const char *path)
{
  a.name = name;
  wick_push(l->mem, l->out, a);
  wick_push(l->mem, l->out_from, path);
}

/* A map: the keys and values for NAME.keys and NAME.values, or the values of known keys. */
static void list_inputs_map(list_inputs *l, const wick_port *p, const wick_array *pair,
                            const char *path)
{
  const wick_io *const *io = l->io + p->first;
  if (p->n == 2) {
    for (uint32_t i = 0; i < 2; i++) list_inputs_push(l, pair[i], io[i]->name, path);
    return;
  }
  wick_array fitted;
  wick_map_fit_pairs(pair, io[0], l->mem, &fitted);
  list_inputs_push(l, fitted, p->name, path);
}

static wick_status list_inputs_take(list_inputs *l, const wick_array *a, const wick_port *p,
                                    const char *path, wick_list_inputs *out)
{
  const char *location = wick_str_printf(l->mem, "%s: input \"%s\" (%s)", path, p->name, p->type);
  wick_array *element = NULL, one = *a;
  int64_t count = 1;
  if (a->json && !p->is.map)
    return wick_fail(l->mem, WICK_ETYPE, location, "the file has a map, expected %s", p->type);
  if (p->is.map && !list_inputs_message(a)) { /* model_inputs.c has what takes it */
    list_inputs_push(l, *a, p->name, path);
    return NULL;
  }
  if (list_inputs_message(a))
    WICK_TRY(wick_value_read(a->message, &p->is, location, l->mem, &count, &element));
  else if (p->is.seq || a->elem != p->is.elem)
    return wick_fail(l->mem, WICK_ETYPE, location, "the file has %s, expected %s%s",
                     wick_array_type(l->mem, a->elem, a->rank, a->dim),
                     p->is.seq ? p->type : wick_elem_name(p->is.elem),
                     p->is.seq ? " in a file named .pb" : "[...]");
  else
    element = &one;
  if (p->is.map) {
    list_inputs_map(l, p, element, path);
    return NULL;
  }
  if (count < 0 && !p->is.optional)
    return wick_fail(l->mem, WICK_ETYPE, location, "it has no value");
  if (p->count != WICK_PORT_OPEN && p->count != count)
    return wick_fail(l->mem, WICK_ETYPE, location,
                     "the file has %lld elements, the program is for %lld (-1: no value)",
                     (long long)count, (long long)p->count);
  wick_push(l->mem, &out->shape, (wick_shape){p->name, 1, wick_dup(l->mem, int64_t, &count, 1)});
  for (int64_t k = 0; k < count; k++)
    list_inputs_push(l, element[k], wick_str_printf(l->mem, "%s.%lld", p->name, (long long)k),
                     path);
  return NULL;
}

static wick_status list_inputs_tensor(list_inputs *l, const wick_array *a, const wick_port *p,
                                      const char *path)
{
  wick_array read = *a;
  const char *name = p ? p->name : a->name;
  if (list_inputs_message(a)) {
    WICK_TRY(wick_pb_read(a->message, path, l->mem, &read));
    read.by_name = a->by_name;
  }
  list_inputs_push(l, read, name, path);
  return NULL;
}

/* The tensors of the model, and those of open ports, which files have given. */
static wick_status list_inputs_io(const list_inputs *l, wick_list_inputs *out)
{
  wick_list(const wick_io *) all = {0};
  for (uint32_t p = 0, s = 0; p < l->ports->n; p++) {
    const wick_port *port = &l->ports->at[p];
    for (uint32_t i = 0; i < port->n; i++) wick_push(l->mem, &all, l->io[port->first + i]);
    if (port->count != WICK_PORT_OPEN) continue;
    for (s = 0; s < out->shape.n && strcmp(out->shape.at[s].input, port->name) != 0;) s++;
    if (s == out->shape.n)
      return wick_fail(l->mem, WICK_EINVAL, "--inputs", "no file is given for \"%s\", which is %s",
                       port->name, port->type);
    for (int64_t k = 0; k < *out->shape.at[s].dim; k++) {
      wick_io *io = wick_new(l->mem, wick_io, 1);
      io->name = wick_str_printf(l->mem, "%s.%lld", port->name, (long long)k);
      io->elem = port->is.elem, io->unranked = true;
      wick_push(l->mem, &all, io);
    }
  }
  out->n = all.n, out->io = all.at;
  return NULL;
}

wick_status wick_list_inputs_find(const wick_ports *ports, const wick_io *const *io,
                                  const wick_arrays *given, const wick_paths *from, wick_arena *mem,
                                  wick_arrays *out, wick_paths *out_from,
                                  wick_list_inputs *out_inputs)
{
  list_inputs l = {.ports = ports,
                   .io = io,
                   .mem = mem,
                   .of = wick_new(mem, uint32_t, given->n + 1),
                   .taken = wick_new(mem, bool, ports->n + 1),
                   .out = out,
                   .out_from = out_from};
  *out_inputs = (wick_list_inputs){0};
  list_inputs_assign(&l, given);
  for (uint32_t k = 0; k < given->n; k++) {
    const wick_port *p = l.of[k] < ports->n ? &ports->at[l.of[k]] : NULL;
    if (p && *p->type)
      WICK_TRY(list_inputs_take(&l, &given->at[k], p, from->at[k], out_inputs));
    else
      WICK_TRY(list_inputs_tensor(&l, &given->at[k], p, from->at[k]));
  }
  return list_inputs_io(&l, out_inputs);
}
