// One graph over several devices: what is copied, in which order things run, and what comes out.

#include <algorithm>
#include <map>
#include <set>

#include <weft/dev/ir/graph.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

std::string processor(int number) { return fmt::format("CPU:{}", number); }

Tensor weight(int number, const std::string& device) {
  std::vector<float> values = ramp(16, -0.5 + 0.1 * number, 0.07);
  return Tensor(values, {.device = device}).reshape({4, 4});
}

Tensor layer(const Tensor& x, int number, const std::string& device) {
  return (x.matmul(weight(number, device)) + 0.25).relu();
}

std::vector<std::string> lines(const std::vector<ScheduleItem>& items) {
  std::vector<std::string> result;
  for (const ScheduleItem& item : items) result.push_back(item.str());
  return result;
}

std::vector<ScheduleItem> copies(std::vector<ScheduleItem> items) {
  std::erase_if(items, [](const ScheduleItem& item) { return !item.kernel.is_null(); });
  return items;
}

std::string device_of(const UOp& buffer) { return buffer->arg<BufferArg>().device.get(); }

// The buffers that the item reads, and those that it writes.
std::pair<std::set<const Node*>, std::set<const Node*>> touched(const ScheduleItem& item) {
  if (item.kernel.is_null()) return {{item.buffers[1].node()}, {item.buffers[0].node()}};
  std::set<const Node*> read, written;
  for (const Node* node : toposort(item.kernel.node())) {
    if (node->op() != Op::Param) continue;
    const auto& arg = node->arg<ParamArg>();
    const Node* buffer = item.buffers[static_cast<std::size_t>(arg.slot)].node();
    if (arg.access != Access::Write) read.insert(buffer);
    if (arg.access != Access::Read) written.insert(buffer);
  }
  return {read, written};
}

// Nothing is read before the item that writes it.
void expect_data_flow(const std::vector<ScheduleItem>& items) {
  std::set<const Node*> all_written, done;
  for (const ScheduleItem& item : items) all_written.merge(touched(item).second);
  for (const ScheduleItem& item : items) {
    const auto [read, written] = touched(item);
    for (const Node* buffer : read)
      EXPECT_TRUE(!all_written.contains(buffer) || done.contains(buffer)) << item.str();
    done.insert(written.begin(), written.end());
  }
}

TEST(Partition, AChainOverEightDevices) {
  const std::vector<float> start = ramp(8, -1, 0.3);
  Tensor one = Tensor(start, {.device = "CPU"}).reshape({2, 4}), many = one;
  for (int i = 0; i < 8; ++i) {
    one = layer(one, i, "CPU");
    many = layer(many.to(processor(i)), i, processor(i));
  }
  many = many.to("CPU");
  const auto items = many.schedule();
  expect_data_flow(items);
  const auto moved = copies(items);
  ASSERT_EQ(moved.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    const ScheduleItem& copy = moved[static_cast<std::size_t>(i)];
    EXPECT_EQ(copy.name, "copy");
    EXPECT_EQ(device_of(copy.buffers[1]), i == 0 ? "CPU" : processor(i));
    EXPECT_EQ(device_of(copy.buffers[0]), i == 7 ? "CPU" : processor(i + 1));
    EXPECT_EQ(copy.device, device_of(copy.buffers[0]));
  }
  for (const ScheduleItem& item : items) {
    if (item.kernel.is_null()) continue;
    for (const UOp& buffer : item.buffers) EXPECT_EQ(device_of(buffer), item.device) << item.str();
  }
  EXPECT_EQ(many.to_vector<float>(), one.to_vector<float>());
}

TEST(Partition, ACopyBackIsPartOfTheSchedule) {
  const Tensor x = Tensor(ramp(6, 0, 1), {.device = "CPU:1"}) * 2;
  const auto items = x.to("CPU").schedule();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].device, "CPU:1");
  EXPECT_TRUE(items[1].kernel.is_null());
  EXPECT_NE(items[1].str().find("CPU    copy"), std::string::npos) << items[1].str();
  EXPECT_TRUE(holds<float>(x.to("CPU"), {0, 2, 4, 6, 8, 10}, {6}));
}

