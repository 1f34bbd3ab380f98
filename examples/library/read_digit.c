/* Reads a digit that is drawn in text, by a model as a library: nothing of weft is linked.
 *
 *   weft compile models/digits.onnx -o digits --name digits --shape image=1,1,28,28
 *   cc -std=c99 -O2 -I digits examples/library/read_digit.c digits/digits.o -o digits/read
 *   digits/read digits/digits.weights < examples/library/seven.txt
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "digits.h"

static void stop(const char *why) {
  fprintf(stderr, "read_digit: %s\n", why);
  exit(1);
}

/* Pages begin at multiples of any alignment that is asked for. */
static const void *map(const char *path, size_t *size) {
  struct stat about;
  const int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &about) != 0) stop("there is no such file");
  *size = (size_t)about.st_size;
  const void *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) stop("the file cannot be mapped");
  close(file);
  return bytes;
}

/* A character for each pixel, from paper to ink. */
static float pixel(int c) {
  return c == '#' ? 1 : c == '+' ? 0.66f : c == ':' ? 0.33f : 0;
}

int main(int count, char **arguments) {
  if (count != 2) stop("usage: read WEIGHTS < DRAWING");
  size_t size;
  const void *weights = map(arguments[1], &size);
  const int status = digits_verify(weights, size);
  if (status != DIGITS_OK) stop(status == DIGITS_DAMAGED ? "damaged weights" : "no weights of this");

  float image[DIGITS_IMAGE_ELEMENTS] = {0}, scores[DIGITS_PROBABILITIES_ELEMENTS];
  for (size_t i = 0; i < DIGITS_IMAGE_ELEMENTS;) {
    const int c = getchar();
    if (c == EOF) stop("the drawing ends too soon");
    if (c != '\n') image[i++] = pixel(c);
  }

  void *workspace;
  if (posix_memalign(&workspace, DIGITS_ALIGNMENT, DIGITS_WORKSPACE_BYTES) != 0) stop("no memory");
  const digits_io io = {image, scores};
  if (digits_run(&io, weights, workspace, NULL) != DIGITS_OK) stop("it does not run");
  free(workspace);

  int best = 0;
  for (int i = 1; i < DIGITS_PROBABILITIES_ELEMENTS; i++)
    if (scores[i] > scores[best]) best = i;
  printf("%d (%.4f)\n", best, scores[best]);
  return 0;
}
