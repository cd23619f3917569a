/* Opens files and packages, declares the interface, and dispatches on the kind of model. Begin with
 * the functions at the end. */
#include "import/coreml/model.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "import/coreml/classic.h"
#include "import/coreml/classify.h"
#include "import/coreml/coreml.h"
#include "import/coreml/layers.h"
#include "import/coreml/program.h"
#include "import/json.h"

enum { MODEL_KIND_FIRST = 200, MODEL_KIND_LAST = 3000, MODEL_PIPELINES = 20 };

/* ---- the container ---- */

/* Reads the manifest of a package; sets the path of its model, relative to the package. */
static wick_status model_manifest(wick_import *c, wick_files *files, const char **out)
{
  size_t wrong = 0;
  wick_file *file;
  WICK_TRY(wick_files_map_beneath(files, c->path, "Manifest.json", &file));
  const char *location = wick_str_printf(c->tmp, "%s/Manifest.json", c->file);
  const wick_json *j = wick_json_read(c->tmp, (const char *)file->at, file->nbytes, &wrong);
  if (!j) return wick_fail(c->tmp, WICK_EPARSE, location, "at byte %zu: it is not JSON", wrong);
  const char *root = wick_json_unescaped(c->tmp, wick_json_member(j, "rootModelIdentifier"));
  const wick_json *items = wick_json_member(j, "itemInfoEntries");
  const wick_json *item = root ? wick_json_member(items, root) : NULL;
  const char *path = wick_json_unescaped(c->tmp, wick_json_member(item, "path"));
  if (!path) return wick_fail(c->tmp, WICK_EPARSE, location, "it names no root model with a path");
  *out = wick_str_printf(c->tmp, "Data/%s", path);
  return NULL;
}

static wick_status model_package(wick_import *c, wick_coreml_model *m, wick_span *out)
{
  wick_files *files = c->options->files;
  const char *path = NULL;
  wick_file *file;
  if (!files) return wick_fail(c->tmp, WICK_EINVAL, c->file, "its files cannot be read here");
  WICK_TRY(model_manifest(c, files, &path));
  WICK_TRY(wick_files_map_beneath(files, c->path, path, &file));
  m->folder = wick_path_folder(c->tmp, wick_path_join(c->tmp, c->path, path));
  *out = (wick_span){file->at, file->nbytes};
  return NULL;
}

/* Chooses the description: of the function that is asked for, where the model has several. */
static wick_status model_describe(wick_import *c, wick_coreml_model *m)
{
  wick_coreml_message d = wick_coreml_part(&m->spec, "description");
  wick_coreml_messages functions = wick_coreml_parts(&d, "functions", c->tmp);
  const char *asked = c->options->entry,
             *usual = wick_wire_text(c->tmp, wick_coreml_bytes(&d, "defaultFunctionName"));
  wick_text known = wick_text_begin(c->tmp);
  m->interface = d;
  m->function = *usual ? usual : "main";
  if (!functions.n && asked && strcmp(asked, m->function) != 0)
    return wick_fail(c->tmp, WICK_EINVAL, c->file, "the model has no function \"%s\"", asked);
  if (!functions.n) return NULL;
  if (asked) m->function = asked;
  for (uint32_t i = 0; i < functions.n; i++) {
    const char *name = wick_wire_text(c->tmp, wick_coreml_bytes(&functions.at[i], "name"));
    wick_text_printf(&known, "%s%s", i ? ", " : "", wick_import_shown(c, name));
    if (strcmp(name, m->function) != 0) continue;
    m->interface = functions.at[i];
    return NULL;
  }
  return wick_fail(c->tmp, WICK_EINVAL, c->file, "the model has no function \"%s\", it has %s",
                   wick_import_shown(c, m->function), known.at);
}

/* Neural networks compute in f32, whatever floats their arrays are declared to hold. Old ones map all
 * arrays to five dimensions. */
