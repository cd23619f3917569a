/* Reads JPEG 2000 with OpenJPEG. */
#include "runtime/library.h"
#include "runtime/picture.h"

#ifdef WICK_HAVE_OPENJP2

#include <openjpeg.h>
#include <string.h>

#define JP2_FILE "libopenjp2.so.7"
typedef struct picture_jp2_api {
  __typeof__(opj_create_decompress) *create;
  __typeof__(opj_decode) *decode;
  __typeof__(opj_destroy_codec) *destroy;
  __typeof__(opj_image_destroy) *image_destroy;
  __typeof__(opj_read_header) *header;
  __typeof__(opj_set_default_decoder_parameters) *defaults;
  __typeof__(opj_setup_decoder) *setup;
  __typeof__(opj_stream_default_create) *stream;
  __typeof__(opj_stream_destroy) *stream_destroy;
  __typeof__(opj_stream_set_read_function) *on_read;
  __typeof__(opj_stream_set_seek_function) *on_seek;
  __typeof__(opj_stream_set_skip_function) *on_skip;
  __typeof__(opj_stream_set_user_data) *data;
  __typeof__(opj_stream_set_user_data_length) *length;
} picture_jp2_api;

static const wick_library_symbol picture_jp2_symbols[] = {
    WICK_SYMBOL(picture_jp2_api, create, opj_create_decompress),
    WICK_SYMBOL(picture_jp2_api, decode, opj_decode),
    WICK_SYMBOL(picture_jp2_api, destroy, opj_destroy_codec),
    WICK_SYMBOL(picture_jp2_api, image_destroy, opj_image_destroy),
    WICK_SYMBOL(picture_jp2_api, header, opj_read_header),
    WICK_SYMBOL(picture_jp2_api, defaults, opj_set_default_decoder_parameters),
    WICK_SYMBOL(picture_jp2_api, setup, opj_setup_decoder),
    WICK_SYMBOL(picture_jp2_api, stream, opj_stream_default_create),
    WICK_SYMBOL(picture_jp2_api, stream_destroy, opj_stream_destroy),
    WICK_SYMBOL(picture_jp2_api, on_read, opj_stream_set_read_function),
    WICK_SYMBOL(picture_jp2_api, on_seek, opj_stream_set_seek_function),
    WICK_SYMBOL(picture_jp2_api, on_skip, opj_stream_set_skip_function),
    WICK_SYMBOL(picture_jp2_api, data, opj_stream_set_user_data),
    WICK_SYMBOL(picture_jp2_api, length, opj_stream_set_user_data_length),
    {0},
};

typedef struct picture_jp2 {
  picture_jp2_api api;
  wick_picture *image;
  uint64_t at;
} picture_jp2;

/* ---- the file, in memory ---- */

static OPJ_SIZE_T picture_jp2_read(void *to, OPJ_SIZE_T n, void *arg)
{
  picture_jp2 *j = arg;
  uint64_t left = j->at < j->image->nbytes ? j->image->nbytes - j->at : 0;
  if (!left) return (OPJ_SIZE_T)-1;
  if (n > left) n = (OPJ_SIZE_T)left;
  memcpy(to, j->image->at + j->at, n);
  j->at += n;
  return n;
}

static OPJ_BOOL picture_jp2_seek(OPJ_OFF_T at, void *arg)
{
  picture_jp2 *j = arg;
  if (at < 0 || (uint64_t)at > j->image->nbytes) return OPJ_FALSE;
  j->at = (uint64_t)at;
  return OPJ_TRUE;
}

static OPJ_OFF_T picture_jp2_skip(OPJ_OFF_T n, void *arg)
{
  picture_jp2 *j = arg;
  return picture_jp2_seek((OPJ_OFF_T)j->at + n, arg) ? n : -1;
}

/* ---- pixels ---- */

/* Returns a component at a position of the image as 0 to 255: unsigned, and repeated if it is
 * subsampled. */
