// Sessions: whose memory inputs and outputs are in, and runs.

#include <algorithm>
#include <cstdlib>

#include <weft/dev/run/model.h>

#include "lock.h"

namespace weft::capi {
namespace {

constexpr std::size_t line = 64;  // what memory for outputs begins at a multiple of

void destroy(Held* held) {
  auto* session = static_cast<Session*>(held);
  if (session->state != nullptr) session->model->is->close_session(session->state);
  if (session->own != nullptr)
    for (std::uint32_t i = 0; i < session->model->all(); ++i) std::free(session->own[i]);
  for (void* memory : {static_cast<void*>(session->own), static_cast<void*>(session->given),
                       static_cast<void*>(session->given_bytes), static_cast<void*>(session->sizes),
                       static_cast<void*>(session->shapes)})
    std::free(memory);
  pthread_mutex_destroy(&session->mutex);
  release(session->model);
  std::free(session);
}

template <class T>
T* zeros(std::size_t count) {
  return static_cast<T*>(std::calloc(std::max<std::size_t>(count, 1), sizeof(T)));
}

// Room for the ports, and for what a kind of model needs behind them.
void** new_pointers(const Model& model) { return zeros<void*>(model.all() + std::size_t{2}); }

// Open sizes are the largest at first.
int open_session(Model& model, void* beside, Session& session) {
  session.given = new_pointers(model);
  session.given_bytes = zeros<std::size_t>(model.all());
  session.own = new_pointers(model);
  session.sizes = zeros<std::int64_t>(model.size_count);
  session.shapes = zeros<std::int64_t>(model.shape_count);
  if (session.given == nullptr || session.given_bytes == nullptr || session.own == nullptr ||
      session.sizes == nullptr || session.shapes == nullptr)
    return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  for (std::uint32_t i = 0; i < model.size_count; ++i) session.sizes[i] = model.sizes[i].most;
  if (model.size_count > 0)
    if (const int problem = model.is->shapes(model, session.sizes, session.shapes)) return problem;
  return model.is->open_session(model, beside, &session.state);
}

int new_session(Model& model, void* beside, weft_session** session) {
  auto* made = static_cast<Session*>(std::calloc(1, sizeof(Session)));
  if (made == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  made->destroy = destroy;
  made->users = 1;
  made->model = &model;
  use(made->model);
  pthread_mutex_init(&made->mutex, nullptr);
  std::uintptr_t number = 0;
  int problem = open_session(model, beside, *made);
  if (problem == WEFT_OK) problem = add_handle(HandleKind::Session, made, number);
  if (problem != WEFT_OK) {
    destroy(made);
    return problem;
  }
  *session = reinterpret_cast<weft_session*>(number);
  return WEFT_OK;
}

// Where a kind of ports begins and ends among all.
std::size_t first_of(const Model& model, int kind) { return kind == WEFT_INPUT ? 0 : model.inputs; }
std::size_t count_of(const Model& model, int kind) {
  return kind == WEFT_INPUT ? model.inputs : model.outputs;
}

int check_index(const Model& model, int kind, std::size_t index) {
  if (index < count_of(model, kind)) return WEFT_OK;
  return fail(WEFT_OUT_OF_RANGE, "there is no %s %zu; the model has %zu",
              kind == WEFT_INPUT ? "input" : "output", index, count_of(model, kind));
}

int check_open(const Session& session) {
  return session.closed ? fail(WEFT_CLOSED, "the session was closed") : WEFT_OK;
}

int check_memory(const Session& session, std::size_t place, const void* data, std::size_t bytes) {
  const weft_library_port& port = session.model->ports[place];
  const auto wanted = static_cast<std::size_t>(session.bytes_of(place));
  if (data == nullptr && bytes > 0)
    return fail(WEFT_INVALID_ARGUMENT, "'%.200s': %zu bytes at NULL", port.name, bytes);
  if (bytes != wanted)
    return fail(WEFT_WRONG_SIZE, "'%.200s' has %zu bytes; %zu are given", port.name, wanted, bytes);
  const std::size_t element = weft_dtype_bytes(static_cast<int>(port.dtype));
  if (element > 0 && reinterpret_cast<std::uintptr_t>(data) % element != 0)
    return fail(WEFT_INVALID_ARGUMENT, "'%.200s' does not begin at a multiple of %zu bytes",
                port.name, element);
  return WEFT_OK;
}

int set(weft_session* handle, int kind, std::size_t index, int dtype, void* data,
        std::size_t bytes) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Model& model = *session->model;
  if (const int problem = check_index(model, kind, index)) return problem;
  const std::size_t place = first_of(model, kind) + index;
  const weft_library_port& port = model.ports[place];
  if (static_cast<int>(port.dtype) != dtype)
    return fail(WEFT_WRONG_DTYPE, "'%.200s' is %s; %s is given", port.name,
                weft_dtype_name(static_cast<int>(port.dtype)), weft_dtype_name(dtype));
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  const bool takes_back = data == nullptr && bytes == 0;
  if (!takes_back)
    if (const int problem = check_memory(*session, place, data, bytes)) return problem;
  session->given[place] = data;
  session->given_bytes[place] = bytes;
  if (kind == WEFT_OUTPUT) session->has_run = false;
  return WEFT_OK;
}

// Of the caller, or of the session.
int place_of(Session& session, std::size_t port, void*& place) {
  place = session.given[port];
  const weft_library_port& about = session.model->ports[port];
  if (place != nullptr) return check_memory(session, port, place, session.given_bytes[port]);
  if (session.bytes_of(port) == 0) return WEFT_OK;
  if (port < session.model->inputs)
    return fail(WEFT_NOT_SET, "input '%.200s' has no value", about.name);
  if (session.own[port] == nullptr && posix_memalign(&session.own[port], line, about.bytes) != 0) {
    session.own[port] = nullptr;
    return fail(WEFT_NO_MEMORY, "there is no memory for output '%.200s'", about.name);
  }
  place = session.own[port];
  return WEFT_OK;
}

int run_with(Session& session, void** ports) {
  return session.model->is->run(session.state, ports, session.sizes);
}

int check_all(const Session& session, int kind, const void* const* data, const std::size_t* bytes,
              std::size_t count) {
  const Model& model = *session.model;
  if (count != count_of(model, kind))
    return fail(WEFT_OUT_OF_RANGE, "the model has %zu %s; %zu are given", count_of(model, kind),
                kind == WEFT_INPUT ? "inputs" : "outputs", count);
  if (count > 0 && (data == nullptr || bytes == nullptr))
    return fail(WEFT_INVALID_ARGUMENT, "pointers or bytes are NULL");
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t port = first_of(model, kind) + i;
    if (const int problem = check_memory(session, port, data[i], bytes[i])) return problem;
  }
  return WEFT_OK;
}

// Looks up what changes with the sizes, for `take`.
template <class Take>
int with_session_port(weft_session* handle, int kind, std::size_t index, const void* result,
                      Take take) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  if (result == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  if (kind != WEFT_INPUT && kind != WEFT_OUTPUT)
    return fail(WEFT_INVALID_ARGUMENT, "%d is no kind of port", kind);
  const Model& model = *session->model;
  if (const int problem = check_index(model, kind, index)) return problem;
  const Lock lock(session->mutex);
  return take(*session, first_of(model, kind) + index);
}

}  // namespace

