/* Writes and reads requests and answers as text. */
#include "codegen/protocol.h"

#include <stdlib.h>
#include <string.h>

static const char protocol_first[] = "wick-codegen 1";

static const char *const protocol_outputs[] = {[WICK_OUTPUT_OBJECT] = "object",
                                               [WICK_OUTPUT_ASSEMBLY] = "assembly",
                                               [WICK_OUTPUT_LLVM] = "llvm"};

/* The options that are a single word. */
typedef struct protocol_flag {
  const char *name;
  size_t offset;
} protocol_flag;
static const protocol_flag protocol_flags[] = {
    {"direct", offsetof(wick_codegen_options, direct)},
    {"absolute", offsetof(wick_codegen_options, absolute)},
    {"stack", offsetof(wick_codegen_options, stack)},
    {"keeps_heap", offsetof(wick_codegen_options, keeps_heap)},
    {"plain_loops", offsetof(wick_codegen_options, plain_loops)},
    {"clean", offsetof(wick_codegen_options, clean)},
    {"verify", offsetof(wick_codegen_options, verify)},
};

/* ---- requests ---- */

wick_status wick_request_write(const wick_request *r, wick_arena *mem, wick_text *out)
{
  wick_text_printf(out, "%s\ntarget ", protocol_first);
  wick_target_name(&r->target, out);
  wick_text_printf(out, "\noutput %s\n", protocol_outputs[r->options.output]);
  for (uint32_t i = 0; i < WICK_COUNT(protocol_flags); i++)
    if (*(const bool *)((const char *)&r->options + protocol_flags[i].offset))
      wick_text_printf(out, "%s\n", protocol_flags[i].name);
  if (r->options.bundle) wick_text_printf(out, "bundle %s\n", r->options.bundle);
  if (r->options.heap_bytes)
    wick_text_printf(out, "heap %llu\n", (unsigned long long)r->options.heap_bytes);
  for (uint32_t i = 0; i < r->options.nobject; i++)
    wick_text_printf(out, "object %u %llu\n", r->options.object[i].input,
                     (unsigned long long)r->options.object[i].offset);
  if (r->options.recursion_bytes)
    wick_text_printf(out, "recursion %llu\n", (unsigned long long)r->options.recursion_bytes);
  if (r->options.constants.at)
    wick_text_printf(out, "constants %zu\n", r->options.constants.nbytes);
  for (uint32_t i = 0; i < r->options.nonly; i++) {
    if (strchr(r->options.only[i], '\n'))
      return wick_fail(mem, WICK_EINVAL, NULL, "a function's name has two lines");
    wick_text_printf(out, "only %s\n", r->options.only[i]);
  }
  if (r->memory_bytes) wick_text_printf(out, "memory %llu\n", (unsigned long long)r->memory_bytes);
  wick_text_char(out, '\n');
  return NULL;
}

typedef struct protocol_reader {
  wick_request *r;
  wick_arena *mem;
  wick_list(const char *) only;
  wick_list(wick_codegen_object) object;
  bool has_target, has_constants;
} protocol_reader;

static bool protocol_word(const char **line, const char *word)
{
  size_t n = strlen(word);
  if (strncmp(*line, word, n) != 0 || (*line)[n] != ' ') return false;
  *line += n + 1;
  return true;
}

static bool protocol_output(const char *name, wick_codegen_options *o)
{
  for (uint32_t i = 0; i < WICK_COUNT(protocol_outputs); i++)
    if (strcmp(name, protocol_outputs[i]) == 0) {
      o->output = (wick_codegen_output)i;
      return true;
    }
  return false;
}

static bool protocol_object(protocol_reader *p, const char *line)
{
  char *end;
  wick_codegen_object o = {.input = (uint32_t)strtoul(line, &end, 10)};
  if (*end != ' ') return false;
  o.offset = strtoull(end + 1, NULL, 10);
  return wick_push(p->mem, &p->object, o), true;
}