static int picture_jp2_sample(const opj_image_t *p, uint32_t k, int64_t x, int64_t y)
{
  const opj_image_comp_t *c = &p->comps[k];
  int64_t cx = x / (c->dx ? c->dx : 1), cy = y / (c->dy ? c->dy : 1);
  if (cx >= c->w) cx = (int64_t)c->w - 1;
  if (cy >= c->h) cy = (int64_t)c->h - 1;
  int64_t v = c->data[cy * c->w + cx];
  if (c->sgnd) v += (int64_t)1 << (c->prec - 1);
  v = c->prec > 8 ? v >> (c->prec - 8) : v << (8 - c->prec);
  return (int)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static uint8_t picture_jp2_byte(double v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5); }

static wick_code picture_jp2_pixels(wick_picture *m, const opj_image_t *p)
{
  uint32_t n = p->numcomps >= 3 ? 3 : 1;
  for (uint32_t k = 0; k < n; k++)
    if (!p->comps[k].data || !p->comps[k].w || !p->comps[k].h || p->comps[k].prec < 1 ||
        p->comps[k].prec > 31)
      return wick_picture_fail(m, WICK_EPARSE, "the JPEG 2000 lacks a component");
  bool luma = n == 3 && (p->color_space == OPJ_CLRSPC_SYCC ||
                         (p->color_space != OPJ_CLRSPC_SRGB && p->comps[1].dx > 1));
  uint8_t *to = m->rgb;
  for (int64_t y = 0; y < m->height; y++)
    for (int64_t x = 0; x < m->width; x++, to += 3) {
      int c[3];
      for (uint32_t k = 0; k < 3; k++) c[k] = picture_jp2_sample(p, k < n ? k : 0, x, y);
      double cb = c[1] - 128, cr = c[2] - 128;
      to[0] = luma ? picture_jp2_byte(c[0] + 1.402 * cr) : (uint8_t)c[0];
      to[1] = luma ? picture_jp2_byte(c[0] - 0.344136 * cb - 0.714136 * cr) : (uint8_t)c[1];
      to[2] = luma ? picture_jp2_byte(c[0] + 1.772 * cb) : (uint8_t)c[2];
    }
  return WICK_OK;
}

static wick_code picture_jp2_run(picture_jp2 *j, opj_codec_t *codec, opj_stream_t *stream)
{
  opj_dparameters_t parameters;
  opj_image_t *p = NULL;
  wick_code code = WICK_EPARSE;
  wick_picture_fail(j->image, code, "the JPEG 2000 is damaged");
  j->api.defaults(&parameters);
  j->api.data(stream, j, NULL);
  j->api.length(stream, j->image->nbytes);
  j->api.on_read(stream, picture_jp2_read);
  j->api.on_seek(stream, picture_jp2_seek);
  j->api.on_skip(stream, picture_jp2_skip);
  if (j->api.setup(codec, &parameters) && j->api.header(stream, codec, &p)) {
    if (wick_picture_sized(j->image, (int64_t)p->y1 - p->y0, (int64_t)p->x1 - p->x0, &code))
      code = j->api.decode(codec, stream, p)
                 ? picture_jp2_pixels(j->image, p)
                 : wick_picture_fail(j->image, WICK_EPARSE, "the JPEG 2000 is damaged");
  }
  if (p) j->api.image_destroy(p);
  return code;
}

wick_code wick_picture_jp2(wick_picture *image)
{
  picture_jp2 j = {.image = image};
  if (!wick_library_load(JP2_FILE, picture_jp2_symbols, &j.api))
    return wick_picture_fail(image, WICK_EUNSUPPORTED, "the library " JP2_FILE " is not here");
  opj_codec_t *codec = j.api.create(image->at[0] == 0 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_stream_t *stream = j.api.stream(OPJ_TRUE);
  wick_code code = codec && stream ? picture_jp2_run(&j, codec, stream)
                                   : wick_picture_fail(image, WICK_ENOMEM, "out of memory");
  if (stream) j.api.stream_destroy(stream);
  if (codec) j.api.destroy(codec);
  return code;
}

#else

wick_code wick_picture_jp2(wick_picture *image)
{
  return wick_picture_fail(image, WICK_EUNSUPPORTED,
                           "this build of Wick was made without OpenJPEG");
}

#endif
