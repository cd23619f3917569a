/* Sums up the contracts of all kernels in one line, then prints them. */
#include "driver/report/contract.h"

#include <string.h>

#include "base/file.h"
#include "loop/contract.h"

/* Lists the passes that have changed rounding, each once. */
static void contract_passes(const wick_pipeline *p, wick_text *out)
{
  bool any = false;
  for (const wick_pass *pass = wick_passes; pass->name; pass++) {
    bool acted = false;
    for (uint32_t i = 0; i < p->times.n; i++)
      acted = acted || (p->times.at[i].pass == pass && p->times.at[i].acted);
    if (!acted || pass->cls == WICK_EXACT) continue;
    wick_text_printf(out, "%s%s", any ? ", " : "; rounding: ", pass->name);
    any = true;
  }
}

/* Lists the functions that any kernel approximates, each once. */
static void contract_functions(const wick_lowered *l, wick_arena *mem, wick_text *out)
{
  wick_names seen = wick_names_begin(mem);
  for (uint32_t i = 0; i < l->kernels.n; i++) {
    size_t rest, n;
    const char *at = wick_contract_approximate(l->kernels.at[i].contract, &rest);
    for (const char *end = at ? at + rest : at; at < end; at += n + 2) { /* ", " */
      n = strcspn(at, ",)");
      uint32_t before = seen.n;
      wick_names_add(&seen, at, n);
      if (seen.n > before)
        wick_text_printf(out, "%s%.*s", before > 1 ? ", " : "; approximate: ", (int)n, at);
    }
  }
}

/* Lists the groups whose schedules came from tuning records. */
static void contract_records(const wick_tuning_records *r, wick_text *out)
{
  if (!r || !r->used.n) return;
  wick_text_printf(out, "; schedules of %s:", wick_path_base(r->path));
  for (uint32_t i = 0; i < r->used.n; i++)
    wick_text_printf(out, "%s%s", i ? ", " : " ", r->used.at[i]);
}

const char *wick_contract_text(const wick_lowered *l, const wick_pipeline *p, wick_arena *mem)
{
  wick_text out = wick_text_begin(mem);
  uint32_t ordered = 0, parts = 0;
  for (uint32_t i = 0; i < l->kernels.n; i++) {
    const char *k = l->kernels.at[i].contract;
    bool apart = strchr(k, '[') || strstr(k, " ("); /* loop/contract.h */
    parts += apart;
    ordered += strstr(k, " over") && !apart;
  }
  wick_target_name(&p->target, &out);
  wick_text_printf(&out, ": %u kernels accumulate in order, %u in parts", ordered, parts);
  if (l->fill)
    wick_text_add(&out, "; sizes vary, equal inputs give equal bits whatever sizes came before");
  contract_passes(p, &out);
  contract_functions(l, mem, &out);
  contract_records(p->records, &out);
  for (uint32_t i = 0; i < l->kernels.n; i++)
    wick_text_printf(&out, "\n%s: %s", l->kernels.at[i].name, l->kernels.at[i].contract);
  return out.at;
}
