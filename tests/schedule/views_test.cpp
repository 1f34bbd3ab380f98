#include <weft/dev/schedule/views.h>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "../support/eager.h"
#include "../support/random_tensors.h"

namespace weft {
namespace {

using Numbers = std::vector<std::int64_t>;

UOp memory(const Numbers& shape) {
  return make(Op::Param, constant_sizes(shape), dtypes::i32, ParamArg{});
}

// The place of each element, -1 for zeros: by running the ops, one after the other, on the numbers of
// the places.
Numbers places_by_running(const UOp& tensor, const UOp& base) {
  Array array;
  for (const Node* size : base->dims()) array.sizes.push_back(size->lo());
  array.values.resize(static_cast<std::size_t>(std::accumulate(
      array.sizes.begin(), array.sizes.end(), std::int64_t{1}, std::multiplies<>())));
  std::iota(array.values.begin(), array.values.end(), Bits{1});
  Eager eager;
  eager.set(base, array);
  Numbers places;
  for (const Bits value : eager(tensor.node()).values)
    places.push_back(static_cast<std::int64_t>(value) - 1);
  return places;
}

template <class F>
void for_each_index(const Numbers& shape, F f) {
  Numbers at(shape.size());
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t rest = n;
    for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i]) at[i] = rest % shape[i];
    f(at, static_cast<std::size_t>(n));
  }
}

Numbers places_by_views(const Views& views) {
  Numbers places;
  for_each_index(views.list.back().shape, [&](const Numbers& at, std::size_t) {
    places.push_back(views.place(at).value_or(-1));
  });
  return places;
}

// Whether any strides, offset and box give these places: the valid elements have to fill their bounding
// box, and each step along an axis has to be the same wherever it is taken.
bool one_view_suffices(const Numbers& places, const Numbers& shape) {
  Numbers first(shape.size(), INT64_MAX), last(shape.size(), -1);
  std::size_t valid = 0;
  for_each_index(shape, [&](const Numbers& at, std::size_t n) {
    if (places[n] < 0) return;
    ++valid;
    for (std::size_t i = 0; i < at.size(); ++i) {
      first[i] = std::min(first[i], at[i]);
      last[i] = std::max(last[i], at[i]);
    }
  });
  if (valid == 0) return !shape.empty();  // a mask needs an axis
  std::size_t box = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    box *= static_cast<std::size_t>(last[i] - first[i] + 1);
  if (box != valid) return false;
  std::vector<std::optional<std::int64_t>> step(shape.size());
  bool same = true;
  for_each_index(shape, [&](const Numbers& at, std::size_t n) {
    std::size_t weight = 1;
    for (std::size_t i = shape.size(); i-- > 0; weight *= static_cast<std::size_t>(shape[i])) {
      if (places[n] < 0 || at[i] + 1 == shape[i] || places[n + weight] < 0) continue;
      const std::int64_t here = places[n + weight] - places[n];
      same = same && step[i].value_or(here) == here;
      step[i] = here;
    }
  });
  return same;
}

class RandomMovement : public RandomTensors {
 public:
  using RandomTensors::RandomTensors;
  UOp chain(int ops) {
    pool_.push_back(input(shape()));
    for (int i = 0; i < ops; ++i) {
      const UOp moved = next();
      if (count(sizes_of(moved)) <= 600 && moved->dims().size() <= 6) pool_.push_back(moved);
    }
    return pool_.back();
  }

 private:
  UOp next() override {
    const UOp& x = pool_.back();
    switch (below(8)) {
      case 0:
      case 1:
      case 2: return reshaped(x);
      case 3: return permuted(x);
      case 4: return expanded(x);
      case 5: return padded(x);
      case 6: return shrunk(x);
      default: return flipped(x);
    }
  }
};

TEST(Views, FindThePlacesThatRunningTheOpsFinds) {
  int one = 0, more = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    RandomMovement random(seed, 6);
    const UOp tensor = random.chain(3 + static_cast<int>(seed % 9));
    const Views views = views_of(tensor);
    const Numbers places = places_by_running(tensor, views.base);
    ASSERT_EQ(places_by_views(views), places) << "seed " << seed << "\n" << views.str();
    ASSERT_EQ(views.is_one(), one_view_suffices(places, views.list.back().shape))
        << "seed " << seed << "\n"
        << views.str() << "\n"
        << print_graph({"chain", {tensor}});
    (views.is_one() ? one : more)++;
  }
  EXPECT_GT(one, 1000);
  EXPECT_GT(more, 1000);
}

