// Preloaded, makes a program's wall clock wrong by the seconds in the file that WRONG_CLOCK names, as soon as they are
// written. Waits take as long as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

// No machine has been up for that long. A later time is the wall clock's.
static const time_t WALL = 1000000000;
static const int64_t none;
static const volatile int64_t *ahead = &none;
static int (*real_time)(clockid_t, struct timespec *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void start(void) {
  real_time = dlsym(RTLD_NEXT, "clock_gettime");
  // Before glibc 2.36 the name alone gives the function of programs from before 2003.
  real_wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (real_wait == NULL) real_wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  int file = open(getenv("WRONG_CLOCK"), O_RDONLY | O_CLOEXEC);
  void *seconds = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  if (seconds == MAP_FAILED) abort();
  ahead = seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (real_time == NULL) start();
  int status = real_time(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += *ahead;
  return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone __attribute__((unused))) {
  struct timespec time;
  int status = clock_gettime(CLOCK_REALTIME, &time);
  *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
  return status;
}

time_t time(time_t *also) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (also != NULL) *also = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  struct timespec real = *until;
  if (real.tv_sec > WALL) real.tv_sec -= *ahead;
  return real_wait(condition, mutex, &real);
}
