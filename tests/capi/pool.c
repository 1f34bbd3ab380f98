/* Threads of a session. */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { images = 8 };

static weft_session *session_with(const char *threads) {
  const char *options[] = {NULL, NULL};
  weft_model *model = NULL;
  options[0] = threads;
  OK(weft_open(batch_folder, options, &model));
  weft_session *session = session_of(model);
  OK(weft_close(model));
  return session;
}

/* Who computes which part of a call is left to chance; what comes of it is not. */
static void compare(weft_session *alone, weft_session *together) {
  static float batch[images][pixels], expected[images][digits], scores[images][digits];
  const void *inputs[] = {batch};
  void *outputs[] = {expected};
  const size_t in[] = {sizeof batch}, out[] = {sizeof expected};
  for (int image = 0; image < images; image++)
    for (int i = 0; i < pixels; i++) batch[image][i] = seven[(i + image) % pixels];
  OK(weft_call(alone, inputs, in, 1, outputs, out, 1));
  CHECK(best_of(expected[0]) == 7);
  CHECK(memcmp(expected[0], expected[images - 1], sizeof expected[0]) != 0);
  outputs[0] = scores;
  for (int i = 0; i < 200; i++) {
    memset(scores, 0, sizeof scores);
    OK(weft_call(together, inputs, in, 1, outputs, out, 1));
    CHECK(memcmp(scores, expected, sizeof scores) == 0);
  }
}

static void ignore(int number) { (void)number; }

/* They leave a signal to the threads of the program, which here have it blocked. */
static void refuse_signals(void) {
  const struct timespec moment = {0, 20000000};
  struct sigaction handled, old;
  sigset_t it, before, waiting;
  memset(&handled, 0, sizeof handled);
  handled.sa_handler = ignore;
  sigaction(SIGUSR1, &handled, &old);
  sigemptyset(&it);
  sigaddset(&it, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &it, &before);
  kill(getpid(), SIGUSR1);
  nanosleep(&moment, NULL);
  sigpending(&waiting);
  CHECK(sigismember(&waiting, SIGUSR1) == 1);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  sigaction(SIGUSR1, &old, NULL);
}

void test_pool(void) {
  weft_session *alone = session_with("threads=1"), *together = session_with("threads=4");
  compare(alone, together);
  refuse_signals();
  OK(weft_session_close(alone));
  OK(weft_session_close(together));
}
