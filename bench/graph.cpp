// From a network to kernels that could run: tensors built, scheduled, lowered and rendered; only the
// target compiler is left out. ResNet-50 forward, and a training step of a 12-layer transformer.

#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include <weft/weft.h>

#include "lowering.h"
#include "report.h"
#include "resnet50.h"

namespace weft::bench {
namespace {

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
    const Tensor a = split(qkv[0]).scaled_dot_product_attention(split(qkv[1]), split(qkv[2]),
                                                                {.is_causal = true});
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
