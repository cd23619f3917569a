/* The template for groups without a fold. They are computed element by element. */
#include "graph/group/template_state.h"

/* Splits the only axis into chunks, so that there are several tasks. */
static void map_flat(template_state *t)
{
  const char *o = t->out->name, *name = template_loop(t, t->out, 0);
  int64_t lanes = template_wide(t, 0, template_vector_lanes(t, 0));
  wick_text_printf(&t->steps, "split %s.%s chunk:%d; ", o, name, 4096);
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.chunk lane:%lld; vector %s.lane; ", o, (long long)lanes,
                     o);
  wick_text_printf(&t->steps, "parallel %s.%s; ", o, name);
}

bool template_map_match(template_state *t)
{
  return t->plain && !t->nfold && t->out->naxis >= 1 && t->out->naxis <= TEMPLATE_AXES;
}

/* Writes vectors along the last axis that has more than one element, if it is long enough, and
 * tasks over all other axes. */
void template_map(template_state *t)
{
  uint32_t naxis = t->out->naxis, n = naxis;
  while (n > 1 && template_is(t->out, n - 1, 1)) n--;
  template_inline_maps(t);
  if (naxis == 1) {
    map_flat(t);
    return;
  }
  int64_t lanes = template_short_lanes(t, n - 1);
  /* The loop of the last axis stays inside the task, because a task of one vector is too small. */
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1);
  bool whole = lanes > 1 && template_is(t->out, n - 1, lanes), split = lanes > 1 && !whole;
  if (split) {
    t->cut = template_cut(t, n - 1, lanes);
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last,
                     (long long)template_wide(t, n - 1, lanes));
  }
  if (lanes > 1 && n < naxis) {
    template_order_begin(t, t->out);
    for (uint32_t i = 0, k = n; i < naxis; i++, k = (k + 1) % naxis)
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
    wick_text_printf(&t->steps, "%s; ", split ? " lane" : "");
  }
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.%s; ", o, split ? "lane" : last);
  /* the axes from here on are whole rows of vectors */
  uint32_t inside = whole && n > 2 ? n - 2 : n - 1;
  for (uint32_t k = 0; k < naxis; k++)
    if (k < inside || (lanes > 1 && k >= n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
}
