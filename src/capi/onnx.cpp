// Models of ONNX files behind the C API.

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/dev/run/model.h>
#include <weft/error.h>
#include <weft/onnx.h>
#include <weft/settings.h>

namespace weft::capi {
namespace {

// Nothing is thrown into C.
template <class Body>
int guarded(weft_status otherwise, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(WEFT_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(otherwise, "%s", error.what());
  } catch (...) {
    return fail(otherwise, "an exception that says nothing of itself");
  }
}

// --- Options ------------------------------------------------------------------------------------------

std::vector<std::int64_t> sizes_of(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::int64_t size = 0;
    const char* const after = text.data() + end;
    const auto read = std::from_chars(text.data() + begin, after, size);
    if (read.ec != std::errc() || read.ptr != after || size <= 0)
      user_error(fmt::format("'{}' is not a size", text.substr(begin, end - begin)));
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

int load_options(const OpenOptions& given, onnx::LoadOptions& options) {
  return guarded(WEFT_INVALID_ARGUMENT, [&] {
    options.device = find_device(given.device != nullptr ? given.device : default_device()).name();
    if (given.precision != nullptr) {
      const auto precision = onnx::parse_precision(given.precision);
      if (!precision) user_error(fmt::format("there is no precision '{}'", given.precision));
      options.precision = *precision;
    }
    constexpr std::string_view shape = "shape.";
    for (auto each = given.all; given.has_shapes && *each != nullptr; ++each) {
      const std::string text = *each;
      if (!text.starts_with(shape)) continue;
      const std::size_t end = text.find('=');
      options.shapes[text.substr(shape.size(), end - shape.size())] =
          sizes_of(text.substr(end + 1));
    }
    return static_cast<int>(WEFT_OK);
  });
}

// --- Ports --------------------------------------------------------------------------------------------

weft_dtype dtype_of(DType dtype) {
  for (int number = WEFT_BOOL; number <= WEFT_F64; ++number)
    if (dtype.str() == weft_dtype_name(number)) return static_cast<weft_dtype>(number);
  user_error(fmt::format("elements are {}", dtype.str()));
}

// Their names and sizes are what the ports point to.
struct Ports {
  std::vector<weft_library_port> all;
  std::vector<std::unique_ptr<std::string>> names;
  std::vector<std::unique_ptr<std::vector<std::int64_t>>> shapes;

  void add(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) {
    names.push_back(std::make_unique<std::string>(name));
    shapes.push_back(std::make_unique<std::vector<std::int64_t>>(shape));
    std::uint64_t bytes = dtype.bytes();
    for (const std::int64_t size : shape) bytes *= static_cast<std::uint64_t>(size);
    all.push_back({names.back()->c_str(), shapes.back()->empty() ? nullptr : shapes.back()->data(),
                   bytes, static_cast<std::uint32_t>(shape.size()), dtype_of(dtype)});
  }
};

std::vector<std::int64_t> fixed_shape(const onnx::Port& port) {
  if (port.kind != "tensor" || port.type == onnx::Type::String)
    user_error(fmt::format("input '{}' is not a tensor of numbers", port.name));
  if (!port.has_shape) user_error(fmt::format("input '{}' has no shape", port.name));
  std::vector<std::int64_t> shape;
  for (const auto& size : port.shape) {
    const auto* number = std::get_if<std::int64_t>(&size);
    if (number == nullptr || *number <= 0)
      user_error(
          fmt::format("a size of input '{0}' is open: option shape.{0}=SIZES says it", port.name));
    shape.push_back(*number);
  }
  return shape;
}

// --- Models -------------------------------------------------------------------------------------------

struct OnnxModel {
  onnx::Model model;
  std::string device;
  int threads;
  Ports ports;
  std::vector<onnx::Type> types;  // of inputs

  onnx::NamedValues call(void* const* memory) const {
    onnx::NamedValues given;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const weft_library_port& port = ports.all[i];
      const Tensor tensor =
          Tensor::from_blob(memory[i], Shape(*ports.shapes[i]),
                            {.dtype = onnx::dtype_of(types[i]), .device = device});
      given.emplace(port.name, onnx::Value(tensor, types[i]));
    }
    return model(given);
  }
};

// A setting for a block where there is something to set.
class Threads {
 public:
  explicit Threads(int threads) {
    using Values = std::initializer_list<std::pair<std::string_view, SettingValue>>;
    if (threads > 0) context_.emplace(Values{{"WEFT_THREADS", threads}});
  }

