// Which kernels are compiled, how many at once, and how long programs stay loaded.

#include "../../src/engine/programs.h"

#include <atomic>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/kernels.h"

namespace weft {
namespace {

// Compiles nothing and runs nothing, but counts.
class Counting final : public Device {
 public:
  explicit Counting(int index) : name_("COUNTING:" + std::to_string(index)) {}
  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  std::string render(const Node* kernel) override {
    ++rendered;
    return print_graph("kernel", NodeList(&kernel, 1));
  }
  std::string compile(std::string_view source) override { return std::string(source); }
  std::vector<std::string> compile_all(std::span<const std::string> sources) override {
    calls.push_back(sources.size());
    return Device::compile_all(sources);
  }
  std::string compiler_key() const override { return "counting"; }
  std::unique_ptr<Program> load(std::string_view) override {
    class Counted final : public Program {
     public:
      explicit Counted(int& count) : count_(count) { ++count_; }
      ~Counted() override { --count_; }
      void run(std::span<const Argument>, std::span<const std::int64_t>) override {}

     private:
      int& count_;
    };
    return std::make_unique<Counted>(live);
  }

  std::atomic<int> rendered = 0;  // by several threads
  int live = 0;
  std::vector<std::size_t> calls;  // by the sources of each

 private:
  std::string name_;
  HostMemory memory_;
};

// A new one each time: plans of other tests may hold programs of theirs.
Counting& new_device() {
  static const bool added = [] {
    add_device("COUNTING", "a device of a test", [](int index) -> std::unique_ptr<Device> {
      return std::make_unique<Counting>(index);
    });
    return true;
  }();
  static_cast<void>(added);
  static int count = 0;
  return dynamic_cast<Counting&>(find_device("COUNTING:" + std::to_string(count++)));
}

using Sizes = std::vector<std::size_t>;

class LoadedPrograms : public testing::Test {
 protected:
  Counting& device_ = new_device();
  Context context_{{"DEV", device_.name()}, {"CACHE_DIR", "none"}};
};

TEST_F(LoadedPrograms, OfAPlanAreCompiledAtOnceAndEqualOnesOnce) {
  const auto squares = [](std::int64_t size) {
    const Tensor x = Tensor::empty({size, 3});
    return x * x;
  };
  Tensor::realize({squares(4), squares(5), squares(6), squares(5), squares(4)});
  EXPECT_EQ(device_.calls, Sizes{3});
  EXPECT_EQ(device_.rendered, 3);
  Tensor::realize({squares(6), squares(7)});
  EXPECT_EQ(device_.calls, (Sizes{3, 1}));
  Tensor::realize({squares(7), squares(4)});
  EXPECT_EQ(device_.calls, (Sizes{3, 1}));
}

TEST_F(LoadedPrograms, AreABoundedNumber) {
  Arena arena;
  const InternerScope scope(arena);
  const auto extra = PassOptions{}.extra;
  const auto load = [&](std::int64_t number) {
    const UOp i = range(2, 0);
    const UOp out = place(param(0, Access::Write, {size(2)}), {i});
    const UOp effect = over(put(out, const_float(static_cast<double>(number), dtypes::f32)), {i});
    const KernelFor wanted{make(Op::Sink, {effect}, {}, KernelArg{Symbol("k")}), &device_};
    return load_kernels({&wanted, 1}, extra)[0];
  };
  const auto most = static_cast<std::int64_t>(most_programs);
  auto first = load(1);
  for (std::int64_t number = 2; number <= most + 10; ++number) load(number);
  EXPECT_EQ(device_.live, most + 1);  // the first is held
  EXPECT_EQ(std::ssize(device_.calls), most + 10);
  load(11);
  load(most + 10);
  EXPECT_EQ(std::ssize(device_.calls), most + 10);
  EXPECT_NE(load(1), first);
  EXPECT_EQ(std::ssize(device_.calls), most + 11);
  first = nullptr;
  EXPECT_EQ(device_.live, most);
}

// Of more than half of the last cache, the next call finds none there.
TEST(AmongConstants, KernelsSayThatTheirsComeFromMemory) {
  Arena arena;
  const InternerScope scope(arena);
  Device& device = find_device("CPU");
  const auto last = static_cast<std::size_t>(device.target().machine.memory.back().bytes);
  const auto copy_of = [](Access access) {
    const UOp i = range(8, 0);
    const UOp effect = over(put(place(param(0, Access::Write, {size(8)}), {i}),
                                load(place(param(1, access, {size(8)}), {i}))),
                            {i});
    return make(Op::Sink, {effect}, {}, KernelArg{Symbol("k")});
  };
  const auto are_far = [&](Access access, std::size_t bytes) {
    return among_constants(copy_of(access), device, bytes)->arg<KernelArg>().far_constants;
  };
  EXPECT_TRUE(are_far(Access::Constant, last));
  EXPECT_FALSE(are_far(Access::Constant, last / 4));
  EXPECT_FALSE(are_far(Access::Read, last));
}

}  // namespace
}  // namespace weft
