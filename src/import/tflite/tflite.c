/* Imports TensorFlow Lite models: the main subgraph with its inputs, outputs and metadata. Begin with
 * tflite_graph. */
#include "import/tflite/tflite.h"

#include <string.h>

#include "import/tflite/ops.h"

/* ---- nodes ---- */

static const wick_tflite_tensor tflite_absent = {.name = ""};

const wick_tflite_tensor *wick_tflite_in(const wick_import_node *n, uint32_t i)
{
  const wick_tflite_at *at = n->data;
  bool absent = i >= at->op->nin || at->op->in[i] < 0;
  return absent ? &tflite_absent : &at->body->g->tensor[at->op->in[i]];
}

const wick_tflite_tensor *wick_tflite_out(const wick_import_node *n, uint32_t k)
{
  const wick_tflite_at *at = n->data;
  bool absent = k >= at->op->nout || at->op->out[k] < 0;
  return absent ? &tflite_absent : &at->body->g->tensor[at->op->out[k]];
}

int64_t wick_tflite_byte(const wick_import_node *n, uint32_t field)
{
  return wick_flat_int(wick_tflite_op_of(n)->options, field, 1, 0);
}

int64_t wick_tflite_i32(const wick_import_node *n, uint32_t field, int64_t otherwise)
{
  return wick_flat_int(wick_tflite_op_of(n)->options, field, 4, otherwise);
}

double wick_tflite_f32(const wick_import_node *n, uint32_t field)
{
  return (double)wick_flat_f32(wick_tflite_op_of(n)->options, field, 0);
}

/* ---- constants ---- */

/* Strings: their number, then number + 1 offsets from the begin of the data, then the bytes. */
static wick_value tflite_strings(wick_import *c, const wick_tflite_tensor *t, const char *location)
{
  wick_reader r = wick_reader_make(t->data.at, t->data.nbytes);
  uint32_t n, begin = 0, end;
  uint64_t numel = 1;
  bool good = wick_read_u32(&r, &n) && wick_reader_fits(&r, n, 4) && wick_read_u32(&r, &begin);
  for (uint32_t k = 0; k < t->rank && good; k++)
    good = t->dim[k] >= 0 && !wick_mul_overflows(numel, (uint64_t)t->dim[k], &numel);
  int64_t *number = wick_new(c->tmp, int64_t, good ? n + 1u : 1);
  for (uint32_t k = 0; good && k < n; k++) {
    good = wick_read_u32(&r, &end) && begin <= end && end <= t->data.nbytes;
    if (good)
      number[k] = wick_string_table_add(&c->module->strings, (const char *)t->data.at + begin,
                                        end - begin, true);
    begin = end;
  }
  if (!good || n != numel) {
    wick_import_error(c, WICK_EPARSE, location, "its strings do not fit its shape");
    return (wick_value){0};
  }
  return wick_import_copied(c, t->name, WICK_STRING, t->rank, t->dim, number, 8 * numel);
}

static wick_value tflite_constant(wick_import *c, const wick_tflite_tensor *t)
{
  const char *location =
      wick_str_printf(c->tmp, "%s: tensor \"%s\"", c->file, wick_import_shown(c, t->name));
  for (uint32_t k = 0; k < t->rank; k++)
    if (t->dim[k] < 0) {
      wick_import_error(c, WICK_EPARSE, location, "it is constant, but its shape is open");
      return (wick_value){0};
    }
  if (t->elem == WICK_STRING) return tflite_strings(c, t, location);
  wick_span data = t->data;
  if (t->sparsity.file) data = wick_tflite_densify(c, t, location);
  if (!data.at) return (wick_value){0};
  return wick_import_weight(c, t->name, t->elem, t->rank, t->dim, data, location);
}

