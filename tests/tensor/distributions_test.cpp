// Distributions against their cumulative distribution functions (Kolmogorov and Smirnov) or their
// probabilities (chi squared), with fixed seeds.

#include <algorithm>
#include <functional>
#include <numbers>
#include <numeric>

#include <weft/settings.h>

#include "tensor_test.h"

namespace weft {
namespace {

constexpr std::int64_t draws = 4000;

std::vector<double> sorted(const Tensor& tensor) {
  std::vector<double> values = tensor.to_vector<double>();
  std::ranges::sort(values);
  return values;
}

// How far the draws' distribution is from the expected one. By chance it is above 1.95 / sqrt(count) once
// in 1000 seeds.
double distance(const std::vector<double>& draws, const std::function<double(double)>& cdf) {
  double most = 0;
  const auto count = static_cast<double>(draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double below = cdf(draws[i]), at = static_cast<double>(i);
    most = std::max({most, below - at / count, (at + 1) / count - below});
  }
  return most;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// The lower incomplete gamma function over the whole one, by its series.
double gamma_cdf(double x, double a) {
  if (x <= 0) return 0;
  double term = 1 / a, sum = term;
  for (int n = 1; n < 1000 && term > sum * 1e-15; ++n) sum += term *= x / (a + n);
  return std::min(1.0, sum * std::exp(a * std::log(x) - x - std::lgamma(a)));
}

// By Simpson's rule over what is substituted for x to take away the ends' infinities: x = sin^2(t).
double beta_cdf(double x, double a, double b) {
  const double end = std::asin(std::sqrt(x)), step = end / 400;
  const auto density = [&](double t) {
    return 2 * std::pow(std::sin(t), 2 * a - 1) * std::pow(std::cos(t), 2 * b - 1);
  };
  double sum = density(1e-12) + density(end);
  for (int i = 1; i < 400; ++i) sum += density(i * step) * (i % 2 == 0 ? 2 : 4);
  return sum * step / 3 * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
}

struct Distribution {
  const char* name;
  std::function<Tensor(const Options&)> draw;
  std::function<double(double)> cdf;
};

std::vector<Distribution> continuous() {
  const Shape s{draws};
  const double pi = std::numbers::pi;
  return {
      {"uniform", [=](const Options& o) { return Tensor::uniform(s, -1, 3, o); },
       [](double x) { return (x + 1) / 4; }},
      {"normal", [=](const Options& o) { return Tensor::normal(s, 1, 2, o); },
       [](double x) { return normal_cdf((x - 1) / 2); }},
      {"exponential", [=](const Options& o) { return random::exponential(s, 2.5, o); },
       [](double x) { return 1 - std::exp(-2.5 * x); }},
      {"laplace", [=](const Options& o) { return random::laplace(s, 1, 2, o); },
       [](double x) {
         return x < 1 ? 0.5 * std::exp((x - 1) / 2) : 1 - 0.5 * std::exp((1 - x) / 2);
       }},
      {"logistic", [=](const Options& o) { return random::logistic(s, -1, 0.5, o); },
       [](double x) { return 1 / (1 + std::exp(-2 * (x + 1))); }},
      {"gumbel", [=](const Options& o) { return random::gumbel(s, 1, 2, o); },
       [](double x) { return std::exp(-std::exp((1 - x) / 2)); }},
      {"cauchy", [=](const Options& o) { return random::cauchy(s, 1, 0.5, o); },
       [=](double x) { return 0.5 + std::atan((x - 1) * 2) / pi; }},
      {"weibull", [=](const Options& o) { return random::weibull(s, 1.5, 2, o); },
       [](double x) { return 1 - std::exp(-std::pow(x / 2, 1.5)); }},
      {"pareto", [=](const Options& o) { return random::pareto(s, 3, 2, o); },
       [](double x) { return 1 - std::pow(2 / x, 3); }},
      {"log_normal", [=](const Options& o) { return random::log_normal(s, 0.5, 0.7, o); },
       [](double x) { return normal_cdf((std::log(x) - 0.5) / 0.7); }},
      {"truncated_normal",
       [=](const Options& o) {
         return random::truncated_normal(s, {.mean = 1, .std = 2, .low = -1, .high = 4}, o);
       },
       [](double x) {
         return (normal_cdf((x - 1) / 2) - normal_cdf(-1)) / (normal_cdf(1.5) - normal_cdf(-1));
       }},
      {"truncated_normal, a tail",
       [=](const Options& o) { return random::truncated_normal(s, {.low = 4, .high = 9}, o); },
       [](double x) { return 1 - normal_cdf(-x) / normal_cdf(-4); }},
      {"gamma below 1", [=](const Options& o) { return random::gamma(s, 0.3, 2, o); },
       [](double x) { return gamma_cdf(2 * x, 0.3); }},
      {"gamma", [=](const Options& o) { return random::gamma(s, 4.5, 1, o); },
       [](double x) { return gamma_cdf(x, 4.5); }},
      {"chisquare", [=](const Options& o) { return random::chisquare(s, 3, o); },
       [](double x) { return gamma_cdf(x / 2, 1.5); }},
      {"beta", [=](const Options& o) { return random::beta(s, 2, 3.5, o); },
       [](double x) { return beta_cdf(x, 2, 3.5); }},
      {"beta below 1", [=](const Options& o) { return random::beta(s, 0.6, 0.7, o); },
       [](double x) { return beta_cdf(x, 0.6, 0.7); }},
      {"student_t of 1", [=](const Options& o) { return random::student_t(s, 1, o); },
       [=](double x) { return 0.5 + std::atan(x) / pi; }},
      {"student_t of 2", [=](const Options& o) { return random::student_t(s, 2, o); },
       [](double x) { return 0.5 + x / (2 * std::sqrt(2 + x * x)); }},
  };
}

TEST(Distributions, Continuous) {
  const double room = 1.95 / std::sqrt(static_cast<double>(draws));
  for (DType dtype : {dtypes::f32, dtypes::f64}) {
    Tensor::manual_seed(11);
    std::vector<Tensor> all;
    for (const Distribution& each : continuous()) all.push_back(each.draw({.dtype = dtype}));
    Tensor::realize(all);
    std::size_t i = 0;
    for (const Distribution& each : continuous())
      EXPECT_LT(distance(sorted(all[i++]), each.cdf), room) << each.name << " " << dtype.str();
  }
}

// sum((found - expected)^2 / expected) over what is drawn 5 times or more; about the number of terms.
void expect_counts(const char* name, const Tensor& tensor, double first,
                   const std::function<double(int)>& probability) {
  const std::vector<double> values = tensor.to_vector<double>();
  double chi = 0;
  int terms = 0;
  for (int k = 0; k < 400; ++k) {
    const double expected = probability(k) * static_cast<double>(values.size());
    if (expected < 5) continue;
    const auto found = static_cast<double>(std::ranges::count(values, first + k));
    chi += (found - expected) * (found - expected) / expected;
    ++terms;
  }
  EXPECT_LT(chi, terms + 4 * std::sqrt(2.0 * terms)) << name;
}

double poisson(double rate, int k) {
  return std::exp(k * std::log(rate) - rate - std::lgamma(k + 1));
}

TEST(Distributions, Discrete) {
  Tensor::manual_seed(12);
  const Shape s{draws};
  expect_counts("bernoulli", random::bernoulli(s, 0.3), 0, [](int k) {
    return k == 0 ? 0.7 : k == 1 ? 0.3 : 0;
  });
  expect_counts("geometric", random::geometric(s, 0.25), 1,
                [](int k) { return 0.25 * std::pow(0.75, k); });
  for (double rate : {0.4, 3.0, 9.9, 10.0, 37.0, 250.0})
    expect_counts("poisson", random::poisson(s, rate), 0, [=](int k) { return poisson(rate, k); });
  expect_counts("multinomial", Tensor({1.0, 0.0, 3.0, 4.0, 0.0}).multinomial(draws, true), 0,
                [](int k) {
                  return k == 0 ? 0.125 : k == 2 ? 0.375 : k == 3 ? 0.5 : 0;
                });
  expect_counts("choice", random::choice(Tensor({0, 1, 2, 3}), s), 0,
                [](int k) { return k < 4 ? 0.25 : 0; });
}

TEST(Distributions, LimitsAndParametersOfEachElement) {
  Tensor::manual_seed(13);
  EXPECT_TRUE(holds<float>(random::bernoulli(Tensor({0.0, 1.0, 0.0})), {0, 1, 0}, {3}));
  EXPECT_TRUE(holds<float>(random::geometric({3}, 1), {1, 1, 1}, {3}));
  EXPECT_TRUE(holds<float>(random::poisson(Tensor({0.0, 0.0})), {0, 0}, {2}));
  EXPECT_EQ(random::poisson({2}, 4, {.dtype = dtypes::i64}).dtype(), dtypes::i64);
  EXPECT_EQ(random::gamma({0, 3}, 1).shape(), (Sizes64{0, 3}));
  const Tensor rates = Tensor({0.5, 5.0, 50.0, 1e6});
  const std::vector<double> means = random::poisson({1000, 4}, rates).mean(0).to_vector<double>();
  const std::vector<double> gammas =
      random::gamma({1000, 4}, rates, Tensor({2.0, 2.0, 2.0, 2.0})).mean(0).to_vector<double>();
  for (std::size_t i = 0; i < 4; ++i) {
    const double rate = rates.to_vector<double>()[i], room = 4 * std::sqrt(rate / 1000);
    EXPECT_NEAR(means[i], rate, room);
    EXPECT_NEAR(gammas[i], rate / 2, room / 2);
  }
  const Tensor rows = random::dirichlet(Tensor({1.0, 2.0, 5.0}).expand({2000, 3}));
  EXPECT_NEAR((rows.sum(1) - 1).abs().max().item<double>(), 0, 1e-5);
  EXPECT_TRUE(near(rows.mean(0), {0.125, 0.25, 0.625}, {3}, 0.02));
  EXPECT_TRUE(
      near(rows.var(0), {0.125 * 0.875 / 9, 0.25 * 0.75 / 9, 0.625 * 0.375 / 9}, {3}, 0.002));
  const Tensor tiny = random::dirichlet(Tensor::full({100, 3}, 0.001));
  EXPECT_TRUE(tiny.isfinite().all().item<bool>());
}

TEST(Distributions, GradientsReachPlaceAndScale) {
  const Tensor mean({1.0}), scale({2.0});
  const Tensor x = random::laplace({5}, mean, scale);
  const std::vector<Tensor> gradients = x.sum().gradient({mean, scale});
  EXPECT_NEAR(gradients[0].item<double>(), 5, 1e-6);
  EXPECT_NEAR(gradients[1].item<double>(), ((x - 1) / 2).sum().item<double>(), 1e-5);
  const Tensor rate({3.0});
  const Tensor y = random::gamma({4}, 2.0, rate);
  EXPECT_NEAR(y.sum().gradient({rate})[0].item<double>(), (y.sum() / -3).item<double>(), 1e-5);
}

// Each distribution by every way that a machine without accelerator has.
TEST(Distributions, AreTheSameEverywhere) {
  const auto all = [](const std::string& device) {
    Tensor::manual_seed(14);
    const Options o{.device = device};
    const Shape s{7};
    return Tensor::cat({random::exponential(s, 2, o), random::laplace(s, 0, 1, o),
                        random::gumbel(s, 0, 1, o), random::cauchy(s, 0, 1, o),
                        random::truncated_normal(s, {}, o), random::gamma(s, 0.7, 1, o),
                        random::beta(s, 2, 3, o), random::poisson(s, 3, o),
                        random::poisson(s, 30, o), random::geometric(s, 0.2, o),
                        Tensor::randn(s, o), random::log_normal(s, 0, 1, o),
                        Tensor::randperm(7, o).cast(dtypes::f32)})
        .to_vector<float>();
  };
  const std::vector<float> expected = all("CPU");
  const auto expect_same = [&](const std::vector<float>& found) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-5 * std::max(1.0F, std::abs(expected[i]))) << i;
  };
  expect_same(all("INTERP"));
  const Context clang{{"CLANG", 1}};
  expect_same(all("CPU"));
}

TEST(Sampling, Permutations) {
  Tensor::manual_seed(15);
  std::vector<std::int64_t> order = Tensor::randperm(500).to_vector<std::int64_t>();
  EXPECT_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  for (std::int64_t i = 0; i < 500; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(Tensor::randperm(0).shape(), Sizes64{0});
  EXPECT_TRUE(holds<int>(Tensor::randperm(1), {0}, {1}));
  EXPECT_EQ(Tensor::randperm(3, {.dtype = dtypes::i64}).dtype(), dtypes::i64);
  std::vector<int> counts(6);
  for (int i = 0; i < 600; ++i) {  // all orders of 3 are equally likely
    const std::vector<int> p = Tensor::randperm(3).to_vector<int>();
    ++counts[static_cast<std::size_t>(p[0] * 2 + (p[1] > p[2]))];
  }
  for (int count : counts) EXPECT_NEAR(count, 100, 4 * std::sqrt(100));
  const Tensor x = Tensor::arange(12).reshape({3, 4});
  const Tensor rows = random::permutation(x), columns = random::permutation(x, 1);
  EXPECT_TRUE(holds<int>(rows.sum(0), {12, 15, 18, 21}, {4}));
  EXPECT_TRUE(holds<int>(columns.sum(1), {6, 22, 38}, {3}));
  EXPECT_TRUE(
      holds<int>(columns - columns.slice(0, {0, 1}), {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8}, {3, 4}));
}

TEST(Sampling, Multinomial) {
  Tensor::manual_seed(16);
  const Tensor weights = Tensor({1.0, 0.0, 3.0, 4.0}).expand({2000, 4});
  const Tensor two = weights.multinomial(2);
  EXPECT_EQ(two.shape(), (Sizes64{2000, 2}));
  EXPECT_FALSE((two.slice(1, {0, 1}) == two.slice(1, {1, 2})).any().item<bool>());
  EXPECT_FALSE((two == 1).any().item<bool>());
  const auto share = [&](std::int64_t place, int value) {
    return (two.slice(1, {place, place + 1}) == value).mean().item<double>();
  };
  EXPECT_NEAR(share(0, 3), 0.5, 0.04);
  EXPECT_NEAR(share(0, 0), 0.125, 0.03);
  // The second is 0 after 2 or 3: 3/8 * 1/5 + 4/8 * 1/4.
  EXPECT_NEAR(share(1, 0), 0.2, 0.035);
  EXPECT_TRUE(holds<int>(Tensor({0.0, 0.0, 5.0}).multinomial(3, true), {2, 2, 2}, {3}));
  EXPECT_EQ(weights.multinomial().shape(), (Sizes64{2000, 1}));
  std::vector<int> all = Tensor({3, 1, 2}).multinomial(3).to_vector<int>();
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<int>{0, 1, 2}));
}

