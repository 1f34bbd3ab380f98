/* Entry points, open sizes, and state: a model that adds up rows, by one row and by two to four at once. */
#include "check.h"

enum { width = 3, most = 4 };

/* The model's answer to rows that follow each other: each with the sum of all that there were. */
static void expect_sums(weft_session *session, size_t rows, const float *given, float *sum) {
  const void *found = NULL;
  size_t bytes = 0;
  OK(weft_set_input(session, 0, WEFT_F32, given, rows * width * sizeof(float)));
  OK(weft_run(session));
  OK(weft_output(session, 0, &found, &bytes));
  CHECK(bytes == rows * width * sizeof(float));
  for (size_t i = 0; i < rows * width; i++) sum[i % width] += given[i];
  for (size_t i = 0; i < rows * width; i++)
    CHECK(((const float *)found)[i] == given[i] + sum[i % width]);
}

static const float rows[most * width] = {1, 2, 3, 10, 20, 30, 100, 200, 300, 1000, 2000, 3000};

static void test_names(weft_model *model, weft_model *many) {
  size_t count = 0;
  const char *name = NULL;
  int64_t least = 0, largest = 0;
  weft_model *none = model;
  OK(weft_entry_count(model, &count));
  CHECK(count == 2);
  OK(weft_entry_name(model, 0, &name));
  CHECK(strcmp(name, "one") == 0);
  OK(weft_entry_name(many, 1, &name));
  CHECK(strcmp(name, "many") == 0);
  STATUS(WEFT_OUT_OF_RANGE, weft_entry_name(model, 2, &name));
  STATUS(WEFT_INVALID_ARGUMENT, weft_entry_name(model, 0, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_entry_count(model, NULL));
  STATUS(WEFT_OUT_OF_RANGE, weft_entry_open(model, "few", &none));
  CHECK(none == NULL);
  STATUS(WEFT_INVALID_ARGUMENT, weft_entry_open(model, NULL, &none));
  STATUS(WEFT_INVALID_ARGUMENT, weft_entry_open(model, "many", NULL));
  OK(weft_size_count(model, &count));
  CHECK(count == 0);
  OK(weft_size_count(many, &count));
  CHECK(count == 1);
  OK(weft_size_about(many, 0, &name, &least, &largest));
  CHECK(strcmp(name, "n") == 0 && least == 2 && largest == most);
  OK(weft_size_about(many, 0, NULL, NULL, NULL));
  STATUS(WEFT_OUT_OF_RANGE, weft_size_about(many, 1, &name, &least, &largest));
  STATUS(WEFT_INVALID_ARGUMENT, weft_size_count(many, NULL));
}

static void test_sizes(weft_session *session) {
  int64_t shape[2] = {0};
  size_t bytes = 0;
  float sums[most * width];
  const void *data = NULL, *inputs[] = {rows};
  void *outputs[] = {sums};
  size_t given[] = {2 * width * sizeof(float)};
  OK(weft_session_restart(session));
  OK(weft_session_shape(session, WEFT_OUTPUT, 0, shape, 2));
  CHECK(shape[0] == most && shape[1] == width);
  OK(weft_set_size(session, 0, 2));
  OK(weft_session_shape(session, WEFT_INPUT, 0, shape, 2));
  CHECK(shape[0] == 2 && shape[1] == width);
  OK(weft_session_bytes(session, WEFT_OUTPUT, 0, &bytes));
  CHECK(bytes == given[0]);
  STATUS(WEFT_WRONG_SIZE, weft_session_shape(session, WEFT_INPUT, 0, shape, 1));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_shape(session, WEFT_INPUT, 0, NULL, 2));
  STATUS(WEFT_OUT_OF_RANGE, weft_session_bytes(session, WEFT_INPUT, 1, &bytes));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_bytes(session, 7, 0, &bytes));
  STATUS(WEFT_OUT_OF_RANGE, weft_set_size(session, 1, 2));
  STATUS(WEFT_WRONG_SIZE, weft_set_size(session, 0, 1));
  STATUS(WEFT_WRONG_SIZE, weft_set_size(session, 0, most + 1));
  CHECK(strstr(weft_last_error(), "'n' is 2 to 4, not 5") != NULL);
  STATUS(WEFT_WRONG_SIZE, weft_set_input(session, 0, WEFT_F32, rows, sizeof rows));
  OK(weft_call(session, inputs, given, 1, outputs, given, 1));
  CHECK(sums[0] == 1 + 11 && sums[5] == 30 + 33);
  /* What was set for other sizes is not taken. */
  OK(weft_set_input(session, 0, WEFT_F32, rows, given[0]));
  OK(weft_run(session));
  OK(weft_set_size(session, 0, 3));
  STATUS(WEFT_NOT_SET, weft_output(session, 0, &data, NULL));
  STATUS(WEFT_WRONG_SIZE, weft_run(session));
  STATUS(WEFT_WRONG_SIZE, weft_call(session, inputs, given, 1, outputs, given, 1));
}

