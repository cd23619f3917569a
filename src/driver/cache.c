/* Computes keys, reads and writes files, and removes the least recently used ones. */
#include "driver/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "codegen/client.h"
#include "driver/digest_cache.h"
#include "runtime/digest.h"

enum { CACHE_READ_MOST = 256 << 20 }; /* most bytes of a file that is read whole */
/* bytes that are written between two checks whether to stop */
enum { CACHE_PIECE = 4 << 20 };
enum {
  CACHE_NAME = 40,
  CACHE_STAMPED = 16 << 20 /* bytes of a file whose digest is worth keeping */
};
static const uint64_t cache_most_bytes = (uint64_t)4 << 30;

/* ---- the key ---- */

typedef struct cache_build {
  char hex[72];
} cache_build;

/* Finds the build ID of the library, or of the program that it is linked into. */
static int cache_notes(struct dl_phdr_info *info, size_t size, void *arg)
{
  static const char anchor;
  cache_build *b = arg;
  uintptr_t here = (uintptr_t)&anchor;
  bool mine = false;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    mine |= info->dlpi_phdr[i].p_type == PT_LOAD && here - at < info->dlpi_phdr[i].p_memsz;
  }
  for (int i = 0; mine && i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char *at = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
               *end = at + info->dlpi_phdr[i].p_memsz;
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) n;
      memcpy(&n, at, sizeof n);
      const unsigned char *id = (const unsigned char *)at + sizeof n + wick_align_up(n.n_namesz, 4);
      if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(at + sizeof n, "GNU", 4))
        for (uint32_t k = 0; k < n.n_descsz && k < 32; k++)
          snprintf(b->hex + 2 * k, 3, "%02x", id[k]);
      at = (const char *)id + wick_align_up(n.n_descsz, 4);
    }
  }
  return mine;
}

