// What a recorded call is made of, and what its calls take.

#include <weft/dev/engine/call_list.h>

#include <gtest/gtest.h>

#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

TEST(CallLists, SayWhatTheyRunAndHowLongItTakes) {
  const Context by_graph{{"DEV", "CPU"}, {"JIT", 0}};
  const Tensor a = Tensor::rand({48, 32}).realize(), b = Tensor::rand({32, 16}).realize();
  CallList list;
  Tensor product;
  {
    const CallList::Recording recording(list);
    product = a.matmul(b).contiguous();
    product = product.sum().realize();
  }
  list.settle();
  ASSERT_EQ(list.size(), 2U);
  const CallList::Planned first = list.planned(0);
  EXPECT_EQ(first.device, "CPU");
  ASSERT_FALSE(first.kernel.is_null());
  EXPECT_EQ(first.kernel->op(), Op::Sink);
  EXPECT_EQ(first.work.flops, 2 * 48 * 32 * 16);
  EXPECT_EQ(first.work.bytes, 4 * (48 * 32 + 32 * 16 + 48 * 16));
  const float before = product.item<float>();
  const std::vector<double> seconds = list.run_timed();
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_GT(seconds[0], 0);
  EXPECT_GT(seconds[1], 0);
  EXPECT_EQ(product.item<float>(), before);
}

TEST(CallLists, KnowCopiesBetweenDevices) {
  const Context by_graph{{"DEV", "CPU"}, {"JIT", 0}};
  const Tensor a = Tensor::rand({48, 32}).realize();
  CallList list;
  Tensor copy;
  {
    const CallList::Recording recording(list);
    copy = a.to("CPU:1").realize();
  }
  ASSERT_EQ(list.size(), 1U);
  EXPECT_TRUE(list.planned(0).kernel.is_null());
  EXPECT_EQ(list.run_timed().size(), 1U);
}

}  // namespace
}  // namespace weft
