// Some cases of each method are computed in f64 at three points of a random line: its inputs, and a
// small step ahead and behind. What the outputs change by is what the gradient has to say. The same for
// the gradients themselves: what they change by is what second derivatives have to say.

#include "differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compare.h"

namespace weft::golden {
namespace {

constexpr std::size_t most_cases = 4;  // of a method, spread over all that can be taken
constexpr std::int64_t most_elements = 150;
constexpr double most_moved = 1e6;  // a step from there would not be seen
constexpr double step = 1e-5;
constexpr double kink = 1e-3;  // what slopes ahead and behind may differ by

// What no step can show: in all cases of a method, or in some.
struct Exception {
  std::string reason;
  bool (*is_for)(const Case&) = [](const Case&) { return true; };
};

// Numbers below 0 count from the end.
bool may_write_a_place_twice(const Case& c) {
  if (c.flag("accumulate")) return false;
  return std::ranges::any_of(c.bases, [](const Tensor& base) {
    if (base.is_null() || !base.dtype().is_int()) return false;
    auto places = base.to_vector<std::int64_t>();
    std::ranges::sort(places);
    return (!places.empty() && places[0] < 0) || std::ranges::adjacent_find(places) != places.end();
  });
}

const std::string rounds = "it rounds to fewer bits than a step takes";
const std::string one_stays =
    "of several values for one place one stays, but all have its gradient, as in PyTorch";

const std::map<std::string, Exception, std::less<>> exceptions{
    {"math.float", {rounds}},
    {"math.half", {rounds}},
    {"math.bfloat16", {rounds}},
    {"suite.rounding_error", {"its gradient passes a rounding on purpose"}},
    {"sorting.mode", {"each step changes which value is the most frequent"}},
    {"searching.unique", {"it has no gradient, as in PyTorch"}},
    {"sorting.unique_consecutive", {"it has no gradient, as in PyTorch"}},
    {"indexing.__setitem__", {one_stays, may_write_a_place_twice}},
    {"indexing.index_copy", {one_stays, may_write_a_place_twice}},
    {"indexing.index_put", {one_stays, may_write_a_place_twice}},
    {"indexing.put", {one_stays, may_write_a_place_twice}},
    {"nn_functions.functional.batch_norm",
     {"running statistics have no gradient, as in PyTorch",
      [](const Case& c) { return c.outputs.size() > 1; }}},
    {"layers.BatchNorm",
     {"running statistics have no gradient, as in PyTorch",
      [](const Case& c) { return c.outputs.size() > 1; }}},
    {"layers.Embedding",
     {"the row for padding has no gradient, as in PyTorch",
      [](const Case& c) { return c.has("padding_idx"); }}},
    {"optim.one_cycle", {"a step ends what gradients pass through"}},
    {"optim.optimizer", {"a step ends what gradients pass through"}},
    {"nn_functions.functional.embedding",
     {"the row for padding has no gradient, as in PyTorch",
      [](const Case& c) { return c.has("padding_idx"); }}},
};

using Values = std::vector<double>;

Values values_of(const Stored& stored) {
  Values values(static_cast<std::size_t>(stored.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double_from_bits(bits_at(stored, i), stored.dtype);
  return values;
}

Values random_values(std::mt19937_64& random, std::size_t count) {
  Values values(count);
  for (double& value : values) value = std::uniform_real_distribution<double>(-1, 1)(random);
  return values;
}

Tensor f64(const Values& values, const Shape& shape) {
  return Tensor(values, {.dtype = dtypes::f64}).reshape(shape);
}

using Gradients = std::vector<std::optional<Stored>>;

// What is derived, and of which inputs: methods with gradients of their own choose by which inputs require one.
struct Derived {
  bool twice = false;
  bool (*requires_grad)(std::size_t input) = [](std::size_t) { return true; };
};
constexpr std::array<Derived, 5> ways{{
    {false},
    {false, [](std::size_t) { return false; }},
    {true},
    {true, [](std::size_t input) { return input == 0; }},
    {true, [](std::size_t input) { return input != 0; }},
}};

// A case whose inputs were moved by `offset` along the line that belongs to `seed`: all floats, or
// where the file has gradients those with one.
class Point {
 public:
  Point(const Data::Line& line, std::span<const std::byte> file, unsigned seed,
        const Derived& derived, double offset)
      : random_(seed),
        derived_(derived),
        known_(Case(line.text, file).gradients),
        offset_(offset),
        c(line.text, file, [&](const Stored& stored, std::size_t i) { return moved(stored, i); }) {}

  std::mt19937_64& random() { return random_; }

 private:
  // Methods may write into what they get, which is a copy.
  Tensor moved(const Stored& stored, std::size_t input) {
    if (!stored.dtype.is_float()) return stored.load();
    Values values = values_of(stored);
    if (!known_.empty() && !known_[input]) return f64(values, stored.shape);
    Values direction = random_values(random_, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(std::abs(values[i]) < most_moved)) direction[i] = 0;
      values[i] += offset_ * direction[i];
    }
    directions.push_back(std::move(direction));
    leaves.push_back(f64(values, stored.shape).set_requires_grad(derived_.requires_grad(input)));
    return leaves.back().clone();
  }

  std::mt19937_64 random_;
  const Derived& derived_;
  const Gradients known_;
  const double offset_;

 public:
  std::vector<Values> directions;
  std::vector<Tensor> leaves;  // of the inputs that were moved
  const Case c;
};

// What does not move adds nothing, be its gradient NaN.
double along(const Values& direction, const Values& gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < direction.size(); ++i)
    if (direction[i] != 0) sum += direction[i] * gradient[i];
  return sum;
}

// How fast the outputs, each weighted by random numbers, change along the line.
struct Slopes {
  double ahead = 0, behind = 0, gradient = 0, scale = 0;
  bool is_infinite = false;  // an output, at all three points

