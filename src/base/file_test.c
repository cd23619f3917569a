/* Files: what may be mapped, that writes are atomic, and that no handle stays open. */
#include "base/file.h"

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "base/str.h"
#include "base/torture.h"

static char root[256]; /* the folder that group_setup creates, in which the tests run */

static void put(const char *name, const char *text)
{
  FILE *f = fopen(name, "wb");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static int count_entries(const char *path)
{
  DIR *d = opendir(path);
  assert_non_null(d);
  int n = 0;
  for (struct dirent *e; (e = readdir(d));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  closedir(d);
  return n;
}
static int count_handles(void) { return count_entries("/proc/self/fd"); }

static int group_setup(void **state)
{
  (void)state;
  const char *outer = getenv("TMPDIR");
  snprintf(root, sizeof root, "%s/file_test.XXXXXX", outer ? outer : "/tmp");
  if (!mkdtemp(root) || chdir(root)) return -1;
  if (mkdir("model", 0777) || mkdir("model/sub", 0777) || mkdir("other", 0777)) return -1;
  put("model/a.bin", "abc");
  put("model/sub/b.bin", "defg");
  put("model/empty", "");
  put("other/secret", "secret");
  if (symlink("../other/secret", "model/out") || symlink("a.bin", "model/in")) return -1;
  if (symlink("../other", "model/outdir") || symlink("sub", "model/indir")) return -1;
  if (symlink("loop", "model/loop") || mkfifo("model/fifo", 0666)) return -1;
  return symlink("model", "linked");
}

static int group_teardown(void **state)
{
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return chdir("/") || system(command);
}

/* Returns the file's bytes, or "error: " and the message. */
static const char *shown(wick_status s, wick_file *const *f)
{
  if (s) return wick_str_printf(&mem, "error: %s", s->message);
  return wick_str_dupn(&mem, (const char *)(*f)->at, (*f)->nbytes);
}

static void test_map(void **state)
{
  (void)state;
  static const struct {
    const char *path, *want;
  } rows[] = {
      {"model/a.bin", "abc"},
      {"model/empty", ""},
      {"model/out", "secret"}, /* the user may follow links */
      {"linked/in", "abc"},
      {"model/none", "error: model/none: cannot open it: No such file or directory"},
      {"model", "error: model: cannot open it: Is a directory"},
      /* opening does not block */
      {"model/fifo", "error: model/fifo: cannot open it: it is no regular file"},
      {"/dev/zero", "error: /dev/zero: cannot open it: it is no regular file"},
      {"model/loop", "error: model/loop: cannot open it: Too many levels of symbolic links"},
      {"", "error: cannot open it: No such file or directory"},
  };
  int before = count_handles();
  wick_files files = wick_files_begin(&mem);
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_file *f, *again;
    assert_string_equal(shown(wick_files_map(&files, rows[i].path, &f), &f), rows[i].want);
    if (strncmp(rows[i].want, "error", 5) == 0) continue;
    assert_null(wick_files_map(&files, rows[i].path, &again));
    assert_ptr_equal(f, again); /* mapped once */
  }
  assert_int_equal(count_handles(), before);
  wick_files_close(&files);
  wick_files_close(&files);
}

#define ALLOW "; pass --allow-links (in C and Python: allow_links) to follow all links"

static void test_map_beneath(void **state)
{
  (void)state;
#define OUTSIDE(name)                                                                              \
  "error: model: the file name \"" name "\" is not a relative path that stays inside the folder"
#define LINK(name)                                                                                 \
  "error: model/" name ": cannot open it: it is a link, or reached through one, outside of a "     \
  "model store" ALLOW
  static const struct {
    const char *name, *want;
  } rows[] = {
      {"a.bin", "abc"},
      {"sub/b.bin", "defg"},
      {"sub//b.bin", "defg"},
      {"./sub/./b.bin", "defg"},
      {"empty", ""},
      {"../other/secret", OUTSIDE("../other/secret")},
      {"sub/../../other/secret", OUTSIDE("sub/../../other/secret")},
      {"sub/..", OUTSIDE("sub/..")},
      {"/etc/passwd", OUTSIDE("/etc/passwd")},
      {"sub/", OUTSIDE("sub/")},
      {"", OUTSIDE("")},
      {"out", LINK("out")},
      {"in", LINK("in")},
      {"outdir/secret", LINK("outdir/secret")},
      {"indir/b.bin", LINK("indir/b.bin")},
      {"loop", LINK("loop")},
      {"none", "error: model/none: cannot open it: No such file or directory"},
      {"a.bin/b", "error: model/a.bin/b: cannot open it: Not a directory"},
      {"none/b", "error: model/none/b: cannot open it: No such file or directory"},
      {"sub", "error: model/sub: cannot open it: Is a directory"},
      {"fifo", "error: model/fifo: cannot open it: it is no regular file"},
      {"..a", "error: model/..a: cannot open it: No such file or directory"},
  };
  int before = count_handles();
  wick_files files = wick_files_begin(&mem);
  wick_file *f;
  for (size_t i = 0; i < WICK_COUNT(rows); i++)
    assert_string_equal(shown(wick_files_map_beneath(&files, "model", rows[i].name, &f), &f),
                        rows[i].want);
  /* The folder itself is given by the user, and may be reached through a link. */
  assert_string_equal(shown(wick_files_map_beneath(&files, "linked", "a.bin", &f), &f), "abc");
  assert_string_equal(shown(wick_files_map_beneath(&files, "none", "a.bin", &f), &f),
                      "error: none/a.bin: cannot open it: No such file or directory");
  assert_int_equal(count_handles(), before);
  wick_files_close(&files);
}

/* Hugging Face's layout: the files of a revision are links to blobs. */
static void store_make(void)
{
  static const struct {
    const char *to, *at;
  } link[] = {
      {"../../blobs/1", "store/snapshots/r/model.onnx_data"},
      {"../../../blobs/1", "store/snapshots/r/onnx/data"},
      {"../../../../blobs/1", "store/snapshots/r/onnx/above"}, /* outside of the store */
      {"../../blobs/2", "store/snapshots/r/twice"},
      {"1", "store/blobs/2"},
      {"../r", "store/snapshots/r/again"},
      /* leaves it, even if only temporarily */
      {"../../..//store/blobs/1", "store/snapshots/r/around"},
      {"../../../other/secret", "store/snapshots/r/other"},
      {"/etc/passwd", "store/snapshots/r/passwd"},
      {"/dev/zero", "store/snapshots/r/zero"},
      {"../../blobs/fifo", "store/snapshots/r/fifo"},
      {"../../blobs/", "store/snapshots/r/folder"},
      {"cycle2", "store/snapshots/r/cycle"},
      {"./cycle", "store/snapshots/r/cycle2"},
      {"../../blobs/none", "store/snapshots/r/none"},
      {"r", "store/snapshots/main"},
      {"../../blobs/1", "bare/snapshots/r/data"}, /* without `blobs` it is no store */
      {"../1", "store/blobs/sub/data"},           /* a folder of the store that is no snapshot */
  };
  static const char *const folder[] = {"store/blobs/sub", "store/snapshots/r/onnx",
                                       "bare/snapshots/r"};
  char absolute[PATH_MAX];
  for (size_t i = 0; i < WICK_COUNT(folder); i++) assert_null(wick_folder_make(&mem, folder[i]));
  put("store/blobs/1", "weights");
  assert_int_equal(mkfifo("store/blobs/fifo", 0666), 0);
  for (size_t i = 0; i < WICK_COUNT(link); i++)
    assert_int_equal(symlink(link[i].to, link[i].at), 0);
  assert_non_null(realpath("store/blobs/1", absolute));
  assert_int_equal(symlink(absolute, "store/snapshots/r/absolute"), 0);
}

/* Links of a model store are followed beneath its root, and no others. */
static void test_map_store(void **state)
{
  (void)state;
  store_make();
#define STORE(name) "error: store/snapshots/r/" name ": cannot open it: "
#define LEAVES(name) STORE(name) "a link leads out of the model store" ALLOW
  static const struct {
    const char *folder, *name, *want, *allowed;
  } rows[] = {
      {"store/snapshots/r", "model.onnx_data", "weights", "weights"},
      {"store/snapshots/r/", "onnx/data", "weights", "weights"},
      {"store/snapshots/main", "model.onnx_data", "weights", "weights"},
      {"store/snapshots/r/onnx", "data", "weights", "weights"},
      {"store/snapshots/r", "twice", "weights", "weights"},
      {"store/snapshots/r", "again/model.onnx_data", "weights", "weights"},
      {"store/snapshots/r", "absolute", "weights", "weights"},
      {"store/snapshots/r", "onnx/above", LEAVES("onnx/above"),
       STORE("onnx/above") "No such file or directory"},
      {"store/snapshots/r", "around", LEAVES("around"), "weights"},
      {"store/snapshots/r", "other", LEAVES("other"), "secret"},
      {"store/snapshots/r", "passwd", LEAVES("passwd"), NULL},
      {"store/snapshots/r", "zero", LEAVES("zero"), STORE("zero") "it is no regular file"},
      {"store/snapshots/r", "fifo", STORE("fifo") "it is no regular file",
       STORE("fifo") "it is no regular file"},
      {"store/snapshots/r", "folder", STORE("folder") "Is a directory",
       STORE("folder") "Is a directory"},
      {"store/snapshots/r", "cycle", STORE("cycle") "Too many levels of symbolic links",
       STORE("cycle") "Too many levels of symbolic links"},
      {"store/snapshots/r", "none", STORE("none") "No such file or directory",
       STORE("none") "No such file or directory"},
      {"store/snapshots/r", "../../blobs/1",
       "error: store/snapshots/r: the file name \"../../blobs/1\" is not a relative path that "
       "stays "
       "inside the folder",
       "error: store/snapshots/r: the file name \"../../blobs/1\" is not a relative path that "
       "stays "
       "inside the folder"},
      {"bare/snapshots/r", "data",
       "error: bare/snapshots/r/data: cannot open it: it is a link, or reached through one, "
       "outside "
       "of a model store" ALLOW,
       "error: bare/snapshots/r/data: cannot open it: No such file or directory"},
      {"store/blobs/sub", "data",
       "error: store/blobs/sub/data: cannot open it: it is a link, or reached through one, outside "
       "of a model store" ALLOW,
       "weights"},
  };
  int before = count_handles();
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_files files = wick_files_begin(&mem);
    wick_file *f;
    assert_string_equal(shown(wick_files_map_beneath(&files, rows[i].folder, rows[i].name, &f), &f),
                        rows[i].want);
    wick_files_close(&files);
    files.allow_links = true;
    const char *got = shown(wick_files_map_beneath(&files, rows[i].folder, rows[i].name, &f), &f);
    if (rows[i].allowed) assert_string_equal(got, rows[i].allowed);
    wick_files_close(&files);
  }
  assert_int_equal(chdir("store/snapshots/r/onnx"), 0); /* the model's folder is the current one */
  wick_files files = wick_files_begin(&mem);
  wick_file *f;
  assert_string_equal(shown(wick_files_map_beneath(&files, ".", "data", &f), &f), "weights");
  wick_files_close(&files);
  assert_string_equal(shown(wick_files_map_beneath(&files, "", "data", &f), &f), "weights");
  wick_files_close(&files);
  assert_int_equal(chdir(root), 0);
  assert_int_equal(count_handles(), before);
}