/* The parts of complex constants alternate. */
static void tflite_complex(wick_import *c, wick_tflite_body *body, int32_t i)
{
  const wick_tflite_tensor *t = &body->g->tensor[i];
  wick_elem part = t->elem == WICK_C64 ? WICK_F32 : WICK_F64;
  size_t size = part == WICK_F32 ? 4 : 8;
  uint64_t numel = 1;
  bool good = true;
  for (uint32_t k = 0; k < t->rank && good; k++)
    good = t->dim[k] >= 0 && !wick_mul_overflows(numel, (uint64_t)t->dim[k], &numel);
  if (!good || t->data.nbytes % (2 * size) || t->data.nbytes / (2 * size) != numel) {
    wick_import_error(c, WICK_EPARSE, c->file, "the elements of tensor \"%s\" do not fit its shape",
                      wick_import_shown(c, t->name));
    return;
  }
  unsigned char *plane = wick_new(c->tmp, unsigned char, numel *size + 1);
  for (uint32_t k = 0; k < 2; k++) {
    for (size_t at = 0; at < numel; at++)
      memcpy(plane + at * size, t->data.at + (2 * at + k) * size, size);
    wick_value v =
        wick_import_copied(c, t->name, part, t->rank, t->dim, plane, (uint64_t)numel * size);
    *(k ? &body->imaginary[i] : &body->value[i]) = v;
  }
}

/* ---- subgraphs ---- */

/* Returns the value of a tensor; 0 after an error. A constant is built at its first use. */
static wick_value tflite_use(wick_import *c, wick_tflite_body *body, int32_t i, bool *broken)
{
  const wick_tflite_tensor *t = &body->g->tensor[i];
  if (!body->value[i].id && t->constant && !body->failed[i]) {
    if (wick_tflite_is_complex(t))
      tflite_complex(c, body, i);
    else
      body->value[i] = tflite_constant(c, t);
    body->failed[i] = !body->value[i].id;
  }
  if (!body->value[i].id) {
    if (!body->failed[i])
      wick_import_error(c, WICK_EPARSE, c->file, "the tensor \"%s\" is used before it is computed",
                        wick_import_shown(c, t->name));
    body->failed[i] = *broken = true;
  }
  return body->value[i];
}

static void tflite_variables(wick_import *c, wick_tflite_body *body)
{
  for (uint32_t i = 0; i < body->g->ntensor; i++) {
    const wick_tflite_tensor *t = &body->g->tensor[i];
    if (!t->variable || t->constant || body->value[i].id) continue;
    body->value[i] = wick_tflite_variable(c, body->run, t);
  }
}

static bool tflite_has_complex(const wick_tflite_body *body, uint32_t n, const int32_t *tensor)
{
  bool any = false;
  for (uint32_t i = 0; i < n; i++)
    any = any || (tensor[i] >= 0 && wick_tflite_is_complex(&body->g->tensor[tensor[i]]));
  return any;
}

/* Imports the node with the imaginary parts. */
static void tflite_imaginary(wick_import *c, wick_tflite_body *body, const wick_tflite_op *op,
                             const char *name, wick_value *in)
{
  wick_tflite_at at = {body, op};
  wick_value *out = wick_new(c->tmp, wick_value, op->nout + 1u);
  for (uint32_t i = 0; i < op->nin; i++)
    if (op->in[i] >= 0 && wick_tflite_is_complex(&body->g->tensor[op->in[i]]))
      in[i] = body->imaginary[op->in[i]];
  wick_import_run(c, op->name, op->version, name, &at, op->nin, in, false, op->nout, out);
  for (uint32_t k = 0; k < op->nout; k++)
    if (op->out[k] >= 0) body->imaginary[op->out[k]] = out[k];
}

