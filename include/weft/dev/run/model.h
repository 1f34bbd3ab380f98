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
  // `beside` is the state of a session whose memory that lasts is to be this one's too, or null.
  int (*open_session)(Model& model, void* beside, void** state);
  // A pointer for each port, inputs first, with room for two more.
  int (*run)(void* state, void** ports, const std::int64_t* sizes);
  void (*close_session)(void* state);
  void (*close)(void* state);
  // For models that say so.
  int (*open_entry)(const Model& model, const weft_library_description& about, Model& entry);
  int (*shapes)(const Model& model, const std::int64_t* sizes, std::int64_t* shapes);
  int (*restart)(void* state);
  void (*find_state)(void* state, void** data, std::size_t* bytes);
};

struct Model : Held {
  static constexpr HandleKind kind = HandleKind::Model;
  const ModelKind* is;
  void* state;
  const weft_library_port* ports;  // inputs, then outputs; they last as long as the state
  std::uint32_t inputs, outputs;
  const weft_library_description* entries;  // the first; null where there is one without a name
  const weft_library_size* sizes;           // that are open
  std::uint32_t size_count,
      shape_count;  // the second of numbers in the shapes of all ports, 0 without sizes
  bool has_state;

  std::uint32_t all() const { return inputs + outputs; }
};

struct Session : Held {
  static constexpr HandleKind kind = HandleKind::Session;
  Model* model;
  void* state;
  pthread_mutex_t mutex;
  void** given;              // memory of the caller for each port, or null
  std::size_t* given_bytes;  // that it has
  void** own;                // memory of the session for outputs, or null
  std::int64_t *sizes, *shapes;
  bool has_run;
  bool closed;  // what waited for the mutex meanwhile may not touch memory of the caller any more

  // Where the shape of a port begins, and its bytes, as sizes are now.
  const std::int64_t* shape_of(std::size_t port) const;
  std::uint64_t bytes_of(std::size_t port) const;
};

// These fill in `is`, `state` and the ports.
int open_compiled(const char* path, const OpenOptions& options, Model& model);
int open_onnx(const char* path, const OpenOptions& options, Model& model);
int open_onnx_bytes(const void* bytes, size_t size, const OpenOptions& options, Model& model);

}  // namespace weft::capi
