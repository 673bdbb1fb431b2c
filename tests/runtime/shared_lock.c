// A lock as libraries have them that exist once in a process.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void hold_lock(unsigned microseconds) {
  pthread_mutex_lock(&lock);
  usleep(microseconds);
  pthread_mutex_unlock(&lock);
}
