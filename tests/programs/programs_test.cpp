// Random programs, everything against everything: each on every device and with every setting that has
// a say in it, against computing every tensor for itself. WEFT_FULL=1 draws 2,000 programs, WEFT_SEED=n
// only the one.

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/error.h>

#include "../support/errors.h"
#include "check.h"
#include "random.h"
#include "shrink.h"

namespace weft {
namespace {

constexpr Variant variants[] = {
    {.name = "reference", .device = "INTERP"},
    {.name = "reference, in place", .device = "INTERP", .in_place = 2},
    {.name = "reference, step by step", .device = "INTERP", .realize_each = true, .every = 2},
    {.name = "CPU", .device = "CPU"},
    {.name = "CPU, in place", .device = "CPU", .in_place = 2},
    {.name = "CPU, step by step", .device = "CPU", .realize_each = true, .every = 4},
    {.name = "CPU, plain loops", .device = "CPU", .noopt = 1, .every = 2},
    {.name = "in parts", .device = "CPU,CPU:1,CPU:2"},
    {.name = "in parts, step by step",
     .device = "INTERP,INTERP:1",
     .realize_each = true,
     .every = 4},
    {.name = "CPU, by way of C", .device = "CPU", .clang = 1, .every = 10},
    {.name = "CPU, as x86-64-v2", .device = "CPU:LLVM:x86-64-v2", .every = 8},
    {.name = "CPU, as x86-64-v3", .device = "CPU:LLVM:x86-64-v3", .every = 8},
    {.name = "CPU, as x86-64-v4", .device = "CPU:LLVM:x86-64-v4", .every = 8},
    {.name = "AArch64", .device = "AARCH64", .every = 8},
};

bool is_here(std::string_view device) {
  return error_of([&] { return &find_device(device); }) == "no error";
}

// On the device DEV too, where that is another.
std::vector<Variant> variants_for(std::uint64_t seed) {
  static const std::string device = default_device();
  std::vector<Variant> result;
  if (std::ranges::find(variants, device, &Variant::device) == std::end(variants))
    result.push_back({.name = "DEV", .device = device});
  for (const Variant& variant : variants)
    if ((seed % variant.every == 0 || std::getenv("WEFT_SEED") != nullptr) &&
        is_here(variant.device))
      result.push_back(variant);
  return result;
}

std::string shrunk_report(const Script& program, const Fault& fault) {
  Fault last = fault;
  const Script small = shrink(program, [&](const Script& candidate) {
    Expected expected(candidate);
    const auto found = find_fault(candidate, expected, {{fault.variant}});
    if (!found || found->is_error != fault.is_error) return false;
    last = *found;
    return true;
  });
  return report(small, last);
}

// Parts of the programs, so that they can run side by side and none fills the memory with its kernels.
class Programs : public testing::TestWithParam<std::uint64_t> {};
constexpr std::uint64_t parts = 20;

TEST_P(Programs, DoTheSameEverywhere) {
  const std::uint64_t programs = std::getenv("WEFT_FULL") != nullptr ? 100 : 10;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed =
      only != nullptr ? std::strtoull(only, nullptr, 10) : GetParam() * programs + 1;
  const std::uint64_t last = only != nullptr ? seed : seed + programs - 1;
  std::size_t certain = 0, all = 0;
  for (; seed <= last && !HasFailure(); ++seed) {
    const Script program = random_program(seed);
    Expected expected(program);
    if (const auto fault = find_fault(program, expected, variants_for(seed)))
      ADD_FAILURE() << "seed " << seed << "\n" << shrunk_report(program, *fault);
    const auto [sure, elements] = expected.certain();
    certain += sure, all += elements;
  }
  // Of the rest only the size is checked, if anything.
  EXPECT_TRUE(3 * certain >= all || only != nullptr) << certain << " of " << all;
}

// Each of them is left out of some programs, and all of them out of others.
TEST(OptionalPasses, AreNotNeeded) {
  std::vector<std::string> lists;
  for (const Pass& pass : all_passes())
    if (pass.need == Pass::Optional) lists.emplace_back(pass.name);
  lists.push_back(fmt::format("{}", fmt::join(lists, ",")));
  const std::uint64_t programs = std::getenv("WEFT_FULL") != nullptr ? 20 : 2;
  std::uint64_t seed = 3000;
  for (const std::string& skip : lists)
    for (const std::uint64_t next = seed + programs; seed < next; ++seed) {
      const Variant variant{.name = "CPU, without passes", .device = "CPU", .skip = skip};
      const Script program = random_program(seed);
      Expected expected(program);
      if (const auto fault = find_fault(program, expected, {{variant}}))
        ADD_FAILURE() << "seed " << seed << "\n" << shrunk_report(program, *fault);
    }
}

INSTANTIATE_TEST_SUITE_P(Parts, Programs, testing::Range<std::uint64_t>(0, parts));

}  // namespace
}  // namespace weft