static bool model_is_network(const wick_coreml_message *spec, int64_t version, bool *out_classic)
{
  wick_coreml_message part;
  const wick_coreml_field *f = wick_coreml_choice(spec, MODEL_KIND_FIRST, MODEL_KIND_LAST, &part);
  bool is = f && wick_coreml_field_of(&part, "arrayInputShapeMapping");
  *out_classic = is && !wick_coreml_is_exact(version, &part, "arrayInputShapeMapping");
  return is;
}

static wick_status model_open(wick_import *c, wick_span bytes)
{
  wick_coreml_model *m = wick_new(c->tmp, wick_coreml_model, 1);
  struct stat st;
  c->model = m;
  m->folder = wick_path_folder(c->tmp, c->path);
  if (stat(c->path, &st) == 0 && S_ISDIR(st.st_mode)) WICK_TRY(model_package(c, m, &bytes));
  m->spec = (wick_coreml_message){bytes, wick_coreml_types(c->tmp)};
  WICK_TRY(wick_coreml_check(&m->spec, c->tmp, c->file));
  m->version = wick_coreml_int(&m->spec, "specificationVersion", 1);
  m->network = model_is_network(&m->spec, m->version, &m->classic);
  return model_describe(c, m);
}

bool wick_coreml_file(wick_import *c, const wick_coreml_model *m, const char *name,
                      const char *location, wick_span *out)
{
  static const char root[] = "@model_path/";
  wick_file *file = NULL;
  wick_status s = NULL;
  if (strncmp(name, root, sizeof root - 1) != 0)
    s = wick_fail(c->tmp, WICK_EUNSUPPORTED, location, "the file \"%s\" is not in the package",
                  wick_import_shown(c, name));
  else if (!c->options->files)
    s = wick_fail(c->tmp, WICK_EINVAL, location, "files cannot be read here");
  else
    s = wick_files_map_beneath(c->options->files, m->folder, name + sizeof root - 1, &file);
  if (s) wick_import_add(c, NULL, s, location);
  *out = s ? (wick_span){0} : (wick_span){file->at, file->nbytes};
  return !s;
}

/* ---- features ---- */

/* Widens the sizes so that they include a shape of the same rank; another rank leaves them open. */
static void model_include(wick_coreml_feature *f, wick_coreml_ints shape)
{
  f->open = f->open || shape.n != f->rank;
  for (uint32_t k = 0; k < f->rank && !f->open; k++) {
    if (shape.at[k] < f->lo[k]) f->lo[k] = shape.at[k];
    if (shape.at[k] > f->hi[k]) f->hi[k] = shape.at[k];
  }
}

/* Reads a SizeRange; an upper bound of -1 is none. */
static void model_range(const wick_coreml_message *range, int64_t *lo, int64_t *hi)
{
  if (!range->bytes.at) return;
  *lo = wick_coreml_int(range, "lowerBound", 0);
  *hi = wick_coreml_int(range, "upperBound", 0);
  if (*hi < 0 || *hi > WICK_IMPORT_LARGEST) *hi = WICK_IMPORT_LARGEST;
  if (*lo < 0 || *lo > *hi) *lo = *hi;
}

