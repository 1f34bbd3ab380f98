#include <pthread.h>
#include <time.h>

#include "check.h"

enum { input_bytes = pixels * sizeof(float), output_bytes = digits * sizeof(float) };

void test_sessions(weft_model *model) {
  float scores[digits], own[digits] = {0}, sum = 0;
  const float blank[pixels] = {0};
  weft_session *session = session_of(model), *other = session_of(model);
  OK(weft_set_input(session, 0, WEFT_F32, seven, input_bytes));
  scores_of(session, scores);
  CHECK(best_of(scores) == 7);
  for (int i = 0; i < digits; i++) sum += scores[i];
  CHECK(sum > 0.999f && sum < 1.001f);

  /* Memory of the caller, and of the session again. */
  const void *data = NULL;
  OK(weft_set_output(session, 0, WEFT_F32, own, output_bytes));
  STATUS(WEFT_NOT_SET, weft_output(session, 0, &data, NULL));
  OK(weft_run(session));
  CHECK(memcmp(own, scores, output_bytes) == 0);
  OK(weft_output(session, 0, &data, NULL));
  CHECK(data == own);
  OK(weft_set_output(session, 0, WEFT_F32, NULL, 0));
  scores_of(session, scores);
  CHECK(memcmp(own, scores, output_bytes) == 0);

  /* A session knows nothing of another's inputs, and inputs are read in every run. */
  STATUS(WEFT_NOT_SET, weft_run(other));
  CHECK(strstr(weft_last_error(), "'image'") != NULL);
  float changing[pixels];
  memcpy(changing, blank, input_bytes);
  OK(weft_set_input(other, 0, WEFT_F32, changing, input_bytes));
  scores_of(other, scores);
  CHECK(memcmp(own, scores, output_bytes) != 0);
  memcpy(changing, seven, input_bytes);
  scores_of(other, scores);
  CHECK(memcmp(own, scores, output_bytes) == 0);

  const void *inputs[] = {seven};
  void *outputs[] = {scores};
  const size_t in[] = {input_bytes}, out[] = {output_bytes};
  memset(scores, 0, sizeof scores);
  OK(weft_call(other, inputs, in, 1, outputs, out, 1));
  CHECK(memcmp(own, scores, output_bytes) == 0);
  OK(weft_session_close(session));
  OK(weft_session_close(other));
}

static void refuse_calls(weft_session *session) {
  float scores[digits];
  const void *inputs[] = {seven}, *none[] = {NULL};
  void *outputs[] = {scores}, *nowhere[] = {NULL};
  const size_t in[] = {input_bytes}, out[] = {output_bytes}, odd[] = {3};
  STATUS(WEFT_OUT_OF_RANGE, weft_call(session, inputs, in, 0, outputs, out, 1));
  STATUS(WEFT_OUT_OF_RANGE, weft_call(session, inputs, in, 1, outputs, out, 2));
  STATUS(WEFT_INVALID_ARGUMENT, weft_call(session, NULL, in, 1, outputs, out, 1));
  STATUS(WEFT_INVALID_ARGUMENT, weft_call(session, inputs, NULL, 1, outputs, out, 1));
  STATUS(WEFT_INVALID_ARGUMENT, weft_call(session, inputs, in, 1, NULL, out, 1));
  STATUS(WEFT_INVALID_ARGUMENT, weft_call(session, none, in, 1, outputs, out, 1));
  STATUS(WEFT_INVALID_ARGUMENT, weft_call(session, inputs, in, 1, nowhere, out, 1));
  STATUS(WEFT_WRONG_SIZE, weft_call(session, inputs, odd, 1, outputs, out, 1));
  STATUS(WEFT_WRONG_SIZE, weft_call(session, inputs, in, 1, outputs, odd, 1));
}

