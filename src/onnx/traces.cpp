// Calls by what was captured of calls before. Where the control flow depends on values of the inputs, traces form a
// tree, and a call goes along one of its paths without making a graph.

#include <algorithm>
#include <cstring>

#include "model_state.h"

namespace weft::onnx {
namespace {

// The runner reads only these while it lives.
class KeptReadings {
 public:
  KeptReadings(Runner& runner, Readings& readings, Readings& guards) : runner_(runner) {
    runner_.keep_readings(&readings);
    runner_.keep_guards(&guards);
  }
  ~KeptReadings() {
    runner_.keep_readings(nullptr);
    runner_.keep_guards(nullptr);
  }
  KeptReadings(const KeptReadings&) = delete;
  KeptReadings& operator=(const KeptReadings&) = delete;

 private:
  Runner& runner_;
};

// How the calls of a trace end, which stays with what they return.
struct Ending {
  Trace::End end;
  std::vector<Type> types;
};

JitArguments arguments_of(const Inputs& given) {
  JitArguments arguments;
  for (const auto& [name, value] : given)
    arguments.tensors.emplace_back(fmt::format("input '{}'", name), value.tensor());
  return arguments;
}

template <class Number>
std::string add_guard(const Tensor& value, Readings& guards) {
  auto numbers = value.to_vector<Number>();
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  guards.add(std::move(numbers));
  return bytes;
}

}  // namespace

// Returns the outputs, or the guard at which the trace ends, if it may end at one. If an output is no tensor, all go to
// `others`, and nothing is returned.
std::vector<Tensor> Model::State::run_trace(const Inputs& given, Trace& trace, Readings& guards,
                                            bool may_end, std::optional<Values>& others) {
  const KeptReadings kept(runner, trace.readings, guards);
  const auto body = [&](const std::vector<Tensor>& tensors) {
    Inputs own = given;
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i].second = Value(tensors[i], given[i].second.type());
    std::vector<Tensor> results;
    trace.types.clear();
    trace.end = Trace::End::Outputs;
    try {
      Values values = runner.run(own);
      if (!std::ranges::all_of(values, &Value::is_tensor)) {
        others = std::move(values);
        return JitResults{};
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        trace.types.push_back(values[i].type());
        results.push_back(output_of(i, values[i]));
      }
    } catch (const Guard& guard) {
      // What follows would draw other random numbers.
      const bool is_guard = may_end && !runner.has_drawn() && guard.value.numel() <= most_in_guard;
      trace.end = !is_guard         ? Trace::End::NotTraced
                  : guard.has_reals ? Trace::End::Reals
                                    : Trace::End::Integers;
      if (is_guard)
        results.push_back(guard.value.cast(guard.has_reals ? dtypes::f64 : dtypes::i64));
    } catch (const NotTraced&) {
      trace.end = Trace::End::NotTraced;
    }
    return JitResults{std::move(results),
                      std::make_shared<const Ending>(Ending{trace.end, trace.types})};
  };
  return trace.replay.call(arguments_of(given), body).tensors;
}

// Calls that go along one trace to their outputs need nothing else of the model: from there on it is others' turn.
std::optional<Values> Model::State::replayed(const Inputs& given, const Calls& calls,
                                             std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Trace> trace = calls.first;  // another may stand there once others run
  if (trace->end != Trace::End::Outputs) return std::nullopt;
  std::optional<JitResults> results;
  lock.unlock();
  try {
    results = trace->replay.replay(arguments_of(given));
  } catch (...) {
    lock.lock();
    throw;
  }
  if (results && results->form != nullptr) {
    const auto& [end, types] = *static_cast<const Ending*>(results->form.get());
    if (end == Trace::End::Outputs) {
      Values values;
      for (std::size_t i = 0; i < types.size(); ++i)
        values.emplace_back(results->tensors[i], types[i]);
      return values;
    }
  }
  lock.lock();
  return std::nullopt;
}

// Returns nothing if this call is not to be captured.
std::optional<Values> Model::State::run_captured(const Inputs& given, Calls& calls) {
  using enum Trace::End;
  Readings guards;
  std::optional<Values> others;
  Trace* trace = calls.first.get();
  for (std::size_t passed = 0; trace->end != NotTraced; ++passed) {
    const auto results = run_trace(given, *trace, guards, passed < most_guards, others);
    if (others) {
      calls.is_captured = false;
      return others;
    }
    if (trace->end == NotTraced) break;
    if (trace->end == Outputs) {
      Values values;
      for (std::size_t i = 0; i < results.size(); ++i)
        values.emplace_back(results[i], trace->types[i]);
      return values;
    }
    const std::string bytes = trace->end == Reals ? add_guard<double>(results[0], guards)
                                                  : add_guard<std::int64_t>(results[0], guards);
    auto next = trace->next.find(bytes);
    if (next == trace->next.end()) {
      if (calls.traces == most_traces) break;
      ++calls.traces;
      next = trace->next.emplace(bytes, std::make_unique<Trace>()).first;
    }
    trace = next->second.get();
  }
  return {};
}

}  // namespace weft::onnx