static void test_read(void **state)
{
  (void)state;
  char *text;
  size_t n;
  assert_null(wick_file_read(&mem, "model/sub/b.bin", 0, &text, &n));
  assert_int_equal(n, 4);
  assert_string_equal(text, "defg");
  assert_null(wick_file_read(&mem, "model/sub/b.bin", 4, &text, &n));
  assert_null(wick_file_read(&mem, "model/empty", 0, &text, &n));
  assert_int_equal(n, 0);
  assert_string_equal(text, "");
  assert_null(wick_file_read(&mem, "/proc/self/status", 0, &text, &n)); /* its stated size is 0 */
  assert_true(n > 100 && text[n] == 0);
  assert_string_equal(wick_file_read(&mem, "model/sub/b.bin", 3, &text, &n)->message,
                      "model/sub/b.bin: it has more than 3 bytes");
  assert_int_equal(wick_file_read(&mem, "/dev/zero", 100000, &text, &n)->code, WICK_ELIMIT);
  for (size_t most = 0; most <= INT32_MAX; most += INT32_MAX) /* it has no end */
    assert_string_equal(wick_file_read(&mem, "/dev/zero", most, &text, &n)->message,
                        "/dev/zero: it has more than 1048576 bytes");
  assert_string_equal(wick_file_read(&mem, "model", 0, &text, &n)->message,
                      "model: cannot read it: Is a directory");
  assert_string_equal(wick_file_read(&mem, "none", 0, &text, &n)->message,
                      "none: cannot open it: No such file or directory");
}

