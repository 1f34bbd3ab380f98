// Random programs whose early values are read late, and memory that is assigned to on the way: with whatever may be
// computed again rather than kept, against keeping it all. WEFT_FULL=1 draws 20 times as many, WEFT_SEED=n only the
// one.

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

constexpr int whatever_it_costs = 1'000'000;

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    Tensor::manual_seed(seed);
    for (Tensor* tensor : {&weight_, &memory_, &start_})
      *tensor = (Tensor::randn({8, 8}, {.device = "INTERP"}) / 3).realize();
  }

  // There, and back past all that was made on the way.
  std::vector<Tensor> results() {
    values_ = {start_};
    const std::size_t steps = 4 + draw(16);
    assigns_ = draw(3) == 0;
    while (values_.size() < steps) values_.push_back(step());
    Tensor back = values_.back();
    std::vector<Tensor> results;
    for (std::size_t i = values_.size(); i-- > 0;) {
      if (assigns_ && draw(4) == 0) memory_.assign(memory_ * 0.5 + back);
      back = (back.matmul(weight_) + values_[i] * (draw(2) == 0 ? back : memory_)).sin();
      if (draw(6) == 0) results.push_back(back.sum(0));
    }
    results.push_back(back);
    results.push_back(memory_);
    return results;
  }

 private:
  std::size_t draw(std::size_t of) { return random_() % of; }
  const Tensor& any() {
    return values_[values_.size() - 1 - draw(std::min<std::size_t>(3, values_.size()))];
  }

  Tensor step() {
    const Tensor& last = values_.back();
    switch (draw(8)) {
      case 0: return last.softmax(-1);
      case 1: return last.sin().contiguous();
      case 2: return (last.T() * any()).sin();
      case 3: return last - last.mean(0);
      case 4: return (last + any()).square().cos();
      case 5:
        if (assigns_) memory_.assign(memory_ * 0.5 + last);
        return (memory_ + last).sin();
      default: return last.matmul(weight_).sin() + any();
    }
  }

  std::mt19937_64 random_;
  bool assigns_ = false;
  Tensor weight_, memory_, start_;
  std::vector<Tensor> values_;
};

std::vector<Tensor> results(std::uint64_t seed, int percent) {
  const Context context{{"RECOMPUTE", percent}};
  std::vector<Tensor> all = Program(seed).results();
  Tensor::realize(all);
  return all;
}

std::size_t bytes(std::uint64_t seed, int percent) {
  const Context context{{"RECOMPUTE", percent}};
  return Tensor::cost(Program(seed).results()).own_bytes;
}

TEST(Rematerialized, DoesNotChangeValues) {
  const std::uint64_t programs = std::getenv("WEFT_FULL") != nullptr ? 1000 : 50;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : programs;
  std::size_t smaller = 0, all = 0;
  for (; seed <= last && !HasFailure(); ++seed, ++all) {
    SCOPED_TRACE(seed);
    const std::vector<Tensor> kept = results(seed, 0), again = results(seed, whatever_it_costs);
    for (std::size_t i = 0; i < kept.size(); ++i)
      EXPECT_TRUE(again[i].allclose(kept[i], 1e-4, 1e-5)) << i;
    const std::size_t least = bytes(seed, whatever_it_costs), most = bytes(seed, 0);
    EXPECT_LE(least, most);
    smaller += least < most ? 1 : 0;
  }
  EXPECT_TRUE(only != nullptr || smaller >= all / 5) << smaller << " of " << all;
}

}  // namespace
}  // namespace weft
