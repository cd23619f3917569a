/* The signal handler sets a flag. The process ends when the work has read the flag and stopped. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int interrupt_signal[] = {SIGINT, SIGTERM, SIGHUP};
enum { INTERRUPT_N = sizeof interrupt_signal / sizeof *interrupt_signal };

/* A signal handler can access only globals. */
static volatile sig_atomic_t interrupt_by;

static void interrupt_note(int number) { interrupt_by = number; }

/* Signals that are ignored, as under nohup, stay ignored. */
static void interrupt_handle(void (*handler)(int), int flags)
{
  for (size_t i = 0; i < INTERRUPT_N; i++) {
    struct sigaction old, now = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&now.sa_mask);
    if (sigaction(interrupt_signal[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(interrupt_signal[i], &now, NULL);
  }
}

void wick_interrupt_begin(void) { interrupt_handle(interrupt_note, (int)SA_RESETHAND); }

void wick_interrupt_end(void)
{
  interrupt_handle(SIG_DFL, 0);
  if (interrupt_by) raise(interrupt_by);
}

bool wick_interrupt_asked(void *arg)
{
  (void)arg;
  return interrupt_by != 0;
}
