// Settings that change what is computed, or how: FASTMATH, ALGEBRA, NOOPT, the default device.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/graph.h>

#include "tensor_test.h"

namespace weft {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The arithmetic on floats in what would run.
std::size_t float_ops(const Tensor& tensor) {
  std::size_t count = 0;
  for (const ScheduleItem& item : tensor.schedule())
    for (const Node* node : toposort(item.kernel.node()))
      count += is_elementwise(node->op()) && node->dtype().is_float() ? 1 : 0;
  return count;
}

std::size_t lowered_ops(const Tensor& tensor, Op op) {
  std::size_t count = 0;
  for (const ScheduleItem& item : tensor.schedule()) {
    Arena arena;
    const InternerScope scope(arena);
    const UOp kernel = import_graph(nodes_of({&item.kernel, 1}), shared_graph(), arena)[0];
    const UOp lowered = run_pipeline({kernel}, {.target = find_device(item.device).target()})[0];
    for (const Node* node : toposort(lowered.node())) count += node->op() == op ? 1 : 0;
  }
  return count;
}

Tensor input(const std::vector<float>& values) { return Tensor(values); }

TEST(FastMath, IsNeededToForgetNaNAndInfinity) {
  const auto times_zero = [] { return input({NAN, infinity, -1}) * 0; };
  EXPECT_TRUE(near(times_zero(), {NAN, NAN, 0}, {3}));
  EXPECT_TRUE(std::signbit(times_zero().to_vector<float>()[2]));
  EXPECT_EQ(float_ops(times_zero()), 1U);
  const Context fast{{"FASTMATH", 1}};
  EXPECT_TRUE(holds<float>(times_zero(), {0, 0, 0}, {3}));
  EXPECT_EQ(float_ops(times_zero()), 0U);
}

TEST(FastMath, IsNeededToForgetOverflow) {
  const auto log_of_exp = [] { return input({1000, -1000, 1.5F}).exp().log(); };
  EXPECT_TRUE(near(log_of_exp(), {infinity, -infinity, 1.5}, {3}));
  const Context fast{{"FASTMATH", 1}};
  EXPECT_TRUE(holds<float>(log_of_exp(), {1000, -1000, 1.5F}, {3}));
  EXPECT_EQ(float_ops(log_of_exp()), 0U);
  EXPECT_TRUE(holds<float>(input({-2, 3}).log().exp(), {-2, 3}, {2}));
  EXPECT_TRUE(holds<float>(input({2000}).exp2().log2(), {2000}, {1}));
}

TEST(FastMath, LooksThroughViews) {
  const Context fast{{"FASTMATH", 1}};
  const Tensor x = input({1, 2, 3, 4}).reshape({2, 2});
  EXPECT_EQ(float_ops(x.exp().transpose().log()), 0U);
  EXPECT_TRUE(holds<float>(x.exp().transpose().log(), {1, 3, 2, 4}, {2, 2}));
}

TEST(FastMath, KeepsNegativeZeroOnlyWithout) {
  const auto sum = [] { return input({-0.0F}) + 0.0; };
  EXPECT_FALSE(std::signbit(sum().item<float>()));
  const Context fast{{"FASTMATH", 1}};
  EXPECT_TRUE(std::signbit(sum().item<float>()));
}

TEST(FastMath, RoundsProductsAndSumsOnce) {
  if (!find_device(default_device()).target().ops.contains(Op::MulAcc)) GTEST_SKIP();
  // (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, whose last bit a product in f32 cannot hold.
  const float x = 1 + 0x1p-12F;
  const auto rest = [&] { return input({x}) * input({x}) + input({-1 - 0x1p-11F}); };
  EXPECT_EQ(rest().item<float>(), 0);
  EXPECT_EQ(lowered_ops(rest(), Op::MulAcc), 0U);
  const Context fast{{"FASTMATH", 1}};
  EXPECT_EQ(rest().item<float>(), 0x1p-24F);
  EXPECT_EQ(lowered_ops(rest(), Op::MulAcc), 1U);
}

// What costs nothing in any mode.
TEST(Identities, LeaveNoArithmetic) {
  const Tensor x = input({NAN, infinity, -0.0F, 3}).realize();
  for (const Tensor& same : {x * 1, x - 0, x / 1, x.pow(1)}) {
    EXPECT_EQ(float_ops(same), 0U);
    EXPECT_TRUE(near(same, {NAN, infinity, -0.0, 3}, {4}));
  }
  EXPECT_EQ(float_ops(x.pow(2)), 1U);
  EXPECT_TRUE(near(x.pow(2), {NAN, infinity, 0, 9}, {4}));
}

TEST(Division, BecomesMultiplicationWhereThatIsExact) {
  const Tensor x = input({1, 3, 0x1p-126F, infinity}).realize();
  EXPECT_EQ(lowered_ops(x / 8, Op::Div), 0U);
  EXPECT_EQ(lowered_ops(x / 8, Op::Mul), 1U);
  EXPECT_TRUE(holds<float>(x / 8, {0.125F, 0.375F, 0x1p-129F, infinity}, {4}));
  EXPECT_EQ(lowered_ops(x / 3, Op::Div), 1U);
  EXPECT_TRUE(holds<float>(x / 3, {1.0F / 3, 1, 0x1p-126F / 3, infinity}, {4}));
  const Context fast{{"FASTMATH", 1}};
  EXPECT_EQ(lowered_ops(x / 3, Op::Div), 0U);
}

// The same values with and without algebra and optimisation.
TEST(Switches, ChangeNoValues) {
  const auto program = [](std::string_view name) {
    if (name == "matmul") {
      const Tensor a = Tensor::arange(12, {.dtype = dtypes::f32}).reshape({3, 4});
      return a.matmul(a.transpose() * 1).to_vector<double>();
    }
    if (name == "views") {
      const Tensor a = Tensor::arange(24, {.dtype = dtypes::i32}).reshape({2, 3, 4});
      return (a.permute({2, 0, 1}).flip(0).pad({{1, 0}, {0, 1}, {0, 0}}).reshape({5, 9}) * 2 + 0)
          .slice(1, {2, 8})
          .to_vector<double>();
    }
    if (name == "softmax")
      return (Tensor::arange(20, {.dtype = dtypes::f32}).reshape({4, 5}) / 4)
          .softmax(-1)
          .to_vector<double>();
    Tensor target = Tensor::zeros({6}).contiguous().realize();
    target[{Slice(1, 5, 2)}].assign(Tensor({3.0F, 4.0F}));
    return target.cumsum(0).to_vector<double>();
  };
  for (std::string_view name : {"matmul", "views", "softmax", "assign"}) {
    const std::vector<double> usual = program(name);
    for (std::string_view off : {"ALGEBRA", "NOOPT"}) {
      const Context context{{off, off == "NOOPT" ? 1 : 0}};
      const std::vector<double> found = program(name);
      ASSERT_EQ(found.size(), usual.size());
      for (std::size_t i = 0; i < usual.size(); ++i)
        EXPECT_NEAR(found[i], usual[i], 1e-6 * std::abs(usual[i])) << name << " without " << off;
    }
  }
}

TEST(Switches, WithoutAlgebraEveryOpStays) {
  const auto sum = [] { return input({1, 2}) * 1 - 0; };
  EXPECT_EQ(float_ops(sum()), 0U);
  const Context context{{"ALGEBRA", 0}, {"FASTMATH", 1}};
  EXPECT_EQ(float_ops(sum()), 2U);
  EXPECT_TRUE(holds<float>(sum(), {1, 2}, {2}));
}

TEST(DefaultDevice, CanBeAssigned) {
  const std::string before = Device::DEFAULT;
  Device::DEFAULT = "INTERP:1";
  EXPECT_EQ(std::string(Device::DEFAULT), "INTERP:1");
  EXPECT_EQ(Tensor({1, 2}).device(), "INTERP:1");
  {
    const Context elsewhere{{"DEV", "INTERP:2"}};
    EXPECT_EQ(Tensor({1, 2}).device(), "INTERP:2");
  }
  EXPECT_NE(error_of([] { return Device::DEFAULT = "TPU"; }).find("there is no device 'TPU'"),
            std::string::npos);
  EXPECT_EQ(std::string(Device::DEFAULT), "INTERP:1");
  Device::DEFAULT = "";
  EXPECT_EQ(std::string(Device::DEFAULT), before);
}

TEST(DefaultDevice, IsTheKindThatTheEnvironmentAsksFor) {
  const Context unset{{"DEV", ""}};
  EXPECT_EQ(default_device(), "CPU");
  ::setenv("INTERP", "0", 1);
  EXPECT_EQ(default_device(), "CPU");
  ::setenv("INTERP", "1", 1);
  EXPECT_EQ(default_device(), "INTERP");
  const Context given{{"DEV", "NULL"}};
  EXPECT_EQ(default_device(), "NULL");
  ::unsetenv("INTERP");
}

TEST(DefaultDevice, IsOneThatThereIs) {
  const Context unset{{"DEV", ""}};
  for (const char* name : {"AMD", "CUDA", "GPU", "METAL", "NV", "QCOM", "WEBGPU"}) {
    ::setenv(name, "1", 1);
    const std::string error = error_of([] { return Tensor({1.0F}).contiguous().realize(); });
    const auto complaint =
        fmt::format("{0}=1 in the environment: there is no device '{0}'; there are ", name);
    EXPECT_NE(error.find(complaint), std::string::npos) << error;
    // Other tests may add devices of theirs in between.
    for (const char* there : {"CPU", "DISK", "INTERP", "NULL"})
      EXPECT_NE(error.find(fmt::format(", {}", there)), std::string::npos) << error;
    {
      const Context named{{"DEV", "INTERP"}};
      EXPECT_EQ(default_device(), "INTERP");
    }
    for (const char* other : {"0", "", "/usr/local/cuda"}) {
      ::setenv(name, other, 1);
      EXPECT_EQ(default_device(), "CPU") << name << "=" << other;
    }
    ::unsetenv(name);
  }
}

TEST(DefaultDevice, IsNotSeveral) {
  const Context unset{{"DEV", ""}};
  ::setenv("CPU", "1", 1);
  EXPECT_EQ(default_device(), "CPU");
  ::setenv("INTERP", "1", 1);
  EXPECT_TRUE(error_of(default_device).starts_with("CPU=1, INTERP=1 in the environment: "));
  ::unsetenv("CPU");
  ::unsetenv("INTERP");
}

// What is made of nothing is the same graph on every device.
TEST(DefaultDevice, ValuesOnAnotherAreNotUsed) {
  const Tensor there = Tensor::arange(5, {.device = "INTERP"}), again = there + 0;
  there.realize();
  const Tensor here = Tensor::arange(5, {.device = "CPU"});
  const auto devices = [](const std::vector<Tensor>& tensors) {
    std::set<std::string> devices;
    for (const ScheduleItem& item : Tensor::schedule(tensors))
      for (const UOp& buffer : item.buffers) devices.insert(buffer->arg<BufferArg>().device.get());
    return devices;
  };
  EXPECT_EQ(devices({here}), std::set<std::string>{"CPU"});
  EXPECT_EQ(devices({here * 2}), std::set<std::string>{"CPU"});
  EXPECT_EQ(devices({again * 2}), std::set<std::string>{"INTERP"});
  EXPECT_EQ(devices({here * 2, there.to("CPU") * 3}).count("INTERP"), 1U);  // it was computed
  EXPECT_TRUE(holds<float>((here * 2).to(dtypes::f32), {0, 2, 4, 6, 8}, {5}));
}

TEST(DefaultDevice, ClangIsTheProcessorByAnotherCompiler) {
  const Context context{{"DEVICE", "CLANG"}};
  const Tensor sum = Tensor({1.0F, 2.0F}) + 1;
  EXPECT_EQ(sum.device(), "CLANG");
  EXPECT_TRUE(holds<float>(sum, {2, 3}, {2}));
  const Context chosen{{"CLANG", 1}};
  EXPECT_EQ(find_device("CLANG").compiler_key(), find_device("CPU").compiler_key());
}

}  // namespace
}  // namespace weft