 private:
  std::optional<Context> context_;
};

// Outputs are known by a call, on zeros, which also compiles what calls need.
void find_ports(OnnxModel& made) {
  for (const onnx::Port& port : made.model.inputs()) {
    made.ports.add(port.name, onnx::dtype_of(port.type), fixed_shape(port));
    made.types.push_back(port.type);
  }
  std::vector<std::vector<std::max_align_t>> zeros;
  std::vector<void*> memory;
  for (const weft_library_port& port : made.ports.all) {
    zeros.emplace_back(port.bytes / sizeof(std::max_align_t) + 1);
    memory.push_back(zeros.back().data());
  }
  const onnx::NamedValues results = made.call(memory.data());
  for (const onnx::Port& port : made.model.outputs()) {
    const onnx::Value& value = results.at(port.name);
    if (!value.is_tensor()) user_error(fmt::format("output '{}' is not a tensor", port.name));
    made.ports.add(port.name, value.tensor().dtype(), value.tensor().shape());
  }
}

// A session has nothing of its own: each call that meets another has memory of its own.
int open_session(Model& model, void*, void** state) {
  *state = model.state;
  return WEFT_OK;
}
void close_session(void*) {}

int run(void* state, void** memory, const std::int64_t*) {
  auto& made = *static_cast<OnnxModel*>(state);
  return guarded(WEFT_FAILED, [&] {
    const Threads threads(made.threads);
    const onnx::NamedValues results = made.call(memory);
    for (std::size_t i = made.types.size(); i < made.ports.all.size(); ++i) {
      const weft_library_port& port = made.ports.all[i];
      const Tensor tensor = results.at(port.name).tensor();
      if (tensor.shape() != *made.ports.shapes[i])
        return fail(WEFT_UNSUPPORTED, "the sizes of output '%.200s' depend on values", port.name);
      tensor.contiguous().to_bytes({static_cast<std::byte*>(memory[i]), port.bytes});
    }
    return static_cast<int>(WEFT_OK);
  });
}

void close_model(void* state) { delete static_cast<OnnxModel*>(state); }

constexpr ModelKind onnx_kind{open_session, run,     close_session, close_model,
                              nullptr,      nullptr, nullptr,       nullptr};

// `load` gives the model with such options. A file that opens without shapes is good: they name inputs that it has not.
template <class Load>
int load_model(const OpenOptions& given, const onnx::LoadOptions& options, Load load,
               std::unique_ptr<OnnxModel>& made) {
  const auto try_with = [&](const onnx::LoadOptions& some) {
    return guarded(WEFT_BAD_FILE, [&] {
      const Threads threads(given.threads);
      made.reset(new OnnxModel{load(some), some.device, given.threads, {}, {}});
      return static_cast<int>(WEFT_OK);
    });
  };
  const int problem = try_with(options);
  if (problem != WEFT_BAD_FILE || options.shapes.empty()) return problem;
  return try_with({.device = options.device}) == WEFT_OK ? WEFT_INVALID_ARGUMENT : problem;
}

template <class Load>
int open(const OpenOptions& given, Model& model, Load load) {
  onnx::LoadOptions options;
  if (const int problem = load_options(given, options)) return problem;
  std::unique_ptr<OnnxModel> made;
  if (const int problem = load_model(given, options, load, made)) return problem;
  if (const int problem = guarded(WEFT_UNSUPPORTED, [&] {
        const Threads threads(given.threads);
        find_ports(*made);
        return static_cast<int>(WEFT_OK);
      }))
    return problem;
  model.is = &onnx_kind;
  model.inputs = static_cast<std::uint32_t>(made->types.size());
  model.outputs = static_cast<std::uint32_t>(made->ports.all.size()) - model.inputs;
  model.ports = made->ports.all.data();
  model.state = made.release();
  return WEFT_OK;
}

}  // namespace

int open_onnx(const char* path, const OpenOptions& options, Model& model) {
  return open(options, model,
              [&](const onnx::LoadOptions& load) { return onnx::Model::load(path, load); });
}

int open_onnx_bytes(const void* bytes, size_t size, const OpenOptions& options, Model& model) {
  return open(options, model, [&](const onnx::LoadOptions& load) {
    return onnx::Model::parse({static_cast<const std::byte*>(bytes), size}, load);
  });
}

}  // namespace weft::capi