void test_misuse(weft_model *model) {
  float scores[digits];
  const void *data = NULL;
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_open(model, NULL));
  weft_session *session = session_of(model);
  STATUS(WEFT_NOT_SET, weft_output(session, 0, &data, NULL));
  STATUS(WEFT_NOT_SET, weft_run(session));
  STATUS(WEFT_OUT_OF_RANGE, weft_set_input(session, 1, WEFT_F32, seven, input_bytes));
  STATUS(WEFT_WRONG_DTYPE, weft_set_input(session, 0, WEFT_F64, seven, input_bytes));
  CHECK(strstr(weft_last_error(), "'image' is f32; f64 is given") != NULL);
  STATUS(WEFT_WRONG_DTYPE, weft_set_input(session, 0, 1234, seven, input_bytes));
  STATUS(WEFT_WRONG_SIZE, weft_set_input(session, 0, WEFT_F32, seven, input_bytes - 4));
  STATUS(WEFT_INVALID_ARGUMENT, weft_set_input(session, 0, WEFT_F32, NULL, input_bytes));
  STATUS(WEFT_INVALID_ARGUMENT,
         weft_set_input(session, 0, WEFT_F32, (const char *)seven + 1, input_bytes));
  STATUS(WEFT_OUT_OF_RANGE, weft_set_output(session, 7, WEFT_F32, scores, output_bytes));
  STATUS(WEFT_WRONG_DTYPE, weft_set_output(session, 0, WEFT_I32, scores, output_bytes));
  STATUS(WEFT_WRONG_SIZE, weft_set_output(session, 0, WEFT_F32, scores, output_bytes + 4));
  OK(weft_set_input(session, 0, WEFT_F32, seven, input_bytes));
  OK(weft_set_input(session, 0, WEFT_F32, NULL, 0));
  STATUS(WEFT_NOT_SET, weft_run(session));
  OK(weft_set_input(session, 0, WEFT_F32, seven, input_bytes));
  OK(weft_run(session));
  STATUS(WEFT_OUT_OF_RANGE, weft_output(session, 1, &data, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_output(session, 0, NULL, NULL));
  refuse_calls(session);
  OK(weft_session_close(session));
}

