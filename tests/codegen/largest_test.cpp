// The larger of two floats on the CPU: numbers, zeros of both signs, infinities and NaN, in as many lanes as registers and
// parts of them have.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/base/process.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>

#include "../../src/backends/cpu/compiler.h"
#include "../support/kernels.h"

namespace weft {
namespace {

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  return {T(0),
          -T(0),
          T(1),
          T(-1),
          T(1.5),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::max(),
          Limits::lowest()};
}

// As ops.def has MAX.
template <class T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

class Largest : public testing::TestWithParam<std::int64_t> {
 protected:
  // Of each pair of a and b; the lanes side by side.
  template <class T>
  static void compare(DType dtype) {
    const std::int64_t lanes = GetParam();
    std::vector<T> a, b;
    for (const T x : special_values<T>())
      for (const T y : special_values<T>()) {
        a.push_back(x);
        b.push_back(y);
      }
    while (static_cast<std::int64_t>(a.size()) % lanes != 0) {
      a.push_back(T(2));
      b.push_back(T(3));
    }
    const auto count = static_cast<std::int64_t>(a.size());
    const UOp i = range(count, fresh_id().value);
    const auto read = [&](int slot) {
      return load(place(param(slot, Access::Read, {size(count)}, dtype), {i}));
    };
    const UOp out = place(param(0, Access::Write, {size(count)}, dtype), {i});
    const std::string schedule =
        lanes == 1 ? "none" : fmt::format("tile r0 {}; vector r0.1", lanes);
    const UOp kernel = make(Op::Sink, {over(put(out, max(read(1), read(2))), {i})}, {},
                            KernelArg{Symbol("k"), Symbol(schedule)});
    Device& device = find_device("CPU:LLVM");
    const UOp program = run_pipeline({kernel}, {.target = device.target()})[0];
    std::vector<T> found(a.size());
    const auto argument = [](std::vector<T>& values) {
      return Argument{reinterpret_cast<std::byte*>(values.data()), 0, values.size() * sizeof(T)};
    };
    device.load(device.compile(device.render(program.node())))
        ->run(std::vector{argument(found), argument(a), argument(b)}, {});
    for (std::size_t at = 0; at < found.size(); ++at) {
      const T expected = larger(a[at], b[at]);
      const auto known = [](T value) {
        return std::tuple(std::isnan(value), std::isnan(value) ? T(0) : value,
                          !std::isnan(value) && std::signbit(value));
      };
      EXPECT_EQ(known(found[at]), known(expected)) << a[at] << " and " << b[at];
    }
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

TEST_P(Largest, OfTwoInF32) { compare<float>(dtypes::f32); }
TEST_P(Largest, OfTwoInF64) { compare<double>(dtypes::f64); }

// Those that fill no registers too, which LLVM takes apart itself.
INSTANTIATE_TEST_SUITE_P(Lanes, Largest, testing::Values(1, 2, 4, 8, 12, 16, 32, 48, 64),
                         testing::PrintToStringParamName());

// Wherever this test runs, code for such a processor is made.
TEST(LargestWithAvx512, IsVrange) {
  const std::string objdump = find_program({"llvm-objdump-19", "llvm-objdump"});
  if (objdump.empty()) GTEST_SKIP() << "there is no llvm-objdump";
  const auto code_of = [&](std::string_view name, std::string_view type) {
    const cpu::Processor& processor =
        *std::ranges::find(cpu::processors(), name, &cpu::Processor::name);
    const std::string source = fmt::format(
        "define void @kernel(ptr %arguments, ptr %values) {{\n"
        "  %a = load {0}, ptr %arguments, align 4\n  %b = load {0}, ptr %values, align 4\n"
        "  %c = call {0} @llvm.maximum({0} %a, {0} %b)\n"
        "  store {0} %c, ptr %arguments, align 4\n  ret void\n}}\n",
        type);
    const TemporaryFolder folder;
    write_text(folder / "kernel.o", cpu::llvm_compiler(processor).compile({&source, 1})[0]);
    return run_program({objdump, "-d", "kernel.o"}, folder.path());
  };
  for (const auto& [type, instruction] : {std::pair{"float", "vrangeps"},
                                          {"<8 x float>", "vrangeps"},
                                          {"<32 x float>", "vrangeps"},
                                          {"double", "vrangepd"},
                                          {"<8 x double>", "vrangepd"}}) {
    const std::string code = code_of("x86-64-v4", type);
    EXPECT_NE(code.find(instruction), std::string::npos) << type << "\n" << code;
    EXPECT_EQ(code_of("x86-64-v3", type).find("vrange"), std::string::npos) << type;
  }
}

}  // namespace
}  // namespace weft
