/* What a model as a library (weft compile) says of itself: enough to call it without its own header. C99, also for C++.
 *
 * A shared library has the description as the symbol weft_library_v1. In objects and archives it is NAME_description,
 * so that a program may link several. Members are only ever added, behind those that there are: `size` says how many
 * bytes the description has. */
#ifndef WEFT_LIBRARY_H
#define WEFT_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements. Bools are bytes of 0 or 1; floats that C does not have are given by their bits. */
typedef enum weft_dtype {
  WEFT_BOOL = 1,
  WEFT_I8 = 2,
  WEFT_I16 = 3,
  WEFT_I32 = 4,
  WEFT_I64 = 5,
  WEFT_U8 = 6,
  WEFT_U16 = 7,
  WEFT_U32 = 8,
  WEFT_U64 = 9,
  WEFT_F8E4M3 = 10,
  WEFT_F8E5M2 = 11,
  WEFT_F16 = 12,
  WEFT_BF16 = 13,
  WEFT_F32 = 14,
  WEFT_F64 = 15
} weft_dtype;

/* An input or an output: elements in row-major order. Where sizes are open, shape and bytes are the largest. */
typedef struct weft_library_port {
  const char* name;     /* in the words of the model */
  const int64_t* shape; /* a size for each axis; NULL where there is none */
  uint64_t bytes;
  uint32_t rank;
  uint32_t dtype; /* a weft_dtype */
} weft_library_port;

/* A size that every call says. */
typedef struct weft_library_size {
  const char* name;
  int64_t least, most;
} weft_library_size;

/* How a call is shared among threads: parallel_for(context, n, body, arg) calls body(arg, i) once for every i below n,
 * in any order, and returns when all have returned. */
typedef struct weft_library_threads {
  void (*parallel_for)(void* context, size_t n, void (*body)(void* arg, size_t i), void* arg);
  void* context;
} weft_library_threads;

#define WEFT_LIBRARY_VERSION 2
#define WEFT_LIBRARY_PLAIN 1

typedef struct weft_library_description {
  uint32_t version; /* WEFT_LIBRARY_PLAIN where runs take ports alone: neither sizes nor state */
  uint32_t size;    /* of the description */
  const char* name;
  const char* target;             /* what it was written for */
  const weft_library_port* ports; /* inputs, then outputs */
  uint32_t inputs, outputs;       /* how many */
  uint32_t threads;               /* that can share in a call, at most */
  uint32_t alignment;             /* of weights and workspace */
  uint64_t workspace_bytes;
  uint64_t weights_bytes;
  uint64_t weights_header[4]; /* words that its file of weights begins with */

  /* Whether these are the weights of this library, undamaged. It reads all of them. 0: they are. */
  int (*verify)(const void* weights, size_t size);
  /* Computes the outputs: a pointer for each port in their order, then one to the sizes if there are any (an int64_t for
   * each), then one to the state if there is any; and threads or NULL. 0: it has. */
  int (*run)(void* const* ports, const void* weights, void* workspace,
             const weft_library_threads* threads);

  const char* entry; /* the name of this entry point; "" where it is the only one */
  const weft_library_size* sizes;
  uint32_t size_count;
  uint32_t shape_count; /* of numbers that shapes() writes */
  /* Writes the shape of each port, one after the other. NULL without open sizes. 0: it has. */
  int (*shapes)(const int64_t* sizes, int64_t* shapes);
  uint64_t state_bytes; /* that last from call to call, as aligned as the workspace */
  /* Makes the state what it is before the first call. NULL where there is none. 0: it has. */
  int (*start)(const void* weights, void* state);
  /* Another entry point, of the same weights and state; NULL behind the last. */
  const struct weft_library_description* next;
} weft_library_description;

#ifdef __cplusplus
}
#endif

#endif