static void cache_key_compiler(wick_text *key, wick_arena *mem)
{
  cache_build build = {{0}};
  dl_iterate_phdr(cache_notes, &build);
  wick_text_printf(key, "wick %d.%d %s\n", WICK_VERSION_MAJOR, WICK_VERSION_MINOR, build.hex);
  const char *program = wick_codegen_find(mem);
  struct stat st;
  if (program && stat(program, &st) == 0)
    wick_text_printf(key, "codegen %lld %lld.%09ld\n", (long long)st.st_size,
                     (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static uint64_t cache_digest(const void *at, size_t nbytes, wick_arena *tmp)
{
  wick_bytes words = {at, nbytes & ~(size_t)7};
  uint64_t h = wick_digest_of(&(wick_pieces){&words, 1, words.nbytes}, tmp);
  return wick_hash_bytes(h, (const char *)at + words.nbytes, nbytes - words.nbytes);
}

/* Adds the bytes of a model, or of an external file, to the key. `f` is NULL if they are not from a
 * file. */
static void cache_key_bytes(wick_text *key, const char *name, wick_span bytes, const wick_file *f,
                            const char *folder, wick_arena *tmp)
{
  uint64_t h = 0;
  bool large = f && bytes.nbytes >= CACHE_STAMPED;
  if (!large || !wick_digest_cache_find(folder, f, tmp, &h)) {
    h = cache_digest(bytes.at, bytes.nbytes, tmp);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (large)
      wick_digest_cache_keep(folder, f, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, tmp, h);
  }
  wick_text_printf(key, "file %s %zu %016llx\n", wick_path_base(name), bytes.nbytes,
                   (unsigned long long)h);
}

static const char *cache_key(const wick_compilation *c, const char *folder, wick_arena *mem)
{
  wick_text key = wick_text_begin(mem);
  cache_key_compiler(&key, mem);
  wick_text_add(&key, "target ");
  wick_target_name(&c->target, &key);
  wick_text_char(&key, '\n');
  wick_processor_print(wick_target_processor(&c->target), &key);
  wick_text_printf(&key, "strict %d\nprecision %s\n", c->strict, c->precision ? c->precision : "");
  if (c->records) wick_text_printf(&key, "records %016llx\n", (unsigned long long)c->records_hash);
  const wick_model *m = c->model;
  const wick_given *g = &c->given;
  if (m->entry) wick_text_printf(&key, "entry %s\n", m->entry);
  if (m->signature) wick_text_printf(&key, "signature %s\n", m->signature);
  for (uint32_t i = 0; i < m->noverride; i++)
    wick_text_printf(&key, "override %s\n", m->override[i]);
  for (uint32_t i = 0; i < m->derivatives.n; i++) {
    const wick_derivative *d = &m->derivatives.at[i];
    wick_text_printf(&key, "grad %d %s\n", d->cotangent, d->of ? d->of : "");
    for (uint32_t k = 0; k < d->nwrt; k++) wick_text_printf(&key, "by %s\n", d->wrt[k]);
  }
  for (uint32_t i = 0; i < c->ndonate; i++) wick_text_printf(&key, "donate %s\n", c->donate[i]);
  for (uint32_t i = 0; i < g->nsize; i++)
    wick_text_printf(&key, "size %s %lld\n", g->sizes[i].name, (long long)g->sizes[i].value);
  for (uint32_t i = 0; i < g->nrange; i++)
    wick_text_printf(&key, "range %s %lld %lld %lld\n", g->ranges[i].name,
                     (long long)g->ranges[i].least, (long long)g->ranges[i].most,
                     (long long)g->ranges[i].step);
  if (g->vary) wick_text_add(&key, "vary\n");
  for (uint32_t i = 0; i < c->nspecialize_dim; i++)
    wick_text_printf(&key, "pin %s %lld\n", c->specialize_dims[i].name,
                     (long long)c->specialize_dims[i].value);
  for (uint32_t i = 0; i < c->nspecialize_input; i++) {
    const unsigned char *at = c->specialize_inputs[i].data;
    wick_text_printf(&key, "hold %s ", c->specialize_inputs[i].input);
    for (uint64_t k = 0; k < c->specialize_inputs[i].nbytes && k < WICK_GUARD_BYTES_MAX; k++)
      wick_text_printf(&key, "%02x", at[k]);
    wick_text_char(&key, '\n');
  }
  for (uint32_t i = 0; i < g->nlist; i++) {
    wick_text_printf(&key, "shape %s", g->list[i].input);
    for (uint32_t k = 0; k < g->list[i].rank; k++)
      wick_text_printf(&key, " %lld", (long long)g->list[i].dim[k]);
    wick_text_char(&key, '\n');
  }
  for (uint32_t i = 0; i < g->ncontent && m->follows; i++)
    wick_text_printf(&key, "content %s %016llx\n", g->contents[i].input,
                     (unsigned long long)wick_hash_bytes(WICK_HASH_SEED, g->contents[i].data,
                                                         g->contents[i].nbytes));
  const wick_file *own = m->files.first;
  while (own && own->at != m->bytes.at) own = own->next;
  cache_key_bytes(&key, m->path, m->bytes, own, folder, mem);
  if (m->ops.nbytes)
    wick_text_printf(&key, "ops %016llx\n",
                     (unsigned long long)wick_hash_bytes(WICK_HASH_SEED, m->ops.at, m->ops.nbytes));
  for (const wick_file *f = m->files.first; f; f = f->next)
    if (f != own) cache_key_bytes(&key, f->path, (wick_span){f->at, f->nbytes}, f, folder, mem);
  return key.at;
}

const char *wick_cache_folder(const char *folder, wick_arena *mem)
{
  if (folder) return *folder ? folder : NULL;
  const char *named = getenv("WICK_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  if (named && *named) return named;
  if (cache && *cache == '/') return wick_path_join(mem, cache, "wick");
  if (home && *home == '/') return wick_path_join(mem, home, ".cache/wick");
  return NULL;
}

static const char *cache_path(const wick_cache *cache, wick_arena *mem)
{
  const char *name = wick_str_printf(mem, "%016llx.wick",
                                     (unsigned long long)wick_hash_str(WICK_HASH_SEED, cache->key));
  return wick_path_join(mem, cache->folder, name);
}

wick_cache wick_cache_of(const wick_compilation *c, const char *folder, uint64_t most_bytes,
                         wick_arena *mem)
{
  wick_cache cache = {.folder = wick_cache_folder(folder, mem),
                      .most_bytes = most_bytes ? most_bytes : cache_most_bytes};
  if (!cache.folder) return cache;
  cache.key = cache_key(c, cache.folder, mem);
  cache.path = cache_path(&cache, mem);
  return cache;
}

wick_cache wick_cache_beside(const wick_cache *cache, const char *what, wick_arena *mem)
{
  wick_cache c = {.folder = cache->folder, .most_bytes = cache->most_bytes};
  if (!c.folder) return c;
  c.key = wick_str_printf(mem, "%s\n%s", what, cache->key);
  c.path = cache_path(&c, mem);
  return c;
}

/* ---- the artifact's key ---- */

wick_section wick_cache_section(const wick_cache *cache)
{
  return (wick_section){.name = "key",
                        .bytes = {(const unsigned char *)cache->key, strlen(cache->key)}};
}

static bool cache_is(wick_span s, const char *text)
{
  return s.at && s.nbytes == strlen(text) && memcmp(s.at, text, s.nbytes) == 0;
}

bool wick_cache_find(const wick_cache *cache, bool check, wick_compiled *k, wick_arena *tmp)
{
  if (!cache->folder || access(cache->path, R_OK) != 0) return false;
  wick_file *file;
  wick_artifact a;
  if (wick_files_map(&k->files, cache->path, &file)) return false;
  wick_span bytes = {file->at, file->nbytes};
  bool hit = !wick_artifact_read(bytes, cache->path, tmp, &a);
  hit = hit && cache_is(wick_artifact_section(&a, "key"), cache->key);
  hit = hit && (!check || wick_digest_holds(&a, tmp)) && !wick_compiled_take(k, bytes, cache->path);
  if (hit)
    utimensat(AT_FDCWD, cache->path, NULL, 0); /* marks it as used now */
  else
    wick_files_close(&k->files);
  k->cached = hit;
  return hit;
}

bool wick_cache_read(const wick_cache *cache, wick_arena *mem, wick_span *out)
{
  char *bytes;
  size_t n;
  wick_artifact a;
  if (!cache->folder || access(cache->path, R_OK) != 0) return false;
  if (wick_file_read(mem, cache->path, CACHE_READ_MOST, &bytes, &n)) return false;
  *out = (wick_span){(const unsigned char *)bytes, n};
  bool hit = !wick_artifact_read(*out, cache->path, mem, &a) &&
             cache_is(wick_artifact_section(&a, "key"), cache->key);
  if (hit) utimensat(AT_FDCWD, cache->path, NULL, 0);
  return hit;
}

/* ---- writing ---- */

wick_draft *wick_cache_begin(const wick_cache *cache, uint64_t first, uint64_t nbytes,
                             wick_arena *mem)
{
  if (!cache->folder || first + nbytes > cache->most_bytes ||
      wick_folder_make(mem, cache->folder) != NULL)
    return NULL;
  wick_draft *d = wick_new(mem, wick_draft, 1);
  d->path = wick_str_printf(mem, "%s.%ld.part", cache->path, (long)getpid());
  d->nbytes = first + nbytes;
  d->fd = open(d->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (d->fd < 0) return NULL;
  /* Reserves the space: otherwise writing to mapped memory would crash when the disk is full. */
  void *at = MAP_FAILED;
  if (d->nbytes <= INT64_MAX && fallocate(d->fd, 0, 0, (off_t)d->nbytes) == 0)
    at = mmap(NULL, d->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
  if (at != MAP_FAILED) {
    d->at = at;
    return d;
  }
  wick_draft_drop(d);
  return NULL;
}

void wick_draft_drop(wick_draft *d)
{
  if (!d) return;
  if (d->at) munmap(d->at, d->nbytes);
  if (d->path && d->fd >= 0) unlink(d->path);
  if (d->fd >= 0) close(d->fd);
  *d = (wick_draft){.fd = -1};
}

/* Writes the artifact. The section in the draft's memory is written already. */
static bool cache_write(wick_guard *guard, const wick_draft *d, const wick_artifact_parts *parts)
{
  uint64_t offset = 0;
  bool good = true;
  for (size_t i = 0; i < parts->npart && good; i++) {
    const unsigned char *at = parts->part[i].at, *mine = d->at + offset;
    size_t left = parts->part[i].nbytes;
    offset += left;
    if (at == mine) continue;
    for (size_t n = left; left && good; at += n, left -= n) {
      ssize_t done =
          pwrite(d->fd, at, left < CACHE_PIECE ? left : CACHE_PIECE, (off_t)(offset - left));
      good = done > 0 && !wick_guard_stopped(guard);
      n = good ? (size_t)done : left;
    }
  }
  return good;
}

typedef struct cache_entry {
  char name[CACHE_NAME];
  uint64_t nbytes;
  struct timespec used;
} cache_entry;

/* Returns whether the cache uses such names: the 16 digits of a key's hash, and the kind of file.
 * Other files in the folder are ignored. */
static bool cache_is_entry(const char *name)
{
  enum { DIGITS = 16 };
  if (strlen(name) >= CACHE_NAME || strspn(name, "0123456789abcdef") != DIGITS) return false;
  name += DIGITS;
  if (strcmp(name, ".wick") == 0 || strcmp(name, ".stamp") == 0) return true;
  if (strncmp(name, ".wick.", 6) != 0) return false; /* a file that is being written */
  size_t n = strspn(name + 6, "0123456789");
  return n && strcmp(name + 6 + n, ".part") == 0;
}

static int cache_older(const void *a, const void *b)
{
  const struct timespec *x = &((const cache_entry *)a)->used, *y = &((const cache_entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

typedef wick_list(cache_entry) cache_entries;

/* Lists files of the cache, also those whose writing was interrupted; the least recently used come first. */
static cache_entries cache_list(const char *folder, wick_arena *mem)
{
  DIR *d = opendir(folder);
  cache_entries all = {0};
  if (!d) return all;
  for (const struct dirent *e; (e = readdir(d)) != NULL;) {
    struct stat st;
    if (!cache_is_entry(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(st.st_mode))
      continue;
    cache_entry entry = {.nbytes = (uint64_t)st.st_size, .used = st.st_mtim};
    strcpy(entry.name, e->d_name);
    wick_push(mem, &all, entry);
  }
  closedir(d);
  if (all.n) qsort(all.at, all.n, sizeof *all.at, cache_older);
  return all;
}

static bool cache_is_beside(wick_span key, wick_span of)
{
  size_t n = key.nbytes - of.nbytes;
  return key.at && key.nbytes > of.nbytes && key.at[n - 1] == '\n' &&
         memcmp(key.at + n, of.at, of.nbytes) == 0;
}

/* Opens an artifact of the cache and finds its key. Returns false for other files. */
static bool cache_open(const char *path, wick_files *files, wick_arena *mem, wick_span *bytes,
                       wick_span *key)
{
  wick_file *file;
  wick_artifact a;
  if (strcmp(strrchr(path, '.'), ".wick") != 0 || wick_files_map(files, path, &file)) return false;
  *bytes = (wick_span){file->at, file->nbytes};
  if (wick_artifact_read(*bytes, path, mem, &a)) return false;
  *key = wick_artifact_section(&a, "key");
  return key->at != NULL;
}

void wick_cache_all_beside(const char *folder, wick_span key, wick_files *files, wick_arena *mem,
                           wick_spans *out)
{
  cache_entries all = cache_list(folder, mem);
  for (uint32_t i = 0; i < all.n; i++) {
    const char *path = wick_path_join(mem, folder, all.at[i].name);
    wick_files one = wick_files_begin(mem); /* most are others', and soon closed */
    wick_span bytes, its;
    wick_file *file;
    bool beside = cache_open(path, &one, mem, &bytes, &its) && cache_is_beside(its, key);
    wick_files_close(&one);
    if (beside && !wick_files_map(files, path, &file))
      wick_push(mem, out, (wick_span){file->at, file->nbytes});
  }
}

/* Returns the rest of the key's line that begins with `word`. If there are several, the last one
 * belongs to the model. */
static const char *cache_key_word(wick_span key, const char *word, wick_arena *mem)
{
  const char *at = (const char *)key.at, *end = at + key.nbytes;
  size_t len = strlen(word);
  for (const char *next; at < end; at = next + 1) {
    next = memchr(at, '\n', (size_t)(end - at));
    if (!next) next = end;
    if ((size_t)(next - at) <= len || memcmp(at, word, len) != 0) continue;
    at += len;
    const char *space = memchr(at, ' ', (size_t)(next - at));
    return wick_str_dupn(mem, at, (size_t)((space ? space : next) - at));
  }
  return "";
}

void wick_cache_describe(const char *folder, wick_cache_entry *e, wick_arena *mem)
{
  wick_files files = wick_files_begin(mem);
  wick_span bytes, key;
  if (cache_open(wick_path_join(mem, folder, e->name), &files, mem, &bytes, &key)) {
    e->model = cache_key_word(key, "file ", mem);
    e->target = cache_key_word(key, "target ", mem);
  }
  wick_files_close(&files);
}

uint32_t wick_cache_entries(const char *folder, wick_arena *mem, wick_cache_entry **out)
{
  cache_entries all = cache_list(folder, mem);
  *out = wick_new(mem, wick_cache_entry, all.n);
  for (uint32_t i = 0; i < all.n; i++) {
    const cache_entry *e = &all.at[i];
    (*out)[i] = (wick_cache_entry){e->name, e->nbytes, (int64_t)e->used.tv_sec, "", ""};
  }
  return all.n;
}

bool wick_cache_remove(const char *folder, const char *name, wick_arena *mem)
{
  return cache_is_entry(name) && unlink(wick_path_join(mem, folder, name)) == 0;
}

/* Returns true for one file out of many, so that about a 64th of the limit is written between two of
 * them: listing a cache of 30,000 files takes longer than compiling a small model. Nothing is
 * remembered for it; keys are as good as random. */
static bool cache_is_trim_due(const wick_cache *cache, uint64_t nbytes)
{
  enum { SHARE = 64 };
  uint64_t share = cache->most_bytes / SHARE;
  return nbytes >= share || wick_hash_str(WICK_HASH_SEED, cache->key) % share < nbytes;
}

static void cache_trim(const wick_cache *cache, wick_arena *tmp)
{
  cache_entries all = cache_list(cache->folder, tmp);
  uint64_t total = 0;
  for (uint32_t i = 0; i < all.n; i++) total += all.at[i].nbytes;
  const char *kept = wick_path_base(cache->path);
  for (uint32_t i = 0; i < all.n && total > cache->most_bytes; i++) {
    const cache_entry *e = &all.at[i];
    if (strcmp(e->name, kept) == 0) continue;
    if (unlink(wick_path_join(tmp, cache->folder, e->name)) == 0) total -= e->nbytes;
  }
}

bool wick_cache_end(const wick_cache *cache, wick_draft *d, const wick_artifact_parts *parts,
                    wick_arena *tmp)
{
  if (!d || parts->nbytes > cache->most_bytes) return false;
  bool good = cache_write(tmp->guard, d, parts) && rename(d->path, cache->path) == 0;
  if (good) d->path = NULL;
  if (cache_is_trim_due(cache, parts->nbytes)) cache_trim(cache, tmp);
  return good;
}