const std::int64_t* Session::shape_of(std::size_t port) const {
  if (model->shape_count == 0) return model->ports[port].shape;
  const std::int64_t* shape = shapes;
  for (std::size_t i = 0; i < port; ++i) shape += model->ports[i].rank;
  return shape;
}

std::uint64_t Session::bytes_of(std::size_t port) const {
  const weft_library_port& about = model->ports[port];
  if (model->shape_count == 0) return about.bytes;
  std::uint64_t bytes = weft_dtype_bytes(static_cast<int>(about.dtype));
  const std::int64_t* shape = shape_of(port);
  for (std::uint32_t i = 0; i < about.rank; ++i) bytes *= static_cast<std::uint64_t>(shape[i]);
  return bytes;
}

}  // namespace weft::capi

using namespace weft::capi;

int weft_session_open(weft_model* handle, weft_session** session) {
  if (session == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the session");
  *session = nullptr;
  const Used<Model> model(handle);
  if (!model) return model.problem();
  return new_session(*model, nullptr, session);
}

int weft_session_join(weft_model* handle, weft_session* with, weft_session** session) {
  if (session == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the session");
  *session = nullptr;
  const Used<Model> model(handle);
  if (!model) return model.problem();
  const Used<Session> other(with);
  if (!other) return other.problem();
  if (other->model->is != model->is || !model->has_state)
    return fail(WEFT_UNSUPPORTED, "there is no state that these could share");
  return new_session(*model, other->state, session);
}

int weft_session_restart(weft_session* handle) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  return session->model->has_state ? session->model->is->restart(session->state) : WEFT_OK;
}

int weft_session_state(weft_session* handle, void** data, size_t* bytes) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  if (data == nullptr || bytes == nullptr)
    return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  *data = nullptr;
  *bytes = 0;
  if (session->model->has_state) session->model->is->find_state(session->state, data, bytes);
  return WEFT_OK;
}

