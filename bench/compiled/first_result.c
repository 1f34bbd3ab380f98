/* How long a compiled model takes from the start of a process to its first result, and after that; how much memory it has then.
 * Usage: first_result FOLDER THREADS RUNS */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft_c.h>

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void check(int status) {
  if (status == WEFT_OK) return;
  fprintf(stderr, "%s\n", weft_last_error());
  exit(1);
}

/* Zeros are as good as any numbers: no kernel is faster by them. */
static void give_inputs(weft_model *model, weft_session *session) {
  size_t count;
  check(weft_port_count(model, WEFT_INPUT, &count));
  for (size_t i = 0; i < count; i++) {
    size_t bytes;
    int dtype;
    check(weft_port_bytes(model, WEFT_INPUT, i, &bytes));
    check(weft_port_dtype(model, WEFT_INPUT, i, &dtype));
    check(weft_set_input(session, i, dtype, calloc(1, bytes), bytes));
  }
}

static long kilobytes_of(const char *key) {
  char line[256];
  long kilobytes = -1;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, key, strlen(key)) == 0) kilobytes = atol(line + strlen(key));
  if (file != NULL) fclose(file);
  return kilobytes;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int measure(double start, const char *folder, const char *threads, int runs) {
  const char *const options[] = {threads, NULL};
  const double entered = now_ms();
  weft_model *model;
  weft_session *session;
  check(weft_open(folder, options, &model));
  check(weft_session_open(model, &session));
  give_inputs(model, session);
  const double opened = now_ms();
  check(weft_run(session));
  const double first = now_ms();
  double *times = malloc((size_t)runs * sizeof *times);
  for (int i = 0; i < runs; i++) {
    const double begin = now_ms();
    check(weft_run(session));
    times[i] = now_ms() - begin;
  }
  qsort(times, (size_t)runs, sizeof *times, by_size);
  printf("first result %.2f ms after the start of the process (loading it %.2f, opening the model %.2f)\n", first - start,
         entered - start, opened - entered);
  printf("then %.3f ms, the fastest %.3f ms\n", times[runs / 2], times[0]);
  printf("resident %ld kB, of it the process's own %ld kB\n", kilobytes_of("Rss:"), kilobytes_of("Private_Dirty:"));
  return 0;
}

int main(int count, char **arguments) {
  if (count == 5) return measure(atof(arguments[4]), arguments[1], arguments[2], atoi(arguments[3]));
  if (count != 4) return 2;
  char start[64];
  snprintf(start, sizeof start, "%.6f", now_ms());
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", arguments[0], arguments[1], arguments[2], arguments[3], start, (char *)NULL);
    _exit(127);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status != 0;
}
