/* What is still to be printed is on a list, because data may be deeper than a stack. */
#include "datum_text.h"

#include "ops/tensor_text.h"

typedef struct datum_piece {
  const char *text;
  wick_datum *datum; /* NULL: the text */
} datum_piece;

typedef wick_list(datum_piece) datum_pieces;

static void datum_text_tensor(const wick_datum *d, uint32_t k, const wick_io *io, wick_arena *mem,
                              datum_pieces *out)
{
  wick_tensor t = {.elem = io->elem, .rank = (uint16_t)io->rank};
  wick_text text = wick_text_begin(mem);
  for (uint32_t i = 0; i < io->rank; i++) t.dim[i] = io->dim[i];
  t.data = (void *)(uintptr_t)wick_datum_tensor(d, k);
  wick_tensor_text(NULL, &t, &text);
  wick_push(mem, out, ((datum_piece){.text = text.at}));
}

/* Adds the pieces of part *at, and of what it consists of. */
static void datum_text_part(const wick_datum *d, const wick_constructor *c, uint32_t *at,
                            uint32_t *field, wick_arena *mem, datum_pieces *out)
{
  const wick_part *p = &c->part[(*at)++];
  if (p->leaf) {
    uint32_t k = (*field)++;
    wick_datum *x = NULL;
    if (!c->field[k].data) {
      datum_text_tensor(d, k, &c->field[k], mem, out);
      return;
    }
    wick_error *e = wick_datum_field(d, k, &x);
    wick_error_free(e);
    wick_push(mem, out, ((datum_piece){e ? "..." : NULL, x}));
    return;
  }
  wick_push(mem, out, ((datum_piece){.text = p->type}));
  wick_push(mem, out, ((datum_piece){.text = "("}));
  for (uint32_t i = 0; i < p->nitem; i++) {
    if (i) wick_push(mem, out, ((datum_piece){.text = ", "}));
    if (*p->type) {
      wick_push(mem, out, ((datum_piece){.text = c->part[*at].name}));
      wick_push(mem, out, ((datum_piece){.text = " = "}));
    }
    datum_text_part(d, c, at, field, mem, out);
  }
  if (!*p->type && p->nitem == 1) wick_push(mem, out, ((datum_piece){.text = ","}));
  wick_push(mem, out, ((datum_piece){.text = ")"}));
}

void wick_datum_text(wick_datum *datum, wick_text *out)
{
  wick_arena *mem = out->mem;
  datum_pieces waiting = {0};
  wick_push(mem, &waiting, ((datum_piece){NULL, datum}));
  while (waiting.n) {
    datum_piece x = waiting.at[--waiting.n];
    if (out->n > WICK_DATUM_TEXT) {
      wick_datum_free(x.datum);
      if (!waiting.n) wick_text_add(out, "...");
      continue;
    }
    if (!x.datum) {
      wick_text_add(out, x.text);
      continue;
    }
    const wick_constructor *c =
        &wick_datum_type(x.datum)->constructor[wick_datum_constructor(x.datum)];
    datum_pieces pieces = {0};
    uint32_t at = 0, field = 0;
    wick_text_add(out, c->name);
    if (c->nfield || c->part[0].nitem) datum_text_part(x.datum, c, &at, &field, mem, &pieces);
    /* The parts of a constructor are a tuple, but one field has no comma after it. */
    if (pieces.n && c->part[0].nitem == 1) pieces.at[pieces.n - 2].text = "";
    wick_datum_free(x.datum);
    while (pieces.n) wick_push(mem, &waiting, pieces.at[--pieces.n]);
  }
}