TEST(Views, AreEqualWhereTheirMapsAre) {
  std::map<std::pair<Numbers, Numbers>, View> seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    RandomMovement random(seed, 2);
    const UOp tensor = random.chain(static_cast<int>(seed % 5));
    const Views views = views_of(tensor);
    if (!views.is_one()) continue;
    const View& view = views.list[0];
    const auto [known, is_new] =
        seen.try_emplace({view.shape, places_by_running(tensor, views.base)}, view);
    EXPECT_EQ(known->second, view) << known->second.str() << " and " << view.str();
  }
  EXPECT_GT(seen.size(), 100u);
}

std::string text(const UOp& tensor) { return views_of(tensor).str(); }

TEST(Views, OfEachOp) {
  const UOp a = memory({2, 3, 4});
  EXPECT_EQ(text(a), "shape (2, 3, 4), strides (12, 4, 1), offset 0");
  EXPECT_EQ(text(permute(a, {2, 0, 1})), "shape (4, 2, 3), strides (1, 12, 4), offset 0");
  EXPECT_EQ(text(reshape(a, constant_sizes({6, 2, 2}))),
            "shape (6, 2, 2), strides (4, 2, 1), offset 0");
  EXPECT_EQ(text(flip(a, {0, 2})), "shape (2, 3, 4), strides (-12, 4, -1), offset 15");
  EXPECT_EQ(text(shrink(a, constant_sizes({1, 0, 1}), constant_sizes({1, 3, 2}))),
            "shape (1, 3, 2), strides (0, 4, 1), offset 13");
  EXPECT_EQ(text(pad(a, constant_sizes({0, 1, 0}), constant_sizes({0, 2, 0}))),
            "shape (2, 6, 4), strides (12, 4, 1), offset -4, mask (0..2, 1..4, 0..4)");
  EXPECT_EQ(text(expand(reshape(memory({3}), constant_sizes({3, 1})), constant_sizes({3, 5}))),
            "shape (3, 5), strides (1, 0), offset 0");
}

TEST(Views, JoinWhatAReshapeLeavesRegular) {
  const UOp a = memory({4, 6});
  // Rows stay apart, columns split.
  EXPECT_EQ(text(reshape(permute(a, {1, 0}), constant_sizes({2, 3, 4}))),
            "shape (2, 3, 4), strides (3, 1, 6), offset 0");
  // Padding in whole rows survives the loss of the rows.
  const UOp padded = pad(a, constant_sizes({1, 0}), constant_sizes({2, 0}));
  EXPECT_EQ(text(reshape(padded, constant_sizes({42}))),
            "shape (42), strides (1), offset -6, mask (6..30)");
  // A window that slides over repeated rows: no element wraps around.
  const UOp rows = expand(reshape(memory({5}), constant_sizes({1, 5})), constant_sizes({4, 5}));
  const UOp sliding = reshape(
      shrink(reshape(rows, constant_sizes({20})), constant_sizes({0}), constant_sizes({18})),
      constant_sizes({3, 6}));
  EXPECT_EQ(text(shrink(sliding, constant_sizes({0, 0}), constant_sizes({3, 3}))),
            "shape (3, 3), strides (1, 1), offset 0");
}

TEST(Views, KeepWhatAReshapeMakesIrregular) {
  const UOp turned = reshape(permute(memory({2, 3}), {1, 0}), constant_sizes({6}));
  EXPECT_EQ(text(turned),
            "shape (3, 2), strides (1, 3), offset 0\n"
            "shape (6), strides (1), offset 0");
  EXPECT_EQ(text(reshape(turned, constant_sizes({3, 2}))),
            "shape (3, 2), strides (1, 3), offset 0");
}

TEST(Views, OfManyElementsAreJoinedByArithmetic) {
  const std::int64_t n = std::int64_t{1} << 40;
  const UOp a = memory({n, 4});
  EXPECT_EQ(text(reshape(reshape(permute(a, {1, 0}), constant_sizes({2, 2 * n})),
                         constant_sizes({2, 2, n}))),
            fmt::format("shape (2, 2, {}), strides (2, 1, 4), offset 0", n));
  EXPECT_THROW(
      views_of(reshape(expand(reshape(a, constant_sizes({n, 4, 1})), constant_sizes({n, 4, n})),
                       constant_sizes({n, n, 4}))),
      Error);
}

TEST(Views, WantConstantSizes) {
  EXPECT_THROW(views_of(make(Op::Param, {Variable("n", 1, 9)}, dtypes::f32, ParamArg{})), Error);
}

}  // namespace
}  // namespace weft
