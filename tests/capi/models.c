#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

void test_constants(void) {
  CHECK(weft_c_version() == WEFT_C_VERSION);
  CHECK(strchr(weft_release(), '.') != NULL);
  CHECK(strcmp(weft_status_name(WEFT_OK), "WEFT_OK") == 0);
  CHECK(strcmp(weft_status_name(WEFT_FAILED), "WEFT_FAILED") == 0);
  CHECK(strcmp(weft_status_name(-1), "unknown status") == 0);
  CHECK(strcmp(weft_status_name(WEFT_FAILED + 1), "unknown status") == 0);
  CHECK(strcmp(weft_dtype_name(WEFT_F32), "f32") == 0);
  CHECK(strcmp(weft_dtype_name(WEFT_BF16), "bf16") == 0);
  CHECK(strcmp(weft_dtype_name(0), "unknown dtype") == 0);
  CHECK(strcmp(weft_dtype_name(99), "unknown dtype") == 0);
  CHECK(weft_dtype_bytes(WEFT_I64) == 8 && weft_dtype_bytes(WEFT_F16) == 2);
  CHECK(weft_dtype_bytes(-7) == 0);
  CHECK(strcmp(weft_last_error(), "") == 0);
}

void test_ports(weft_model *model) {
  size_t count = 9, index = 9, rank = 9, bytes = 9;
  int dtype = 0;
  const char *name = NULL;
  int64_t shape[4] = {0};
  OK(weft_port_count(model, WEFT_INPUT, &count));
  CHECK(count == 1);
  OK(weft_port_count(model, WEFT_OUTPUT, &count));
  CHECK(count == 1);
  OK(weft_port_find(model, WEFT_OUTPUT, "probabilities", &index));
  CHECK(index == 0);
  OK(weft_port_name(model, WEFT_INPUT, 0, &name));
  CHECK(name != NULL && strcmp(name, "image") == 0);
  OK(weft_port_dtype(model, WEFT_INPUT, 0, &dtype));
  CHECK(dtype == WEFT_F32);
  OK(weft_port_rank(model, WEFT_INPUT, 0, &rank));
  CHECK(rank == 4);
  OK(weft_port_shape(model, WEFT_INPUT, 0, shape, 4));
  CHECK(shape[0] == 1 && shape[1] == 1 && shape[2] == 28 && shape[3] == 28);
  OK(weft_port_bytes(model, WEFT_INPUT, 0, &bytes));
  CHECK(bytes == pixels * sizeof(float));
  OK(weft_port_bytes(model, WEFT_OUTPUT, 0, &bytes));
  CHECK(bytes == digits * sizeof(float));

  STATUS(WEFT_OUT_OF_RANGE, weft_port_find(model, WEFT_INPUT, "probabilities", &index));
  STATUS(WEFT_OUT_OF_RANGE, weft_port_name(model, WEFT_INPUT, 1, &name));
  STATUS(WEFT_OUT_OF_RANGE, weft_port_bytes(model, WEFT_OUTPUT, (size_t)-1, &bytes));
  STATUS(WEFT_WRONG_SIZE, weft_port_shape(model, WEFT_INPUT, 0, shape, 3));
  CHECK(strstr(weft_last_error(), "'image' has 4 axes") != NULL);
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_count(model, 2, &count));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_rank(model, -1, 0, &rank));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_count(model, WEFT_INPUT, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_find(model, WEFT_INPUT, NULL, &index));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_find(model, WEFT_INPUT, "image", NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_name(model, WEFT_INPUT, 0, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_dtype(model, WEFT_INPUT, 0, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_rank(model, WEFT_INPUT, 0, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_shape(model, WEFT_INPUT, 0, NULL, 4));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_bytes(model, WEFT_INPUT, 0, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_port_count(NULL, WEFT_INPUT, &count));
}

static void refuse_option(int status, const char *option) {
  const char *options[2] = {NULL, NULL};
  weft_model *model = NULL;
  options[0] = option;
  STATUS(status, weft_open(folder, options, &model));
  CHECK(model == NULL);
}

void test_open(void) {
  const char *const options[] = {"threads=1", "verify=1", "device=CPU", NULL};
  char file[1024];
  weft_model *model = NULL;
  OK(weft_open(folder, options, &model));
  OK(weft_close(model));
  snprintf(file, sizeof file, "%s/digits.so", folder);
  OK(weft_close(opened(file)));

  STATUS(WEFT_INVALID_ARGUMENT, weft_open(folder, NULL, NULL));
  STATUS(WEFT_INVALID_ARGUMENT, weft_open(NULL, NULL, &model));
  STATUS(WEFT_NO_FILE, weft_open("/nowhere", NULL, &model));
  CHECK(strstr(weft_last_error(), "/nowhere") != NULL);
  STATUS(WEFT_NO_FILE, weft_open("/proc/self/fdinfo", NULL, &model));
  STATUS(WEFT_INVALID_ARGUMENT, weft_open_bytes(NULL, 9, NULL, &model));
  STATUS(WEFT_INVALID_ARGUMENT, weft_open_bytes("abc", 3, NULL, NULL));
  CHECK(model == NULL);
  refuse_option(WEFT_INVALID_ARGUMENT, "colour=red");
  refuse_option(WEFT_INVALID_ARGUMENT, "threads");
  refuse_option(WEFT_INVALID_ARGUMENT, "threads=");
  refuse_option(WEFT_INVALID_ARGUMENT, "threads=0");
  refuse_option(WEFT_INVALID_ARGUMENT, "threads=2x");
  refuse_option(WEFT_INVALID_ARGUMENT, "threads=99999999999999999999");
  refuse_option(WEFT_INVALID_ARGUMENT, "verify=perhaps");
  refuse_option(WEFT_UNSUPPORTED, "device=INTERP");
  refuse_option(WEFT_UNSUPPORTED, "precision=bf16");
  refuse_option(WEFT_UNSUPPORTED, "shape.image=1,1,28,28");
}

/* --- Files that are not what they should be --- */

static char *contents(const char *name, size_t *size) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) exit(2);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(2);
  fclose(file);
  return bytes;
}

