/* Tests of the C API. Usage: capi_test FOLDER BATCH_FOLDER SUMS_FOLDER DELAY_FOLDER MODEL.onnx DRAWING compiler|none */
#include <stdlib.h>

#include "check.h"

int failures;
const char *folder, *batch_folder, *model_file;
float seven[pixels];

void check(int is_so, const char *what, const char *file, int line) {
  if (is_so) return;
  failures++;
  printf("%s:%d: not so: %s\n", file, line, what);
}

void check_status(int found, int expected, const char *what, const char *file, int line) {
  if (found == expected) return;
  failures++;
  printf("%s:%d: %s, not %s: %s (%s)\n", file, line, weft_status_name(found),
         weft_status_name(expected), what, weft_last_error());
}

weft_model *opened(const char *path) {
  weft_model *model = NULL;
  OK(weft_open(path, NULL, &model));
  return model;
}

weft_session *session_of(weft_model *model) {
  weft_session *session = NULL;
  OK(weft_session_open(model, &session));
  return session;
}

int best_of(const float *scores) {
  int best = 0;
  for (int i = 1; i < digits; i++)
    if (scores[i] > scores[best]) best = i;
  return best;
}

void scores_of(weft_session *session, float *scores) {
  const void *data = NULL;
  size_t bytes = 0;
  OK(weft_run(session));
  OK(weft_output(session, 0, &data, &bytes));
  CHECK(bytes == digits * sizeof(float));
  if (data != NULL) memcpy(scores, data, digits * sizeof(float));
}

static void read_drawing(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) exit(2);
  for (int i = 0; i < pixels;) {
    const int c = fgetc(file);
    if (c == EOF) exit(2);
    if (c != '\n') seven[i++] = c == '#' ? 1 : c == '+' ? 0.66f : c == ':' ? 0.33f : 0;
  }
  fclose(file);
}

int main(int count, char **arguments) {
  if (count != 8) return 2;
  folder = arguments[1];
  batch_folder = arguments[2];
  model_file = arguments[5];
  read_drawing(arguments[6]);
  test_constants();
  test_open();
  test_damaged_files();
  test_links();
  weft_model *model = opened(folder);
  test_ports(model);
  test_sessions(model);
  test_misuse(model);
  test_threads(model);
  test_pool();
  OK(weft_close(model));
  test_closed_handles();
  test_entries(arguments[3]);
  test_delay(arguments[4]);
  test_onnx(strcmp(arguments[7], "compiler") == 0);
  test_any_misuse(strcmp(arguments[7], "compiler") == 0);
  printf("%d failures\n", failures);
  return failures != 0;
}
