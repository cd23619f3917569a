/* wick-codegen: a request on the standard input, an answer on the standard output
 * (codegen/protocol.h). It is a program of its own because LLVM ends the process on some inputs,
 * and because a user's process may contain another LLVM. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process.h"
#include "codegen/llvm/llvm.h"
#include "codegen/object.h"
#include "codegen/protocol.h"
#include "ir/text.h"

static bool main_write(const void *data, size_t n)
{
  const char *p = data;
  while (n) {
    ssize_t k = write(STDOUT_FILENO, p, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    p += k;
    n -= (size_t)k;
  }
  return true;
}

static bool main_read(wick_text *out)
{
  static char buffer[1 << 16];
  for (;;) {
    ssize_t k = read(STDIN_FILENO, buffer, sizeof buffer);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return k == 0;
    wick_text_addn(out, buffer, (size_t)k);
  }
}

static wick_status main_compile(wick_guard *guard, wick_arena *mem, wick_span *out)
{
  wick_text in = wick_text_begin(mem);
  wick_request r;
  if (!main_read(&in)) return wick_fail(mem, WICK_EIO, "request", "%s", strerror(errno));
  WICK_TRY(wick_request_read(in.at, in.n, mem, &r));
  struct rlimit limit = {r.memory_bytes, r.memory_bytes};
  if (r.memory_bytes && !WICK_ASAN) (void)setrlimit(RLIMIT_AS, &limit);
  wick_module *m = wick_module_create(guard, "module");
  WICK_TRY(wick_parse_module(m, "module", r.text, r.ntext, mem));
  wick_llvm_begin(&r.options);
  WICK_TRY(wick_llvm_compile(m, &r.target, &r.options, mem, out));
  return r.options.output == WICK_OUTPUT_OBJECT
             ? wick_object_check(*out, &r.target, r.options.bundle, mem)
             : NULL;
}

int main(void)
{
  static wick_guard guard;
  static wick_arena mem;
  wick_process_end_with_parent();
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) {
    static const char full[] = "error 7 out of memory";
    _Static_assert(WICK_ENOMEM == 7, "the number in the text above");
    (void)main_write(full, sizeof full - 1);
    return 1;
  }
  wick_span out = {NULL, 0};
  wick_status s = main_compile(&guard, &mem, &out);
  wick_text head = wick_text_begin(&mem);
  if (s)
    wick_answer_write_error(s, &head);
  else
    wick_answer_write_ok(out.nbytes, &head);
  bool written = main_write(head.at, head.n) && (s || main_write(out.at, out.nbytes));
  _exit(s || !written ? 1 : 0); /* without cleaning up, which would only take time */
}
