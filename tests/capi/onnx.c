#include <stdlib.h>

#include "check.h"

static char *bytes_of(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 20);
  if (file == NULL || bytes == NULL) exit(2);
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

static void refuse_option(int status, const char *option, const char *words) {
  const char *options[] = {"shape.image=1,1,28,28", NULL, NULL};
  weft_model *model = NULL;
  options[1] = option;
  STATUS(status, weft_open(model_file, options, &model));
  CHECK(model == NULL);
  CHECK(strstr(weft_last_error(), words) != NULL);
}

/* The model with another name where its last operator has its own. */
static void refuse_operator(const char *const *options) {
  size_t size;
  char *bytes = bytes_of(model_file, &size);
  weft_model *model = NULL;
  int changed = 0;
  for (size_t i = 0; i + 7 <= size; i++)
    if (memcmp(bytes + i, "Softmax", 7) == 0) {
      memcpy(bytes + i, "Softmix", 7);
      changed++;
    }
  CHECK(changed > 0);
  STATUS(WEFT_UNSUPPORTED, weft_open_bytes(bytes, size, options, &model));
  CHECK(model == NULL);
  CHECK(strstr(weft_last_error(), "Softmix") != NULL);
  free(bytes);
}

/* The same scores as what was compiled of it. */
static void compare(weft_model *model, float tolerance) {
  float scores[digits], expected[digits];
  weft_model *compiled = opened(folder);
  weft_session *session = session_of(model), *other = session_of(compiled);
  OK(weft_set_input(session, 0, WEFT_F32, seven, sizeof seven));
  OK(weft_set_input(other, 0, WEFT_F32, seven, sizeof seven));
  scores_of(session, scores);
  scores_of(other, expected);
  for (int i = 0; i < digits; i++)
    CHECK(scores[i] - expected[i] <= tolerance && expected[i] - scores[i] <= tolerance);
  OK(weft_session_close(session));
  OK(weft_session_close(other));
  OK(weft_close(compiled));
}

static void test_compiler(void) {
  const char *const sizes[] = {"shape.image=1,1,28,28", "threads=4", NULL};
  const char *const interpreted[] = {"shape.image=1,1,28,28", "device=INTERP", NULL};
  const char *const cheap[] = {"precision=bf16", "shape.image=1,1,28,28", NULL};
  size_t size;
  char *bytes = bytes_of(model_file, &size);
  weft_model *model = NULL;
  OK(weft_open(model_file, sizes, &model));
  test_ports(model);
  test_sessions(model);
  test_misuse(model);
  test_threads(model);
  compare(model, 0);
  OK(weft_close(model));
  OK(weft_open_bytes(bytes, size, interpreted, &model));
  compare(model, 1e-5f);
  OK(weft_close(model));
  OK(weft_open_bytes(bytes, size, cheap, &model));
  compare(model, 0.05f);
  OK(weft_close(model));
  STATUS(WEFT_BAD_FILE, weft_open_bytes(bytes, size / 2, sizes, &model));
  STATUS(WEFT_BAD_FILE, weft_open_bytes("nonsense", 8, sizes, &model));
  STATUS(WEFT_UNSUPPORTED, weft_open(model_file, NULL, &model));
  CHECK(strstr(weft_last_error(), "shape.image=SIZES") != NULL);
  refuse_operator(sizes);
  refuse_option(WEFT_INVALID_ARGUMENT, "device=ABACUS", "ABACUS");
  refuse_option(WEFT_INVALID_ARGUMENT, "precision=f7", "'f7'");
  refuse_option(WEFT_INVALID_ARGUMENT, "shape.image=1,x", "'x' is not a size");
  refuse_option(WEFT_INVALID_ARGUMENT, "shape.image=1,2x", "'2x' is not a size");
  refuse_option(WEFT_INVALID_ARGUMENT, "shape.image=", "'' is not a size");
  refuse_option(WEFT_INVALID_ARGUMENT, "shape.image=-4", "'-4' is not a size");
  refuse_option(WEFT_INVALID_ARGUMENT, "shape.image=99999999999999999999", "'99999999999999999999'");
  refuse_option(WEFT_INVALID_ARGUMENT, "shape.photo=1,1,28,28", "'photo'");
  refuse_option(WEFT_UNSUPPORTED, "shape.image=1,2,28,28", "");
  refuse_option(WEFT_UNSUPPORTED, "shape.image=4611686018427387904,4,28,28", "");
  free(bytes);
}

void test_onnx(int has_compiler) {
  weft_model *model = NULL;
  if (has_compiler) {
    test_compiler();
    return;
  }
  STATUS(WEFT_UNSUPPORTED, weft_open(model_file, NULL, &model));
  STATUS(WEFT_UNSUPPORTED, weft_open_bytes("abc", 3, NULL, &model));
  CHECK(model == NULL);
}
