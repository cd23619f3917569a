/* The lists of `wick opt`: passes with the pipelines, and the steps of schedules. Their Markdown is
 * docs/passes.md and docs/schedules.md. */
#ifndef WICK_TOOLS_OPT_PAGES_H
#define WICK_TOOLS_OPT_PAGES_H

#include <stdbool.h>

void wick_opt_passes(bool markdown);
void wick_opt_schedule_steps(bool markdown);

#endif
