/* The table of formats that Wick recognizes: how to recognize the bytes, the name of the format,
 * and the advice. */
#include "import/format.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "import/caffe/caffe.h"
#include "import/caffe2/caffe2.h"
#include "import/coreml/coreml.h"
#include "import/format_wire.h"
#include "import/keras/keras.h"
#include "import/mxnet/mxnet.h"
#include "import/tensorflow/tensorflow.h"
#include "import/tflite/tflite.h"

enum { FORMAT_HEAD = 1 << 16 }; /* bytes that are searched for words */

/* ---- bytes ---- */

static bool format_at(wick_span s, size_t offset, const char *magic, size_t n)
{
  return s.nbytes >= offset + n && memcmp(s.at + offset, magic, n) == 0;
}

/* Returns whether the word occurs in the first FORMAT_HEAD bytes. */
static bool format_has(wick_span s, const char *word)
{
  size_t n = strlen(word), most = s.nbytes < FORMAT_HEAD ? s.nbytes : FORMAT_HEAD;
  for (size_t i = 0; i + n <= most; i++) {
    const unsigned char *at = memchr(s.at + i, word[0], most - i - n + 1);
    if (!at) return false;
    i = (size_t)(at - s.at);
    if (memcmp(at, word, n) == 0) return true;
  }
  return false;
}

/* Returns whether the text begins with the word, after spaces and a byte order mark. Ignores
 * case. */