/* Complex numbers are two values, which few operators take. Returns false after an error. */
static bool tflite_takes_complex(wick_import *c, const wick_tflite_body *body,
                                 const wick_tflite_op *op, const char *name)
{
  bool in = tflite_has_complex(body, op->nin, op->in),
       out = tflite_has_complex(body, op->nout, op->out);
  bool moved = wick_tflite_moves_complex(op->name);
  if (in ? moved || wick_tflite_reads_complex(op->name) : !out || strcmp(op->name, "RFFT2D") == 0)
    return true;
  wick_import_error(
      c, WICK_EUNSUPPORTED,
      wick_str_printf(c->tmp, "%s: node \"%s\" (%s)", c->file, wick_import_shown(c, name),
                      wick_import_shown(c, op->name)),
      "complex numbers are supported between RFFT2D and REAL, IMAG or COMPLEX_ABS, and in "
      "operators that move elements");
  return false;
}

static void tflite_node(wick_import *c, wick_tflite_body *body, const wick_tflite_op *op)
{
  wick_tflite_at at = {body, op};
  wick_value *in = wick_new(c->tmp, wick_value, op->nin + 1u),
             *out = wick_new(c->tmp, wick_value, op->nout + 1u);
  bool broken = false;
  for (uint32_t i = 0; i < op->nin; i++)
    if (op->in[i] >= 0) in[i] = tflite_use(c, body, op->in[i], &broken);
  const char *name = "";
  for (uint32_t k = 0; k < op->nout && !*name; k++)
    if (op->out[k] >= 0) name = body->g->tensor[op->out[k]].name;
  uint32_t first = c->b.values.n;
  bool complex = tflite_has_complex(body, op->nin, op->in) && wick_tflite_moves_complex(op->name);
  bool good =
      tflite_takes_complex(c, body, op, name) &&
      wick_import_run(c, op->name, op->version, name, &at, op->nin, in, broken, op->nout, out);
  for (uint32_t k = 0; k < op->nout; k++) {
    if (op->out[k] < 0) continue;
    body->value[op->out[k]] = out[k];
    body->failed[op->out[k]] = !good;
    if (out[k].id >= first) wick_import_name(c, out[k], body->g->tensor[op->out[k]].name);
  }
  if (good && complex) tflite_imaginary(c, body, op, name, in);
}

static void tflite_begin(wick_import *c, wick_tflite_body *body, wick_tflite_run *run,
                         uint32_t graph)
{
  body->run = run;
  body->g = &run->m->graph[graph];
  body->value = wick_new(c->tmp, wick_value, body->g->ntensor + 1u);
  body->imaginary = wick_new(c->tmp, wick_value, body->g->ntensor + 1u);
  body->failed = wick_new(c->tmp, bool, body->g->ntensor + 1u);
}

static void tflite_nodes(wick_import *c, wick_tflite_body *body)
{
  tflite_variables(c, body);
  for (uint32_t i = 0; i < body->g->nop && !c->over; i++) tflite_node(c, body, &body->g->op[i]);
}

bool wick_tflite_subgraph(wick_import_node *n, uint32_t graph, uint32_t nin, const wick_value *in,
                          uint32_t nout, wick_value *out)
{
  wick_import *c = n->c;
  const wick_tflite_at *at = n->data;
  wick_tflite_run *run = at->body->run;
  if (graph >= run->m->ngraph) {
    wick_import_fail(n, WICK_EPARSE, "it calls subgraph %u of %u", graph, run->m->ngraph);
    return false;
  }
  wick_tflite_body body;
  bool broken = false;
  tflite_begin(c, &body, run, graph);
  if (tflite_has_complex(&body, body.g->nin, body.g->in) ||
      tflite_has_complex(&body, body.g->nout, body.g->out)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "subgraph %u has complex inputs or outputs", graph);
    return false;
  }
  if (body.g->nin != nin || body.g->nout < nout) {
    wick_import_fail(n, WICK_EPARSE, "subgraph %u has %u inputs and %u outputs, expected %u and %u",
                     graph, body.g->nin, body.g->nout, nin, nout);
    return false;
  }
  for (uint32_t i = 0; i < nin; i++) body.value[body.g->in[i]] = in[i];
  tflite_nodes(c, &body);
  for (uint32_t k = 0; k < nout && !c->over; k++)
    out[k] = tflite_use(c, &body, body.g->out[k], &broken);
  return !broken && !c->over;
}

