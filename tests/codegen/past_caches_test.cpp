// Stores of whole lines past the caches: wherever memory begins, and only where they fill lines.

#include <cstring>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/render/render.h>

#include "../support/kernels.h"

namespace weft {
namespace {

constexpr std::int64_t count = 1024;
constexpr std::size_t bytes = count * sizeof(float), scratch_bytes = 1 << 20;

class PastCaches : public testing::Test {
 protected:
  Device& device() const { return find_device("CPU:LLVM"); }

  // out[i] = x[i] + x[i], from the element `first` of out on.
  std::string source(std::size_t cache_bytes, const char* schedule, std::int64_t first = 0,
                     Access access = Access::Write) const {
    const UOp i = range(count - 16, fresh_id().value);
    const UOp x = load(place(param(1, Access::Read, {size(count)}), {i}));
    const UOp effect = over(put(place(param(0, access, {size(count)}), {i + first}), x + x), {i});
    const UOp kernel = make(Op::Sink, {effect}, {}, KernelArg{Symbol("k"), Symbol(schedule)});
    const UOp program = run_pipeline({kernel}, {.target = device().target()})[0];
    return render_llvm(program.node(), scratch_bytes, cache_bytes);
  }

  static bool goes_past(const std::string& source) {
    return source.find("nontemporal") != std::string::npos;
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

constexpr const char* lines = "tile r0 16; vector r0.1";

TEST_F(PastCaches, WhatIsLargerThanTheyAre) {
  EXPECT_TRUE(goes_past(source(bytes - 1, lines)));
  EXPECT_FALSE(goes_past(source(bytes, lines)));
}

TEST_F(PastCaches, OnlyWholeLines) {
  EXPECT_FALSE(goes_past(source(1, "tile r0 8; vector r0.1")));
  EXPECT_FALSE(goes_past(source(1, lines, 1)));
  EXPECT_TRUE(goes_past(source(1, lines, 16)));
}

TEST_F(PastCaches, NotWhatIsReadAsWell) {
  EXPECT_FALSE(goes_past(source(1, lines, 0, Access::ReadWrite)));
}

TEST_F(PastCaches, WritesTheSameWhereverMemoryBegins) {
  const std::string code = device().compile(source(1, lines));
  alignas(64) static float from[count], to[count + 16];
  for (std::int64_t i = 0; i < count; ++i) from[i] = float(i);
  for (std::size_t offset : {0, 1, 16}) {
    std::fill(std::begin(to), std::end(to), -1.0F);
    const std::vector<Argument> arguments{
        {reinterpret_cast<std::byte*>(to), offset * sizeof(float), bytes},
        {reinterpret_cast<std::byte*>(from), 0, bytes}};
    device().load(code)->run(arguments, {});
    for (std::size_t i = 0; i < count + 16; ++i) {
      const bool is_written = i >= offset && i < offset + count - 16;
      ASSERT_EQ(to[i], is_written ? 2 * from[i - offset] : -1.0F) << "element " << i;
    }
  }
}

}  // namespace
}  // namespace weft