static bool protocol_line(protocol_reader *p, const char *line)
{
  for (uint32_t i = 0; i < WICK_COUNT(protocol_flags); i++)
    if (strcmp(line, protocol_flags[i].name) == 0) {
      *(bool *)((char *)&p->r->options + protocol_flags[i].offset) = true;
      return true;
    }
  if (protocol_word(&line, "target")) return p->has_target = wick_target_find(line, &p->r->target);
  if (protocol_word(&line, "output")) return protocol_output(line, &p->r->options);
  if (protocol_word(&line, "bundle")) return p->r->options.bundle = line, true;
  if (protocol_word(&line, "constants")) {
    p->has_constants = true;
    p->r->options.constants.nbytes = strtoull(line, NULL, 10);
    return true;
  }
  if (protocol_word(&line, "heap"))
    return p->r->options.heap_bytes = strtoull(line, NULL, 10), true;
  if (protocol_word(&line, "recursion"))
    return p->r->options.recursion_bytes = strtoull(line, NULL, 10), true;
  if (protocol_word(&line, "object")) return protocol_object(p, line);
  if (protocol_word(&line, "only")) return wick_push(p->mem, &p->only, line), true;
  if (protocol_word(&line, "memory")) return p->r->memory_bytes = strtoull(line, NULL, 10), true;
  return false;
}

wick_status wick_request_read(const char *bytes, size_t nbytes, wick_arena *mem, wick_request *out)
{
  *out = (wick_request){0};
  protocol_reader p = {.r = out, .mem = mem};
  const char *end = bytes + nbytes;
  for (bool first = true;; first = false) {
    const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
    if (!stop) return wick_fail(mem, WICK_EPARSE, "request", "the header does not end");
    const char *line = wick_str_dupn(mem, bytes, (size_t)(stop - bytes));
    bytes = stop + 1;
    if (!*line) break;
    bool ok = first ? strcmp(line, protocol_first) == 0 : protocol_line(&p, line);
    if (!ok) return wick_fail(mem, WICK_EPARSE, "request", "\"%s\" is not understood", line);
  }
  if (!p.has_target) return wick_fail(mem, WICK_EPARSE, "request", "it names no target");
  out->options.only = p.only.at;
  out->options.nonly = p.only.n;
  out->options.object = p.object.at;
  out->options.nobject = p.object.n;
  out->text = bytes;
  out->ntext = (size_t)(end - bytes);
  if (!p.has_constants) return NULL;
  if (out->options.constants.nbytes > out->ntext)
    return wick_fail(mem, WICK_EPARSE, "request", "it ends before its constants");
  out->ntext -= out->options.constants.nbytes;
  out->options.constants.at = (const unsigned char *)bytes + out->ntext;
  return NULL;
}

/* ---- answers ---- */

void wick_answer_write_ok(size_t nbytes, wick_text *out)
{
  wick_text_printf(out, "ok %zu\n", nbytes);
}

void wick_answer_write_error(wick_status s, wick_text *out)
{
  wick_text_printf(out, "error %d %s", (int)s->code, s->message);
}

bool wick_answer_read(wick_bytes answer, wick_arena *mem, wick_span *out_bytes,
                      wick_status *out_status)
{
  const char *at = answer.at, *end = at + answer.nbytes;
  *out_status = NULL;
  const char *line = memchr(at, '\n', answer.nbytes > 64 ? 64 : answer.nbytes);
  if (answer.nbytes > 3 && memcmp(at, "ok ", 3) == 0 && line) {
    char *stop;
    unsigned long long n = strtoull(at + 3, &stop, 10);
    if (stop != line || n != (size_t)(end - line - 1)) return false;
    *out_bytes = (wick_span){(const unsigned char *)line + 1, (size_t)n};
    return true;
  }
  if (answer.nbytes < 8 || memcmp(at, "error ", 6) != 0) return false;
  const char *text = wick_str_dupn(mem, at + 6, answer.nbytes - 6);
  char *stop;
  long code = strtol(text, &stop, 10);
  if (code <= WICK_OK || code > WICK_EINTERNAL || *stop != ' ') return false;
  *out_status = wick_fail(mem, (wick_code)code, NULL, "%s", stop + 1);
  return true;
}