/* ---- the interface ---- */

static void tflite_inputs(wick_import *c, wick_tflite_body *body)
{
  const wick_tflite_graph *g = body->g;
  for (uint32_t i = 0; i < g->nin; i++) {
    const wick_tflite_tensor *t = &g->tensor[g->in[i]];
    wick_dim dim[WICK_MAX_RANK];
    for (uint32_t k = 0; k < t->rank; k++)
      dim[k] = t->dim[k] < 0 ? wick_import_size(c, "", t->name, k) : wick_dim_const(t->dim[k]);
    if (body->value[g->in[i]].id) {
      wick_import_error(c, WICK_EPARSE, c->file, "the tensor \"%s\" is an input twice",
                        wick_import_shown(c, t->name));
      continue;
    }
    body->value[g->in[i]] = wick_import_input(c, t->name, t->elem, t->rank, dim);
    body->failed[g->in[i]] = !body->value[g->in[i]].id;
  }
  wick_tflite_states(c, body->run);
  for (uint32_t i = 0; i < g->nin && !c->interface; i++)
    body->value[g->in[i]] = wick_import_input_value(c, body->value[g->in[i]]);
}

static void tflite_declare(wick_import *c, const wick_tflite_graph *g)
{
  for (uint32_t i = 0; i < g->nout; i++) {
    const wick_tflite_tensor *t = &g->tensor[g->out[i]];
    bool open = false;
    for (uint32_t k = 0; k < t->rank; k++) open = open || t->dim[k] < 0;
    wick_type type = {0};
    if (!open) type = wick_type_tensor_const(c->module, t->elem, t->rank, t->dim);
    wick_import_declare(c, t->name, type);
  }
}

static const char *tflite_text(wick_import *c, wick_span s)
{
  return wick_str_dupn(c->tmp, s.nbytes ? (const char *)s.at : "", s.nbytes);
}

/* The names by which a signature knows the inputs and outputs: "tflite.serving_default.input.x". */
static void tflite_signatures(wick_import *c, const wick_tflite_model *m)
{
  wick_flat_list l = wick_flat_vector(m->root, 7, 4);
  for (uint32_t i = 0; i < l.n; i++) {
    wick_flat s = wick_flat_item(l, i);
    uint64_t graph = wick_flat_uint(s, 4, 4, 0);
    const char *key = tflite_text(c, wick_flat_bytes(s, 2));
    for (uint32_t side = 0; side < 2 && graph < m->ngraph; side++) {
      wick_flat_list maps = wick_flat_vector(s, side, 4);
      for (uint32_t k = 0; k < maps.n; k++) {
        wick_flat map = wick_flat_item(maps, k);
        uint64_t index = wick_flat_uint(map, 1, 4, 0);
        if (index >= m->graph[graph].ntensor) continue;
        const char *name = tflite_text(c, wick_flat_bytes(map, 0));
        wick_import_metadata(
            c, wick_str_printf(c->tmp, "tflite.%s.%s.%s", key, side ? "output" : "input", name),
            m->graph[graph].tensor[index].name);
      }
    }
  }
}

/* The scale and zero point of inputs and outputs that are quantized: "tflite.quantization.x". */
static void tflite_scales(wick_import *c, const wick_tflite_graph *g, uint32_t n,
                          const int32_t *tensor)
{
  for (uint32_t i = 0; i < n; i++) {
    const wick_tflite_tensor *t = &g->tensor[tensor[i]];
    if (t->quant.n != 1 || !wick_elem_is_int(t->elem)) continue;
    wick_import_metadata(c, wick_str_printf(c->tmp, "tflite.quantization.%s", t->name),
                         wick_str_printf(c->tmp, "scale %.9g, zero point %lld", t->quant.scale[0],
                                         (long long)t->quant.zero[0]));
  }
}