static bool model_array(wick_import *c, wick_coreml_feature *f, const wick_coreml_message *array,
                        const char *location)
{
  static const struct {
    int64_t type;
    wick_elem elem;
  } elems[] = {{0, WICK_F32},       {0x10020, WICK_F32}, {0x10040, WICK_F64},
               {0x10010, WICK_F16}, {0x20020, WICK_I32}, {0x20008, WICK_I8}};
  int64_t type = wick_coreml_int(array, "dataType", 0);
  uint32_t e = 0;
  while (e < WICK_COUNT(elems) && elems[e].type != type) e++;
  if (e == WICK_COUNT(elems)) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "there is no element type %lld",
                      (long long)type);
    return false;
  }
  f->elem = elems[e].elem;
  if (f->elem == WICK_F64 && ((wick_coreml_model *)c->model)->network) f->elem = WICK_F32;
  wick_coreml_ints shape = wick_coreml_ints_of(array, "shape", c->tmp);
  wick_coreml_message several = wick_coreml_part(array, "enumeratedShapes"),
                      range = wick_coreml_part(array, "shapeRange");
  wick_coreml_messages shapes = wick_coreml_parts(&several, "shapes", c->tmp),
                       ranges = wick_coreml_parts(&range, "sizeRanges", c->tmp);
  if (!shape.n && shapes.n) shape = wick_coreml_ints_of(&shapes.at[0], "shape", c->tmp);
  f->rank = ranges.n ? ranges.n : shape.n;
  if (f->rank > WICK_MAX_RANK) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "its rank is %u, the most is %d", f->rank,
                      WICK_MAX_RANK);
    return false;
  }
  for (uint32_t k = 0; k < f->rank; k++) {
    f->lo[k] = f->hi[k] = k < shape.n ? shape.at[k] : 0;
    if (k < ranges.n) model_range(&ranges.at[k], &f->lo[k], &f->hi[k]);
  }
  f->open = !f->rank;
  for (uint32_t i = 0; i < shapes.n; i++)
    model_include(f, wick_coreml_ints_of(&shapes.at[i], "shape", c->tmp));
  return true;
}

/* A picture is [1, channels, height, width]; the colours are red, green and blue. */
static bool model_image(wick_import *c, wick_coreml_feature *f, const wick_coreml_message *image,
                        const char *location)
{
  enum { GRAYSCALE = 10, RGB = 20, BGR = 30, GRAYSCALE_F16 = 40, HEIGHT = 2, WIDTH = 3 };
  int64_t space = wick_coreml_int(image, "colorSpace", 0);
  int64_t channels = space == GRAYSCALE || space == GRAYSCALE_F16 ? 1 : 3;
  if (channels == 3 && space != RGB && space != BGR) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "there is no colour space %lld",
                      (long long)space);
    return false;
  }
  f->elem = space == GRAYSCALE_F16 ? WICK_F16 : WICK_U8;
  f->rank = 4;
  f->lo[0] = f->hi[0] = 1, f->lo[1] = f->hi[1] = channels;
  f->lo[HEIGHT] = f->hi[HEIGHT] = wick_coreml_int(image, "height", 0);
  f->lo[WIDTH] = f->hi[WIDTH] = wick_coreml_int(image, "width", 0);
  wick_coreml_message range = wick_coreml_part(image, "imageSizeRange"),
                      several = wick_coreml_part(image, "enumeratedSizes");
  wick_coreml_message high = wick_coreml_part(&range, "heightRange"),
                      wide = wick_coreml_part(&range, "widthRange");
  model_range(&high, &f->lo[HEIGHT], &f->hi[HEIGHT]);
  model_range(&wide, &f->lo[WIDTH], &f->hi[WIDTH]);
  wick_coreml_messages sizes = wick_coreml_parts(&several, "sizes", c->tmp);
  for (uint32_t i = 0; i < sizes.n; i++) {
    const int64_t shape[] = {1, channels, wick_coreml_int(&sizes.at[i], "height", 0),
                             wick_coreml_int(&sizes.at[i], "width", 0)};
    model_include(f, (wick_coreml_ints){4, shape});
  }
  return true;
}

bool wick_coreml_feature_of(wick_import *c, const wick_coreml_message *description,
                            const char *location, wick_coreml_feature *out)
{
  static const struct {
    const char *kind;
    wick_elem elem;
  } scalars[] = {{"int64Type", WICK_I64}, {"doubleType", WICK_F64}, {"stringType", WICK_STRING}};
  wick_coreml_message type = wick_coreml_part(description, "type"), part;
  const wick_coreml_field *kind = wick_coreml_choice(&type, 1, 63, &part);
  *out =
      (wick_coreml_feature){.name = wick_wire_text(c->tmp, wick_coreml_bytes(description, "name")),
                            .type = type,
                            .kind = kind ? wick_str_dupn(c->tmp, kind->name, kind->nname) : "",
                            .elem = WICK_F32,
                            .optional = wick_coreml_int(&type, "isOptional", 0) != 0};
  for (uint32_t i = 0; i < WICK_COUNT(scalars); i++) {
    if (strcmp(out->kind, scalars[i].kind) != 0) continue;
    out->elem = scalars[i].elem;
    out->rank = 1;
    out->lo[0] = out->hi[0] = 1;
    return true;
  }
  if (strcmp(out->kind, "multiArrayType") == 0) return model_array(c, out, &part, location);
  if (strcmp(out->kind, "imageType") == 0) return model_image(c, out, &part, location);
  out->open = true;
  if (!*out->kind || strcmp(out->kind, "dictionaryType") == 0) return true;
  wick_import_error(c, WICK_EUNSUPPORTED, location, "features of the kind %s are not supported",
                    out->kind);
  return false;
}