static wick_status write_text(const char *path, const char *text)
{
  wick_bytes part[] = {{text, 2}, {NULL, 0}, {text + 2, strlen(text) - 2}};
  return wick_file_write(&mem, path, part, WICK_COUNT(part));
}

static void test_write(void **state)
{
  (void)state;
  char *text;
  size_t n;
  assert_null(wick_folder_make(&mem, "out"));
  for (int round = 0; round < 2; round++) { /* a new file, then a replaced one */
    assert_null(write_text("out/x", round ? "second" : "first"));
    assert_null(wick_file_read(&mem, "out/x", 0, &text, &n));
    assert_string_equal(text, round ? "second" : "first");
  }
  struct stat st;
  mode_t mask = umask(0);
  umask(mask);
  assert_int_equal(stat("out/x", &st), 0);
  assert_int_equal(st.st_mode & 0777, 0666 & ~mask); /* the same mode as for any program's file */
  assert_int_equal(symlink("x", "out/link"), 0);
  assert_null(write_text("out/link", "through"));
  assert_null(wick_file_read(&mem, "out/x", 0, &text, &n));
  assert_string_equal(text, "through");
  assert_int_equal(lstat("out/link", &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_null(write_text("/dev/null", "gone"));
  assert_int_equal(stat("/dev/null", &st), 0);
  assert_true(S_ISCHR(st.st_mode));
  assert_int_equal(count_entries("out"), 2);
}

static void test_write_several(void **state)
{
  (void)state;
  char *text;
  size_t n;
  const wick_bytes one = {"one", 3}, two = {"two", 3};
  assert_null(wick_folder_make(&mem, "set"));
  const wick_output files[] = {{"set/a", &one, 1}, {"set/b", &two, 1}, {"/dev/null", &two, 1}};
  assert_null(wick_files_write(&mem, files, 3));
  assert_null(wick_file_read(&mem, "set/b", 0, &text, &n));
  assert_string_equal(text, "two");
  assert_int_equal(count_entries("set"), 2);
  enum { MANY = 1001 };
  wick_output *many = wick_new(&mem, wick_output, MANY);
  for (uint32_t i = 0; i < MANY; i++)
    many[i] = (wick_output){wick_str_printf(&mem, "many/%u", i), i % 2 ? &one : &two, 1};
  assert_null(wick_folder_make(&mem, "many"));
  assert_null(wick_files_write(&mem, many, MANY));
  assert_int_equal(count_entries("many"), MANY);
  assert_null(wick_file_read(&mem, "many/999", 0, &text, &n));
  assert_string_equal(text, "one");
  const wick_output fails[] = {{"set/a", &two, 1}, {"set/c", &two, 1}, {"none/d", &two, 1}};
  assert_string_equal(wick_files_write(&mem, fails, 3)->message,
                      "none/d: cannot write it: No such file or directory");
  assert_null(wick_file_read(&mem, "set/a", 0, &text, &n));
  assert_string_equal(text, "one"); /* none of the files was replaced */
  assert_int_equal(count_entries("set"), 2);
}

static void test_write_fails(void **state)
{
  (void)state;
  int before = count_handles();
  assert_null(wick_folder_make(&mem, "full"));
  assert_null(write_text("full/x", "kept"));
  assert_string_equal(write_text("none/x", "text")->message,
                      "none/x: cannot write it: No such file or directory");
  assert_string_equal(write_text("full", "text")->message, "full: cannot write it: Is a directory");
  assert_string_equal(write_text("/dev/full", "text")->message,
                      "/dev/full: cannot write it: No space left on device");
  struct rlimit old, small = {1, RLIM_INFINITY}; /* the disk is full after one byte */
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small.rlim_max = old.rlim_max;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  wick_status s = write_text("full/x", "lost");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, handler);
  assert_string_equal(s->message, "full/x: cannot write it: File too large");
  char *text;
  size_t n;
  assert_null(wick_file_read(&mem, "full/x", 0, &text, &n));
  assert_string_equal(text, "kept");          /* the old file is complete */
  assert_int_equal(count_entries("full"), 1); /* the temporary file was removed */
  assert_int_equal(count_handles(), before);
}

static void test_folder_make(void **state)
{
  (void)state;
  assert_null(wick_folder_make(&mem, "p/q//r/"));
  assert_null(wick_folder_make(&mem, "p/q/r"));
  assert_null(wick_folder_make(&mem, "linked/new"));
  assert_null(wick_folder_make(&mem, wick_path_join(&mem, root, "p/s")));
  assert_null(wick_folder_make(&mem, "/"));
  assert_null(wick_folder_make(&mem, ""));
  assert_true(wick_file_exists("p/q/r") && wick_file_exists("p/s"));
  assert_true(wick_file_exists("model/new") && !wick_file_exists("p/t"));
  assert_string_equal(wick_folder_make(&mem, "model/a.bin/x")->message,
                      "model/a.bin: cannot make it: Not a directory");
}

static void test_paths(void **state)
{
  (void)state;
  static const struct {
    const char *path, *in_folder, *base, *stem;
  } rows[] = {
      {"a/b.c", "a", "b.c", "b"},
      {"b", ".", "b", "b"},
      {"/b.c.d", "/", "b.c.d", "b.c"},
      {"a//b", "a", "b", "b"},
      {"a/.c", "a", ".c", ".c"},
      {"/x/y/z.onnx", "/x/y", "z.onnx", "z"},
      {"", ".", "", ""},
      {"a.b/c", "a.b", "c", "c"},
      {"//b", "/", "b", "b"},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    assert_string_equal(wick_path_folder(&mem, rows[i].path), rows[i].in_folder);
    assert_string_equal(wick_path_base(rows[i].path), rows[i].base);
    assert_string_equal(wick_path_stem(&mem, rows[i].path), rows[i].stem);
  }
  static const struct {
    const char *a, *b, *want;
  } joins[] = {
      {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"a", "/b", "/b"}, {"/", "b", "/b"}};
  for (size_t i = 0; i < WICK_COUNT(joins); i++)
    assert_string_equal(wick_path_join(&mem, joins[i].a, joins[i].b), joins[i].want);
}

/* Calls every function once, while each allocation fails in turn. Returns whether it completed. */
static bool work(wick_guard *g)
{
  wick_arena a = wick_arena_make(g);
  wick_files files = wick_files_begin(&a);
  volatile bool done = false;
  if (setjmp(g->where) == 0) {
    wick_file *f;
    char *text;
    size_t n;
    wick_bytes part = {"0123456789", 10};
    assert_null(wick_files_map(&files, "model/a.bin", &f));
    wick_arena_alloc(&a, 3000, 1); /* so that each of the next calls must allocate a chunk */
    assert_null(wick_files_map_beneath(&files, "model", "sub/b.bin", &f));
    wick_arena_alloc(&a, 5000, 1);
    assert_null(wick_file_read(&a, "/proc/self/maps", 0, &text, &n));
    wick_arena_alloc(&a, 1 << 20, 1);
    assert_null(wick_file_write(&a, "torture/x", &part, 1));
    wick_arena_alloc(&a, 1 << 20, 1);
    assert_non_null(wick_files_map_beneath(&files, "model", "indir/b.bin", &f));
    assert_non_null(wick_file_read(&a, "model", 0, &text, &n));
    done = true;
  }
  wick_files_close(&files);
  wick_arena_free(&a);
  return done;
}

static void test_no_handle_leaks(void **state)
{
  (void)state;
  assert_null(wick_folder_make(&mem, "torture"));
  int before = count_handles();
  uint64_t n = 1;
  for (;; n++) {
    wick_torture t = {.fail_at = n};
    wick_guard g = {.allocator = wick_torture_allocator(&t)};
    bool done = work(&g);
    assert_int_equal(t.live, 0);
    assert_int_equal(count_handles(), before);
    assert_true(count_entries("torture") <= 1);
    if (done) break;
  }
  assert_true(n > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_map, setup, teardown),
      cmocka_unit_test_setup_teardown(test_map_beneath, setup, teardown),
      cmocka_unit_test_setup_teardown(test_map_store, setup, teardown),
      cmocka_unit_test_setup_teardown(test_read, setup, teardown),
      cmocka_unit_test_setup_teardown(test_write, setup, teardown),
      cmocka_unit_test_setup_teardown(test_write_several, setup, teardown),
      cmocka_unit_test_setup_teardown(test_write_fails, setup, teardown),
      cmocka_unit_test_setup_teardown(test_folder_make, setup, teardown),
      cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
      cmocka_unit_test_setup_teardown(test_no_handle_leaks, setup, teardown),
  };
  return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
