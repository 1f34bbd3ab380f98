// Networks that nobody chose, with their kernels scheduled and without: NETWORKS_SEED and NETWORKS_COUNT say which; by WEFT_TURN
// each run of CI has others. (bench/networks/check.py compares them with onnxruntime.)

#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/codegen/check_loops.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/graph.h>
#include <weft/onnx.h>
#include <weft/settings.h>

#include "../../bench/networks/random_network.h"

namespace weft::onnx {
namespace {

constexpr double tolerance = 1e-3;  // of the largest element

std::uint64_t number_in(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

NamedValues inputs_of(const Model& model) {
  NamedValues inputs;
  std::int64_t number = 0;
  for (const Port& port : model.inputs()) {
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (const auto& size : port.shape) {
      shape.push_back(std::get<std::int64_t>(size));
      count *= shape.back();
    }
    const Tensor place = Tensor::arange(count).reshape(shape);
    inputs[port.name] = port.type == Type::I64
                            ? (place * 7919 % 10'007).cast(dtypes::i64).contiguous().realize()
                            : (place * (0.7 + 0.1 * ++number)).sin().contiguous().realize();
  }
  return inputs;
}

// That kernels do what the plan counts, and nothing again and again.
void expect_counted_work(const Model& model, const NamedValues& inputs, const std::string& name) {
  for (const ScheduleItem& item : model.cost(inputs).kernels) {
    if (item.kernel.is_null()) continue;
    Arena arena;
    const InternerScope scope(arena);
    const UOp own = import_graph(nodes_of({&item.kernel, 1}), shared_graph(), arena)[0];
    double iterations = 0;
    for (const UOp& program : run_pipeline({own}, {.target = find_device(item.device).target()}))
      iterations += static_cast<double>(check_loops(program.node()).most_iterations);
    EXPECT_LE(iterations, 4 * (item.work.flops + item.work.bytes) + 1e6)
        << name << ": " << item.str();
  }
}

Tensor output_of(const Model& model) {
  return model(inputs_of(model)).at("y").tensor().contiguous().realize();
}

constexpr std::uint64_t parts = 4;

class RandomNetworks : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, RandomNetworks, testing::Range<std::uint64_t>(0, parts));

TEST_P(RandomNetworks, GiveTheSameUnscheduled) {
  const std::uint64_t count = number_in("NETWORKS_COUNT", 12);
  const std::uint64_t first =
      number_in("NETWORKS_SEED", 3'000'001 + number_in("WEFT_TURN", 0) * count);
  fmt::print("NETWORKS_SEED={} NETWORKS_COUNT={}\n", first, count);
  for (std::uint64_t seed = first + GetParam(); seed < first + count; seed += parts) {
    const auto [family, file] = bench::random_network(seed);
    const std::vector<std::byte> bytes = file.bytes();
    const std::string name = fmt::format("network {}, {}", seed, family);
    const Model model = Model::parse(bytes);
    expect_counted_work(model, inputs_of(model), name);
    const Tensor found = output_of(model);
    Tensor wanted;
    {
      const Context unscheduled{{"NOOPT", 1}, {"WINOGRAD", 0}, {"DIGITS", 0}};
      wanted = output_of(Model::parse(bytes));
    }
    const double largest = wanted.abs().max().item<double>();
    const double difference = (found - wanted).abs().max().item<double>();
    EXPECT_LE(difference, tolerance * std::max(largest, tolerance)) << name;
  }
}

}  // namespace
}  // namespace weft::onnx