/* ---- the interface ---- */

wick_value wick_coreml_turned(wick_import *c, wick_value x)
{
  wick_builder *b = &c->b;
  wick_value part[3];
  for (uint32_t k = 0; k < 3; k++)
    part[k] = wick_emit_slice(b, x, 1, wick_dim_const(2 - (int64_t)k), wick_dim_const(1));
  return wick_build_concat(b, 1, 3, part);
}

static const char *model_place(const wick_import *c, const char *word,
                               const wick_coreml_message *description)
{
  const char *name = wick_wire_text(c->tmp, wick_coreml_bytes(description, "name"));
  return wick_str_printf(c->tmp, "%s: %s \"%s\"", c->file, word, wick_import_shown(c, name));
}

static wick_value model_input(wick_import *c, const wick_coreml_feature *f)
{
  wick_dim dim[WICK_MAX_RANK];
  bool given = false; /* batch and sequence may come before the shape of an old network's input */
  for (uint32_t i = 0; i < c->options->nshape && ((wick_coreml_model *)c->model)->classic; i++)
    given = given || strcmp(c->options->shape[i].input, f->name) == 0;
  if (f->open || given) return wick_import_input_open(c, f->name, f->elem);
  for (uint32_t k = 0; k < f->rank; k++)
    dim[k] = f->lo[k] == f->hi[k] ? wick_dim_const(f->lo[k]) : wick_import_size(c, "", f->name, k);
  return wick_import_input(c, f->name, f->elem, f->rank, dim);
}

/* What the model reads of an input: of a picture, the colours in f32, in the model's order. */
static wick_value model_value(wick_import *c, const wick_coreml_feature *f, wick_value input)
{
  enum { BGR = 30 };
  wick_value x = wick_import_input_value(c, input);
  wick_coreml_message image = wick_coreml_part(&f->type, "imageType");
  if (!image.bytes.at || c->interface) return x;
  x = wick_build_cast(&c->b, x, WICK_F32);
  return wick_coreml_int(&image, "colorSpace", 0) == BGR ? wick_coreml_turned(c, x) : x;
}

/* The default of an optional array, as a constant; dynamic sizes have their least value. */
static wick_value model_default(wick_import *c, const wick_coreml_feature *f)
{
  static const char *const names[] = {"intDefaultValue", "floatDefaultValue", "doubleDefaultValue"};
  wick_coreml_message array = wick_coreml_part(&f->type, "multiArrayType");
  double v = 0;
  for (uint32_t k = 0; k < WICK_COUNT(names); k++)
    v = k ? wick_coreml_real(&array, names[k], v) : (double)wick_coreml_int(&array, names[k], 0);
  return wick_build_const(&c->b, wick_type_tensor_const(c->module, f->elem, f->rank, f->lo), v,
                          (int64_t)fmax(-2147483648.0, fmin(v, 2147483647.0)));
}

/* An optional input is no parameter, unless it is asked for: an array has its default, another kind
 * of feature no value. */
static bool model_absent(const wick_import *c, const wick_coreml_feature *f)
{
  for (uint32_t i = 0; i < c->options->noverride; i++)
    if (strcmp(c->options->override[i], f->name) == 0) return false;
  return f->optional && (!f->open || strcmp(f->kind, "multiArrayType") != 0);
}