static void test_state(weft_model *one, weft_model *many) {
  float sum[width] = {0}, other_sum[width] = {0};
  void *state = NULL, *shared = NULL;
  size_t bytes = 0;
  weft_session *session = session_of(one), *other = session_of(one), *joined = NULL;
  OK(weft_session_join(many, session, &joined));
  expect_sums(session, 1, rows, sum);
  expect_sums(other, 1, rows + 3, other_sum);
  OK(weft_set_size(joined, 0, 2));
  expect_sums(joined, 2, rows + 3, sum);
  OK(weft_set_size(joined, 0, 4));
  expect_sums(joined, 4, rows, sum);
  expect_sums(session, 1, rows + 6, sum);
  expect_sums(other, 1, rows, other_sum);
  OK(weft_session_state(session, &state, &bytes));
  CHECK(bytes >= sizeof sum && memcmp(state, sum, sizeof sum) == 0);
  OK(weft_session_state(joined, &shared, &bytes));
  CHECK(shared == state);
  OK(weft_session_restart(joined));
  memset(sum, 0, sizeof sum);
  expect_sums(session, 1, rows, sum);
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_state(session, NULL, &bytes));
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_join(many, session, NULL));
  /* The state lasts as long as one of those that share it. */
  OK(weft_session_close(session));
  STATUS(WEFT_CLOSED, weft_session_join(many, session, &session));
  expect_sums(joined, 4, rows, sum);
  OK(weft_session_close(joined));
  OK(weft_session_close(other));
}

/* Each call finds the state as the one before left it, also where it only hands it on. */
void test_delay(const char *delay) {
  weft_model *model = opened(delay), *same = NULL;
  weft_session *session = NULL;
  const char *name = NULL;
  OK(weft_entry_name(model, 0, &name));
  OK(weft_entry_open(model, name, &same));
  OK(weft_close(model));
  session = session_of(same);
  for (int call = 0; call < 5; call++) {
    const float x[width] = {(float)(call + 1), 10, 20};
    const void *late = NULL;
    OK(weft_set_input(session, 0, WEFT_F32, x, sizeof x));
    OK(weft_run(session));
    OK(weft_output(session, 0, &late, NULL));
    CHECK(*(const float *)late == (call < 2 ? 0 : (float)(call - 1)));
  }
  OK(weft_session_close(session));
  OK(weft_close(same));
}

void test_entries(const char *sums) {
  weft_model *one = opened(sums), *many = NULL, *again = opened(sums);
  weft_model *stateless = opened(folder);
  weft_session *session = NULL, *refused = NULL, *plain = session_of(stateless);
  void *state = &state;
  size_t bytes = 1;
  OK(weft_entry_open(one, "many", &many));
  test_names(one, many);
  test_state(one, many);
  /* The first handle is not needed for the others. */
  OK(weft_close(one));
  STATUS(WEFT_CLOSED, weft_entry_open(one, "many", &one));
  OK(weft_session_open(many, &session));
  test_sizes(session);
  STATUS(WEFT_INVALID_ARGUMENT, weft_session_join(again, session, &refused));
  CHECK(refused == NULL);
  STATUS(WEFT_UNSUPPORTED, weft_session_join(stateless, session, &refused));
  OK(weft_session_restart(plain));
  OK(weft_session_state(plain, &state, &bytes));
  CHECK(state == NULL && bytes == 0);
  STATUS(WEFT_OUT_OF_RANGE, weft_set_size(plain, 0, 1));
  OK(weft_session_close(plain));
  OK(weft_session_close(session));
  STATUS(WEFT_CLOSED, weft_session_restart(session));
  STATUS(WEFT_CLOSED, weft_set_size(session, 0, 2));
  OK(weft_close(many));
  OK(weft_close(again));
  OK(weft_close(stateless));
}