static void write_file(const char *name, const char *bytes, size_t size) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(2);
}

/* Of a pair of files beside the good ones. */
static void refuse_pair(int status, const char *library, size_t library_size, const char *weights,
                        size_t weights_size, const char *const *options) {
  char path[1024];
  weft_model *model = NULL;
  write_file("bad.so", library, library_size);
  write_file("bad.weights", weights, weights_size);
  snprintf(path, sizeof path, "%s/bad.so", folder);
  STATUS(status, weft_open(path, options, &model));
  if (status == WEFT_OK) OK(weft_close(model));
  STATUS(WEFT_BAD_FILE, weft_open(folder, NULL, &model)); /* two libraries: which one? */
  remove(path);
  snprintf(path, sizeof path, "%s/bad.weights", folder);
  remove(path);
}

void test_damaged_files(void) {
  const char *const verify[] = {"verify=1", NULL};
  size_t size, weights_size;
  char *library = contents("digits.so", &size), *weights = contents("digits.weights", &weights_size);
  refuse_pair(WEFT_OK, library, size, weights, weights_size, verify);
  for (size_t cut = 0; cut < size; cut += size / 23)
    refuse_pair(WEFT_BAD_FILE, library, cut, weights, weights_size, NULL);
  for (size_t cut = 0; cut < weights_size; cut += weights_size / 7)
    refuse_pair(WEFT_BAD_FILE, library, size, weights, cut, NULL);
  for (size_t word = 0; word < 4; word++) {
    weights[word * 8] ^= 1;
    refuse_pair(WEFT_BAD_FILE, library, size, weights, weights_size, NULL);
    weights[word * 8] ^= 1;
  }
  weights[weights_size / 2] ^= 1;
  refuse_pair(WEFT_OK, library, size, weights, weights_size, NULL);
  refuse_pair(WEFT_BAD_FILE, library, size, weights, weights_size, verify);
  refuse_pair(WEFT_BAD_FILE, weights, weights_size, weights, weights_size, NULL);
  free(library);
  free(weights);
}

static void copy_file(const char *from, const char *to) {
  size_t size;
  char *bytes = contents(from, &size);
  write_file(to, bytes, size);
  free(bytes);
}

/* Names that lead to files elsewhere, of other names, as stores of models have them. */
void test_links(void) {
  char links[1024], path[1100], here[1024];
  copy_file("digits.so", "1f2e");
  copy_file("digits.weights", "3d4c");
  snprintf(links, sizeof links, "%s/links", folder);
  if (getcwd(here, sizeof here) == NULL || mkdir(links, 0700) != 0 || chdir(links) != 0) exit(2);
  if (symlink("../1f2e", "net.so") != 0 || symlink("../3d4c", "net.weights") != 0 ||
      symlink("links", "../latest") != 0)
    exit(2);
  OK(weft_close(opened("net.so")));
  OK(weft_close(opened(".")));
  if (chdir(here) != 0) exit(2);
  snprintf(path, sizeof path, "%s/net.so", links);
  OK(weft_close(opened(path)));
  snprintf(path, sizeof path, "%s/latest", folder);
  OK(weft_close(opened(path)));
  snprintf(path, sizeof path, "%s/latest/net.so", folder);
  OK(weft_close(opened(path)));
}
