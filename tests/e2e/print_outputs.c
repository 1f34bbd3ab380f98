/* Prints what a library gives for numbers from 0 to 1, knowing nothing of it but its description.
 * Usage: print_outputs WEIGHTS */
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

static void *lines(size_t bytes) {
  char *memory = malloc(bytes + NET_ALIGNMENT);
  if (memory == NULL) exit(2);
  return memory + (NET_ALIGNMENT - (uintptr_t)memory % NET_ALIGNMENT);
}

int main(int count, char **arguments) {
  const weft_library_description *about = &net_description;
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  void *weights = lines(about->weights_bytes), *workspace = lines(about->workspace_bytes), *ports[8];
  if (file == NULL || fread(weights, 1, about->weights_bytes, file) != about->weights_bytes) return 2;
  fclose(file);
  if (about->verify(weights, about->weights_bytes) != 0) return 3;
  for (uint32_t i = 0; i < about->inputs + about->outputs; i++) {
    float *values = ports[i] = lines(about->ports[i].bytes);
    for (uint64_t j = 0; j < about->ports[i].bytes / sizeof(float); j++)
      values[j] = (float)(j * 7919 % 1000) / 1000;
  }
  if (about->run(ports, weights, workspace, NULL) != 0) return 4;
  for (uint32_t i = about->inputs; i < about->inputs + about->outputs; i++) {
    const float *values = ports[i];
    for (uint64_t j = 0; j < about->ports[i].bytes / sizeof(float); j++) printf("%.9g\n", values[j]);
  }
  return 0;
}
