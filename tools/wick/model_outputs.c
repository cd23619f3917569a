/* Writes outputs to files. */
#include <string.h>

#include "base/str.h"
#include "runtime/keys.h"

#include "interrupt.h"
#include "model_inputs.h"

typedef struct model_outputs {
  const char *folder;
  wick_arena *tmp;
  wick_list(wick_output) file;
} model_outputs;

/* Returns the bytes of the next file, in two parts. */
static wick_bytes *model_outputs_file(model_outputs *o, uint32_t k, const char *end)
{
  wick_bytes *part = wick_new(o->tmp, wick_bytes, 2);
  const char *name = wick_str_printf(o->tmp, "output_%u.%s", k, end);
  wick_push(o->tmp, &o->file, (wick_output){wick_path_join(o->tmp, o->folder, name), part, 2});
  return part;
}

static wick_status model_outputs_tensor(model_outputs *o, uint32_t k, const wick_array *a)
{
  wick_bytes *part = model_outputs_file(o, k, "npy");
  WICK_TRY(wick_array_parts(a, o->file.at[o->file.n - 1].path, o->tmp, part));
  if (!a->keys.n) return NULL;
  wick_text t = wick_text_begin(o->tmp);
  wick_keys_write(&t, a->keys);
  wick_text_char(&t, '\n');
  *model_outputs_file(o, k, "keys.json") = (wick_bytes){t.at, t.n};
  return NULL;
}

/* Copies the bytes of data, because the heap's are freed with the heap. */
static wick_status model_outputs_data(model_outputs *o, uint32_t k, const wick_array *a)
{
  void *bytes;
  size_t n;
  wick_error *e = wick_datum_write(a->datum, &bytes, &n);
  if (e) {
    wick_status s = wick_fail(o->tmp, wick_error_code(e), NULL, "%s", wick_error_message(e));
    wick_error_free(e);
    return s;
  }
  wick_bytes *part = model_outputs_file(o, k, "data");
  *part = (wick_bytes){wick_arena_copy(o->tmp, bytes, n, 8), n};
  wick_datum_free_bytes(a->datum, bytes, n);
  return NULL;
}

static wick_status model_outputs_all(model_outputs *o, const wick_ports *ports,
                                     const wick_array *array)
{
  for (uint32_t k = 0; k < ports->n; k++) {
    const wick_port *p = &ports->at[k];
    const wick_array *a = array + p->first;
    if (a->datum) {
      WICK_TRY(model_outputs_data(o, k, a));
      continue;
    }
    if (!*p->type || p->is.map) {
      wick_array values = a[p->n - 1];
      if (p->n == 2) values.keys = wick_value_keys(a);
      WICK_TRY(model_outputs_tensor(o, k, &values));
    }
    if (!*p->type) continue;
    wick_bytes *part = model_outputs_file(o, k, "pb");
    WICK_TRY(wick_value_write(&p->is, p->name, p->count, a, o->file.at[o->file.n - 1].path, o->tmp,
                              part));
  }
  return NULL;
}

wick_status wick_model_outputs_write(const wick_ports *ports, const wick_array *array,
                                     const char *folder, wick_arena *tmp)
{
  model_outputs o = {.folder = folder, .tmp = tmp};
  wick_interrupt_begin();
  wick_status s = wick_folder_make(tmp, folder);
  if (!s) s = model_outputs_all(&o, ports, array);
  if (!s) s = wick_files_write(tmp, o.file.at, o.file.n);
  wick_interrupt_end();
  return s;
}
