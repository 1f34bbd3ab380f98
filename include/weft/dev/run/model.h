// What the handles of the C API stand for, and what a kind of model is.
#pragma once

#include <pthread.h>

#include <weft/dev/run/handles.h>

namespace weft::capi {

// What options say. Those that only some models have are read by them.
struct OpenOptions {
  const char* const* all;  // "key=value", with a NULL at the end; null where there are none
  const char* device = nullptr;
  const char* precision = nullptr;
  bool has_shapes = false;
  int threads = 0;  // 0: as many as there are cores
  bool verify = false;
};
int read_options(const char* const* given, OpenOptions& options);
// The value where that is the key, else null.
const char* value_of(const char* option, const char* key);
int cores();  // that this process may run on

struct Model;

// How models of a kind are called. `state` is what open_... made.
struct ModelKind {
  int (*open_session)(Model& model, void** state);
  int (*run)(void* state, void* const* ports);  // a pointer for each port, inputs first
  void (*close_session)(void* state);
  void (*close)(void* state);
};

struct Model : Held {
  static constexpr HandleKind kind = HandleKind::Model;
  const ModelKind* is;
  void* state;
  const weft_library_port* ports;  // inputs, then outputs; they last as long as the state
  std::uint32_t inputs, outputs;

  std::uint32_t all() const { return inputs + outputs; }
};

struct Session : Held {
  static constexpr HandleKind kind = HandleKind::Session;
  Model* model;
  void* state;
  pthread_mutex_t mutex;
  void** given;  // memory of the caller for each port, or null
  void** own;    // memory of the session for outputs, or null
  bool has_run;
  bool closed;  // what waited for the mutex meanwhile may not touch memory of the caller any more
};

// These fill in `is`, `state` and the ports.
int open_compiled(const char* path, const OpenOptions& options, Model& model);
int open_onnx(const char* path, const OpenOptions& options, Model& model);
int open_onnx_bytes(const void* bytes, size_t size, const OpenOptions& options, Model& model);

}  // namespace weft::capi
