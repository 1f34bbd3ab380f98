// Calls of models and functions, timed as programs make them: captured, over and over.

#include <algorithm>
#include <any>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/error.h>
#include <weft/jit.h>
#include <weft/settings.h>

#include "bench_ops.h"
#include "child.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "model_inputs.h"
#include "precision.h"
#include "recorded_call.h"

namespace weft::cli {
namespace {

constexpr double sample_ms = 0.05;  // at least, for the clock to tell times apart
constexpr double most_repeats = 1000;

// One call, which gives what it computed.
using Call = std::function<std::any()>;
using Make = std::function<Call()>;

struct Measured {
  Times times;
  std::optional<double> cold_ms, warm_ms, compile_ms;
  std::size_t kernels = 0, peak_bytes = 0;
  std::optional<Work> work;

  std::optional<double> per_second(double Work::* amount) const {
    if (!work || times.size() == 0) return {};
    return (*work).*amount / times.ms(0.5) / 1e6;
  }
};

// --- What is called -----------------------------------------------------------------------------

Call model_call(const BenchOptions& options) {
  const onnx::Model model = load_model(options.model);
  return [model, inputs = model_inputs(model, options.model.inputs, {})] {
    return std::any(model(inputs));
  };
}

Call function_call(const BenchOptions& options,
                   const std::vector<std::vector<std::int64_t>>& shapes,
                   std::function<Tensor(const std::vector<Tensor>&)> function) {
  use_device(options.model);
  const auto dtype = parse_dtype(options.dtype);
  if (!dtype) user_error(fmt::format("there is no dtype '{}'", options.dtype));
  Tensor::manual_seed(0);
  std::vector<Tensor> inputs;
  for (const auto& shape : shapes) inputs.push_back(made_up(shape, *dtype).realize());
  const auto captured =
      std::make_shared<Jit<std::function<Tensor(const std::vector<Tensor>&)>>>(std::move(function));
  return [captured, inputs] { return std::any((*captured)(inputs)); };
}

Call matmul_call(const BenchOptions& options) {
  const auto& [m, k, n] = options.matmul;
  return function_call(options, {{m, k}, {k, n}}, bench_op("matmul").apply);
}

Call conv_call(const BenchOptions& options) {
  const BenchOptions::Conv& conv = options.conv;
  const auto& [images, channels, height, width, filters, window] = conv.sizes;
  if (channels % conv.groups != 0 || filters % conv.groups != 0)
    user_error(fmt::format("{} channels and {} filters do not divide into {} groups", channels,
                           filters, conv.groups));
  return function_call(
      options,
      {{images, channels, height, width}, {filters, channels / conv.groups, window, window}},
      [conv](const std::vector<Tensor>& in) {
        return in[0].conv2d(in[1], {}, conv.groups, conv.stride, 1, conv.padding);
      });
}

Call op_call(const BenchOptions& options) {
  const BenchOp& op = bench_op(options.op);
  std::vector<std::vector<std::int64_t>> shapes = options.shapes;
  if (shapes.size() == 1) shapes.resize(op.operands, shapes[0]);
  if (shapes.size() != op.operands)
    user_error(fmt::format("{} takes {}, but {} are given", op.name,
                           count_text(op.operands, "shape"), shapes.size()));
  return function_call(options, shapes, op.apply);
}

// What a call costs that computes next to nothing.
Call launch_call(const BenchOptions& options) {
  return function_call(options, {{1}}, [](const std::vector<Tensor>& in) { return in[0] + 1; });
}

Call call_of(const BenchOptions& options) {
  switch (options.what) {
    case BenchOptions::Matmul: return matmul_call(options);
    case BenchOptions::Conv2d: return conv_call(options);
    case BenchOptions::OneOp: return op_call(options);
    case BenchOptions::Launch: return launch_call(options);
    default: return model_call(options);
  }
}

// --- How it is measured ---------------------------------------------------------------------------

// From the start of a process that finds nothing compiled to the first result.
std::optional<double> first_result_ms(const BenchOptions& options, const std::string& cache) {
  const auto numbers = in_child([&] {
    const Clock::time_point start = Clock::now();
    set_setting("CACHE_DIR", std::string_view(cache));
    const std::any result = call_of(options)();
    return std::vector<double>{ms_since(start)};
  });
  return numbers.empty() ? std::nullopt : std::optional(numbers[0]);
}

Times timed(const Call& call, int runs) {
  Clock::time_point start = Clock::now();
  call();
  const double once = std::max(ms_since(start), 1e-6);
  const int repeats = static_cast<int>(std::clamp(sample_ms / once, 1.0, most_repeats));
  std::vector<double> ms;
  for (int i = 0; i < runs; ++i) {
    start = Clock::now();
    for (int repeat = 0; repeat < repeats; ++repeat) call();
    ms.push_back(ms_since(start) / repeats);
  }
  return Times(std::move(ms));
}

// Calls of a captured function, as what it computes and compiles when it is called first.
Measured measured_calls(const BenchOptions& options) {
  Measured measured;
  if (options.cold) measured.cold_ms = first_result_ms(options, TemporaryFolder().path().string());
  const Call call = call_of(options);
  Device& device = find_device(default_device());
  device.forget_peak();
  const Clock::time_point start = Clock::now();
  call();
  const double first_ms = ms_since(start);
  call();  // captures
  measured.times = timed(call, options.runs);
  measured.peak_bytes = device.memory_use().peak;
  measured.compile_ms = std::max(0.0, first_ms - measured.times.ms(0.5));
  const RecordedCall recorded(call);
  measured.kernels = recorded.size();
  measured.work = recorded.work();
  return measured;
}

// First results alone, each of a process that finds nothing.
Measured measured_compilations(const BenchOptions& options) {
  Measured measured;
  std::vector<double> cold;
  for (int i = 0; i < options.runs; ++i) {
    const TemporaryFolder cache;
    if (const auto ms = first_result_ms(options, cache.path().string())) cold.push_back(*ms);
    if (i + 1 == options.runs) measured.warm_ms = first_result_ms(options, cache.path().string());
  }
  measured.times = Times(std::move(cold));
  measured.cold_ms = measured.times.ms(0.5);
  if (measured.warm_ms) measured.compile_ms = std::max(0.0, *measured.cold_ms - *measured.warm_ms);
  const Call call = call_of(options);  // says what is wrong, if anything is
  Device& device = find_device(default_device());
  device.forget_peak();
  const RecordedCall recorded([&] { return call(); });
  measured.peak_bytes = device.memory_use().peak;
  measured.kernels = recorded.size();
  return measured;
}

// --- What is said of it -----------------------------------------------------------------------------

std::string number_or_null(const std::optional<double>& number) {
  return number ? json_number(*number) : "null";
}

void print_json(const Measured& measured) {
  auto members = json_members(measured.times);
  members.insert(members.end(), {{"gflops", number_or_null(measured.per_second(&Work::flops))},
                                 {"gbps", number_or_null(measured.per_second(&Work::bytes))},
                                 {"kernels", fmt::to_string(measured.kernels)},
                                 {"peak_bytes", fmt::to_string(measured.peak_bytes)},
                                 {"compile_ms", number_or_null(measured.compile_ms)},
                                 {"cold", number_or_null(measured.cold_ms)},
                                 {"warm", number_or_null(measured.warm_ms)}});
  fmt::print("{}\n", json_object(members));
}

void print_text(const Measured& measured) {
  const Times& times = measured.times;
  fmt::print("median {:.4g} ms, best {:.4g} ms, 90th percentile {:.4g} ms, of {}\n", times.ms(0.5),
             times.ms(0), times.ms(0.9), count_text(times.size(), "run"));
  if (const auto flops = measured.per_second(&Work::flops))
    fmt::print("{:.4g} GFLOP/s, {:.4g} GB/s, ", *flops,
               measured.per_second(&Work::bytes).value_or(0));
  fmt::print("{}, peak memory {} on {}\n", count_text(measured.kernels, "kernel"),
             bytes_text(static_cast<double>(measured.peak_bytes)), std::string(default_device()));
  if (measured.compile_ms) fmt::print("scheduling and compiling {:.4g} ms", *measured.compile_ms);
  if (measured.cold_ms)
    fmt::print("{}first result with an empty cache {:.4g} ms", measured.compile_ms ? ", " : "",
               *measured.cold_ms);
  if (measured.warm_ms) fmt::print(", with a warm cache {:.4g} ms", *measured.warm_ms);
  fmt::print("\n");
}

}  // namespace

void run_bench(const BenchOptions& given) {
  BenchOptions options = given;
  options.model = with_choice(given.model, {});
  const Measured measured = options.what == BenchOptions::Compile ? measured_compilations(options)
                                                                  : measured_calls(options);
  if (options.json)
    print_json(measured);
  else
    print_text(measured);
  flush_output();
}

}  // namespace weft::cli
