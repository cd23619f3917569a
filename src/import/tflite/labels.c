/* The labels of a classifier: a text file in the zip archive that is appended to the model, which the
 * metadata name as the labels of an output. Whatever is wrong with them is a remark: the model runs
 * without.
 * Source: metadata_schema.fbs of TensorFlow Lite's support library. */
#include <string.h>

#include "import/tflite/ops.h"
#include "import/zip.h"

enum { LABELS_AXIS = 2, LABELS_VALUE = 3 }; /* kinds of associated files */

/* The metadata's table; absent if there is none. */
static wick_flat labels_root(const wick_tflite_model *m, wick_flat_file *file)
{
  wick_flat_list all = wick_flat_vector(m->root, 6, 4);
  for (uint32_t i = 0; i < all.n; i++) {
    wick_flat entry = wick_flat_item(all, i);
    wick_span name = wick_flat_bytes(entry, 0);
    uint64_t buffer = wick_flat_uint(entry, 1, 4, 0);
    static const char known[] = "TFLITE_METADATA";
    if (name.nbytes != sizeof known - 1 || memcmp(name.at, known, name.nbytes) != 0) continue;
    if (buffer >= m->nbuffer || m->buffer[buffer].nbytes < 8) continue;
    *file = (wick_flat_file){.bytes = m->buffer[buffer]};
    return wick_flat_root(file);
  }
  return (wick_flat){0};
}

/* The name of the first file of labels of an output; empty if there is none. */
static wick_span labels_file(wick_flat root, uint32_t graph)
{
  wick_flat_list graphs = wick_flat_vector(root, 3, 4);
  if (graph >= graphs.n) return (wick_span){0};
  wick_flat_list outputs = wick_flat_vector(wick_flat_item(graphs, graph), 3, 4);
  for (uint32_t k = 0; k < outputs.n; k++) {
    wick_flat_list files = wick_flat_vector(wick_flat_item(outputs, k), 6, 4);
    for (uint32_t i = 0; i < files.n; i++) {
      wick_flat file = wick_flat_item(files, i);
      int64_t kind = wick_flat_int(file, 2, 1, 0);
      if (kind == LABELS_AXIS || kind == LABELS_VALUE) return wick_flat_bytes(file, 0);
    }
  }
  return (wick_span){0};
}

/* The lines as a list of JSON; lines at the end that are empty are left out. */
static const char *labels_list(wick_import *c, wick_span text)
{
  wick_text out = wick_text_begin(c->tmp);
  size_t end = text.nbytes;
  while (end && (text.at[end - 1] == '\n' || text.at[end - 1] == '\r')) end--;
  wick_text_printf(&out, "[\"");
  for (size_t i = 0; i < end; i++) {
    unsigned char ch = text.at[i];
    if (ch == '\n')
      wick_text_printf(&out, "\", \"");
    else if (ch == '"' || ch == '\\')
      wick_text_printf(&out, "\\%c", ch);
    else if (ch == '\t')
      wick_text_printf(&out, "\\t");
    else if (ch >= ' ')
      wick_text_printf(&out, "%c", ch);
  }
  wick_text_printf(&out, "\"]");
  return out.at;
}

void wick_tflite_labels(wick_import *c, const wick_tflite_model *m, uint32_t graph)
{
  wick_flat_file file = {0};
  wick_span name = labels_file(labels_root(m, &file), graph), text;
  wick_zip zip;
  if (file.fault) wick_import_remark(c, c->file, "its metadata are damaged: %s", file.fault);
  if (file.fault || !name.nbytes) return;
  const char *entry_name = wick_str_dupn(c->tmp, (const char *)name.at, name.nbytes);
  wick_status bad = wick_zip_open(m->file.bytes, c->file, c->tmp, &zip);
  const wick_zip_entry *entry = bad ? NULL : wick_zip_find(&zip, entry_name);
  if (entry) bad = wick_zip_read(&zip, entry, &text);
  if (bad || !entry) {
    wick_import_remark(c, c->file, "the labels \"%s\" that its metadata name cannot be read",
                       wick_import_shown(c, entry_name));
    return;
  }
  wick_import_metadata(c, "labels", labels_list(c, text));
}
