// Random tensor programs as one kernel each, on the reference device, against computing every
// tensor for itself. WEFT_FULL=1 draws 20,000 programs, WEFT_SEED=n only the one.

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/error.h>

#include "../support/arrays.h"
#include "../support/random_tensors.h"

namespace weft {
namespace {

// Of any one node.
std::int64_t most_evaluations(const Node* kernel) {
  std::int64_t most = 1;
  for (const Node* node : toposort(kernel)) {
    std::int64_t trips = 1;
    for (const Node* range : node->ranges())
      trips *= std::max<std::int64_t>(range->src(0)->hi(), 1);
    most = std::max(most, trips);
  }
  return most;
}

int length(std::uint64_t seed) { return 5 + static_cast<int>(seed % 60); }

void check(std::uint64_t seed) {
  RandomTensors tensors(seed);
  const UOp value = tensors.program(length(seed));
  const std::vector<const Node*> dims(value->dims().begin(), value->dims().end());
  std::vector<UOp> sizes(dims.begin(), dims.end());
  const UOp out = make(Op::Param, sizes, value->dtype(), ParamArg{0, Access::Write, 0});
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print_graph("program", {{value.node()}}));

  std::mt19937_64 random(seed);
  Eager eager;
  std::vector<std::vector<std::byte>> memory(1);
  for (const UOp& input : tensors.inputs()) {
    const Array array = random_array(input, random);
    memory.push_back(stored(array, input->dtype()));
    eager.set(input, array);
  }
  const Array& expected = eager(value.node());
  if (expected.values.empty()) return;  // nothing to compute: no kernel
  memory[0].assign(stored(expected, value->dtype()).size(), std::byte{0x5a});

  // What is not stored on the way is computed again for every element; too much is left out.
  const std::vector<UOp> kernel = run_pipeline({make_kernel("k", {{out, value}})});
  if (most_evaluations(kernel[0].node()) > 20'000) return;
  Device& device = find_device("INTERP");
  std::vector<Argument> arguments;
  for (auto& bytes : memory) arguments.push_back({bytes.data(), 0, bytes.size()});
  device.load(device.compile(device.render(kernel[0].node())))->run(arguments, {});
  const auto got = loaded(memory[0], expected.values.size(), value->dtype());
  EXPECT_EQ(without_minus_zero(got, value->dtype()),
            without_minus_zero(expected.values, value->dtype()))
      << print_graph("kernel", {{kernel[0].node()}});
}

TEST(Ranges, AgreeWithComputingEveryTensor) {
  const std::uint64_t programs = std::getenv("WEFT_FULL") != nullptr ? 20'000 : 2'000;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : programs;
  for (; seed <= last && !testing::Test::HasFailure(); ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    try {
      check(seed);
    } catch (const Error& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << print_graph("program", {{RandomTensors(seed).program(length(seed)).node()}});
    }
  }
}

}  // namespace
}  // namespace weft
