/* Files of a model that are in the folder of the file that was named. */
#include <dirent.h>
#include <string.h>

#include "import/kit/import.h"

enum { BESIDE_NAME = 1024 };

static void beside_keep(char *to, const char *name)
{
  size_t n = strlen(name);
  memcpy(to, name, n < BESIDE_NAME ? n + 1 : 0);
}

const char *wick_import_beside(wick_import *c, int (*fit)(const void *arg, const char *name),
                               const void *arg, const char **tie)
{
  const char *base = wick_path_base(c->path);
  const char *folder = wick_str_dupn(c->tmp, c->path, (size_t)(base - c->path));
  char best[BESIDE_NAME] = "", second[BESIDE_NAME] = "";
  int most = 0;
  DIR *d = opendir(*folder ? folder : "."); /* nothing is allocated while it is open */
  for (struct dirent *e; d && (e = readdir(d));) {
    int fits = strlen(e->d_name) < BESIDE_NAME ? fit(arg, e->d_name) : 0;
    if (!fits || fits < most) continue;
    if (fits > most) {
      *second = 0;
      beside_keep(best, e->d_name);
    } else if (strcmp(e->d_name, best) > 0) {
      beside_keep(second, best);
      beside_keep(best, e->d_name);
    } else if (strcmp(e->d_name, second) > 0) {
      beside_keep(second, e->d_name);
    }
    most = fits;
  }
  if (d) closedir(d);
  if (tie) *tie = *second ? wick_str_printf(c->tmp, "%s", second) : NULL;
  return most ? wick_str_printf(c->tmp, "%s%s", folder, best) : NULL;
}
