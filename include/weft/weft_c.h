/* The C API: models from files, and calls of them. C99, also for C++.
 *
 *   weft_model* model;
 *   weft_session* session;
 *   if (weft_open("digits", NULL, &model) != WEFT_OK) puts(weft_last_error());
 *   weft_session_open(model, &session);
 *   weft_set_input(session, 0, WEFT_F32, image, sizeof image);
 *   weft_set_output(session, 0, WEFT_F32, scores, sizeof scores);
 *   weft_run(session);
 *
 * Two libraries have it. libweft-run opens what `weft compile --kind shared` wrote, and needs libc alone; libweft opens
 * ONNX files too, which it compiles.
 *
 * Every function may be called by any thread at any time. Threads that compute at once have a session each; calls of
 * one session wait for each other, as do those of an ONNX model that decides by values of its inputs. Nothing that is
 * passed makes a function crash as long as pointers are NULL or point to as much as is said of them: handles that were
 * closed are known as such, and what is wrong is returned as a code. docs/c_api.md has more. */
#ifndef WEFT_C_H
#define WEFT_C_H

#include <stddef.h>
#include <stdint.h>

#include <weft/weft_library.h>

#ifdef __GNUC__
#define WEFT_C_API __attribute__((visibility("default")))
#else
#define WEFT_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with what is added here; what there is stays. */
#define WEFT_C_VERSION 2
/* That of the library that is loaded. */
WEFT_C_API uint32_t weft_c_version(void);
/* The release of weft that it is part of, as in "1.2.3". */
WEFT_C_API const char* weft_release(void);

/* --- What functions return ------------------------------------------------------------------- */

typedef enum weft_status {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT = 1, /* NULL where something has to be, or an option that means nothing */
  WEFT_CLOSED = 2,           /* the handle was closed, or never was one of its kind */
  WEFT_OUT_OF_RANGE = 3,     /* there are fewer inputs or outputs, or none of that name */
  WEFT_WRONG_SIZE = 4,       /* other than the input or output has */
  WEFT_WRONG_DTYPE = 5,
  WEFT_NOT_SET = 6,     /* an input has no value, or an output was not computed yet */
  WEFT_NO_FILE = 7,     /* it is not there, or cannot be read */
  WEFT_BAD_FILE = 8,    /* it is not what it should be, or damaged */
  WEFT_UNSUPPORTED = 9, /* by this library, or for this model: an operator, or sizes */
  WEFT_NO_MEMORY = 10,
  WEFT_FAILED = 11 /* while computing */
} weft_status;

/* "WEFT_OK"; of other numbers "unknown status". */
WEFT_C_API const char* weft_status_name(int status);
/* What went wrong in the last function that this thread called and that did not return WEFT_OK, in words. Never NULL; valid
 * until the next one does. */
WEFT_C_API const char* weft_last_error(void);

/* "f32"; of other numbers "unknown dtype". */
WEFT_C_API const char* weft_dtype_name(int dtype);
/* Of an element; 0 for other numbers. */
WEFT_C_API size_t weft_dtype_bytes(int dtype);

/* --- Models ----------------------------------------------------------------------------------- */

/* Handles: numbers in the form of pointers to nothing. */
typedef struct weft_model weft_model;
typedef struct weft_session weft_session;

/* Opens a folder with NAME.so and NAME.weights, that NAME.so, or an ONNX file. The two may be links to files of any
 * name. NAME.so is code, which may do anything: open only what you trust. `options` is NULL, or texts "key=value" that end
 * with NULL:
 *   threads=N       computing at once in a call; default: as many as cores, and as the model was compiled for
 *   verify=1        read all of the weights at once, and compare them with their checksum
 * and of ONNX files
 *   device=CPU      one of those that `weft devices` lists
 *   precision=bf16  of all layers: f32, bf16, f16, int8
 *   shape.NAME=1,3,224,224  of an input whose sizes the file leaves open */
WEFT_C_API int weft_open(const char* path, const char* const* options, weft_model** model);
/* Of the bytes of an ONNX file, which may be freed then. */
WEFT_C_API int weft_open_bytes(const void* bytes, size_t size, const char* const* options,
                               weft_model** model);
/* Sessions go on; what they need of the model goes with the last of them. */
WEFT_C_API int weft_close(weft_model* model);

typedef enum weft_port_kind { WEFT_INPUT = 0, WEFT_OUTPUT = 1 } weft_port_kind;