  // At a kink the slopes differ, at a jump they are as steep as the step is short.
  bool is_smooth() const {
    const double size = std::abs(ahead) + std::abs(behind);
    if (is_infinite && !std::isfinite(gradient)) return false;
    return std::isfinite(size) && size * step <= kink * (1 + scale) &&
           std::abs(ahead - behind) <= kink * (1 + size);
  }
  bool is_right() const {
    const double difference = (ahead + behind) / 2;
    return std::abs(gradient - difference) <= 1e-6 * (1 + std::abs(difference)) + 1e-9 * scale;
  }
};

// Of an output at the three points. Some methods give outputs whose size depends on the values.
void add_changes(const Values& seed, std::span<const Tensor> points, Slopes& slopes) {
  const auto at = points[0].to_vector<double>(), next = points[1].to_vector<double>(),
             last = points[2].to_vector<double>();
  if (next.size() != at.size() || last.size() != at.size()) {
    slopes.ahead = NAN;
    return;
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    const bool is_same = next[i] == at[i] && last[i] == at[i];
    slopes.is_infinite = slopes.is_infinite || (is_same && std::isinf(at[i]));
    if (is_same) continue;
    slopes.ahead += seed[i] * (next[i] - at[i]) / step;
    slopes.behind += seed[i] * (at[i] - last[i]) / step;
    slopes.scale += std::abs(seed[i] * at[i]);
  }
}

std::vector<Tensor> sum_of(std::vector<Tensor> a, const std::vector<Tensor>& b) {
  if (a.empty()) return b;
  std::ranges::transform(a, b, a.begin(), std::plus<>());
  return a;
}

// Of the outputs that are floats, weighted by random numbers, by the leaves.
struct Derivatives {
  std::vector<Values> weights;
  std::vector<Tensor> outputs, gradients;

