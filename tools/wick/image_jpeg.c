/* Decodes JPEG with libjpeg. libjpeg allocates its own memory and must be destroyed, so no arena
 * allocates while it is active: a first pass over the header gives the size. */
#include "image.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
/* must come after jpeglib.h */
#include <jerror.h>

#include "base/str.h"

enum { JPEG_MOST_SCANS = 500 }; /* each scan can cost a pass over the picture for a few bytes */

typedef struct jpeg_state {
  struct jpeg_error_mgr error; /* first, because libjpeg returns a pointer to it */
  struct jpeg_progress_mgr progress;
  struct jpeg_decompress_struct d;
  jmp_buf where;
  char message[JMSG_LENGTH_MAX];
  wick_span in;
  uint32_t height, width, channels; /* out of the first pass; the second one reads them */
  unsigned char *data;              /* filled by the second pass; NULL in the first */
} jpeg_state;

static _Noreturn void jpeg_state_error(j_common_ptr d)
{
  jpeg_state *s = (jpeg_state *)(void *)d->err;
  d->err->format_message(d, s->message);
  longjmp(s->where, 1);
}

static _Noreturn void jpeg_state_refuse(jpeg_state *s, const char *message)
{
  snprintf(s->message, sizeof s->message, "%s", message);
  longjmp(s->where, 1);
}

/* A warning means that pixels are wrong, with these exceptions. */
static void jpeg_state_message(j_common_ptr d, int level)
{
  if (level >= 0) return; /* only a trace */
  switch (d->err->msg_code) {
  case JWRN_EXTRANEOUS_DATA: /* bytes between markers */
  case JWRN_JFIF_MAJOR:
  case JWRN_ADOBE_XFORM: return;
  default: jpeg_state_error(d);
  }
}

static void jpeg_state_progress(j_common_ptr d)
{
  jpeg_state *s = (jpeg_state *)(void *)d->err;
  if (s->d.input_scan_number > JPEG_MOST_SCANS) jpeg_state_refuse(s, "it has too many scans");
}

static void jpeg_state_decode(jpeg_state *s)
{
  struct jpeg_decompress_struct *d = &s->d;
  jpeg_create_decompress(d);
  d->progress = &s->progress;
  jpeg_mem_src(d, s->in.at, s->in.nbytes);
  jpeg_read_header(d, TRUE);
  if (d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK)
    jpeg_state_refuse(s, "its pixels are CMYK, expected grey or RGB");
  bool grey = d->jpeg_color_space == JCS_GRAYSCALE;
  d->out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  uint32_t channels = grey ? 1 : 3;
  if (s->data &&
      (s->height != d->image_height || s->width != d->image_width || s->channels != channels))
    jpeg_state_refuse(s, "the file changed while it was read");
  s->height = d->image_height;
  s->width = d->image_width;
  s->channels = channels;
  if ((uint64_t)s->height * s->width > WICK_IMAGE_MOST_BYTES / 3)
    jpeg_state_refuse(s, "the picture is too large");
  if (!s->data) return;
  jpeg_start_decompress(d);
  size_t step = (size_t)s->width * s->channels;
  while (d->output_scanline < d->output_height) {
    JSAMPROW row = s->data + d->output_scanline * step;
    jpeg_read_scanlines(d, &row, 1);
  }
  jpeg_finish_decompress(d);
}

static bool jpeg_state_run(jpeg_state *s)
{
  memset(&s->d, 0, sizeof s->d); /* legal to destroy if creating it fails */
  s->d.err = jpeg_std_error(&s->error);
  s->error.error_exit = jpeg_state_error;
  s->error.emit_message = jpeg_state_message;
  s->progress.progress_monitor = jpeg_state_progress;
  volatile bool ok = false;
  if (setjmp(s->where) == 0) {
    jpeg_state_decode(s);
    ok = true;
  }
  jpeg_destroy_decompress(&s->d);
  return ok;
}

wick_status wick_jpeg_read(wick_span bytes, const char *location, wick_arena *mem, wick_array *out)
{
  jpeg_state *s = wick_new(mem, jpeg_state, 1);
  s->in = bytes;
  bool ok = jpeg_state_run(s);
  size_t nbytes = ok ? (size_t)s->height * s->width * s->channels : 0;
  if (ok) {
    s->data = wick_arena_alloc(mem, nbytes, 64);
    ok = jpeg_state_run(s);
  }
  if (!ok)
    return wick_fail(mem, WICK_EPARSE, location, "it cannot be read as JPEG: %s", s->message);
  *out = (wick_array){.name = "",
                      .elem = WICK_U8,
                      .picture = true,
                      .rank = 3,
                      .dim = {s->height, s->width, s->channels},
                      .data = s->data,
                      .nbytes = nbytes};
  return NULL;
}
