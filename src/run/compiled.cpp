// Models that weft compile --kind shared wrote: NAME.so beside NAME.weights.

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <weft/dev/run/model.h>

#include "file.h"
#include "pool.h"

namespace weft::capi {
namespace {

struct Compiled {
  void* library;
  const weft_library_description* about;
  Mapped weights;
  int threads;
};

struct CompiledSession {
  const Compiled* model;
  void* workspace;
  Pool* pool;
};

void close_compiled(void* state) {
  auto* compiled = static_cast<Compiled*>(state);
  unmap(compiled->weights);
  if (compiled->library != nullptr) dlclose(compiled->library);
  std::free(compiled);
}

void close_session(void* state) {
  auto* session = static_cast<CompiledSession*>(state);
  delete_pool(session->pool);
  std::free(session->workspace);
  std::free(session);
}

int open_session(Model& model, void** state) {
  const auto* compiled = static_cast<const Compiled*>(model.state);
  auto* session = static_cast<CompiledSession*>(std::calloc(1, sizeof(CompiledSession)));
  if (session == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  session->model = compiled;
  const std::size_t bytes = std::max<std::size_t>(compiled->about->workspace_bytes, 1);
  if (posix_memalign(&session->workspace, compiled->about->alignment, bytes) != 0) {
    session->workspace = nullptr;
    close_session(session);
    return fail(WEFT_NO_MEMORY, "there is no memory for a workspace of %zu bytes", bytes);
  }
  const int helpers = compiled->threads - 1;
  if (helpers > 0) session->pool = new_pool(helpers);
  if (helpers > 0 && session->pool == nullptr) {
    close_session(session);
    return fail(WEFT_NO_MEMORY, "%d threads cannot be started", helpers);
  }
  *state = session;
  return WEFT_OK;
}

int run(void* state, void* const* ports) {
  const auto* session = static_cast<const CompiledSession*>(state);
  const Compiled& model = *session->model;
  const weft_library_threads threads{parallel_for, session->pool};
  const int status = model.about->run(ports, model.weights.bytes, session->workspace,
                                      session->pool != nullptr ? &threads : nullptr);
  if (status != 0) return fail(WEFT_FAILED, "%s: run returns %d", model.about->name, status);
  return WEFT_OK;
}

constexpr ModelKind compiled_kind{open_session, run, close_session, close_compiled};

bool is_usable(const weft_library_description* about) {
  return about->version == WEFT_LIBRARY_VERSION && about->size >= sizeof *about &&
         about->alignment >= sizeof(void*) && about->alignment <= longest_path &&
         (about->alignment & (about->alignment - 1)) == 0 && about->ports != nullptr &&
         about->run != nullptr && about->verify != nullptr;
}

int load_library(const char* path, Compiled& compiled) {
  if (const int problem = check_elf(path)) return problem;
  compiled.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (compiled.library == nullptr) return fail(WEFT_BAD_FILE, "%s", dlerror());
  compiled.about =
      static_cast<const weft_library_description*>(dlsym(compiled.library, "weft_library_v1"));
  if (compiled.about == nullptr || !is_usable(compiled.about))
    return fail(WEFT_BAD_FILE,
                "%.400s was not written by weft compile, or by another version of it", path);
  return WEFT_OK;
}

int load_weights(const char* library, bool verify, Compiled& compiled) {
  const weft_library_description& about = *compiled.about;
  char path[longest_path + sizeof ".weights"];
  std::snprintf(path, sizeof path, "%.*s.weights", static_cast<int>(std::strlen(library) - 3),
                library);
  if (const int problem = map_file(path, compiled.weights)) return problem;
  const bool has_header = compiled.weights.size >= sizeof about.weights_header;
  if (has_header &&
      std::memcmp(compiled.weights.bytes, about.weights_header, sizeof about.weights_header) != 0)
    return fail(WEFT_BAD_FILE, "%.400s are not the weights of %s", path, about.name);
  if (compiled.weights.size != about.weights_bytes)
    return fail(WEFT_BAD_FILE, "%.400s has %zu bytes; the weights have %zu", path,
                compiled.weights.size, static_cast<std::size_t>(about.weights_bytes));
  if (verify && about.verify(compiled.weights.bytes, compiled.weights.size) != 0)
    return fail(WEFT_BAD_FILE, "%.400s is damaged", path);
  return WEFT_OK;
}

int load(const char* path, const OpenOptions& options, Compiled& compiled) {
  char library[longest_path];
  if (const int problem = find_library(path, library)) return problem;
  if (const int problem = load_library(library, compiled)) return problem;
  if (const int problem = load_weights(library, options.verify, compiled)) return problem;
  const int most = std::max(1, static_cast<int>(compiled.about->threads));
  compiled.threads = std::min(options.threads > 0 ? options.threads : cores(), most);
  return WEFT_OK;
}

}  // namespace

int open_compiled(const char* path, const OpenOptions& options, Model& model) {
  if (options.precision != nullptr || options.has_shapes ||
      (options.device != nullptr && std::strcmp(options.device, "CPU") != 0))
    return fail(WEFT_UNSUPPORTED,
                "%.400s was compiled for its device, precision and shapes: no option changes them",
                path);
  auto* compiled = static_cast<Compiled*>(std::calloc(1, sizeof(Compiled)));
  if (compiled == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a model");
  if (const int problem = load(path, options, *compiled)) {
    close_compiled(compiled);
    return problem;
  }
  model.is = &compiled_kind;
  model.state = compiled;
  model.ports = compiled->about->ports;
  model.inputs = compiled->about->inputs;
  model.outputs = compiled->about->outputs;
  return WEFT_OK;
}

}  // namespace weft::capi