  Derivatives(const std::vector<Tensor>& made, Point& point) {
    for (const Tensor& output : made) {
      if (!output.dtype().is_float()) continue;
      outputs.push_back(output);
      weights.push_back(random_values(point.random(), static_cast<std::size_t>(output.numel())));
      const Tensor seed = f64(weights.back(), output.shape()).cast(output.dtype());
      gradients = sum_of(std::move(gradients), output.gradient(point.leaves, seed, true));
    }
  }
};

Derivatives derivatives_at(const Method& method, const Derived& derived, Point& point) {
  Derivatives once(method(point.c), point);
  if (!derived.twice) return once;
  std::erase_if(once.gradients, [](const Tensor& each) { return !each.requires_grad(); });
  return Derivatives(once.gradients, point);
}

Slopes slopes_of(const Method& method, const Data::Line& line, std::span<const std::byte> file,
                 unsigned seed, const Derived& derived = {}) {
  Point here(line, file, seed, derived, 0), ahead(line, file, seed, derived, step),
      behind(line, file, seed, derived, -step);
  const Derivatives at = derivatives_at(method, derived, here),
                    after = derivatives_at(method, derived, ahead),
                    before = derivatives_at(method, derived, behind);
  std::vector<Tensor> wanted;
  for (std::size_t i = 0; i < at.outputs.size(); ++i)
    wanted.insert(wanted.end(), {at.outputs[i], after.outputs[i], before.outputs[i]});
  wanted.insert(wanted.end(), at.gradients.begin(), at.gradients.end());
  Tensor::realize(wanted);

  Slopes slopes;
  if (at.outputs.empty()) slopes.ahead = NAN;
  for (std::size_t i = 0; i < at.outputs.size(); ++i)
    add_changes(at.weights[i], std::span(wanted).subspan(3 * i), slopes);
  for (std::size_t i = 0; i < at.gradients.size(); ++i)
    slopes.gradient += along(here.directions[i], at.gradients[i].to_vector<double>());
  return slopes;
}

// Small, in floats, with something to change, and not told to compute in fewer bits.
bool can_be_taken(const Case& c) {
  const auto is_float = [](const Tensor& x) {
    return !x.is_null() && x.dtype().is_float() && x.numel() > 0;
  };
  const auto has_values = [](const Stored& x) { return x.dtype.is_float() && x.numel() > 0; };
  return c.largest <= most_elements && (!c.has("dtype") || c.dtype("dtype") == dtypes::f64) &&
         std::ranges::any_of(c.bases, is_float) && std::ranges::any_of(c.outputs, has_values);
}

// Whole layers and decompositions, whose derivatives are many kernels.
bool takes_long(const Group& group) { return group.name == "layers" || group.name == "linalg"; }

class DifferenceTest : public ::testing::Test {
 public:
  DifferenceTest(const Group& group, std::string_view method, std::shared_ptr<const Data> data)
      : group_(group), name_(method), data_(std::move(data)) {}

  void TestBody() override {
    const auto lines = data_->lines.find(name_);
    const auto exception = exceptions.find(fmt::format("{}.{}", group_.name, name_));
    ASSERT_NE(lines, data_->lines.end()) << name_ << " has no cases";
    std::vector<const Data::Line*> taken;
    bool is_differentiable = false;
    for (const Data::Line& line : lines->second) {
      const Case c(line.text, data_->bytes);
      if (exception != exceptions.end() && exception->second.is_for(c)) continue;
      is_differentiable = is_differentiable || !c.gradients.empty();
      if (can_be_taken(c)) taken.push_back(&line);
    }
    std::size_t smooth = 0;
    const std::size_t count = std::min(taken.size(), most_cases);
    std::vector<std::pair<std::size_t, std::size_t>>
        others;  // for methods of which none in turn is smooth
    const std::size_t start = std::hash<std::string>{}(name_);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t way = 0; way < ways.size(); ++way) {
        const std::size_t parts = (ways.at(way).twice ? 3U : 2U) * (takes_long(group_) ? 6U : 2U);
        if (is_in_turn(start + i * ways.size() + way, parts))
          smooth += check(*taken[i * taken.size() / count], way);
        else
          others.emplace_back(i, way);
      }
    for (std::size_t i = 0; i < others.size() && smooth == 0; ++i)
      smooth += check(*taken[others[i].first * taken.size() / count], others[i].second);
    if (is_differentiable || !taken.empty()) {
      EXPECT_GT(smooth, 0U) << "no case is smooth";
    }
  }

