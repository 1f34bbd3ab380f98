// weft_open and what is asked of models.

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <weft/dev/run/model.h>

namespace weft::capi {
namespace {

void destroy(Held* held) {
  auto* model = static_cast<Model*>(held);
  model->is->close(model->state);
  std::free(model);
}

// Gives the model a handle, which is one of its users already.
int hand_out(Model& model, weft_model** handle) {
  std::uintptr_t number = 0;
  if (const int problem = add_handle(HandleKind::Model, &model, number)) {
    release(&model);
    return problem;
  }
  *handle = reinterpret_cast<weft_model*>(number);
  return WEFT_OK;
}

// A handle for what `fill` opens.
template <class Fill>
int new_model(weft_model** model, Fill fill) {
  auto* made = static_cast<Model*>(std::calloc(1, sizeof(Model)));
  if (made == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a model");
  if (const int problem = fill(*made)) {
    std::free(made);
    return problem;
  }
  made->destroy = destroy;
  made->users = 1;
  return hand_out(*made, model);
}

template <class Fill>
int open_model(const char* const* given, weft_model** model, Fill fill) {
  if (model == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the model");
  *model = nullptr;
  OpenOptions options{};
  if (const int problem = read_options(given, options)) return problem;
  return new_model(model, [&](Model& made) { return fill(options, made); });
}

bool is_compiled(const char* path, bool is_folder) {
  const std::size_t length = std::strlen(path);
  return is_folder || (length > 3 && std::strcmp(path + length - 3, ".so") == 0);
}

// Looks a port up for `take`.
template <class Take>
int with_port(weft_model* handle, int kind, std::size_t index, const void* result, Take take) {
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (result == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  if (kind != WEFT_INPUT && kind != WEFT_OUTPUT)
    return fail(WEFT_INVALID_ARGUMENT, "%d is no kind of port", kind);
  const std::size_t count = kind == WEFT_INPUT ? model->inputs : model->outputs;
  if (index >= count)
    return fail(WEFT_OUT_OF_RANGE, "there is no %s %zu; the model has %zu",
                kind == WEFT_INPUT ? "input" : "output", index, count);
  return take(model->ports[(kind == WEFT_INPUT ? 0 : model->inputs) + index]);
}

}  // namespace
}  // namespace weft::capi

using namespace weft::capi;

uint32_t weft_c_version(void) { return WEFT_C_VERSION; }
const char* weft_release(void) { return WEFT_RELEASE; }

int weft_open(const char* path, const char* const* options, weft_model** model) {
  return open_model(options, model, [&](const OpenOptions& read, Model& made) {
    if (path == nullptr) return fail(WEFT_INVALID_ARGUMENT, "the path is NULL");
    struct stat about;
    if (stat(path, &about) != 0)
      return fail(WEFT_NO_FILE, "%.400s: %s", path, std::strerror(errno));
    return is_compiled(path, S_ISDIR(about.st_mode)) ? open_compiled(path, read, made)
                                                     : open_onnx(path, read, made);
  });
}

int weft_open_bytes(const void* bytes, size_t size, const char* const* options,
                    weft_model** model) {
  return open_model(options, model, [&](const OpenOptions& read, Model& made) {
    if (bytes == nullptr) return fail(WEFT_INVALID_ARGUMENT, "the bytes are NULL");
    return open_onnx_bytes(bytes, size, read, made);
  });
}

int weft_close(weft_model* model) {
  return close_handle(HandleKind::Model, reinterpret_cast<std::uintptr_t>(model));
}

int weft_entry_count(weft_model* handle, size_t* count) {
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (count == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  *count = model->entries == nullptr ? 1 : 0;
  for (const auto* entry = model->entries; entry != nullptr; entry = entry->next) ++*count;
  return WEFT_OK;
}

int weft_entry_name(weft_model* handle, size_t index, const char** name) {
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (name == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  const weft_library_description* entry = model->entries;
  *name = "";
  if (entry == nullptr && index == 0) return WEFT_OK;
  for (size_t i = 0; i < index && entry != nullptr; ++i) entry = entry->next;
  if (entry == nullptr) return fail(WEFT_OUT_OF_RANGE, "there is no entry point %zu", index);
  *name = entry->entry;
  return WEFT_OK;
}

int weft_entry_open(weft_model* handle, const char* name, weft_model** made) {
  if (name == nullptr || made == nullptr)
    return fail(WEFT_INVALID_ARGUMENT, "the name, or the place for the model, is NULL");
  *made = nullptr;
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (model->entries == nullptr && *name == '\0') {
    use(&*model);
    return hand_out(*model, made);
  }
  for (const auto* entry = model->entries; entry != nullptr; entry = entry->next)
    if (std::strcmp(entry->entry, name) == 0)
      return new_model(made,
                       [&](Model& other) { return model->is->open_entry(*model, *entry, other); });
  return fail(WEFT_OUT_OF_RANGE, "there is no entry point '%.200s'", name);
}

int weft_size_count(weft_model* handle, size_t* count) {
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (count == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  *count = model->size_count;
  return WEFT_OK;
}

int weft_size_about(weft_model* handle, size_t index, const char** name, int64_t* least,
                    int64_t* most) {
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (index >= model->size_count)
    return fail(WEFT_OUT_OF_RANGE, "there is no open size %zu; the model has %u", index,
                model->size_count);
  const weft_library_size& size = model->sizes[index];
  if (name != nullptr) *name = size.name;
  if (least != nullptr) *least = size.least;
  if (most != nullptr) *most = size.most;
  return WEFT_OK;
}

int weft_port_count(weft_model* handle, int kind, size_t* count) {
  const Used<Model> model(handle);
  if (!model) return model.problem();
  if (count == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  if (kind != WEFT_INPUT && kind != WEFT_OUTPUT)
    return fail(WEFT_INVALID_ARGUMENT, "%d is no kind of port", kind);
  *count = kind == WEFT_INPUT ? model->inputs : model->outputs;
  return WEFT_OK;
}

int weft_port_find(weft_model* handle, int kind, const char* name, size_t* index) {
  if (name == nullptr || index == nullptr)
    return fail(WEFT_INVALID_ARGUMENT, "the name, or the place for the result, is NULL");
  size_t count = 0;
  if (const int problem = weft_port_count(handle, kind, &count)) return problem;
  for (size_t i = 0; i < count; ++i) {
    const char* found = nullptr;
    if (const int problem = weft_port_name(handle, kind, i, &found)) return problem;
    if (std::strcmp(found, name) != 0) continue;
    *index = i;
    return WEFT_OK;
  }
  return fail(WEFT_OUT_OF_RANGE, "there is no %s '%.200s'", kind == WEFT_INPUT ? "input" : "output",
              name);
}

int weft_port_name(weft_model* model, int kind, size_t index, const char** name) {
  return with_port(model, kind, index, name, [&](const weft_library_port& port) {
    *name = port.name;
    return static_cast<int>(WEFT_OK);
  });
}

int weft_port_dtype(weft_model* model, int kind, size_t index, int* dtype) {
  return with_port(model, kind, index, dtype, [&](const weft_library_port& port) {
    *dtype = static_cast<int>(port.dtype);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_port_rank(weft_model* model, int kind, size_t index, size_t* rank) {
  return with_port(model, kind, index, rank, [&](const weft_library_port& port) {
    *rank = port.rank;
    return static_cast<int>(WEFT_OK);
  });
}

int weft_port_shape(weft_model* model, int kind, size_t index, int64_t* shape, size_t capacity) {
  return with_port(model, kind, index, shape, [&](const weft_library_port& port) {
    if (capacity < port.rank)
      return fail(WEFT_WRONG_SIZE, "'%.200s' has %u axes, for which %zu places are too few",
                  port.name, port.rank, capacity);
    for (std::uint32_t i = 0; i < port.rank; ++i) shape[i] = port.shape[i];
    return static_cast<int>(WEFT_OK);
  });
}

int weft_port_bytes(weft_model* model, int kind, size_t index, size_t* bytes) {
  return with_port(model, kind, index, bytes, [&](const weft_library_port& port) {
    *bytes = port.bytes;
    return static_cast<int>(WEFT_OK);
  });
}
