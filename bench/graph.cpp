// From a network to kernels that could run: tensors built, scheduled, lowered and rendered; only the
// target compiler is left out. ResNet-50 forward, and a training step of a 12-layer transformer.

#include <chrono>
#include <fstream>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

#include "report.h"

namespace weft::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Tensor weight(const Shape& shape) { return Tensor::empty(shape); }

// --- ResNet-50 ----------------------------------------------------------------------------------

Tensor convolution(const Tensor& x, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t in = x.size(1);
  const Tensor y = x.conv2d(weight({out, in, kernel, kernel}), {}, 1, stride, 1, kernel / 2);
  return y.batchnorm(weight({out}), weight({out}), weight({out}), (weight({out}) + 1e-5).rsqrt());
}

Tensor bottleneck(const Tensor& x, std::int64_t planes, std::int64_t stride) {
  const Tensor y = convolution(convolution(x, planes, 1, 1).relu(), planes, 3, stride).relu();
  const bool same = stride == 1 && x.size(1) == 4 * planes;
  const Tensor side = same ? x : convolution(x, 4 * planes, 1, stride);
  return (convolution(y, 4 * planes, 1, 1) + side).relu();
}

std::vector<Tensor> resnet50() {
  Tensor x = convolution(weight({1, 3, 224, 224}), 64, 7, 2).relu().max_pool2d({3, 3}, 2, 1, 1);
  const std::int64_t blocks[] = {3, 4, 6, 3};
  for (std::int64_t stage = 0; stage < 4; ++stage)
    for (std::int64_t block = 0; block < blocks[stage]; ++block)
      x = bottleneck(x, 64 << stage, stage > 0 && block == 0 ? 2 : 1);
  return {x.mean({2, 3}).linear(weight({2048, 1000}), weight({1000}))};
}

// --- A transformer's training step --------------------------------------------------------------

struct Transformer {
  static constexpr std::int64_t layers = 12, heads = 12, width = 768, words = 50257, length = 256,
                                batch = 4;
  std::vector<Tensor> parameters;

  Tensor parameter(const Shape& shape) {
    parameters.push_back(Tensor::empty(shape, {.requires_grad = true}));
    return parameters.back();
  }
  Tensor project(const Tensor& x, std::int64_t out) {
    const Tensor w = parameter({x.shape().back(), out});
    return x.linear(w, parameter({out}));
  }
  Tensor norm(const Tensor& x) {
    const Tensor scale = parameter({width});
    return x.layernorm() * scale + parameter({width});
  }
  static Tensor split(const Tensor& x) {
    return x.reshape({batch, length, heads, width / heads}).transpose(1, 2);
  }
  Tensor block(const Tensor& x) {
    const std::vector<Tensor> qkv = project(norm(x), 3 * width).chunk(3, -1);
    const Tensor a =
        split(qkv[0]).scaled_dot_product_attention(split(qkv[1]), split(qkv[2]), {}, true);
    const Tensor h = x + project(a.transpose(1, 2).reshape({batch, length, width}), width);
    return h + project(project(norm(h), 4 * width).gelu(), width);
  }

  std::vector<Tensor> step() {
    const Tensor tokens = Tensor::empty({batch, length}, {.dtype = dtypes::i32});
    const Tensor targets = Tensor::empty({batch, length}, {.dtype = dtypes::i32});
    Tensor x = parameter({words, width}).take(tokens) + parameter({length, width});
    for (std::int64_t layer = 0; layer < layers; ++layer) x = block(x);
    const Tensor loss =
        norm(x).linear(parameter({width, words})).sparse_categorical_crossentropy(targets);
    std::vector<Tensor> results = loss.gradient(parameters);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = parameters[i].detach() - results[i] * 1e-4;
    results.push_back(loss);
    return results;
  }
};

// --- Measuring ----------------------------------------------------------------------------------

struct Times {
  double build, schedule, lower;
  std::size_t kernels, distinct;
};

Times measure(const std::function<std::vector<Tensor>()>& network) {
  Times times{};
  Clock::time_point start = Clock::now();
  const std::vector<Tensor> results = network();
  times.build = seconds_since(start);
  start = Clock::now();
  const std::vector<ScheduleItem> items = Tensor::schedule(results);
  times.schedule = seconds_since(start);
  start = Clock::now();
  std::map<std::pair<std::uint64_t, std::uint64_t>, UOp> distinct;
  for (const ScheduleItem& item : items) {
    if (item.kernel.is_null()) continue;
    const StructuralHash hash = structural_hash(nodes_of({&item.kernel, 1}));
    distinct.emplace(std::pair(hash.high, hash.low), item.kernel);
  }
  Device& device = find_device("CPU");
  Arena arena;
  for (const auto& [hash, kernel] : distinct) {
    arena.reset();
    const InternerScope scope(arena);
    const UOp own = import_graph(nodes_of({&kernel, 1}), shared_graph(), arena)[0];
    device.render(run_pipeline({own}, {.target = device.target()})[0].node());
  }
  times.lower = seconds_since(start);
  times.kernels = items.size();
  times.distinct = distinct.size();
  return times;
}

// What tinygrad_graph.py wrote, where it could run: seconds, or 0.
double tinygrad_seconds(const char* network) {
  std::ifstream file("tinygrad_graph.json");
  if (!file) return 0;
  return nlohmann::json::parse(file)[network]["total"].get<double>();
}

void report_network(Report& report, const std::string& name, const char* goal, const char* key,
                    const std::function<std::vector<Tensor>()>& network) {
  const Times t = measure(network);
  const auto kernels = static_cast<double>(t.kernels), distinct = static_cast<double>(t.distinct);
  report.row(name, t.build + t.schedule + t.lower, "s", goal);
  if (const double seconds = tinygrad_seconds(key); seconds > 0) {
    report.row("  tinygrad, the same network", seconds, "s");
    report.row("  weft is faster", seconds / (t.build + t.schedule + t.lower), "times");
  }
  report.row("  tensors built", t.build, "s");
  report.row("  scheduled", t.schedule, "s");
  report.row("  lowered and rendered", t.lower, "s");
  report.row("  kernels", kernels, "");
  report.row("  distinct kernels", distinct, "");
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  Report report("from a network to its kernels, without the target compiler", argc, argv);
  // Rules are compiled when they are first used.
  measure([] { return std::vector{weft::Tensor::empty({8, 8}).softmax().matmul(weight({8, 8}))}; });
  report_network(report, "ResNet-50 forward, batch 1", "goal 0.5", "resnet50", resnet50);
  report_network(report, "12-layer transformer, training step", "goal 1", "transformer",
                 [] { return Transformer().step(); });
}
