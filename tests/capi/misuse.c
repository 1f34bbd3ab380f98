/* Every function with handles that are none, with no place for a result, and all at once from several threads. */
#include <pthread.h>

#include "check.h"

enum { input_bytes = pixels * sizeof(float), output_bytes = digits * sizeof(float) };

/* --- Handles that are none --- */

/* One call of each function that takes a handle, right but for that. Those that take both have the other one, which is open. */
struct given {
  weft_model *model, *open_model;
  weft_session *session, *open_session;
};

static float scores[digits];

static int of_model(int function, const struct given *given) {
  weft_model *model = given->model, *entry = NULL;
  weft_session *session = NULL;
  size_t number = 0;
  int dtype = 0;
  const char *name = NULL;
  int64_t sizes[4] = {0};
  switch (function) {
    case 0: return weft_close(model);
    case 1: return weft_port_count(model, WEFT_INPUT, &number);
    case 2: return weft_port_find(model, WEFT_INPUT, "image", &number);
    case 3: return weft_port_name(model, WEFT_INPUT, 0, &name);
    case 4: return weft_port_dtype(model, WEFT_INPUT, 0, &dtype);
    case 5: return weft_port_rank(model, WEFT_INPUT, 0, &number);
    case 6: return weft_port_shape(model, WEFT_INPUT, 0, sizes, 4);
    case 7: return weft_port_bytes(model, WEFT_INPUT, 0, &number);
    case 8: return weft_entry_count(model, &number);
    case 9: return weft_entry_name(model, 0, &name);
    case 10: return weft_entry_open(model, "", &entry);
    case 11: return weft_size_count(model, &number);
    case 12: return weft_size_about(model, 0, &name, &sizes[0], &sizes[1]);
    case 13: return weft_session_open(model, &session);
    case 14: return weft_session_join(model, given->open_session, &session);
    default: return -1;
  }
}

static int of_session(int function, const struct given *given) {
  weft_session *session = given->session, *joined = NULL;
  const void *inputs[] = {seven}, *data = NULL;
  void *outputs[] = {scores}, *state = NULL;
  const size_t in[] = {input_bytes}, out[] = {output_bytes};
  size_t bytes = 0;
  int64_t sizes[4] = {0};
  switch (function) {
    case 0: return weft_session_join(given->open_model, session, &joined);
    case 1: return weft_session_restart(session);
    case 2: return weft_session_state(session, &state, &bytes);
    case 3: return weft_session_close(session);
    case 4: return weft_set_size(session, 0, 1);
    case 5: return weft_session_shape(session, WEFT_INPUT, 0, sizes, 4);
    case 6: return weft_session_bytes(session, WEFT_INPUT, 0, &bytes);
    case 7: return weft_set_input(session, 0, WEFT_F32, seven, input_bytes);
    case 8: return weft_set_output(session, 0, WEFT_F32, scores, output_bytes);
    case 9: return weft_run(session);
    case 10: return weft_output(session, 0, &data, &bytes);
    case 11: return weft_call(session, inputs, in, 1, outputs, out, 1);
    default: return -1;
  }
}

/* Returns with how many functions there are. */
static int refuse(int expected, const struct given *given, int (*call)(int, const struct given *)) {
  int function = 0, status = 0;
  for (; status >= 0; function++) {
    STATUS(WEFT_INVALID_ARGUMENT, weft_close(NULL));
    char before[200];
    snprintf(before, sizeof before, "%s", weft_last_error());
    status = call(function, given);
    if (status < 0) break;
    check_status(status, expected, call == of_model ? "a model" : "a session", __FILE__, function);
    CHECK(weft_last_error()[0] != '\0');
    CHECK(expected == WEFT_INVALID_ARGUMENT || strcmp(before, weft_last_error()) != 0);
  }
  return function;
}

static void refuse_handles(void) {
  weft_model *model = opened(folder), *closed = opened(folder);
  weft_session *session = session_of(model), *ended = session_of(model);
  struct given given = {NULL, model, NULL, session};
  OK(weft_close(closed));
  OK(weft_session_close(ended));
  CHECK(refuse(WEFT_INVALID_ARGUMENT, &given, of_model) == 15);
  CHECK(refuse(WEFT_INVALID_ARGUMENT, &given, of_session) == 12);
  weft_model *const models[] = {closed, (weft_model *)session, (weft_model *)scores,
                                (weft_model *)~(uintptr_t)0, (weft_model *)(uintptr_t)1};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    given.model = models[i];
    refuse(WEFT_CLOSED, &given, of_model);
    given.session = i == 0 ? ended : i == 1 ? (weft_session *)model : (weft_session *)models[i];
    refuse(WEFT_CLOSED, &given, of_session);
  }
  OK(weft_close(model));
  OK(weft_session_close(session));
}

/* --- No place for a result, and numbers that mean nothing --- */