TEST(Partition, OnlyWhatLiesTogetherIsCopied) {
  const Tensor x = Tensor(ramp(12, 0, 1), {.device = "CPU:1"}).reshape({3, 4}).realize();
  const Tensor row = x[{Slice(1, 2)}].to("CPU:2");
  ASSERT_EQ(row.schedule().size(), 1U);
  EXPECT_EQ(row.schedule()[0].buffers[0]->dims()[1]->lo(), 4);
  EXPECT_TRUE(holds<float>(row, {4, 5, 6, 7}, {1, 4}));
  const Tensor column = x[{Slice(), Slice(1, 2)}].to("CPU:2");
  EXPECT_EQ(column.schedule().size(), 2U);  // put together first
  EXPECT_TRUE(holds<float>(column, {1, 5, 9}, {3, 1}));
}

// Two branches on devices of their own that meet on a third.
Tensor branches() {
  Tensor left = Tensor(ramp(8, -1, 0.3), {.device = "CPU:1"}).reshape({2, 4});
  Tensor right = Tensor(ramp(8, 1, -0.2), {.device = "CPU:2"}).reshape({2, 4});
  for (int i = 0; i < 3; ++i) {
    left = layer(left, i, "CPU:1");
    right = layer(right, i + 3, "CPU:2");
  }
  return left.to("CPU") + right.to("CPU");
}

TEST(Partition, BranchesRunInAnOrderThatIsTheSameEveryTime) {
  const auto first = branches().schedule();
  expect_data_flow(first);
  EXPECT_EQ(copies(first).size(), 2U);
  EXPECT_EQ(lines(branches().schedule()), lines(first));
  const Context anew{{"SKIP", "fma_contract"}};  // another key: planned again
  EXPECT_EQ(lines(branches().schedule()), lines(first));
}

TEST(Partition, BranchesMeet) {
  Tensor left = Tensor(ramp(8, -1, 0.3), {.device = "CPU"}).reshape({2, 4});
  Tensor right = Tensor(ramp(8, 1, -0.2), {.device = "CPU"}).reshape({2, 4});
  for (int i = 0; i < 3; ++i) {
    left = layer(left, i, "CPU");
    right = layer(right, i + 3, "CPU");
  }
  EXPECT_EQ(branches().to_vector<float>(), (left + right).to_vector<float>());
}

TEST(Partition, GradientsFlowBackThroughCopies) {
  Tensor x(std::vector<float>{1, 2, 3}, {.device = "CPU:1", .requires_grad = true});
  (x.to("CPU:2") * 3).sum().backward();
  EXPECT_EQ(x.grad().device(), "CPU:1");
  EXPECT_TRUE(holds<float>(x.grad(), {3, 3, 3}, {3}));
}

TEST(Partition, OneOpIsOnOneDevice) {
  const Tensor a = Tensor::ones({2, 2}, {.device = "CPU:1"});
  const Tensor b = Tensor::ones({2, 2}, {.device = "CPU:2"});
  const std::string rest = ": one tensor is on CPU:1, another on CPU:2: move one with to()";
  EXPECT_EQ(error_of([&] { return a + b; }), "add" + rest);
  EXPECT_EQ(error_of([&] { return a.maximum(b); }), "maximum" + rest);
  EXPECT_EQ(error_of([&] { return (a > 0).where(a, b); }), "where" + rest);
  for (const auto& message :
       {error_of([&] { return a.matmul(b); }), error_of([&] { return Tensor::cat({a, b}); })})
    EXPECT_NE(message.find("move one with to()"), std::string::npos) << message;
  EXPECT_EQ(error_of([] { return Tensor::ones({1}).to("CPU:8"); }),
            "to: there is no CPU:8; the last is CPU:7");
}

}  // namespace
}  // namespace weft
