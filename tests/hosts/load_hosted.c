/* A C program without Python, torch or libstdc++ that loads a library with multipy inside,
   runs it from two threads in turn, and unloads it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef int (*run_hosted)(char* error, size_t size);

static void* run_in_thread(void* run) {
  static char error[4096];
  if (((run_hosted)run)(error, sizeof error) == 0) return NULL;
  fprintf(stderr, "in a further thread: %s\n", error);
  return error;
}

int main(int count, char** words) {
  if (count != 2) {
    fprintf(stderr, "usage: %s <library>\n", words[0]);
    return 2;
  }
  void* const library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const run_hosted run = (run_hosted)dlsym(library, "run_hosted");
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  char error[4096];
  if (run(error, sizeof error) != 0) {
    fprintf(stderr, "in the main thread: %s\n", error);
    return 1;
  }
  pthread_t thread;
  void* failed = NULL;
  if (pthread_create(&thread, NULL, run_in_thread, (void*)run) != 0 ||
      pthread_join(thread, &failed) != 0 || failed)
    return 1;
  if (dlclose(library) != 0) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  printf("ok\n");
  return 0;
}
