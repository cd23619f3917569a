/* Finds the bound on the stack. LLVM reports each frame's size in a warning; the calls are read
 * from its functions. */
#include "codegen/llvm/stack.h"

#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

typedef struct stack_call {
  uint32_t from, to;
} stack_call;

struct stack_bound {
  emit *e;
  uint32_t n;
  const char **name; /* of the defined functions */
  uint64_t *frame;
  bool *recursive; /* it gets the limit of the stack (codegen/abi.h) */
  wick_list(stack_call) call;
  bool unknown;
};

/* Returns the bytes of a frame that LLVM does not count: the return address, and alignment. */
static uint64_t stack_extra(const wick_target *t)
{
  return t->machine == WICK_MACHINE_X86_64 ? 8 + 64 : t->pointer_bits == 64 ? 16 : 8;
}

static uint32_t stack_find(const stack_bound *s, const char *name, size_t n)
{
  uint32_t i = 0;
  while (i < s->n && (strlen(s->name[i]) != n || memcmp(s->name[i], name, n) != 0)) i++;
  return i;
}

/* Reads "<unknown>:0:0: stack frame size (40) exceeds limit (0) in function 'net'". Other
 * diagnostics are ignored. */
static void stack_frame(stack_bound *s, const char *text)
{
  text = strstr(text, "stack frame size (");
  if (!text) return;
  const char *size = strchr(text, '('), *name = strchr(text, '\''), *end = strrchr(text, '\'');
  if (!name || end == name) return;
  uint32_t i = stack_find(s, name + 1, (size_t)(end - name - 1));
  if (i < s->n) s->frame[i] = strtoull(size + 1, NULL, 10);
}

/* Errors end the process, as they do without a handler. */
static void stack_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
  char *text = LLVMGetDiagInfoDescription(info);
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
    fprintf(stderr, "error: %s\n", text);
    exit(1);
  }
  stack_frame(arg, text);
  LLVMDisposeMessage(text);
}

static void stack_calls(stack_bound *s, LLVMValueRef f, uint32_t from)
{
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      if (!LLVMIsACallInst(i)) continue;
      LLVMValueRef to = LLVMGetCalledValue(i);
      if (!LLVMIsAFunction(to)) {
        s->unknown = s->unknown || !LLVMIsAInlineAsm(to);
        continue;
      }
      size_t n;
      const char *name = LLVMGetValueName2(to, &n);
      uint32_t k = stack_find(s, name, n);
      if (k < s->n && !(s->recursive[from] && s->recursive[k]))
        wick_push(s->e->mem, &s->call, ((stack_call){from, k}));
    }
}

stack_bound *stack_begin(emit *e)
{
  stack_bound *s = wick_new(e->mem, stack_bound, 1);
  const wick_target *t = e->target;
  s->e = e;
  s->unknown = t->scalable || (t->machine == WICK_MACHINE_RISCV64 && t->vector_bytes);
  uint32_t most = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) most++;
  s->name = wick_new(e->mem, const char *, most);
  s->frame = wick_new(e->mem, uint64_t, most);
  s->recursive = wick_new(e->mem, bool, most);
  const char key[] = "warn-stack-size";
  LLVMAttributeRef warn = LLVMCreateStringAttribute(e->context, key, sizeof key - 1, "0", 1);
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f)) continue;
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    s->recursive[s->n] = emit_gets_limit(f);
    s->name[s->n++] = wick_str_dupn(e->mem, name, n);
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, warn);
  }
  uint32_t i = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) stack_calls(s, f, i++);
  LLVMContextSetDiagnosticHandler(e->context, stack_diagnostic, s);
  return s;
}

/* Returns the bytes that function i needs if recursion reaches its limit: the last frame, and what
 * it calls that is not recursive, are beyond it. `deep` does not contain recursion. */
static uint64_t stack_recursion(const stack_bound *s, uint32_t i, const uint64_t *deep)
{
  uint64_t last = 0;
  for (uint32_t k = 0; k < s->n; k++)
    if (s->recursive[k] && deep[k] > last) last = deep[k];
  return last ? s->frame[i] + stack_extra(s->e->target) + emit_recursion_bytes(s->e) + last : 0;
}

uint64_t stack_end(const stack_bound *s, const char *name)
{
  uint64_t *deep = wick_new(s->e->mem, uint64_t, s->n), extra = stack_extra(s->e->target);
  for (uint32_t i = 0; i < s->n; i++) deep[i] = s->frame[i] + extra;
  bool changed = !s->unknown;
  for (uint32_t round = 0; changed; round++) { /* each round completes chains with one more call */
    if (round > s->n) return 0;
    changed = false;
    for (uint32_t i = 0; i < s->call.n; i++) {
      const stack_call *c = &s->call.at[i];
      uint64_t all = s->frame[c->from] + extra + deep[c->to];
      if (all > deep[c->from]) deep[c->from] = all, changed = true;
    }
  }
  uint32_t i = stack_find(s, name, strlen(name));
  if (s->unknown || i == s->n) return 0;
  return wick_align_up(wick_max_u64(deep[i], stack_recursion(s, i, deep)) + WICK_STACK_OUTSIDE, 16);
}