static void refuse_arguments(void) {
  const size_t huge[] = {(size_t)-1}, in[] = {input_bytes}, out[] = {output_bytes};
  const void *inputs[] = {seven};
  void *outputs[] = {scores}, *state = NULL;
  const char *name = NULL;
  int64_t shape[4];
  size_t bytes = 0;
  weft_model *model = opened(folder);
  weft_session *session = session_of(model), *joined = NULL;
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_state(session, &state, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_bytes(session, WEFT_INPUT, 0, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_shape(session, 2, 0, shape, 4));
  STATUS(WEFT_OUT_OF_RANGE, weft_session_shape(session, WEFT_INPUT, (size_t)-1, shape, 4));
  STATUS(WEFT_WRONG_SIZE, weft_session_shape(session, WEFT_INPUT, 0, shape, 0));
  STATUS(WEFT_OUT_OF_RANGE, weft_entry_name(model, (size_t)-1, &name));
  STATUS(WEFT_OUT_OF_RANGE, weft_size_about(model, (size_t)-1, NULL, NULL, NULL));
  STATUS(WEFT_OUT_OF_RANGE, weft_set_size(session, (size_t)-1, INT64_MIN));
  STATUS(WEFT_OUT_OF_RANGE, weft_set_input(session, (size_t)-1, WEFT_F32, seven, input_bytes));
  STATUS(WEFT_WRONG_SIZE, weft_set_input(session, 0, WEFT_F32, seven, (size_t)-1));
  STATUS(WEFT_WRONG_SIZE, weft_set_input(session, 0, WEFT_F32, seven, 0));
  STATUS(WEFT_INVALID_ARGUMENT, weft_set_output(session, 0, WEFT_F32, NULL, output_bytes));
  STATUS(WEFT_WRONG_DTYPE, weft_set_output(session, 0, -1, scores, output_bytes));
  STATUS(WEFT_OUT_OF_RANGE, weft_call(session, inputs, in, (size_t)-1, outputs, out, 1));
  STATUS(WEFT_WRONG_SIZE, weft_call(session, inputs, huge, 1, outputs, out, 1));
  STATUS(WEFT_INVALID_ARGUMENT, weft_call(session, NULL, NULL, 1, NULL, NULL, 1));
  STATUS(WEFT_OUT_OF_RANGE, weft_call(session, NULL, NULL, 0, NULL, NULL, 0));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_join(NULL, NULL, &joined));
  CHECK(joined == NULL);
  STATUS(WEFT_OUT_OF_RANGE, weft_port_find(model, WEFT_INPUT, "", &bytes));
  OK(weft_session_close(session));
  OK(weft_close(model));
}

/* --- At once --- */

enum { threads = 4, slots = 3 };

/* What threads share: sessions with memory of their own. Handles are read while others close them. */
struct slot {
  weft_model *model;
  weft_session *session;
  float input[pixels], output[digits];
};

static struct slot shared[slots];
static pthread_mutex_t handles = PTHREAD_MUTEX_INITIALIZER;
static const char *path;
static const char *const *options;

static unsigned drawn(unsigned *state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 16) % below;
}

static void open_again(struct slot *slot) {
  weft_model *model = NULL;
  weft_session *session = NULL;
  if (weft_open(path, options, &model) != WEFT_OK) return;
  if (weft_session_open(model, &session) != WEFT_OK) session = NULL;
  pthread_mutex_lock(&handles);
  weft_model *old_model = slot->model;
  weft_session *old_session = slot->session;
  slot->model = model;
  slot->session = session;
  pthread_mutex_unlock(&handles);
  weft_close(old_model);
  weft_session_close(old_session);
}

static int use(struct slot *slot, unsigned *state) {
  const void *data = NULL;
  struct given given;
  pthread_mutex_lock(&handles);
  given.model = given.open_model = slot->model;
  given.session = given.open_session = slot->session;
  pthread_mutex_unlock(&handles);
  switch (drawn(state, 6)) {
    case 0: return of_model((int)drawn(state, 13), &given);
    case 1: return of_session(4 + (int)drawn(state, 3), &given);
    case 2: return weft_set_input(given.session, 0, WEFT_F32, slot->input, input_bytes);
    case 3: return weft_set_output(given.session, 0, WEFT_F32, slot->output, output_bytes);
    case 4: return weft_run(given.session);
    default: return weft_output(given.session, 0, &data, NULL);
  }
}

struct thread {
  unsigned state;
  int calls, is_wrong;
};

static void *call_anything(void *given) {
  struct thread *thread = given;
  for (int i = 0; i < thread->calls; i++) {
    struct slot *slot = &shared[drawn(&thread->state, slots)];
    if (drawn(&thread->state, 20) == 0) open_again(slot);
    const int status = use(slot, &thread->state);
    thread->is_wrong |= status < WEFT_OK || status > WEFT_FAILED;
    thread->is_wrong |= status == WEFT_FAILED || (status != WEFT_OK && weft_last_error()[0] == '\0');
  }
  return NULL;
}

static void at_once(const char *of, const char *const *with, int calls) {
  pthread_t running[threads];
  struct thread all[threads];
  path = of;
  options = with;
  for (int i = 0; i < slots; i++) {
    memset(&shared[i], 0, sizeof shared[i]);
    memcpy(shared[i].input, seven, sizeof seven);
  }
  for (unsigned i = 0; i < threads; i++) {
    all[i].state = i;
    all[i].calls = calls;
    all[i].is_wrong = 0;
    pthread_create(&running[i], NULL, call_anything, &all[i]);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(running[i], NULL);
    CHECK(!all[i].is_wrong);
  }
  for (int i = 0; i < slots; i++) {
    weft_close(shared[i].model);
    weft_session_close(shared[i].session);
  }
}

void test_any_misuse(int has_compiler) {
  const char *const sizes[] = {"shape.image=1,1,28,28", NULL};
  refuse_handles();
  refuse_arguments();
  at_once(folder, NULL, 1000);
  if (has_compiler) at_once(model_file, sizes, 50);
  /* All is as it was. */
  weft_model *model = opened(folder);
  weft_session *session = session_of(model);
  OK(weft_set_input(session, 0, WEFT_F32, seven, input_bytes));
  scores_of(session, scores);
  CHECK(best_of(scores) == 7);
  OK(weft_session_close(session));
  OK(weft_close(model));
}
