// A model that is loaded.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/base/lru_cache.h>
#include <weft/error.h>
#include <weft/jit.h>

#include "errors.h"
#include "precision.h"
#include "runner.h"

namespace weft::onnx {

using Inputs = std::vector<std::pair<std::string_view, Value>>;

constexpr std::size_t most_forms = 64;  // of calls, whose kernels are kept

constexpr std::size_t most_traces = 16;     // of a form
constexpr std::size_t most_guards = 8;      // of a call
constexpr std::int64_t most_in_guard = 16;  // numbers

// What calls do up to their outputs, or up to a guard: a value of the inputs that the graph needs to go on, such as
// the condition of an If. It decides which trace follows, which computes from the inputs what it needs.
struct Trace {
  enum class End : std::uint8_t { Outputs, Reals, Integers, NotTraced };
  Replay replay;
  Readings readings;  // that are the same in all of these calls
  End end = End::Outputs;
  std::vector<Type> types;                             // of the outputs
  std::map<std::string, std::unique_ptr<Trace>> next;  // by the bytes of the guard
};

// Calls of one form.
struct Calls {
  std::shared_ptr<Trace> first = std::make_shared<Trace>();
  std::size_t traces = 1;
  bool is_captured = true;  // they can be, as far as is known
};

// Of outputs, those in sequences and maps too.
std::vector<Tensor> tensors_of(const Values& values);

struct Model::State {
  // `beside`: each layer in its precision beside itself, for compare().
  State(InFile from, const std::shared_ptr<const Mapping>& file, const std::string& folder,
        LoadOptions given, bool beside = false);
  // Errors of both are in the model's name.
  static std::shared_ptr<State> made(const std::string& name,
                                     const std::shared_ptr<const Mapping>& file,
                                     const std::string& folder, const LoadOptions& options,
                                     bool beside = false);
  static std::shared_ptr<State> open(const std::string& path, const LoadOptions& options,
                                     bool beside = false);

  void find_ports();
  void plan();
  void want_gradients();
  Inputs checked(const NamedValues& given) const;
  void make_ready();
  void check(const Port& port, const Value& value) const;
  void check_shape(const Port& port, const std::vector<Dim>& dims) const;
  [[noreturn]] void refuse(const Port& port, std::string_view why) const {
    user_error(fmt::format("input '{}': {}", port.name, why));
  }
  Values run(const Inputs& given, std::unique_lock<std::mutex>& lock);
  std::optional<Values> replayed(const Inputs& given, const Calls& calls,
                                 std::unique_lock<std::mutex>& lock);
  Values graph_of(const Inputs& given);
  Tensor output_of(std::size_t output, const Value& value) const;
  Values run_plainly(const Inputs& given);
  std::vector<Tensor> run_trace(const Inputs& given, Trace& trace, Readings& guards, bool may_end,
                                std::optional<Values>& others);
  std::optional<Values> run_captured(const Inputs& given, Calls& calls);

  const LoadOptions options;
  const InFile in;
  const Bytes bytes;
  ModelProto proto;
  std::deque<std::string> new_names;  // of values that the clean-up made
  const Weights weights;
  Runner runner;
  std::vector<Port> inputs, outputs;
  std::vector<OpUse> ops;
  std::vector<PlacedLayer> layers;
  std::mutex mutex;
  bool is_ready = false, has_given_parameters = false;
  LruCache<std::string, std::shared_ptr<Calls>> forms{most_forms};
};

}  // namespace weft::onnx
