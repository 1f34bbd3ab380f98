// Models that weft compile --kind shared wrote: NAME.so beside NAME.weights.

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <weft/dev/run/model.h>

#include "file.h"
#include "lock.h"
#include "pool.h"

namespace weft::capi {
namespace {

// What the entry points of a model share.
struct Files : Held {
  void* library;
  const weft_library_description* first;
  Mapped weights;
};

struct Compiled {
  Files* files;
  weft_library_description
      about;  // zeros where the library was written before there was such a member
  int threads;
};

// Memory that lasts from call to call, of sessions that share it.
struct Lasting : Held {
  pthread_mutex_t mutex;
  void* bytes;
};

struct CompiledSession {
  const Compiled* model;
  Lasting* lasting;
  void* workspace;
  Pool* pool;
};

void destroy_files(Held* held) {
  auto* files = static_cast<Files*>(held);
  unmap(files->weights);
  if (files->library != nullptr) dlclose(files->library);
  std::free(files);
}

void destroy_lasting(Held* held) {
  auto* lasting = static_cast<Lasting*>(held);
  pthread_mutex_destroy(&lasting->mutex);
  std::free(lasting->bytes);
  std::free(lasting);
}

void close_compiled(void* state) {
  auto* compiled = static_cast<Compiled*>(state);
  release(compiled->files);
  std::free(compiled);
}

void close_session(void* state) {
  auto* session = static_cast<CompiledSession*>(state);
  delete_pool(session->pool);
  if (session->lasting != nullptr) release(session->lasting);
  std::free(session->workspace);
  std::free(session);
}

void* aligned_memory(const weft_library_description& about, std::uint64_t bytes) {
  void* memory = nullptr;
  const std::size_t some = std::max<std::size_t>(bytes, 1);
  return posix_memalign(&memory, about.alignment, some) == 0 ? memory : nullptr;
}

int start(const Compiled& model, Lasting& lasting) {
  const Lock lock(lasting.mutex);
  const int status = model.about.start(model.files->weights.bytes, lasting.bytes);
  if (status != 0) return fail(WEFT_FAILED, "%s: start returns %d", model.about.name, status);
  return WEFT_OK;
}

// Of its own, as it begins.
int new_lasting(const Compiled& model, CompiledSession& session) {
  auto* lasting = static_cast<Lasting*>(std::calloc(1, sizeof(Lasting)));
  if (lasting == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  lasting->destroy = destroy_lasting;
  lasting->users = 1;
  pthread_mutex_init(&lasting->mutex, nullptr);
  session.lasting = lasting;
  lasting->bytes = aligned_memory(model.about, model.about.state_bytes);
  if (lasting->bytes == nullptr)
    return fail(WEFT_NO_MEMORY, "there is no memory for a state of %zu bytes",
                static_cast<std::size_t>(model.about.state_bytes));
  return start(model, *lasting);
}

int share_lasting(const Compiled& model, const CompiledSession& beside, CompiledSession& session) {
  if (beside.model->files != model.files)
    return fail(WEFT_INVALID_ARGUMENT, "the session is not of an entry point of the same model");
  if (beside.lasting == nullptr) return WEFT_OK;
  use(beside.lasting);
  session.lasting = beside.lasting;
  return WEFT_OK;
}

int fill_session(const Compiled& model, const CompiledSession* beside, CompiledSession& session) {
  session.model = &model;
  session.workspace = aligned_memory(model.about, model.about.workspace_bytes);
  if (session.workspace == nullptr)
    return fail(WEFT_NO_MEMORY, "there is no memory for a workspace of %zu bytes",
                static_cast<std::size_t>(model.about.workspace_bytes));
  if (beside != nullptr) {
    if (const int problem = share_lasting(model, *beside, session)) return problem;
  } else if (model.about.state_bytes > 0) {
    if (const int problem = new_lasting(model, session)) return problem;
  }
  const int helpers = model.threads - 1;
  if (helpers > 0) session.pool = new_pool(helpers);
  if (helpers > 0 && session.pool == nullptr)
    return fail(WEFT_NO_MEMORY, "%d threads cannot be started", helpers);
  return WEFT_OK;
}

int open_session(Model& model, void* beside, void** state) {
  auto* session = static_cast<CompiledSession*>(std::calloc(1, sizeof(CompiledSession)));
  if (session == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  if (const int problem = fill_session(*static_cast<const Compiled*>(model.state),
                                       static_cast<const CompiledSession*>(beside), *session)) {
    close_session(session);
    return problem;
  }
  *state = session;
  return WEFT_OK;
}

int run_unlocked(const CompiledSession& session, void* const* ports) {
  const Compiled& model = *session.model;
  const weft_library_threads threads{parallel_for, session.pool};
  const int status = model.about.run(ports, model.files->weights.bytes, session.workspace,
                                     session.pool != nullptr ? &threads : nullptr);
  if (status != 0) return fail(WEFT_FAILED, "%s: run returns %d", model.about.name, status);
  return WEFT_OK;
}

// What runs are given behind the ports is what weft_library.h says.
int run(void* state, void** ports, const std::int64_t* sizes) {
  const auto* session = static_cast<const CompiledSession*>(state);
  const weft_library_description& about = session->model->about;
  std::size_t next = about.inputs + about.outputs;
  if (about.size_count > 0) ports[next++] = const_cast<std::int64_t*>(sizes);
  if (session->lasting == nullptr) return run_unlocked(*session, ports);
  ports[next] = session->lasting->bytes;
  const Lock lock(session->lasting->mutex);
  return run_unlocked(*session, ports);
}

int restart(void* state) {
  const auto* session = static_cast<const CompiledSession*>(state);
  return start(*session->model, *session->lasting);
}

void find_state(void* state, void** data, std::size_t* bytes) {
  const auto* session = static_cast<const CompiledSession*>(state);
  *data = session->lasting->bytes;
  *bytes = session->model->about.state_bytes;
}

int shapes(const Model& model, const std::int64_t* sizes, std::int64_t* shapes) {
  const auto* compiled = static_cast<const Compiled*>(model.state);
  const int status = compiled->about.shapes(sizes, shapes);
  if (status != 0) return fail(WEFT_FAILED, "%s: shapes returns %d", compiled->about.name, status);
  return WEFT_OK;
}

int open_entry(const Model& model, const weft_library_description& about, Model& entry);

constexpr ModelKind compiled_kind{open_session, run,    close_session, close_compiled,
                                  open_entry,   shapes, restart,       find_state};

void describe(const Compiled& compiled, const weft_library_description* entries, Model& model) {
  const weft_library_description& about = compiled.about;
  model.is = &compiled_kind;
  model.ports = about.ports;
  model.inputs = about.inputs;
  model.outputs = about.outputs;
  model.entries = entries;
  model.sizes = about.sizes;
  model.size_count = about.size_count;
  model.shape_count = about.shape_count;
  model.has_state = about.state_bytes > 0;
}

int open_entry(const Model& model, const weft_library_description& about, Model& entry) {
  const auto* whole = static_cast<const Compiled*>(model.state);
  auto* compiled = static_cast<Compiled*>(std::calloc(1, sizeof(Compiled)));
  if (compiled == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a model");
  *compiled = {whole->files, about, whole->threads};
  use(compiled->files);
  entry.state = compiled;
  describe(*compiled, model.entries, entry);
  return WEFT_OK;
}

constexpr std::uint32_t most_alignment = 4096;
constexpr std::size_t first_bytes = offsetof(weft_library_description, entry);

bool is_known(const weft_library_description& about) {
  return about.version >= WEFT_LIBRARY_PLAIN && about.version <= WEFT_LIBRARY_VERSION &&
         about.size >= first_bytes;
}

bool is_usable(const weft_library_description& about) {
  return about.alignment >= sizeof(void*) && about.alignment <= most_alignment &&
         (about.alignment & (about.alignment - 1)) == 0 && about.ports != nullptr &&
         about.run != nullptr && about.verify != nullptr &&
         (about.size_count == 0 || (about.sizes != nullptr && about.shapes != nullptr)) &&
         (about.state_bytes == 0 || about.start != nullptr);
}

// Those behind the first have all members, and the same state.
bool are_usable(const weft_library_description& first) {
  if (!is_usable(first)) return false;
  for (const auto* each = first.next; each != nullptr; each = each->next)
    if (!is_known(*each) || each->size < sizeof *each || each->entry == nullptr ||
        each->state_bytes != first.state_bytes || !is_usable(*each))
      return false;
  return true;
}

int load_library(const char* path, Compiled& compiled) {
  if (const int problem = check_elf(path)) return problem;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(WEFT_BAD_FILE, "%s", dlerror());
  compiled.files->library = library;
  const auto* about =
      static_cast<const weft_library_description*>(dlsym(library, "weft_library_v1"));
  const bool known = about != nullptr && is_known(*about);
  if (known) std::memcpy(&compiled.about, about, std::min<std::size_t>(about->size, sizeof *about));
  compiled.files->first = about;
  if (!known || !are_usable(compiled.about))
    return fail(WEFT_BAD_FILE,
                "%.400s was not written by weft compile, or by another version of it", path);
  return WEFT_OK;
}

int load_weights(const char* library, bool verify, Compiled& compiled) {
  const weft_library_description& about = compiled.about;
  Mapped& weights = compiled.files->weights;
  char path[longest_path + sizeof ".weights"];
  std::snprintf(path, sizeof path, "%.*s.weights", static_cast<int>(std::strlen(library) - 3),
                library);
  if (const int problem = map_file(path, weights)) return problem;
  const bool has_header = weights.size >= sizeof about.weights_header;
  if (has_header &&
      std::memcmp(weights.bytes, about.weights_header, sizeof about.weights_header) != 0)
    return fail(WEFT_BAD_FILE, "%.400s are not the weights of %s", path, about.name);
  if (weights.size != about.weights_bytes)
    return fail(WEFT_BAD_FILE, "%.400s has %zu bytes; the weights have %zu", path, weights.size,
                static_cast<std::size_t>(about.weights_bytes));
  if (verify && about.verify(weights.bytes, weights.size) != 0)
    return fail(WEFT_BAD_FILE, "%.400s is damaged", path);
  return WEFT_OK;
}

int load(const char* path, const OpenOptions& options, Compiled& compiled) {
  char library[longest_path];
  if (const int problem = find_library(path, library)) return problem;
  if (const int problem = load_library(library, compiled)) return problem;
  if (const int problem = load_weights(library, options.verify, compiled)) return problem;
  const int most = std::max(1, static_cast<int>(compiled.about.threads));
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
  auto* files = static_cast<Files*>(std::calloc(1, sizeof(Files)));
  if (compiled == nullptr || files == nullptr) {
    std::free(compiled);
    std::free(files);
    return fail(WEFT_NO_MEMORY, "there is no memory for a model");
  }
  files->destroy = destroy_files;
  files->users = 1;
  compiled->files = files;
  if (const int problem = load(path, options, *compiled)) {
    close_compiled(compiled);
    return problem;
  }
  model.state = compiled;
  describe(*compiled, compiled->about.entry != nullptr ? compiled->files->first : nullptr, model);
  return WEFT_OK;
}

}  // namespace weft::capi