static bool format_begins(wick_span s, const char *word)
{
  size_t i = format_at(s, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (i < s.nbytes && s.at[i] && strchr(" \t\r\n", s.at[i])) i++;
  for (; *word; word++, i++)
    if (i >= s.nbytes || tolower(s.at[i]) != tolower((unsigned char)*word)) return false;
  return true;
}

/* ---- archives ---- */

/* Returns whether the name of an entry of a zip archive contains the word. The list of entries is
 * at the end of the file. */
static bool format_zip_has(wick_span s, const char *word)
{
  size_t most = s.nbytes < FORMAT_HEAD ? s.nbytes : FORMAT_HEAD;
  wick_span end = {s.at + (s.nbytes - most), most};
  return format_has(end, word) || format_has(s, word);
}

static bool format_is_zip(wick_span s)
{
  return format_at(s, 0, "PK\3\4", 4) || format_at(s, 0, "PK\5\6", 4);
}

static bool format_is_keras_zip(wick_span s)
{
  return format_is_zip(s) &&
         (format_zip_has(s, "model.weights.h5") || format_zip_has(s, "model.weights.json"));
}

static bool format_is_torch_export(wick_span s)
{
  return format_is_zip(s) &&
         (format_zip_has(s, "serialized_exported_program.json") ||
          format_zip_has(s, "models/model.json") || format_zip_has(s, "archive_format"));
}

static bool format_is_torchscript(wick_span s)
{
  return format_is_zip(s) && format_zip_has(s, "data.pkl") && format_zip_has(s, "/code/");
}

static bool format_is_checkpoint(wick_span s)
{
  static const char old[] = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19";
  return (format_is_zip(s) && format_zip_has(s, "data.pkl")) || format_at(s, 0, old, 14);
}

static bool format_is_npz(wick_span s) { return format_is_zip(s) && format_zip_has(s, ".npy"); }
static bool format_is_coreml_zip(wick_span s)
{
  return format_is_zip(s) && format_zip_has(s, "com.apple.CoreML");
}

/* ---- protobuf ---- */

static bool format_bit(uint64_t set, unsigned i) { return set >> i & 1; }

/* A ModelProto of ONNX has a graph (7). In the other formats fields 1 to 6 have other kinds. */
static bool format_is_onnx(const wick_fields *f)
{
  return format_bit(f->bytes, 7) && !format_bit(f->bytes, 1) && !format_bit(f->number, 7);
}

/* NodeDef: name = 1, op = 2. */
static bool format_is_graphdef(wick_span s)
{
  wick_fields f = wick_fields_of(s), node = wick_fields_of(f.part[1]);
  return f.whole && !format_is_onnx(&f) && node.whole && wick_fields_is_word(node.part[1]) &&
         wick_fields_is_word(node.part[2]) && !format_bit(node.number, 1);
}

/* saved_model_schema_version = 1; MetaGraphDef = 2, whose field 2 is the graph. */
static bool format_is_saved_model(wick_span s)
{
  wick_fields f = wick_fields_of(s), meta = wick_fields_of(f.part[2]),
              graph = wick_fields_of(meta.part[2]);
  return f.whole && !format_is_onnx(&f) && format_bit(f.number, 1) && meta.whole &&
         format_bit(meta.bytes, 1) && graph.whole && format_bit(graph.bytes, 1);
}

/* OperatorDef = 2 of NetDef: input = 1, output = 2, type = 4, and arg = 5, which is a message. */
static bool format_is_caffe2(wick_span s)
{
  wick_fields f = wick_fields_of(s), op = wick_fields_of(f.part[2]);
  return f.whole && !format_is_onnx(&f) && !format_bit(f.number, 1) && op.whole &&
         format_bit(op.bytes, 2) && wick_fields_is_word(op.part[4]) && !format_bit(op.number, 5) &&
         f.most < 64;
}

/* LayerParameter = 100; in old files V1LayerParameter = 2, with name = 4 and type number = 5, and before
 * that V0LayerParameter = 1 in it, with name = 1 and type = 2. */
static bool format_is_caffe(wick_span s)
{
  wick_fields f = wick_fields_of(s), old = wick_fields_of(f.part[2]),
              v0 = wick_fields_of(old.part[1]);
  bool is_v0 = old.whole && !format_bit(old.bytes, 4) && v0.whole &&
               wick_fields_is_word(v0.part[1]) && wick_fields_is_word(v0.part[2]);
  return f.whole && !format_is_onnx(&f) && !format_bit(f.number, 1) &&
         (f.most == 100 || is_v0 ||
          (old.whole && format_bit(old.bytes, 4) && format_bit(old.number, 5)));
}

/* specificationVersion = 1, description = 2; a field from 200 on is the kind of model. */
static bool format_is_coreml(wick_span s)
{
  wick_fields f = wick_fields_of(s);
  return f.whole && !format_is_onnx(&f) && format_bit(f.number, 1) && format_bit(f.bytes, 2) &&
         f.most >= 200 && f.most <= 3000;
}

/* BlockDesc = 1: idx = 1, parent_idx = 2, vars = 3. */
static bool format_is_paddle(wick_span s)
{
  wick_fields f = wick_fields_of(s), block = wick_fields_of(f.part[1]);
  return f.whole && !format_is_onnx(&f) && block.whole && format_bit(block.number, 1) &&
         format_bit(block.number, 2) && format_bit(block.bytes, 3);
}

/* dims = 1, data_type = 2, raw_data = 9 or floats = 4, name = 8. */
static bool format_is_tensor(wick_span s)
{
  wick_fields f = wick_fields_of(s);
  return f.whole && format_bit(f.number, 2) && !format_bit(f.bytes, 7) &&
         (format_bit(f.bytes, 9) || format_bit(f.bytes, 4) || format_bit(f.bytes, 5)) &&
         f.most <= 14;
}

/* ---- others ---- */

static bool format_is_empty(wick_span s) { return s.nbytes == 0; }

static bool format_is_zeros(wick_span s)
{
  size_t n = s.nbytes < FORMAT_HEAD ? s.nbytes : FORMAT_HEAD, i = 0;
  while (i < n && !s.at[i]) i++;
  return n >= 16 && i == n;
}

/* The file begins with 8 bytes, the length of the JSON header that follows. */
static bool format_is_safetensors(wick_span s)
{
  uint64_t n = 0;
  if (s.nbytes < 10) return false;
  for (int i = 7; i >= 0; i--) n = n << 8 | s.at[i];
  return n >= 2 && n <= s.nbytes - 8 && s.at[8] == '{' && (s.at[9] == '"' || s.at[9] == '}');
}

static bool format_is_pickle(wick_span s)
{
  return s.nbytes > 2 && s.at[0] == 0x80 && s.at[1] >= 2 && s.at[1] <= 5 &&
         s.at[s.nbytes - 1] == '.';
}

static bool format_is_executorch(wick_span s)
{
  return format_at(s, 4, "ET", 2) && s.nbytes >= 8 && isdigit(s.at[6]) && isdigit(s.at[7]);
}

static bool format_is_html(wick_span s)
{
  return format_begins(s, "<!doctype html") || format_begins(s, "<html");
}

static bool format_is_openvino(wick_span s)
{
  return (format_begins(s, "<?xml") && format_has(s, "<net ")) || format_begins(s, "<net ");
}

static bool format_is_json(wick_span s) { return format_begins(s, "{") || format_begins(s, "["); }
static bool format_is_mxnet_json(wick_span s)
{
  return format_is_json(s) && format_has(s, "\"nodes\"") && format_has(s, "\"op\"") &&
         format_has(s, "\"inputs\"");
}
static bool format_is_paddle_json(wick_span s)
{
  return format_is_json(s) && format_has(s, "\"base_code\"") && format_has(s, "\"pir\"");
}
static bool format_is_tfjs(wick_span s)
{
  return format_is_json(s) &&
         (format_has(s, "\"modelTopology\"") || format_has(s, "\"class_name\""));
}
static bool format_is_xgboost(wick_span s)
{
  return (format_is_json(s) && format_has(s, "\"learner\"")) ||
         (format_at(s, 0, "{L", 2) && format_has(s, "learner"));
}
static bool format_is_darknet(wick_span s)
{
  return format_begins(s, "[net]") || format_begins(s, "[network]") ||
         format_at(s, 0, "\0\0\0\0\1\0\0\0\0\0\0\0", 12) ||
         format_at(s, 0, "\0\0\0\0\2\0\0\0\5\0\0\0", 12) ||
         format_at(s, 0, "\0\0\0\0\2\0\0\0\0\0\0\0", 12);
}
/* Protobuf's text form may begin with comments. */
static wick_span format_skip_comments(wick_span s)
{
  size_t i = format_at(s, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
  for (; i < s.nbytes && (isspace(s.at[i]) || s.at[i] == '#'); i++)
    if (s.at[i] == '#')
      while (i + 1 < s.nbytes && s.at[i + 1] != '\n') i++;
  return (wick_span){s.at + i, s.nbytes - i};
}
/* The text has layers, with any space before their brace, or inputs. */
static bool format_is_prototxt(wick_span s)
{
  static const char *const first[] = {"name", "layer", "input", "force_backward", "state"};
  bool begins = false;
  s = format_skip_comments(s);
  for (size_t i = 0; i < WICK_COUNT(first); i++) begins = begins || format_begins(s, first[i]);
  if (!begins) return false;
  for (size_t i = 0; i + 6 < s.nbytes && i < FORMAT_HEAD; i++) {
    if (memcmp(s.at + i, "layer", 5) != 0) continue;
    size_t k = i + 5 + (s.at[i + 5] == 's');
    while (k < s.nbytes && (isspace(s.at[k]) || s.at[k] == ':')) k++;
    if (k < s.nbytes && s.at[k] == '{') return true;
  }
  return format_has(s, "input_dim") || format_has(s, "input_shape");
}
static bool format_is_graphdef_text(wick_span s)
{
  s = format_skip_comments(s);
  bool begins = format_begins(s, "node {") || format_begins(s, "node{") ||
                format_begins(s, "library {") || format_begins(s, "versions {") ||
                format_begins(s, "node <");
  return begins && (format_has(s, "op:") || format_has(s, "node_def"));
}
static bool format_is_saved_model_text(wick_span s)
{
  s = format_skip_comments(s);
  return format_begins(s, "saved_model_schema_version:") || format_begins(s, "meta_graphs {");
}
static bool format_is_mlir(wick_span s)
{
  return format_at(s, 0, "ML\xefR", 4) ||
         (format_begins(s, "module") &&
          (format_has(s, "func.func") || format_has(s, "oneflow.job")));
}
static bool format_is_tar(wick_span s) { return format_at(s, 257, "ustar", 5); }
static bool format_is_message(wick_span s) /* a server's message instead of the file */
{
  return format_begins(s, "{\"error\"") || format_begins(s, "Entry not found") ||
         format_begins(s, "Repository not found") || format_begins(s, "404: Not Found") ||
         format_begins(s, "Not Found") || format_begins(s, "Invalid username or password") ||
         format_begins(s, "Access to model");
}

/* ---- the table ---- */

typedef struct format_row {
  wick_format format;
  size_t offset, n; /* position and length of the magic bytes; n is 0 if `is` decides */
  const char *magic;
  bool (*is)(wick_span s);
  bool schema; /* `is` parses the bytes by a schema: other schemas may fit, too */
} format_row;

#define MAGIC(at, text) .offset = (at), .magic = (text), .n = sizeof(text) - 1
#define FROM_TF "convert it with tf2onnx: python -m tf2onnx.convert --output model.onnx, and "
#define FROM_TORCH                                                                                 \
  "load it in Python and write it with torch.onnx.export(model, inputs, \"model.onnx\")"
#define FETCH "download the file itself"

static const format_row format_rows[] = {
    {{"an empty file", FETCH, NULL}, .is = format_is_empty},
    {{"a file of zeros", FETCH, NULL}, .is = format_is_zeros},
    {{"a pointer of Git LFS", "`git lfs pull` fetches the file itself", NULL},
     MAGIC(0, "version https://git-lfs.github.com/spec/")},
    {{"a page in HTML", FETCH ", not the page about it", NULL}, .is = format_is_html},
    {{"a server's message", FETCH, NULL}, .is = format_is_message},
    {{"a TFLite model", "", wick_import_tflite}, MAGIC(4, "TFL3")},
    {{"an ExecuTorch program",
      "take the model it was made from and write that with "
      "torch.onnx.export",
      NULL},
     .is = format_is_executorch},
    {{"a model in ONNX Runtime's own format", "take the ONNX file it was made from", NULL},
     MAGIC(4, "ORTM")},
    {{"a GGUF file", "take the model it was made from, and write that with optimum-cli export onnx",
      NULL},
     MAGIC(0, "GGUF")},
    {{"a GGML file", "take the model it was made from", NULL}, MAGIC(0, "lmgg")},
    {{"a GGML file", "take the model it was made from", NULL}, MAGIC(0, "tjgg")},
    {{"a TensorRT engine", "take the ONNX file it was built from", NULL}, MAGIC(0, "ftrt")},
    {{"a TensorRT engine", "take the ONNX file it was built from", NULL}, MAGIC(0, "ptrt")},
    {{"an RKNN model", "take the ONNX file it was made from", NULL}, MAGIC(0, "RKNN")},
    {{"an ncnn model", "take the ONNX file it was made from", NULL}, MAGIC(0, "7767517\n")},
    {{"a Keras model in HDF5", "", wick_import_keras}, MAGIC(0, "\x89HDF\r\n\x1a\n")},
    {{"a Keras model", "", wick_import_keras}, .is = format_is_keras_zip},
    {{"a program of torch.export", FROM_TORCH, NULL}, .is = format_is_torch_export},
    {{"a TorchScript model", FROM_TORCH, NULL}, .is = format_is_torchscript},
    {{"a checkpoint of PyTorch", FROM_TORCH, NULL}, .is = format_is_checkpoint},
    {{"a file of safetensors, which has weights and no network", FROM_TORCH, NULL},
     .is = format_is_safetensors},
    {{"a Core ML package", "unpack it", NULL}, .is = format_is_coreml_zip},
    {{"tensors of NumPy", "give them as --inputs", NULL}, .is = format_is_npz},
    {{"a tensor of NumPy", "give it as --inputs", NULL}, MAGIC(0, "\x93NUMPY")},
    {{"a model of OpenVINO", "take the model it was made from", NULL}, .is = format_is_openvino},
    {{"a model of PaddlePaddle", "convert it with paddle2onnx", NULL}, .is = format_is_paddle_json},
    {{"a model of MXNet", "", wick_import_mxnet}, .is = format_is_mxnet_json},
    {{"parameters of MXNet", "give the file of the network, NAME-symbol.json", NULL},
     MAGIC(0, "\x12\1\0\0\0\0\0\0")},
    {{"a model of Keras or TensorFlow.js in JSON", "take the model it was made from", NULL},
     .is = format_is_tfjs},
    {{"a model of XGBoost", "convert it with onnxmltools", NULL}, .is = format_is_xgboost},
    {{"a model of LightGBM", "convert it with onnxmltools", NULL}, MAGIC(0, "tree\nversion=")},
    {{"a network of Darknet", "convert it with a tool such as tool/darknet2onnx.py", NULL},
     .is = format_is_darknet},
    {{"a network of Caffe", "", wick_import_caffe}, .is = format_is_prototxt},
    {{"a module of MLIR (OneFlow and others)", "write the model it was made from as ONNX", NULL},
     .is = format_is_mlir},
    {{"a picture in PNG", "give it as --input", NULL}, MAGIC(0, "\x89PNG\r\n\x1a\n")},
    {{"a picture in JPEG", "give it as --input", NULL}, MAGIC(0, "\xff\xd8\xff")},
    {{"a PDF", "", NULL}, MAGIC(0, "%PDF-")},
    {{"a program or library", "", NULL},
     MAGIC(0, "\x7f"
              "ELF")},
    {{"a program for Windows", "", NULL}, MAGIC(0, "MZ\x90")},
    {{"an archive of gzip", "unpack it", NULL}, MAGIC(0, "\x1f\x8b")},
    {{"an archive of bzip2", "unpack it", NULL}, MAGIC(0, "BZh")},
    {{"an archive of xz", "unpack it", NULL},
     MAGIC(0, "\xfd"
              "7zXZ")},
    {{"an archive of zstd", "unpack it", NULL}, MAGIC(0, "\x28\xb5\x2f\xfd")},
    {{"an archive of 7-Zip", "unpack it", NULL}, MAGIC(0, "7z\xbc\xaf")},
    {{"an archive of tar", "unpack it", NULL}, .is = format_is_tar},
    {{"a zip archive", "unpack it", NULL}, .is = format_is_zip},
    {{"a pickle of Python", "if it is a model of scikit-learn, convert it with skl2onnx", NULL},
     .is = format_is_pickle},
    {{"a graph of TensorFlow", "", wick_import_graphdef}, .is = format_is_graphdef, .schema = true},
    {{"a graph of TensorFlow", "", wick_import_graphdef}, .is = format_is_graphdef_text},
    {{"a SavedModel of TensorFlow", "", wick_import_saved_model},
     .is = format_is_saved_model,
     .schema = true},
    {{"a SavedModel of TensorFlow", "", wick_import_saved_model}, .is = format_is_saved_model_text},
    {{"a model of PaddlePaddle", "convert it with paddle2onnx", NULL},
     .is = format_is_paddle,
     .schema = true},
    {{"a model of Core ML", "", wick_import_coreml}, .is = format_is_coreml, .schema = true},
    {{"a network of Caffe", "", wick_import_caffe}, .is = format_is_caffe, .schema = true},
    {{"a network of Caffe2", "", wick_import_caffe2}, .is = format_is_caffe2, .schema = true},
    {{"an ONNX tensor, not a model", "give it as --inputs", NULL},
     .is = format_is_tensor,
     .schema = true},
};

static bool format_fits(const format_row *r, wick_span bytes)
{
  return r->is ? r->is(bytes) : format_at(bytes, r->offset, r->magic, r->n);
}

const wick_format *wick_format_of(wick_span bytes)
{
  for (size_t i = 0; i < WICK_COUNT(format_rows); i++)
    if (format_fits(&format_rows[i], bytes)) return &format_rows[i].format;
  return NULL;
}

static wick_status format_fail(const wick_format *f, const char *location, wick_arena *mem)
{
  return wick_fail(mem, WICK_EUNSUPPORTED, location, "this is %s, which Wick does not read%s%s",
                   f->name, *f->advice ? ": " : "", f->advice);
}

/* Rows of protobuf schemas are at the end of the table: a row before them decides alone. */
wick_status wick_format_find(wick_span bytes, const char *location, wick_arena *mem,
                             const wick_format **out)
{
  const wick_format *f = *out = wick_format_of(bytes);
  if (!f) return NULL;
  if (!f->read) return format_fail(f, location, mem);
  bool after = false;
  for (size_t i = 0; i < WICK_COUNT(format_rows); i++) {
    const format_row *r = &format_rows[i];
    if (after && r->format.read && r->format.read != f->read && format_fits(r, bytes))
      return wick_fail(mem, WICK_EPARSE, location, "this may be %s or %s", f->name, r->format.name);
    after = after || (&r->format == f && r->schema);
  }
  return NULL;
}

wick_status wick_format_find_folder(const char *path, wick_arena *mem, const wick_format **out)
{
  static const struct {
    const char *file;
    wick_format format;
  } rows[] = {
      {"saved_model.pb", {"a SavedModel of TensorFlow", "", wick_import_saved_model}},
      {"saved_model.pbtxt", {"a SavedModel of TensorFlow", "", wick_import_saved_model}},
      {"Manifest.json", {"a Core ML package", "", wick_import_coreml}},
      {"model.mlir", {"a model of OneFlow", "convert it with oneflow_onnx", NULL}},
      {"inference.pdmodel", {"a model of PaddlePaddle", "convert it with paddle2onnx", NULL}},
      {"__model__", {"a model of PaddlePaddle", "convert it with paddle2onnx", NULL}},
      {"model.onnx", {"a folder", "give the file model.onnx in it", NULL}},
      {"config.json",
       {"a model folder of Hugging Face", "give an ONNX file, as optimum-cli export onnx writes",
        NULL}},
      {".", {"a folder", "give a file", NULL}},
  };
  struct stat st;
  *out = NULL;
  if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return NULL;
  size_t i = 0;
  while (i + 1 < WICK_COUNT(rows) && stat(wick_path_join(mem, path, rows[i].file), &st) != 0) i++;
  if (!rows[i].format.read) return format_fail(&rows[i].format, path, mem);
  *out = &rows[i].format;
  return NULL;
}