/* Lists an optional array among the inputs that may be asked for. */
static void model_overridable(wick_import *c, const wick_coreml_feature *f)
{
  wick_import_overridable o = {.name = f->name, .elem = f->elem, .rank = f->rank};
  if (!c->options->overridable || strcmp(f->kind, "multiArrayType") != 0) return;
  for (uint32_t k = 0; k < f->rank; k++)
    o.dim[k] = f->lo[k] == f->hi[k] ? f->lo[k] : -1, o.dim_name[k] = "";
  for (uint32_t i = 0; i < c->options->overridable->n; i++)
    if (strcmp(c->options->overridable->at[i].name, o.name) == 0) return;
  o.name = wick_str_dup(c->mem, o.name);
  wick_push(c->mem, c->options->overridable, o);
}

/* Finds the keys of a dictionary: those of the DictVectorizer that reads the input of that name, in
 * the model or in a pipeline. Returns their number, 0 if there is none. */
static uint32_t model_keys(wick_import *c, const wick_coreml_message *spec, uint32_t at,
                           const char *name, uint32_t depth)
{
  wick_coreml_message part, inner, description = wick_coreml_part(spec, "description");
  const wick_coreml_field *f = wick_coreml_choice(spec, MODEL_KIND_FIRST, MODEL_KIND_LAST, &part);
  wick_coreml_messages in = wick_coreml_parts(&description, "input", c->tmp);
  uint32_t n = 0;
  if (f && wick_coreml_field_of(&part, "stringToIndex") && in.n &&
      strcmp(wick_wire_text(c->tmp, wick_coreml_bytes(&in.at[0], "name")), name) == 0)
    return wick_coreml_dictionary(c, &part, at, name);
  inner = part;
  if (f && wick_coreml_field_of(&part, "pipeline")) inner = wick_coreml_part(&part, "pipeline");
  if (!f || !wick_coreml_field_of(&inner, "models") || depth >= MODEL_PIPELINES) return 0;
  wick_coreml_messages models = wick_coreml_parts(&inner, "models", c->tmp);
  for (uint32_t i = 0; i < models.n && !n; i++)
    n = model_keys(c, &models.at[i], at, name, depth + 1);
  return n;
}

/* A dictionary is the vector of the values of its known keys. */
static void model_dictionary(wick_import *c, const wick_coreml_model *m, uint32_t at,
                             wick_coreml_feature *f)
{
  uint32_t n = model_keys(c, &m->spec, at, f->name, 0);
  f->elem = WICK_F64;
  if (!n) return;
  f->open = false, f->rank = 1;
  f->lo[0] = f->hi[0] = n;
}

static void model_inputs(wick_import *c, const wick_coreml_model *m)
{
  wick_coreml_messages in = wick_coreml_parts(&m->interface, "input", c->tmp);
  wick_value *v = wick_new(c->tmp, wick_value, (size_t)in.n + 1);
  wick_coreml_feature *f = wick_new(c->tmp, wick_coreml_feature, (size_t)in.n + 1);
  wick_coreml_message kind;
  wick_coreml_choice(&m->spec, MODEL_KIND_FIRST, MODEL_KIND_LAST, &kind);
  bool *absent = wick_new(c->tmp, bool, (size_t)in.n + 1);
  for (uint32_t i = 0; i < in.n; i++) {
    if (!wick_coreml_feature_of(c, &in.at[i], model_place(c, "input", &in.at[i]), &f[i])) continue;
    if (m->network && f[i].elem == WICK_F32 && wick_coreml_is_index(c, &kind, f[i].name))
      f[i].elem = WICK_I32;
    if (strcmp(f[i].kind, "dictionaryType") == 0) model_dictionary(c, m, i, &f[i]);
    absent[i] = model_absent(c, &f[i]);
    if (f[i].optional) model_overridable(c, &f[i]);
    if (!absent[i]) v[i] = model_input(c, &f[i]);
  }
  for (uint32_t i = 0; i < in.n; i++) {
    bool array = strcmp(f[i].kind, "multiArrayType") == 0;
    if (absent[i] && !array) continue;
    wick_value x = absent[i] ? model_default(c, &f[i]) : v[i];
    if (!absent[i] && x.id) x = model_value(c, &f[i], x);
    if (!wick_import_bind(c, f[i].name, x))
      wick_import_error(c, WICK_EPARSE, model_place(c, "input", &in.at[i]),
                        "two inputs have its name");
  }
}

