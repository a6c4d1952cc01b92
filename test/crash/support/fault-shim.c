/*
 * A disk and a clock that can be broken from outside, for LD_PRELOAD. `FAULT_DIR` holds what is broken right now:
 *
 *   eio-wal     syncs of the write-ahead log fail with EIO, as a dying disk would make them
 *   eio-db      the same for the database file, which SQLite syncs when it moves the log into it
 *   enospc      writes to the database, its log and its index fail with ENOSPC
 *   clock       two numbers of 8 bytes, microseconds that are added to the wall clock and to the monotonic clock
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int ends_with(const char *text, const char *end) {
  size_t a = strlen(text), b = strlen(end);
  return a >= b && strcmp(text + a - b, end) == 0;
}

/* Which of our files it is: 'd' the database, 'w' its log, 's' its index, 0 none of them. */
static char kind_of(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (ends_with(path, "quarterdeck.db")) return 'd';
  if (ends_with(path, "quarterdeck.db-wal")) return 'w';
  if (ends_with(path, "quarterdeck.db-shm")) return 's';
  return 0;
}

static int is_broken(const char *what) {
  char path[PATH_MAX];
  const char *folder = getenv("FAULT_DIR");
  if (folder == NULL) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, what);
  return access(path, F_OK) == 0;
}

static int sync_fails(int fd) {
  char kind = kind_of(fd);
  if ((kind == 'w' && is_broken("eio-wal")) || (kind == 'd' && is_broken("eio-db"))) {
    errno = EIO;
    return 1;
  }
  return 0;
}

static int write_fails(int fd) {
  if (kind_of(fd) != 0 && is_broken("enospc")) {
    errno = ENOSPC;
    return 1;
  }
  return 0;
}

#define REAL(type, name, parameters) \
  static type(*real) parameters;     \
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, #name)

int fsync(int fd) {
  REAL(int, fsync, (int));
  return sync_fails(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
  REAL(int, fdatasync, (int));
  return sync_fails(fd) ? -1 : real(fd);
}

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(ssize_t, write, (int, const void *, size_t));
  return write_fails(fd) ? -1 : real(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  REAL(ssize_t, pwrite, (int, const void *, size_t, off_t));
  return write_fails(fd) ? -1 : real(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
  REAL(ssize_t, pwrite64, (int, const void *, size_t, off64_t));
  return write_fails(fd) ? -1 : real(fd, bytes, size, at);
}

enum { WALL, MONOTONIC };

static int64_t offset_of(int which) {
  static volatile int64_t *offsets;
  static int looked;
  if (!looked) {
    looked = 1;
    char path[PATH_MAX];
    const char *folder = getenv("FAULT_DIR");
    snprintf(path, sizeof path, "%s/clock", folder == NULL ? "" : folder);
    int fd = open(path, O_RDONLY);
    if (fd >= 0) {
      void *map = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
      if (map != MAP_FAILED) offsets = map;
      close(fd);
    }
  }
  return offsets == NULL ? 0 : offsets[which];
}

static void move_time(struct timespec *now, int64_t microseconds) {
  int64_t time = (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000 + microseconds;
  now->tv_nsec = (time % 1000000) * 1000 + now->tv_nsec % 1000;
  now->tv_sec = time / 1000000;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  REAL(int, gettimeofday, (struct timeval *, void *));
  int result = real(now, zone);
  if (result == 0 && now != NULL) {
    int64_t time = (int64_t)now->tv_sec * 1000000 + now->tv_usec + offset_of(WALL);
    now->tv_sec = time / 1000000;
    now->tv_usec = time % 1000000;
  }
  return result;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  REAL(int, clock_gettime, (clockid_t, struct timespec *));
  int result = real(clock, now);
  if (result != 0) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) move_time(now, offset_of(WALL));
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE) move_time(now, offset_of(MONOTONIC));
  return result;
}
