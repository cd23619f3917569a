/* Ctrl-C and the other signals that end a command: work that creates temporary files or starts
 * processes is canceled, and cleans up before the process ends.
 *
 *   wick_interrupt_begin();
 *   e = wick_compile(...);   // in a context whose cancel is wick_interrupt_asked
 *   wick_interrupt_end();    // does not return after a signal
 *
 * At other times a signal ends the process at once. In both cases the signal ends the process, so
 * that a shell reports 128 + its number: 130 after Ctrl-C. A second signal ends it without
 * waiting. */
#ifndef WICK_TOOLS_INTERRUPT_H
#define WICK_TOOLS_INTERRUPT_H

#include <stdbool.h>

void wick_interrupt_begin(void);
void wick_interrupt_end(void);
bool wick_interrupt_asked(void *arg); /* for wick_options.cancel; arg is not used */

#endif