static void model_declare(wick_import *c, const wick_coreml_model *m)
{
  wick_coreml_messages out = wick_coreml_parts(&m->interface, "output", c->tmp);
  for (uint32_t i = 0; i < out.n; i++) {
    wick_coreml_feature f;
    if (wick_coreml_feature_of(c, &out.at[i], model_place(c, "output", &out.at[i]), &f))
      wick_import_declare(c, f.name, wick_import_open_type(c, f.elem));
  }
}

/* ---- kinds ---- */

typedef struct model_kind {
  const char *name; /* of the member of Model */
  void (*import)(wick_import *c, const wick_coreml_model *m, const wick_coreml_message *part);
  const char *why; /* it is refused */
} model_kind;

static void model_program(wick_import *c, const wick_coreml_model *m,
                          const wick_coreml_message *part)
{
  const wick_import_format *format = c->format;
  c->format = &wick_coreml_program_format;
  wick_coreml_program(c, m, part->bytes);
  c->format = format;
}

static void model_network(wick_import *c, const wick_coreml_model *m,
                          const wick_coreml_message *part)
{
  wick_coreml_network(c, m, part);
}

#define APPLE "what it computes is in Apple's systems, not in the file"

static const model_kind model_kinds[] = {
    {"neuralNetwork", model_network, NULL},
    {"neuralNetworkClassifier", model_network, NULL},
    {"neuralNetworkRegressor", model_network, NULL},
    {"mlProgram", model_program, NULL},
    {"pipeline", wick_coreml_pipeline, NULL},
    {"pipelineClassifier", wick_coreml_pipeline, NULL},
    {"pipelineRegressor", wick_coreml_pipeline, NULL},
    {"treeEnsembleRegressor", wick_coreml_tree_regressor, NULL},
    {"treeEnsembleClassifier", wick_coreml_tree_classifier, NULL},
    {"glmRegressor", wick_coreml_glm_regressor, NULL},
    {"glmClassifier", wick_coreml_glm_classifier, NULL},
    {"supportVectorRegressor", wick_coreml_svm_regressor, NULL},
    {"supportVectorClassifier", wick_coreml_svm_classifier, NULL},
    {"scaler", wick_coreml_scaler, NULL},
    {"normalizer", wick_coreml_normalizer, NULL},
    {"imputer", wick_coreml_imputer, NULL},
    {"oneHotEncoder", wick_coreml_one_hot_encoder, NULL},
    {"arrayFeatureExtractor", wick_coreml_extractor, NULL},
    {"featureVectorizer", wick_coreml_vectorizer, NULL},
    {"dictVectorizer", wick_coreml_dict_vectorizer, NULL},
    {"categoricalMapping", wick_coreml_category, NULL},
    {"identity", wick_coreml_identity, NULL},
    {"nonMaximumSuppression", wick_coreml_suppression, NULL},
    {"customModel", NULL, "its code is in the application that runs the model"},
    {"linkedModel", NULL, "it names another file; give that"},
    {"serializedModel", NULL, "its bytes are encrypted or of an unknown form"},
    {"itemSimilarityRecommender", NULL, "convert the model it was made from"},
    {"kNearestNeighborsClassifier", NULL, "convert the model it was made from"},
    {"bayesianProbitRegressor", NULL, "convert the model it was made from"},
    {"classConfidenceThresholding", NULL, "convert the model it was made from"},
    {"textClassifier", NULL, APPLE},
    {"wordTagger", NULL, APPLE},
    {"gazetteer", NULL, APPLE},
    {"wordEmbedding", NULL, APPLE},
    {"visionFeaturePrint", NULL, APPLE},
    {"audioFeaturePrint", NULL, APPLE},
    {"soundAnalysisPreprocessing", NULL, APPLE},
};