// Every seventh of many places weighs, the more the further behind; the last ones do not.
TEST(Sampling, MultinomialOfManyPlaces) {
  Tensor::manual_seed(18);
  const Tensor place = Tensor::arange(1000), weighs = (place.fmod(7) == 0) & (place < 900);
  const Tensor weights = weighs.where(place, 0).cast(dtypes::f32);
  const Tensor found = Tensor::stack({weights, weights * 3}).multinomial(5000, true);
  EXPECT_EQ(found.shape(), (Sizes64{2, 5000}));
  EXPECT_TRUE((weights.gather(0, found.flatten()) > 0).all().item<bool>());
  const double mean = ((weights * place).sum() / weights.sum()).item<double>();
  EXPECT_NEAR(found[0].mean().item<double>(), mean, 15);  // five standard deviations
  EXPECT_NEAR(found[1].mean().item<double>(), mean, 15);
}

TEST(Sampling, Choice) {
  Tensor::manual_seed(17);
  const Tensor x = Tensor({10.0, 20.0, 30.0});
  EXPECT_TRUE(((x.unsqueeze(0) == random::choice(x, {4, 1})).any(1)).all().item<bool>());
  std::vector<float> all = random::choice(x, {3}, {.replacement = false}).to_vector<float>();
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<float>{10, 20, 30}));
  EXPECT_TRUE(
      holds<float>(random::choice(x, {2}, {.weights = Tensor({0.0, 1.0, 0.0})}), {20, 20}, {2}));
  EXPECT_EQ(random::choice(x.unsqueeze(1), {2, 5}).shape(), (Sizes64{2, 5, 1}));
}