void test_closed_handles(void) {
  size_t count;
  const void *data;
  int64_t shape[4];
  int dtype;
  const char *name;
  float scores[digits];
  weft_session *session, *unset = NULL;
  weft_model *model = opened(folder);
  session = session_of(model);
  OK(weft_close(model));
  STATUS(WEFT_CLOSED, weft_close(model));
  STATUS(WEFT_CLOSED, weft_session_open(model, &unset));
  CHECK(unset == NULL);
  STATUS(WEFT_CLOSED, weft_port_count(model, WEFT_INPUT, &count));
  STATUS(WEFT_CLOSED, weft_port_find(model, WEFT_INPUT, "image", &count));
  STATUS(WEFT_CLOSED, weft_port_name(model, WEFT_INPUT, 0, &name));
  STATUS(WEFT_CLOSED, weft_port_dtype(model, WEFT_INPUT, 0, &dtype));
  STATUS(WEFT_CLOSED, weft_port_rank(model, WEFT_INPUT, 0, &count));
  STATUS(WEFT_CLOSED, weft_port_shape(model, WEFT_INPUT, 0, shape, 4));
  STATUS(WEFT_CLOSED, weft_port_bytes(model, WEFT_INPUT, 0, &count));
  /* The session goes on without its model's handle. */
  OK(weft_set_input(session, 0, WEFT_F32, seven, input_bytes));
  scores_of(session, scores);
  CHECK(best_of(scores) == 7);
  OK(weft_session_close(session));
  STATUS(WEFT_CLOSED, weft_session_close(session));
  STATUS(WEFT_CLOSED, weft_set_input(session, 0, WEFT_F32, seven, input_bytes));
  STATUS(WEFT_CLOSED, weft_set_output(session, 0, WEFT_F32, scores, output_bytes));
  STATUS(WEFT_CLOSED, weft_run(session));
  STATUS(WEFT_CLOSED, weft_output(session, 0, &data, NULL));
  STATUS(WEFT_CLOSED, weft_call(session, NULL, NULL, 0, NULL, NULL, 0));
  STATUS(WEFT_INVALID_ARGUMENT, weft_close(NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_open(NULL, &unset));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_close(NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_set_input(NULL, 0, WEFT_F32, seven, input_bytes));
  STATUS(WEFT_INVALID_ARGUMENT, weft_run(NULL));
  /* What never was a handle, and handles of the other kind. */
  STATUS(WEFT_CLOSED, weft_run((weft_session *)scores));
  STATUS(WEFT_CLOSED, weft_close((weft_model *)&count));
  model = opened(folder);
  session = session_of(model);
  STATUS(WEFT_CLOSED, weft_run((weft_session *)model));
  STATUS(WEFT_CLOSED, weft_close((weft_model *)session));
  OK(weft_close(model));
  OK(weft_session_close(session));
  /* Slots are taken again; numbers are not. */
  for (int i = 0; i < 100; i++) {
    weft_model *next = opened(folder);
    CHECK(next != model);
    STATUS(WEFT_CLOSED, weft_port_count(model, WEFT_INPUT, &count));
    OK(weft_close(next));
  }
}

/* --- Threads --- */

enum { rounds = 200 };

struct work {
  weft_model *model;
  weft_session *shared; /* NULL: one of its own */
  const float *image;
  float expected[digits];
  int wrong;
};

static void *compute(void *given) {
  struct work *work = given;
  weft_session *session = work->shared;
  float scores[digits];
  const void *inputs[1];
  void *outputs[1];
  const size_t in[] = {input_bytes}, out[] = {output_bytes};
  inputs[0] = work->image;
  outputs[0] = scores;
  if (session == NULL && weft_session_open(work->model, &session) != WEFT_OK) {
    work->wrong++;
    return NULL;
  }
  for (int i = 0; i < rounds; i++) {
    work->wrong += weft_call(session, inputs, in, 1, outputs, out, 1) != WEFT_OK;
    work->wrong += memcmp(scores, work->expected, sizeof scores) != 0;
  }
  if (work->shared == NULL) work->wrong += weft_session_close(session) != WEFT_OK;
  return NULL;
}

static void two_threads(weft_model *model, weft_session *shared) {
  static const float blank[pixels] = {0};
  struct work works[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    weft_session *session = session_of(model);
    works[i].model = model;
    works[i].shared = shared;
    works[i].image = i == 0 ? seven : blank;
    works[i].wrong = 0;
    OK(weft_set_input(session, 0, WEFT_F32, works[i].image, input_bytes));
    scores_of(session, works[i].expected);
    OK(weft_session_close(session));
  }
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, compute, &works[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(works[0].wrong == 0);
  CHECK(works[1].wrong == 0);
}

/* Calls until the session is closed. */
struct caller {
  weft_session *session;
  float scores[digits];
  int status;
};

static void *call_on(void *given) {
  struct caller *caller = given;
  const void *inputs[] = {seven};
  void *outputs[1];
  const size_t in[] = {input_bytes}, out[] = {output_bytes};
  outputs[0] = caller->scores;
  do
    caller->status = weft_call(caller->session, inputs, in, 1, outputs, out, 1);
  while (caller->status == WEFT_OK);
  return NULL;
}

/* Once a session is closed, memory belongs to the program again: calls that waited for their turn do not write to it. */
static void close_under_calls(weft_model *model) {
  enum { callers = 4 };
  static const float poison[digits] = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10};
  const struct timespec moment = {0, 1000000};
  struct caller all[callers];
  pthread_t threads[callers];
  weft_session *session = session_of(model);
  for (int i = 0; i < callers; i++) all[i].session = session;
  for (int i = 0; i < callers; i++) pthread_create(&threads[i], NULL, call_on, &all[i]);
  nanosleep(&moment, NULL);
  OK(weft_session_close(session));
  for (int i = 0; i < callers; i++) memcpy(all[i].scores, poison, sizeof poison);
  for (int i = 0; i < callers; i++) {
    pthread_join(threads[i], NULL);
    CHECK(all[i].status == WEFT_CLOSED);
    CHECK(memcmp(all[i].scores, poison, sizeof poison) == 0);
  }
}

static void *close_it(void *session) {
  OK(weft_session_close(session));
  return NULL;
}

void test_threads(weft_model *model) {
  two_threads(model, NULL);
  weft_session *shared = session_of(model);
  two_threads(model, shared);
  /* Closed while another thread calls it: the rest of its calls say so. */
  pthread_t thread;
  OK(weft_set_input(shared, 0, WEFT_F32, seven, input_bytes));
  pthread_create(&thread, NULL, close_it, shared);
  int status = WEFT_OK;
  while (status == WEFT_OK) status = weft_run(shared);
  CHECK(status == WEFT_CLOSED);
  pthread_join(thread, NULL);
  for (int i = 0; i < 20; i++) close_under_calls(model);
}