static void tflite_metadata(wick_import *c, const wick_tflite_model *m, uint32_t graph)
{
  const wick_tflite_graph *g = &m->graph[graph];
  wick_span about = wick_flat_bytes(m->root, 3);
  if (about.nbytes) wick_import_metadata(c, "tflite.description", tflite_text(c, about));
  tflite_signatures(c, m);
  wick_tflite_labels(c, m, graph);
  tflite_scales(c, g, g->nin, g->in);
  tflite_scales(c, g, g->nout, g->out);
}

/* The subgraph of the signature that is asked for, else the first. Returns false after an error. */
static bool tflite_entry(wick_import *c, const wick_tflite_model *m, uint32_t *out_graph)
{
  wick_flat_list l = wick_flat_vector(m->root, 7, 4);
  wick_text known = wick_text_begin(c->tmp);
  *out_graph = 0;
  if (!c->options->entry) return true;
  for (uint32_t i = 0; i < l.n; i++) {
    wick_flat s = wick_flat_item(l, i);
    uint64_t graph = wick_flat_uint(s, 4, 4, 0);
    const char *key = tflite_text(c, wick_flat_bytes(s, 2));
    wick_text_printf(&known, "%s%s", i ? ", " : "", wick_import_shown(c, key));
    if (strcmp(key, c->options->entry) != 0) continue;
    if (graph >= m->ngraph)
      wick_import_error(c, WICK_EPARSE, c->file, "the signature \"%s\" has subgraph %llu of %u",
                        wick_import_shown(c, key), (unsigned long long)graph, m->ngraph);
    *out_graph = (uint32_t)graph;
    return graph < m->ngraph;
  }
  wick_import_error(c, WICK_EINVAL, c->file, "the model has no signature \"%s\", it has %s",
                    wick_import_shown(c, c->options->entry), l.n ? known.at : "none");
  return false;
}

static void tflite_graph(wick_import *c)
{
  const wick_tflite_model *m = c->model;
  wick_tflite_run run = {.m = m, .called_once = wick_new(c->tmp, bool, m->ngraph)};
  wick_tflite_body body;
  uint32_t graph;
  if (!tflite_entry(c, m, &graph)) return;
  tflite_begin(c, &body, &run, graph);
  if (tflite_has_complex(&body, body.g->nin, body.g->in) ||
      tflite_has_complex(&body, body.g->nout, body.g->out)) {
    wick_import_error(c, WICK_EUNSUPPORTED, c->file,
                      "inputs and outputs of complex numbers are not supported: use REAL and IMAG");
    return;
  }
  tflite_inputs(c, &body);
  tflite_declare(c, body.g);
  tflite_metadata(c, m, graph);
  if (c->interface) return;
  tflite_nodes(c, &body);
  for (uint32_t k = 0; k < body.g->nout && !c->over; k++) {
    bool broken = false;
    wick_import_output(c, k, tflite_use(c, &body, body.g->out[k], &broken));
  }
  wick_tflite_states_end(c, &run);
}

/* ---- the table ---- */

static const wick_import_op *const tflite_families[] = {
#define WICK_TFLITE_FAMILY(name) wick_tflite_##name##_ops,
#include "import/tflite/families.def"
#undef WICK_TFLITE_FAMILY
};

const wick_import_format wick_tflite_format = {
    .name = "TensorFlow Lite",
    .version_word = "version",
    .nfamily = WICK_COUNT(tflite_families),
    .families = tflite_families,
    .open = wick_tflite_open,
    .graph = tflite_graph,
};

wick_status wick_import_tflite(wick_module *m, wick_span bytes, const char *path,
                               const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                               const wick_func **out)
{
  return wick_import_with(&wick_tflite_format, m, bytes, path, options, mem, tmp, out);
}
