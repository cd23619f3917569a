/* For tests: startup code of a program on a Cortex-M, under an emulator that gives it access to the
 * files of its host (semihosting). */
extern unsigned char stack_top[];
extern void initialise_monitor_handles(void); /* of newlib's librdimon */
extern void _exit(int code) __attribute__((noreturn));
int main(void);

static void reset(void)
{
  *(volatile unsigned *)0xe000ed88 |= 0xfu << 20; /* CPACR: enables the floating-point unit */
  __asm__ volatile("dsb\n isb");
  initialise_monitor_handles();
  _exit(main());
}

static void fault(void) { _exit(99); }

__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault};