int weft_set_size(weft_session* handle, size_t index, int64_t size) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Model& model = *session->model;
  if (index >= model.size_count)
    return fail(WEFT_OUT_OF_RANGE, "there is no open size %zu; the model has %u", index,
                model.size_count);
  const weft_library_size& about = model.sizes[index];
  if (size < about.least || size > about.most)
    return fail(WEFT_WRONG_SIZE, "'%.200s' is %lld to %lld, not %lld", about.name,
                static_cast<long long>(about.least), static_cast<long long>(about.most),
                static_cast<long long>(size));
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  session->sizes[index] = size;
  session->has_run = false;
  return model.is->shapes(model, session->sizes, session->shapes);
}

int weft_session_shape(weft_session* session, int kind, size_t index, int64_t* shape,
                       size_t capacity) {
  return with_session_port(
      session, kind, index, shape, [&](const Session& found, std::size_t port) {
        const weft_library_port& about = found.model->ports[port];
        if (capacity < about.rank)
          return fail(WEFT_WRONG_SIZE, "'%.200s' has %u axes, for which %zu places are too few",
                      about.name, about.rank, capacity);
        for (std::uint32_t i = 0; i < about.rank; ++i) shape[i] = found.shape_of(port)[i];
        return static_cast<int>(WEFT_OK);
      });
}

int weft_session_bytes(weft_session* session, int kind, size_t index, size_t* bytes) {
  return with_session_port(session, kind, index, bytes,
                           [&](const Session& found, std::size_t port) {
                             *bytes = found.bytes_of(port);
                             return static_cast<int>(WEFT_OK);
                           });
}

int weft_session_close(weft_session* handle) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Lock lock(session->mutex);
  session->closed = true;
  return close_handle(HandleKind::Session, reinterpret_cast<std::uintptr_t>(handle));
}

int weft_set_input(weft_session* session, size_t index, int dtype, const void* data, size_t bytes) {
  return set(session, WEFT_INPUT, index, dtype, const_cast<void*>(data), bytes);
}

int weft_set_output(weft_session* session, size_t index, int dtype, void* data, size_t bytes) {
  return set(session, WEFT_OUTPUT, index, dtype, data, bytes);
}

int weft_run(weft_session* handle) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  const std::size_t count = session->model->all();
  void** const ports = new_pointers(*session->model);
  if (ports == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a call");
  int problem = WEFT_OK;
  for (std::size_t i = 0; i < count && problem == WEFT_OK; ++i)
    problem = place_of(*session, i, ports[i]);
  if (problem == WEFT_OK) problem = run_with(*session, ports);
  session->has_run = problem == WEFT_OK;
  std::free(ports);
  return problem;
}

int weft_output(weft_session* handle, size_t index, const void** data, size_t* bytes) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  if (data == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the result");
  if (const int problem = check_index(*session->model, WEFT_OUTPUT, index)) return problem;
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  if (!session->has_run) return fail(WEFT_NOT_SET, "no run has computed outputs yet");
  void* place = nullptr;
  const std::size_t port = session->model->inputs + index;
  if (const int problem = place_of(*session, port, place)) return problem;
  *data = place;
  if (bytes != nullptr) *bytes = session->bytes_of(port);
  return WEFT_OK;
}

int weft_call(weft_session* handle, const void* const* inputs, const size_t* input_bytes,
              size_t input_count, void* const* outputs, const size_t* output_bytes,
              size_t output_count) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  if (const int problem = check_all(*session, WEFT_INPUT, inputs, input_bytes, input_count))
    return problem;
  if (const int problem = check_all(*session, WEFT_OUTPUT, outputs, output_bytes, output_count))
    return problem;
  void** const ports = new_pointers(*session->model);
  if (ports == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a call");
  for (std::size_t i = 0; i < input_count; ++i) ports[i] = const_cast<void*>(inputs[i]);
  for (std::size_t i = 0; i < output_count; ++i) ports[input_count + i] = outputs[i];
  const int problem = run_with(*session, ports);
  std::free(ports);
  return problem;
}