/* `kind` is a weft_port_kind; inputs and outputs are counted from 0 each. Names last as long as the model and its
 * sessions. */
WEFT_C_API int weft_port_count(weft_model* model, int kind, size_t* count);
WEFT_C_API int weft_port_find(weft_model* model, int kind, const char* name, size_t* index);
WEFT_C_API int weft_port_name(weft_model* model, int kind, size_t index, const char** name);
WEFT_C_API int weft_port_dtype(weft_model* model, int kind, size_t index, int* dtype);
WEFT_C_API int weft_port_rank(weft_model* model, int kind, size_t index, size_t* rank);
/* Writes a size for each axis, of which there may be `capacity`. */
WEFT_C_API int weft_port_shape(weft_model* model, int kind, size_t index, int64_t* shape,
                               size_t capacity);
WEFT_C_API int weft_port_bytes(weft_model* model, int kind, size_t index, size_t* bytes);

/* Models that were compiled with several entry points have a handle for each, which is closed like any other: weft_open()
 * gives the first. They share weights. */
WEFT_C_API int weft_entry_count(weft_model* model, size_t* count);
/* "" where there is only one, which weft_entry_open() gives another handle for. */
WEFT_C_API int weft_entry_name(weft_model* model, size_t index, const char** name);
WEFT_C_API int weft_entry_open(weft_model* model, const char* name, weft_model** entry);

/* Sizes that a model was compiled to be told by each call. Shapes and bytes of ports are the largest then. */
WEFT_C_API int weft_size_count(weft_model* model, size_t* count);
/* Where to write what is not asked for may be NULL. */
WEFT_C_API int weft_size_about(weft_model* model, size_t index, const char** name, int64_t* least,
                               int64_t* most);

/* --- Calls ------------------------------------------------------------------------------------ */

/* Memory of its own between the inputs and the outputs, and threads. */
WEFT_C_API int weft_session_open(weft_model* model, weft_session** session);
/* One that shares the state of another, for another entry point of the same model, or the same one. */
WEFT_C_API int weft_session_join(weft_model* entry, weft_session* with, weft_session** session);
/* Makes the state what it was before the first call. */
WEFT_C_API int weft_session_restart(weft_session* session);
/* What lasts from call to call, to be copied or changed between calls: NULL and 0 bytes where there is none. NAME.h says
 * where in it what lies. It stays as long as the session. */
WEFT_C_API int weft_session_state(weft_session* session, void** data, size_t* bytes);
/* A call of it that another thread is in ends first; those that still wait for their turn return WEFT_CLOSED. */
WEFT_C_API int weft_session_close(weft_session* session);

/* Of calls from now on; at first it is the largest. Inputs and outputs have other shapes then, and what was set before is to
 * be set again where its bytes change. */
WEFT_C_API int weft_set_size(weft_session* session, size_t index, int64_t size);
/* As the sizes are now. */
WEFT_C_API int weft_session_shape(weft_session* session, int kind, size_t index, int64_t* shape,
                                  size_t capacity);
WEFT_C_API int weft_session_bytes(weft_session* session, int kind, size_t index, size_t* bytes);

/* Elements in row-major order, of the dtype and the bytes that the input has. They are not copied: they have to stay until
 * the last run that is to read them has returned. NULL with 0 bytes takes an input back. */
WEFT_C_API int weft_set_input(weft_session* session, size_t index, int dtype, const void* data,
                              size_t bytes);
/* Where runs from now on write that output. It overlaps neither inputs nor other outputs. NULL with 0 bytes: to memory of
 * the session, as if nothing had been said. */
WEFT_C_API int weft_set_output(weft_session* session, size_t index, int dtype, void* data,
                               size_t bytes);
/* Computes all outputs. */
WEFT_C_API int weft_run(weft_session* session);
/* The output of the last run, where it was written: in memory of the session it lasts until the next run. */
WEFT_C_API int weft_output(weft_session* session, size_t index, const void** data, size_t* bytes);

/* All of that at once, for threads that share a session: the pointers are for this call alone. There are as many as inputs
 * and outputs, each with its bytes. */
WEFT_C_API int weft_call(weft_session* session, const void* const* inputs,
                         const size_t* input_bytes, size_t input_count, void* const* outputs,
                         const size_t* output_bytes, size_t output_count);

#ifdef __cplusplus
}
#endif

#endif
