#include <weft/dev/codegen/linearize.h>

#include <algorithm>
#include <unordered_map>

#include <gtest/gtest.h>

#include <weft/dev/rules/spec.h>

namespace weft {
namespace {

UOp param(int slot, Access access = Access::ReadWrite) {
  return make(Op::Param, {const_int(100)}, dtypes::f32, ParamArg{slot, access, 0});
}
UOp place(const UOp& buffer, const UOp& at) {
  return make(Op::Index, {buffer, const_bool(true), at});
}
UOp load(const UOp& buffer, const UOp& at) { return make(Op::Load, {place(buffer, at)}); }
UOp put(const UOp& buffer, const UOp& at, const UOp& value) {
  return make(Op::Store, {place(buffer, at), value}, {}, StoreArg{});
}
UOp sink(const std::vector<UOp>& effects) {
  return make(Op::Sink, effects, {}, KernelArg{Symbol("k")});
}

class Linearize : public testing::Test {
 protected:
  // The program of the kernel, after checking that it is one: all nodes, sources first, loops nested.
  void order(const UOp& kernel) {
    program_ = linearize(kernel.node());
    auto sorted = program_, all = toposort(kernel.node());
    std::ranges::sort(sorted);
    std::ranges::sort(all);
    ASSERT_EQ(sorted, all);
    std::unordered_map<const Node*, std::size_t> place;
    for (const Node* node : program_) place.emplace(node, place.size());
    std::vector<const Node*> open;
    for (const Node* node : program_) {
      for (const Node* source : node->src()) EXPECT_LT(place.at(source), place.at(node));
      for (const Node* range : node->op() == Op::Range ? NodeList{} : node->ranges())
        EXPECT_TRUE(std::ranges::count(open, range)) << "a value outside of its loop";
      if (node->op() == Op::Range) open.push_back(node);
      if (node->op() != Op::End) continue;
      for (std::size_t i = node->size(); i-- > 1;) {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), node->src(i));
        open.pop_back();
      }
    }
    EXPECT_TRUE(open.empty());
  }

  std::ptrdiff_t at(const Node* node) const {
    return std::ranges::find(program_, node) - program_.begin();
  }
  std::ptrdiff_t at(const UOp& node) const { return at(node.node()); }

  Arena arena_;
  InternerScope scope_{arena_};
  std::vector<const Node*> program_;
};

TEST_F(Linearize, PutsWhatALoopDoesNotChangeBeforeIt) {
  const UOp i = range(5, 0), j = range(6, 1);
  const UOp row = load(param(1), i), other = load(param(1), const_int(3)), product = row * other;
  const UOp store = put(param(0), i * 6 + j, product + load(param(2), j));
  order(sink({make(Op::End, {store, i, j})}));
  EXPECT_LT(at(other), at(i));
  EXPECT_LT(at(i), at(product));
  EXPECT_LT(at(product), at(j));
  EXPECT_LT(at(j), at(store));
}

TEST_F(Linearize, KeepsLoopsApartThatFollowEachOther) {
  const UOp i = range(5, 0), j = range(5, 1);
  const UOp first = make(Op::End, {put(param(0), i, load(param(1), i)), i});
  const UOp after = make(Op::After, {param(0), first});
  const UOp second = make(Op::End, {put(param(2), j, load(after, const_int(4) - j)), j});
  order(sink({second}));
  EXPECT_LT(at(first), at(j));
}

// A sum for each row: its 0 in the row's loop, though nothing in it changes from row to row.
TEST_F(Linearize, PutsEffectsInTheTripsTheyComeAfter) {
  const UOp row = range(5, 0), k = range(6, 1);
  const UOp sum = make(Op::Buffer, {const_int(1)}, dtypes::f32, BufferArg{{9}, Space::Register});
  const UOp zero = const_int(0);
  const UOp start = put(make(Op::After, {sum, row}), zero, const_float(0, dtypes::f32));
  const UOp now = make(Op::After, {sum, start, k});
  const UOp add = put(now, zero, load(now, zero) + load(param(1), row * 6 + k));
  const UOp added = make(Op::End, {add, k});
  const UOp result = put(param(0), row, load(make(Op::After, {sum, added}), zero));
  const UOp kernel = sink({make(Op::End, {result, row})});
  const Node* root = kernel.node();
  EXPECT_EQ(spec_violations({&root, 1}, Level::Kernel), std::vector<std::string>{});
  order(kernel);
  EXPECT_LT(at(row), at(start));
  EXPECT_LT(at(start), at(k));
  EXPECT_LT(at(added), at(result));
}

TEST_F(Linearize, RepeatsEffectsThatDoNotChange) {
  const UOp i = range(5, 0), j = range(5, 1);
  const UOp one = const_float(1, dtypes::f32);
  const UOp same = put(param(0), const_int(0), one), other = put(param(1), i, one);
  const UOp inner = make(Op::End, {put(param(2), const_int(1), one), j});
  order(sink({make(Op::End, {tuple({same, other, inner}), i})}));
  EXPECT_LT(at(i), at(same));
  EXPECT_LT(at(i), at(j));
}

TEST_F(Linearize, KeepsReadersInTheLoopOfTheStore) {
  const UOp i = range(5, 0);
  const UOp store = put(param(1), const_int(0), load(param(2), i));
  const UOp value =
      load(make(Op::After, {param(1), store}), const_int(0)) + const_float(1, dtypes::f32);
  order(sink({make(Op::End, {put(param(0), const_int(2), value), i})}));
  EXPECT_LT(at(i), at(value));
}

TEST_F(Linearize, IsLinear) {
  constexpr int loops = 20'000;
  std::vector<UOp> ends;
  for (int n = 0; n < loops; ++n) {
    const UOp i = range(5, static_cast<std::uint64_t>(n));
    ends.push_back(make(Op::End, {put(param(0), i, load(param(1), i)), i}));
  }
  order(sink({tuple(ends)}));
  EXPECT_GT(program_.size(), std::size_t{loops} * 5);
}

}  // namespace
}  // namespace weft