TEST(Init, FansAndGainsAreThoseOfTorch) {
  const init::Fans fans = init::fans_of({8, 3, 5, 2});
  EXPECT_EQ(fans.in, 30);
  EXPECT_EQ(fans.out, 80);
  using enum init::Nonlinearity;
  const std::pair<init::Nonlinearity, double> gains[] = {{Linear, 1},
                                                         {Sigmoid, 1},
                                                         {Tanh, 5.0 / 3},
                                                         {Relu, 1.4142135623730951},
                                                         {LeakyRelu, 1.4141428569978354},
                                                         {Selu, 0.75}};
  for (const auto& [nonlinearity, gain] : gains) EXPECT_NEAR(init::gain(nonlinearity), gain, 1e-12);
  EXPECT_NEAR(init::gain(LeakyRelu, 0.2), 1.3867504905630728, 1e-12);
}

TEST(Init, Deviations) {
  Tensor::manual_seed(18);
  const Shape shape{60, 20, 2};  // 40 in, 120 out
  const auto expect = [](const Tensor& weights, double deviation, double bound) {
    EXPECT_NEAR(weights.std().item<double>(), deviation, deviation * 0.06);
    EXPECT_LE(weights.abs().max().item<double>(), bound * 1.0001);
    EXPECT_NEAR(weights.mean().item<double>(), 0, deviation * 0.1);
  };
  const double none = 1e9;
  expect(init::xavier_uniform(shape, 2), 2 * std::sqrt(2.0 / 160), 2 * std::sqrt(6.0 / 160));
  expect(init::xavier_normal(shape), std::sqrt(2.0 / 160), none);
  expect(init::kaiming_uniform(shape), std::sqrt(2.0 / 40), std::sqrt(6.0 / 40));
  expect(init::kaiming_normal(shape, {.slope = 1}), std::sqrt(1.0 / 40), none);
  using enum init::Nonlinearity;
  expect(init::kaiming_normal(shape, {.fan = init::Fan::Out, .nonlinearity = Relu}),
         std::sqrt(2.0 / 120), none);
  expect(init::trunc_normal(shape, {.std = 0.02, .low = -0.04, .high = 0.04}), 0.02 * 0.8796, 0.04);
  EXPECT_TRUE(init::kaiming_normal({2, 2}, {}, {.requires_grad = true}).requires_grad());
}

TEST(Init, OrthogonalRowsOrColumns) {
  Tensor::manual_seed(19);
  const auto off = [](const Tensor& product, double length) {
    return (product - Tensor::eye(product.size(0)) * length).abs().max().item<double>();
  };
  const Tensor tall = init::orthogonal({6, 4}, 2), wide = init::orthogonal({3, 2, 4});
  EXPECT_EQ(wide.shape(), (Sizes64{3, 2, 4}));
  EXPECT_LT(off(tall.T().matmul(tall), 4), 1e-5);
  EXPECT_LT(off(wide.flatten(1).matmul(wide.flatten(1).T()), 1), 1e-5);
}

}  // namespace
}  // namespace weft
