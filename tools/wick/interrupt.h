/* Ctrl-C and the other signals that end a command: work that makes temporary files or starts
 * processes is canceled, and cleans up before the process ends.
 *
 *   wick_interrupt_begin();
 *   e = wick_compile(...);   // of a context whose cancel is wick_interrupt_asked
 *   wick_interrupt_end();    // does not come back after a signal
 *
 * Elsewhere a signal ends the process at once. Either way the process is ended by the signal, so a
 * shell reports 128 + its number: 130 after Ctrl-C. A second signal ends it without waiting. */
#ifndef WICK_TOOLS_INTERRUPT_H
#define WICK_TOOLS_INTERRUPT_H

#include <stdbool.h>

void wick_interrupt_begin(void);
void wick_interrupt_end(void);
bool wick_interrupt_asked(void *arg); /* for wick_options.cancel; arg is not read */

#endif
