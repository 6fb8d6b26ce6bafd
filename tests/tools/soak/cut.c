/* Counts what a process does to files below one folder when preloaded, and at a chosen number kills it
   in the middle of the write, as a kill or a power cut would. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[4096];
static long done, last;
static double part;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Count from now on; the number `at` is cut off after this part of its bytes (0: never). */
void cut(const char *below, long at, double after) {
    strncpy(folder, below, sizeof folder - 1);
    done = 0; last = at; part = after;
}

long counted(void) { return done; }

static int below(const char *path) { return folder[0] && strncmp(path, folder, strlen(folder)) == 0; }

static int open_below(int descriptor) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

static int over(void) { return ++done == last; }

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static size_t whole_pages(size_t size) { return (size_t)(size * part) / 4096 * 4096; }

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
    if (!open_below(descriptor)) return NEXT(pwrite64)(descriptor, bytes, size, offset);
    pthread_mutex_lock(&lock);
    if (over()) {
        if (whole_pages(size)) NEXT(pwrite64)(descriptor, bytes, whole_pages(size), offset);
        end();
    }
    ssize_t written = NEXT(pwrite64)(descriptor, bytes, size, offset);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
    return pwrite64(descriptor, bytes, size, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    if (!open_below(descriptor)) return NEXT(write)(descriptor, bytes, size);
    pthread_mutex_lock(&lock);
    if (over()) {
        if ((size_t)(size * part)) NEXT(write)(descriptor, bytes, (size_t)(size * part));
        end();
    }
    ssize_t written = NEXT(write)(descriptor, bytes, size);
    pthread_mutex_unlock(&lock);
    return written;
}

#define BEFORE(type, name, parameters, arguments, is_ours) \
    type name parameters { \
        if (!(is_ours)) return NEXT(name) arguments; \
        pthread_mutex_lock(&lock); \
        if (over()) end(); \
        type answer = NEXT(name) arguments; \
        pthread_mutex_unlock(&lock); \
        return answer; \
    }

BEFORE(int, unlink, (const char *path), (path), below(path))
BEFORE(int, remove, (const char *path), (path), below(path))
BEFORE(int, rename, (const char *from, const char *to), (from, to), below(from))
BEFORE(int, link, (const char *from, const char *to), (from, to), below(from))
BEFORE(int, ftruncate, (int descriptor, off_t size), (descriptor, size), open_below(descriptor))
BEFORE(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size), open_below(descriptor))
BEFORE(int, fsync, (int descriptor), (descriptor), open_below(descriptor))
