// Random tensor programs, several of their values wanted at once, scheduled into kernels and run on
// a device, against computing every tensor for itself. WEFT_FULL=1 draws 20 times as many programs,
// WEFT_SEED=n only the one.

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "../support/arrays.h"
#include "../support/random_tensors.h"

namespace weft {
namespace {

int length(std::uint64_t seed) { return 5 + static_cast<int>(seed % 40); }

void expect_same(const UOp& result, const Array& expected, const std::string& device) {
  const UOp whole = realize({{make(Op::Contiguous, {result}), Symbol(device)}})[0];
  const auto memory = memory_of(whole.node());
  std::vector<std::byte> bytes(memory->bytes());
  memory->copy_out(bytes);
  EXPECT_EQ(
      without_minus_zero(loaded(bytes, expected.values.size(), result->dtype()), result->dtype()),
      without_minus_zero(expected.values, result->dtype()));
}

void check(std::uint64_t seed, const std::string& device) {
  RandomTensors tensors(seed);
  tensors.program(length(seed));
  std::mt19937_64 random(seed);
  Eager eager;
  Substitution inputs;
  for (const UOp& input : tensors.inputs()) {
    const Array array = random_array(input, random);
    eager.set(input, array);
    const UOp buffer = new_buffer(input->dtype(), sizes_of(input), find_device(device));
    std::vector<std::byte> bytes = stored(array, input->dtype());
    bytes.pop_back();
    memory_of(buffer.node())->copy_in(bytes);
    inputs.emplace(input.node(), buffer);
  }
  std::vector<UOp> values;
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i <= seed % 3; ++i) {
    const auto& all = tensors.values();
    values.push_back(i == 0 ? all.back() : all[random() % all.size()]);
    wanted.push_back({substitute(values.back(), inputs), Symbol(device)});
  }
  std::vector<const Node*> nodes;
  for (const Wanted& one : wanted) nodes.push_back(one.tensor.node());
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print_graph("program", nodes));
  const std::vector<UOp> results = realize(wanted);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Array& expected = eager(values[i].node());
    if (!expected.values.empty()) expect_same(results[i], expected, device);
  }
}

void check_many(const std::string& device, std::uint64_t programs) {
  if (std::getenv("WEFT_FULL") != nullptr) programs *= 20;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : programs;
  for (; seed <= last && !testing::Test::HasFailure(); ++seed) {
    try {
      check(seed, device);
    } catch (const Error& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << print_graph("program", {{RandomTensors(seed).program(length(seed)).node()}});
    }
  }
}

TEST(Realize, AgreesWithComputingEveryTensor) { check_many("INTERP", 1000); }

TEST(Realize, AgreesOnTheCpu) { check_many("CPU", 500); }

}  // namespace
}  // namespace weft
