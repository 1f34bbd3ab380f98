/* Reads a drawn digit by a model that is linked into the program. Usage: digit digits.weights < DRAWING */
#define _POSIX_C_SOURCE 200809L

#include <digits.h>
#include <stdio.h>
#include <stdlib.h>

static int stop(const char *why) {
  fprintf(stderr, "digit: %s\n", why);
  return 1;
}

static void *lines_of(size_t bytes) {
  void *memory = NULL;
  return posix_memalign(&memory, DIGITS_ALIGNMENT, bytes) == 0 ? memory : NULL;
}

/* The weights, read once; large ones are better mapped, as examples/library/read_digit.c does. */
static int read_weights(const char *path, void *weights) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t size = fread(weights, 1, DIGITS_WEIGHTS_BYTES, file);
  fclose(file);
  return digits_verify(weights, size) == DIGITS_OK;
}

/* A character for each pixel, from paper to ink. */
static int read_drawing(float *image) {
  for (int i = 0; i < DIGITS_IMAGE_ELEMENTS;) {
    const int c = getchar();
    if (c == EOF) return 0;
    if (c != '\n') image[i++] = c == '#' ? 1 : c == '+' ? 0.66f : c == ':' ? 0.33f : 0;
  }
  return 1;
}

int main(int count, char **arguments) {
  float image[DIGITS_IMAGE_ELEMENTS], scores[DIGITS_PROBABILITIES_ELEMENTS];
  void *weights = lines_of(DIGITS_WEIGHTS_BYTES), *workspace = lines_of(DIGITS_WORKSPACE_BYTES);
  if (weights == NULL || workspace == NULL) return stop("no memory");
  if (count != 2 || !read_weights(arguments[1], weights)) return stop("no weights of this model");
  if (!read_drawing(image)) return stop("the drawing ends too soon");

  const digits_io io = {image, scores};
  if (digits_run(&io, weights, workspace, NULL) != DIGITS_OK) return stop("it does not run");

  int best = 0;
  for (int i = 1; i < DIGITS_PROBABILITIES_ELEMENTS; i++)
    if (scores[i] > scores[best]) best = i;
  printf("%d (%.4f)\n", best, scores[best]);
  free(weights);
  free(workspace);
  return 0;
}
