/* Describes an artifact for `wick check`. The artifact contains the description, so nothing is
 * compiled. */
#include "check_artifact.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "driver/model.h"
#include "driver/output_size.h"
#include "ir/text.h"

static wick_status artifact_take(wick_error *e, wick_arena *mem)
{
  if (!e) return NULL;
  wick_code code = wick_error_code(e);
  const char *text = wick_str_dup(mem, wick_error_message(e));
  wick_error_free(e);
  return wick_fail(mem, code, NULL, "%s", text);
}

wick_status wick_check_open(const char *path, wick_check_artifact *out, wick_arena *mem)
{
  WICK_TRY(artifact_take(wick_context_create(NULL, &out->context), mem));
  return artifact_take(wick_compiled_load(out->context, path, &out->compiled), mem);
}

void wick_check_close(wick_check_artifact *a)
{
  wick_compiled_free(a->compiled);
  wick_context_free(a->context);
}

/* Finds the outputs that give sizes of others (driver/output_size.h). */
static wick_output_sizes artifact_sized(const wick_compiled *c, wick_arena *tmp)
{
  uint32_t n = wick_compiled_noutput(c), *rank = wick_new(tmp, uint32_t, n);
  const char **name = wick_new(tmp, const char *, n);
  for (uint32_t i = 0; i < n; i++)
    name[i] = wick_compiled_output(c, i)->name, rank[i] = wick_compiled_output(c, i)->rank;
  return wick_output_sizes_of(name, rank, n, tmp);
}

/* ---- as text ---- */

static void artifact_value(const char *kind, const wick_io *io, wick_arena *tmp)
{
  printf("  %-6s %s: %s", kind, wick_str_shown(tmp, io->name),
         wick_str_shown(tmp, wick_io_text(io, tmp)));
}

void wick_check_artifact_print(const char *path, const wick_compiled *c, wick_arena *tmp)
{
  wick_memory m = wick_compiled_memory(c);
  uint32_t noutput = wick_compiled_noutput(c);
  const wick_output_sizes s = artifact_sized(c, tmp);
  printf("%s: an artifact, %.2f MiB of constants, %.2f MiB of arena\n", wick_str_shown(tmp, path),
         (double)m.constants / 1048576, (double)m.arena / 1048576);
  for (uint32_t i = 0; i < wick_compiled_ninput(c); i++) {
    artifact_value("input", wick_compiled_input(c, i), tmp);
    puts(wick_compiled_required_input(c, i) ? ", whose contents are fixed" : "");
  }
  for (uint32_t i = 0; i < noutput; i++) {
    if (s.of[i] < noutput) continue;
    artifact_value("output", wick_compiled_output(c, i), tmp);
    for (uint32_t k = 0; k < s.nsize; k++)
      if (s.of[s.size[k]] == i)
        printf(", at most: its size along axis %u depends on data", s.axis[s.size[k]]);
    putchar('\n');
  }
  for (uint32_t i = 0; i < wick_compiled_nstate(c); i++) {
    artifact_value("state", wick_compiled_state(c, i), tmp);
    putchar('\n');
  }
  for (uint32_t i = 0; i < wick_compiled_nsize(c); i++) {
    wick_size_range r = wick_compiled_size(c, i);
    printf("  size   %s: %" PRId64 " to %" PRId64, wick_str_shown(tmp, r.name), r.least, r.most);
    if (r.step > 1) printf(" by %" PRId64, r.step);
    putchar('\n');
  }
}

/* ---- as JSON ---- */

static json_t *artifact_json_value(const wick_io *io, wick_arena *tmp)
{
  return json_pack("{s:s, s:s}", "name", wick_str_utf8(tmp, io->name), "type",
                   wick_str_utf8(tmp, wick_io_text(io, tmp)));
}

static json_t *artifact_json_outputs(const wick_compiled *c, wick_arena *tmp)
{
  json_t *all = json_array();
  uint32_t n = wick_compiled_noutput(c);
  const wick_output_sizes s = artifact_sized(c, tmp);
  for (uint32_t i = 0; i < n; i++) {
    if (s.of[i] < n) continue;
    json_t *one = artifact_json_value(wick_compiled_output(c, i), tmp), *axes = json_array();
    for (uint32_t k = 0; k < s.nsize; k++)
      if (s.of[s.size[k]] == i)
        json_array_append_new(axes, json_integer((json_int_t)s.axis[s.size[k]]));
    if (json_array_size(axes)) json_object_set(one, "depends_on_data", axes);
    json_decref(axes);
    json_array_append_new(all, one);
  }
  return all;
}

json_t *wick_check_artifact_json(const char *path, const wick_compiled *c, wick_arena *tmp)
{
  json_t *in = json_array(), *states = json_array(), *sizes = json_array();
  for (uint32_t i = 0; i < wick_compiled_nstate(c); i++)
    json_array_append_new(states, artifact_json_value(wick_compiled_state(c, i), tmp));
  for (uint32_t i = 0; i < wick_compiled_ninput(c); i++)
    json_array_append_new(in, artifact_json_value(wick_compiled_input(c, i), tmp));
  for (uint32_t i = 0; i < wick_compiled_nsize(c); i++) {
    wick_size_range r = wick_compiled_size(c, i);
    json_array_append_new(sizes,
                          json_pack("{s:s, s:I, s:I}", "name", wick_str_utf8(tmp, r.name), "least",
                                    (json_int_t)r.least, "most", (json_int_t)r.most));
  }
  wick_memory m = wick_compiled_memory(c);
  return json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:[], s:[]}", "file",
                   wick_str_utf8(tmp, path), "good", true, "kind", "artifact", "inputs", in,
                   "outputs", artifact_json_outputs(c, tmp), "states", states, "sizes", sizes,
                   "constants_bytes", (json_int_t)m.constants, "arena_bytes", (json_int_t)m.arena,
                   "scratch_bytes_per_thread", (json_int_t)m.scratch, "states_bytes",
                   (json_int_t)m.states, "problems", "remarks");
}