 private:
  // Whether there is a slope at all.
  bool check(const Data::Line& line, std::size_t way) const {
    const auto seed = static_cast<unsigned>(line.number);
    const std::string where = fmt::format("data/{}.txt:{}: {}\n  seed {}, way {}: ", group_.name,
                                          line.number, line.text, seed, way);
    try {
      const Slopes slopes =
          slopes_of(group_.methods.at(name_), line, data_->bytes, seed, ways.at(way));
      if (!slopes.is_smooth()) return false;
      EXPECT_TRUE(slopes.is_right())
          << where
          << fmt::format("the gradient is {}, ahead the slope is {}, behind {}", slopes.gradient,
                         slopes.ahead, slopes.behind);
    } catch (const std::exception& error) {
      ADD_FAILURE() << where << error.what();
    }
    return true;
  }

  const Group& group_;
  const std::string name_;
  const std::shared_ptr<const Data> data_;
};

Slopes slopes_at(std::string_view line, const Method& method, std::span<const float> numbers) {
  return slopes_of(method, {1, std::string(line)}, std::as_bytes(numbers), 1);
}

TEST(GoldenDifferences, TellWrongGradients) {
  const std::array<float, 2> numbers{0, 2};
  const std::string_view line = "any in f32[]@4 out f32[]@4";
  const auto at = [&](const Method& method) { return slopes_at(line, method, numbers); };
  EXPECT_TRUE(at([](const Case& c) { return one(c[0].square()); }).is_right());
  const Slopes none = at([](const Case& c) { return one(c[0].square() + c[0].detach()); });
  EXPECT_TRUE(none.is_smooth());
  EXPECT_FALSE(none.is_right());
}

TEST(GoldenDifferences, TellKinksAndJumps) {
  const std::array<float, 2> numbers{0, 2};
  const std::string_view line = "any in f32[]@0 out f32[]@0";
  const auto at = [&](const Method& method) { return slopes_at(line, method, numbers); };
  EXPECT_TRUE(at([](const Case& c) { return one(c[0].sin()); }).is_smooth());
  EXPECT_FALSE(at([](const Case& c) { return one(c[0].abs()); }).is_smooth());
  EXPECT_FALSE(at([](const Case& c) { return one(c[0].reciprocal()); }).is_smooth());
  EXPECT_FALSE(at([](const Case& c) { return one(c[0].log()); }).is_smooth());
}

TEST(GoldenDifferences, MoveOnlyInputsWithAGradient) {
  const std::array<float, 2> numbers{1, 2};
  const std::string_view line = "any in f32[]@0 f32[]@4 out f32[]@0 seed f32[]@0 grad - f32[]@0";
  const Slopes slopes =
      slopes_at(line, [](const Case& c) { return one(c[0].detach() * c[1]); }, numbers);
  EXPECT_TRUE(slopes.is_right());
}

TEST(GoldenDifferences, ExceptAtMethodsThatAreThere) {
  std::set<std::string> names;
  for (const Group* group : groups())
    for (const auto& [name, method] : group->methods)
      names.insert(fmt::format("{}.{}", group->name, name));
  for (const auto& [name, exception] : exceptions) {
    EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_FALSE(exception.reason.empty()) << name;
  }
}

}  // namespace

void add_difference_tests(const Group& group) {
  const auto data = std::make_shared<const Data>(group.name);
  for (const auto& [name, method] : group.methods)
    ::testing::RegisterTest(fmt::format("differences/{}", group.name).c_str(), name.c_str(),
                            nullptr, nullptr, __FILE__, __LINE__,
                            [&group, name, data] { return new DifferenceTest(group, name, data); });
}

}  // namespace weft::golden
