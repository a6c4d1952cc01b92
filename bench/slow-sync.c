// Simulates a slow disk. Load it with LD_PRELOAD: every fsync and fdatasync then takes SLOW_SYNC_MS longer.
//   cc -shared -fPIC -O2 -o slow-sync.so slow-sync.c -ldl

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int slowly(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const char *ms = getenv("SLOW_SYNC_MS");
  long wait = ms ? atol(ms) : 0;
  struct timespec left = {wait / 1000, (wait % 1000) * 1000000L};
  // A signal must not shorten the wait.
  while (nanosleep(&left, &left) != 0) {
  }
  return real(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
