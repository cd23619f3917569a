/* Tables of what users of other languages write. */
#include "lang/hints.h"

#include <string.h>

typedef struct hint {
  const char *names; /* divided by blanks */
  const char *text;
} hint;

static const hint hint_values[] = {
    {"zeros ones full zeros_like ones_like full_like empty",
     "`broadcast_to(0.0, shape = (2, 3))` is a tensor of equal elements; `0.0 * x` has the shape "
     "of x"},
    {"arange linspace iota", "`range(0, 1, count = n)` counts from 0 in steps of 1"},
    {"dot inner vdot", "`a @ b` is the matrix product; `sum(a * b)` that of vectors"},
    {"einsum",
     "an `op` in index notation: `op f(a: f32[m, k], b: f32[k]) { y[i] = sum(j) a[i, j] * b[j] }`"},
    {"stack vstack", "`[a, b]` stacks tensors of one shape"},
    {"concatenate cat hstack append",
     "`concat(a, b, axis = 0)` joins tensors, `list.append` lists"},
    {"expand broadcast repeat_interleave",
     "`broadcast_to(x, shape = (2, 3))` repeats along new dimensions, `tile` along old ones"},
    {"squeeze unsqueeze expand_dims view flatten ravel", "`reshape(x, shape = (2, 3))`"},
    {"permute swapaxes moveaxis T mT t", "`transpose(x, perm = (1, 0))`"},
    {"shape size ndim numel",
     "sizes are named by a signature: n in `fn f(x: f32[n])`; `len(x)` is the first"},
    {"dtype astype to float double int long cast_to", "`f32(x)`, `i64(x)` and others convert"},
    {"norm", "`sqrt(sum(square(x)))`"},
    {"logsumexp", "`reduce_log_sum_exp(x, keepdims = false)`"},
    {"amax amin", "`maximum(x)` and `minimum(x)` are the largest and the smallest element"},
    {"std var", "`mean(square(x - mean(x)))` is the variance"},
    {"argsort sort", "`top_k(x, k = n)` sorts a tensor, `array.sort` an array of any values"},
    {"clamp", "`clip(x, low, high)`"},
    {"select cond", "`where(c, x, y)` chooses by element, `if c { x } else { y }` as a whole"},
    {"scan while_loop fori_loop", "`for i in 0..n with x = first { next }`"},
    {"outer", "`linalg.outer(x, y)`, or an `op` in index notation"},
    {"inv solve cholesky qr svd eigh", "`use linalg` reads the library's module of linear algebra"},
    {"map fold filter reduce reverse zip head tail",
     "`use list` reads the library's functions of lists: `list.map(f, l)`"},
    {"str string format", "`strings.format(x)` of the library writes a number as text"},
    {"rand randn normal uniform",
     "`use random` reads the library's numbers by key: `random.normal(key, x)`"},
    {"println printf", "`print(x)`"},
    {"lambda", "`fn(x) { x + 1 }` is a function"},
    {"self this", "there are no methods: a function takes the value as a parameter"},
    {"null nil none None undefined",
     "`use option { Option }` brings the constructors `None` and `Some(x)`"},
    {"pi", "`acos(-1.0)`"},
    {"inf nan", "`1.0 / 0.0` is infinite, `0.0 / 0.0` no number"},
};

static const hint hint_elems[] = {
    {"float32 float single", "f32"},
    {"float64 double", "f64"},
    {"float16 half", "f16"},
    {"bfloat16", "bf16"},
    {"int64 int long isize usize", "i64"},
    {"int32", "i32"},
    {"int16 short", "i16"},
    {"int8", "i8"},
    {"uint64 ulong", "u64"},
    {"uint32 uint", "u32"},
    {"uint16", "u16"},
    {"uint8 byte", "u8"},
    {"boolean", "bool"},
    {"str text", "string"},
};

static const hint hint_words[] = {
    {"and & &&=",
     "`a && b` of conditions; of tensors `and(a, b)`, of the bits of numbers `bit_and(a, b)`"},
    {"|", "`a || b` of conditions, `bit_or(a, b)` of the bits of numbers; each pattern has an arm "
          "of its own"},
    {"or", "`a || b` of conditions; of tensors `or(a, b)`, of the bits of numbers `bit_or(a, b)`"},
    {"not ~", "`!a` of a condition; of the bits of numbers `bit_not(a)`"},
    {"^", "`x ** y` is a power; `bit_xor(a, b)` of the bits of numbers"},
    {"is", "`a == b`"},
    {"?", "`if c { x } else { y }` has a value; `Option[t]` of the library is a type for what may "
          "be missing"},
    {"if", "`if c { x } else { y }` is an expression; patterns have no conditions"},
    {"def func function", "a function is `fn f(x) { x + 1 }`"},
    {"lambda \\", "a function without a name is `fn(x) { x + 1 }`"},
    {"import from", "`use list` reads a module"},
    {"class enum", "`struct P { x: f32 }` has fields, `type T { A, B(f32) }` constructors"},
    {"var const mut",
     "`let x = v` gives a name; what changes is carried by a loop or held by `ref(v)`"},
    {"elif elsif elseif", "`else if c { ... }`"},
    {"switch", "`match x { 0 => a, _ => b }`"},
    {"return", "the last expression of a function is what it gives"},
    {"break continue", "a loop ends by its condition: `while !done with (x, done) = ... { ... }`"},
};

static const char *hint_find(const hint *all, size_t n, const char *name, size_t length)
{
  for (size_t i = 0; i < n; i++)
    for (const char *at = all[i].names; *at; at += *at == ' ') {
      size_t k = strcspn(at, " ");
      if (k == length && memcmp(at, name, k) == 0) return all[i].text;
      at += k;
    }
  return NULL;
}

const char *wick_lang_foreign_value(const char *name)
{
  return hint_find(hint_values, WICK_COUNT(hint_values), name, strlen(name));
}

const char *wick_lang_foreign_elem(const char *name)
{
  return hint_find(hint_elems, WICK_COUNT(hint_elems), name, strlen(name));
}

const char *wick_lang_foreign_word(const char *word, size_t length)
{
  return hint_find(hint_words, WICK_COUNT(hint_words), word, length);
}
