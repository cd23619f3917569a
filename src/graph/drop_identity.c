/* Removes multiplications and divisions by one. */
#include "graph/drop_identity.h"

#include "ir/rewrite.h"

static const wick_rewrite drop_identity_rules[] = {
    {"mul(x, 1)", "x", NULL, NULL},
    {"mul(1, x)", "x", NULL, NULL},
    {"div(x, 1)", "x", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

wick_status wick_pass_drop_identity(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  return wick_rewrite_pass(drop_identity_rules, f, pass->mem, out);
}
