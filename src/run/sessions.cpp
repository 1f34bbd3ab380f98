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
  std::free(session->own);
  std::free(session->given);
  pthread_mutex_destroy(&session->mutex);
  release(session->model);
  std::free(session);
}

void** new_pointers(std::size_t count) {
  return static_cast<void**>(std::calloc(std::max<std::size_t>(count, 1), sizeof(void*)));
}

int open_session(Model& model, Session& session) {
  session.given = new_pointers(model.all());
  session.own = new_pointers(model.all());
  if (session.given == nullptr || session.own == nullptr)
    return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  return model.is->open_session(model, &session.state);
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

int check_memory(const weft_library_port& port, const void* data, std::size_t bytes) {
  if (data == nullptr && bytes > 0)
    return fail(WEFT_INVALID_ARGUMENT, "'%.200s': %zu bytes at NULL", port.name, bytes);
  if (bytes != port.bytes)
    return fail(WEFT_WRONG_SIZE, "'%.200s' has %zu bytes; %zu are given", port.name,
                static_cast<std::size_t>(port.bytes), bytes);
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
  const bool takes_back = data == nullptr && bytes == 0;
  if (!takes_back)
    if (const int problem = check_memory(port, data, bytes)) return problem;
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  session->given[place] = data;
  if (kind == WEFT_OUTPUT) session->has_run = false;
  return WEFT_OK;
}

// Of the caller, or of the session.
int place_of(Session& session, std::size_t port, void*& place) {
  place = session.given[port];
  const weft_library_port& about = session.model->ports[port];
  if (place != nullptr || about.bytes == 0) return WEFT_OK;
  if (port < session.model->inputs)
    return fail(WEFT_NOT_SET, "input '%.200s' has no value", about.name);
  if (session.own[port] == nullptr && posix_memalign(&session.own[port], line, about.bytes) != 0) {
    session.own[port] = nullptr;
    return fail(WEFT_NO_MEMORY, "there is no memory for output '%.200s'", about.name);
  }
  place = session.own[port];
  return WEFT_OK;
}

int run_with(Session& session, void* const* ports) {
  return session.model->is->run(session.state, ports);
}

int check_all(const Model& model, int kind, const void* const* data, const std::size_t* bytes,
              std::size_t count) {
  if (count != count_of(model, kind))
    return fail(WEFT_OUT_OF_RANGE, "the model has %zu %s; %zu are given", count_of(model, kind),
                kind == WEFT_INPUT ? "inputs" : "outputs", count);
  if (count > 0 && (data == nullptr || bytes == nullptr))
    return fail(WEFT_INVALID_ARGUMENT, "pointers or bytes are NULL");
  for (std::size_t i = 0; i < count; ++i) {
    const weft_library_port& port = model.ports[first_of(model, kind) + i];
    if (data[i] == nullptr && port.bytes > 0)
      return fail(WEFT_INVALID_ARGUMENT, "'%.200s' is NULL", port.name);
    if (const int problem = check_memory(port, data[i], bytes[i])) return problem;
  }
  return WEFT_OK;
}

}  // namespace
}  // namespace weft::capi

using namespace weft::capi;

int weft_session_open(weft_model* handle, weft_session** session) {
  if (session == nullptr) return fail(WEFT_INVALID_ARGUMENT, "there is no place for the session");
  *session = nullptr;
  const Used<Model> model(handle);
  if (!model) return model.problem();
  auto* made = static_cast<Session*>(std::calloc(1, sizeof(Session)));
  if (made == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a session");
  made->destroy = destroy;
  made->users = 1;
  made->model = &*model;
  use(made->model);
  pthread_mutex_init(&made->mutex, nullptr);
  std::uintptr_t number = 0;
  int problem = open_session(*model, *made);
  if (problem == WEFT_OK) problem = add_handle(HandleKind::Session, made, number);
  if (problem != WEFT_OK) {
    destroy(made);
    return problem;
  }
  *session = reinterpret_cast<weft_session*>(number);
  return WEFT_OK;
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
  void** const ports = new_pointers(count);
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
  if (bytes != nullptr) *bytes = session->model->ports[port].bytes;
  return WEFT_OK;
}

int weft_call(weft_session* handle, const void* const* inputs, const size_t* input_bytes,
              size_t input_count, void* const* outputs, const size_t* output_bytes,
              size_t output_count) {
  const Used<Session> session(handle);
  if (!session) return session.problem();
  const Model& model = *session->model;
  if (const int problem = check_all(model, WEFT_INPUT, inputs, input_bytes, input_count))
    return problem;
  if (const int problem = check_all(model, WEFT_OUTPUT, outputs, output_bytes, output_count))
    return problem;
  const Lock lock(session->mutex);
  if (const int problem = check_open(*session)) return problem;
  void** const ports = new_pointers(model.all());
  if (ports == nullptr) return fail(WEFT_NO_MEMORY, "there is no memory for a call");
  for (std::size_t i = 0; i < input_count; ++i) ports[i] = const_cast<void*>(inputs[i]);
  for (std::size_t i = 0; i < output_count; ++i) ports[input_count + i] = outputs[i];
  const int problem = run_with(*session, ports);
  std::free(ports);
  return problem;
}