void wick_coreml_leave(wick_import *c, wick_import_scope *to, wick_coreml_messages outputs)
{
  wick_import_scope *own = c->scope;
  for (uint32_t i = 0; i < outputs.n; i++) {
    const char *name = wick_wire_text(c->tmp, wick_coreml_bytes(&outputs.at[i], "name"));
    c->scope = own;
    const wick_value *v = wick_import_find(c, name);
    c->scope = to;
    if (v) wick_import_rebind(c, name, *v);
  }
  c->scope = to;
}

void wick_coreml_import(wick_import *c, const wick_coreml_model *m)
{
  wick_coreml_message part;
  const wick_coreml_field *f =
      wick_coreml_choice(&m->spec, MODEL_KIND_FIRST, MODEL_KIND_LAST, &part);
  const char *name = f ? wick_str_dupn(c->tmp, f->name, f->nname) : "";
  uint32_t i = 0;
  while (i < WICK_COUNT(model_kinds) && strcmp(model_kinds[i].name, name) != 0) i++;
  if (i < WICK_COUNT(model_kinds) && model_kinds[i].import)
    model_kinds[i].import(c, m, &part);
  else if (!f)
    wick_import_error(c, WICK_EPARSE, c->file, "it has no kind of model that Wick knows");
  else
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "models of the kind %s are not supported%s%s",
                      name, i < WICK_COUNT(model_kinds) ? ": " : "",
                      i < WICK_COUNT(model_kinds) ? model_kinds[i].why : "");
}

/* Gives an output its value, in the declared element type. Colours of pictures are rounded to bytes. */
static void model_output(wick_import *c, uint32_t i, const wick_coreml_message *output)
{
  wick_coreml_feature f;
  const char *location = model_place(c, "output", output);
  const wick_value *v = wick_import_find(c, c->outs.at[i].name);
  if (!v || !v->id || !wick_coreml_feature_of(c, output, location, &f)) return;
  wick_builder *b = &c->b;
  wick_value x = *v;
  b->loc = wick_loc_add(c->module, location);
  wick_elem have = wick_built_info(b, x)->elem;
  bool array = strcmp(f.kind, "multiArrayType") == 0, image = strcmp(f.kind, "imageType") == 0;
  if (image && f.elem == WICK_U8 && wick_elem_is_float(have)) {
    wick_value low = wick_emit_number(b, x, 0), high = wick_emit_number(b, x, 255);
    x = wick_build3(b, WICK_OP_clip, wick_build1(b, WICK_OP_round_even, x), low, high);
  }
  if (array || image) x = wick_build_cast(b, x, f.elem);
  if (b->status) wick_import_add(c, NULL, b->status, location);
  b->status = NULL;
  wick_import_output(c, i, x);
}

static void model_graph(wick_import *c)
{
  const wick_coreml_model *m = c->model;
  model_inputs(c, m);
  model_declare(c, m);
  if (c->interface || c->unlisted || c->errors.list.n) return;
  wick_coreml_import(c, m);
  if (c->errors.list.n || c->over) return;
  wick_coreml_messages out = wick_coreml_parts(&m->interface, "output", c->tmp);
  for (uint32_t i = 0; i < out.n && i < c->outs.n; i++) model_output(c, i, &out.at[i]);
}

static const wick_import_op *const model_families[] = {wick_coreml_layers};

const wick_import_format wick_coreml_format = {.name = "Core ML",
                                               .version_word = "specification version",
                                               .nfamily = WICK_COUNT(model_families),
                                               .families = model_families,
                                               .open = model_open,
                                               .graph = model_graph,
                                               .attr = wick_coreml_attr};

wick_status wick_import_coreml(wick_module *m, wick_span bytes, const char *path,
                               const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                               const wick_func **out)
{
  return wick_import_with(&wick_coreml_format, m, bytes, path, options, mem, tmp, out);
}
