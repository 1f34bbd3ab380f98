#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "tensor_test.h"

namespace weft {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

TEST(TensorElementwise, Broadcasting) {
  const Tensor column{{1}, {2}, {3}}, row({10, 20});
  EXPECT_TRUE(holds<int>(column + row, {11, 21, 12, 22, 13, 23}, {3, 2}));
  EXPECT_TRUE(holds<int>(column * 2, {2, 4, 6}, {3, 1}));
  EXPECT_TRUE(holds<int>(5 - row, {-5, -15}, {2}));
  EXPECT_TRUE(holds<int>(Tensor::zeros({2, 0}, {.dtype = dtypes::i32}) + 1, {}, {2, 0}));
  EXPECT_EQ(error_of([&] { row + Tensor({1, 2, 3}); }),
            "add: shapes (2,) and (3,) do not broadcast: 2 does not match 3");
  EXPECT_TRUE(holds<int>(row + 1, {11, 21}, {2}));  // still of use
}

TEST(TensorElementwise, DtypePromotion) {
  const auto of = [](DType dtype) { return Tensor::ones({2}, {.dtype = dtype}); };
  EXPECT_EQ((of(dtypes::f16) * 2.0).dtype(), dtypes::f16);
  EXPECT_EQ((of(dtypes::i8) + 1).dtype(), dtypes::i8);
  EXPECT_EQ((of(dtypes::i32) + 1.5).dtype(), dtypes::f32);
  EXPECT_EQ((of(dtypes::bool_) + 1).dtype(), dtypes::i32);
  EXPECT_EQ((of(dtypes::f16) + of(dtypes::bf16)).dtype(), dtypes::f32);
  EXPECT_EQ((of(dtypes::u8) + of(dtypes::i8)).dtype(), dtypes::i16);
  EXPECT_EQ((of(dtypes::i64) + of(dtypes::f16)).dtype(), dtypes::f16);
  EXPECT_EQ((of(dtypes::i32) / of(dtypes::i32)).dtype(), dtypes::f32);
  EXPECT_EQ((of(dtypes::f16) / 3).dtype(), dtypes::f16);
  EXPECT_EQ((of(dtypes::f64) < 1).dtype(), dtypes::bool_);
  EXPECT_EQ(of(dtypes::i32).sqrt().dtype(), dtypes::f32);
  EXPECT_EQ(of(dtypes::f16).sqrt().dtype(), dtypes::f16);
}

TEST(TensorElementwise, DivisionAndRemainderAsInPython) {
  const Tensor a({7, -7, 7, -7}), b({2, 2, -2, -2});
  EXPECT_TRUE(holds<float>(a / b, {3.5F, -3.5F, -3.5F, 3.5F}, {4}));
  EXPECT_TRUE(holds<int>(a.floordiv(b), {3, -4, -4, 3}, {4}));
  EXPECT_TRUE(holds<int>(a % b, {1, 1, -1, -1}, {4}));
  const Tensor x({5.5, -5.5, 5.5, -5.5}), y({2.0, 2.0, -2.0, -2.0});
  EXPECT_TRUE(near(x % y, {1.5, 0.5, -0.5, -1.5}, {4}));
  EXPECT_TRUE(near(x.floordiv(y), {2, -3, -3, 2}, {4}));
}

TEST(TensorElementwise, BitsAndShifts) {
  const Tensor a({12, -1}), b({10, 3});
  EXPECT_TRUE(holds<int>(a & b, {8, 3}, {2}));
  EXPECT_TRUE(holds<int>(a | b, {14, -1}, {2}));
  EXPECT_TRUE(holds<int>(a ^ b, {6, -4}, {2}));
  EXPECT_TRUE(holds<int>(~a, {-13, 0}, {2}));
  EXPECT_TRUE(holds<int>(a << 2, {48, -4}, {2}));
  EXPECT_TRUE(holds<int>(a >> 1, {6, -1}, {2}));
  EXPECT_TRUE(holds<bool>(!Tensor({true, false}), {false, true}, {2}));
  EXPECT_TRUE(holds<int>(~Tensor({1, 255}, {.dtype = dtypes::u8}), {254, 0}, {2}));
  EXPECT_EQ(error_of([] { Tensor({1.5}) & Tensor({1}); }),
            "bitwise_and: of f32 and i32: only integers and bools have bits to combine");
}

TEST(TensorElementwise, Comparisons) {
  const Tensor x({1.0, 2.0, nan}), y({2.0, 2.0, 2.0});
  EXPECT_TRUE(holds<bool>(x < y, {true, false, false}, {3}));
  EXPECT_TRUE(holds<bool>(x <= y, {true, true, false}, {3}));
  EXPECT_TRUE(holds<bool>(x > y, {false, false, false}, {3}));
  EXPECT_TRUE(holds<bool>(x >= y, {false, true, false}, {3}));
  EXPECT_TRUE(holds<bool>(x == y, {false, true, false}, {3}));
  EXPECT_TRUE(holds<bool>(x != y, {true, false, true}, {3}));
  EXPECT_TRUE(holds<bool>(2 == Tensor({1, 2}), {false, true}, {2}));
}

// With numbers that the dtype does not have.
TEST(TensorElementwise, ComparisonsWithNumbersBeyondTheDtype) {
  const Tensor small({0, 200}, {.dtype = dtypes::u8}), low({-128, 100}, {.dtype = dtypes::i8});
  for (const Tensor& all : {small > -1, small != 257, small < 256, -1 < small, 300 >= small,
                            low<1000, low >= -1000, Tensor({1}, {.dtype = dtypes::u64})> - 5})
    EXPECT_TRUE(all.all().item<bool>());
  for (const Tensor& none : {small == 257, small < -3, small >= 256, 300 <= small, low == 200})
    EXPECT_FALSE(none.any().item<bool>());
  EXPECT_EQ((small > -1).shape(), (Sizes64{2}));
  EXPECT_TRUE(holds<int>((small == 200).cast(dtypes::i32), {0, 1}, {2}));
}

TEST(TensorElementwise, NumbersFrom2To63On) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Tensor({largest}).dtype(), dtypes::u64);
  EXPECT_EQ(Tensor({largest}).item<std::uint64_t>(), largest);
  EXPECT_EQ(Tensor(largest).item<std::uint64_t>(), largest);
  EXPECT_TRUE(
      holds<double>(Tensor({1.0, 2.0}, {.dtype = dtypes::f64}) + largest, {0x1p64, 0x1p64}, {2}));
  EXPECT_EQ(Tensor::full({1}, largest).item<std::uint64_t>(), largest);
}

TEST(TensorElementwise, Choosing) {
  const Tensor x({-2.0, 0.5, 3.0});
  EXPECT_TRUE(holds<float>((x > 0).where(x, 0), {0, 0.5F, 3}, {3}));
  EXPECT_TRUE(holds<float>(x.maximum(1), {1, 1, 3}, {3}));
  EXPECT_TRUE(holds<float>(x.minimum(1), {-2, 0.5F, 1}, {3}));
  EXPECT_TRUE(holds<float>(x.clamp(-1, 1), {-1, 0.5F, 1}, {3}));
  EXPECT_TRUE(holds<float>(x.clip({}, 0), {-2, 0, 0}, {3}));
  EXPECT_TRUE(holds<float>(x.masked_fill(x < 0, 9), {9, 0.5F, 3}, {3}));
  EXPECT_TRUE(holds<int>(Tensor({3, -3}).minimum(Tensor({1, 1})), {1, -3}, {2}));
  EXPECT_TRUE(near(Tensor({0.0, 10.0}).lerp(Tensor({10.0, 20.0}), 0.25), {2.5, 12.5}, {2}));
  EXPECT_TRUE(holds<int>((x * 0).where(1, 2), {2, 2, 2}, {3}));
  EXPECT_EQ((x > 0).where(Tensor({1}), 2.5).dtype(), dtypes::f32);
}

TEST(TensorElementwise, Rounding) {
  const std::vector<double> values{-2.5, -1.5, -0.5, -0.3, 0.49999997, 0.5, 1.5, 2.5, 2.7};
  std::vector<double> floors, ceils, rounds, truncs;
  for (double value : values) {
    floors.push_back(std::floor(value));
    ceils.push_back(std::ceil(value));
    rounds.push_back(std::nearbyint(value));
    truncs.push_back(std::trunc(value));
  }
  const Tensor x(values, {.dtype = dtypes::f32});
  EXPECT_TRUE(holds<double>(x.floor(), floors, {9}));
  EXPECT_TRUE(holds<double>(x.ceil(), ceils, {9}));
  EXPECT_TRUE(holds<double>(x.round(), rounds, {9}));
  EXPECT_TRUE(holds<double>(x.trunc(), truncs, {9}));
  EXPECT_TRUE(holds<int>(Tensor({3, -3}).floor(), {3, -3}, {2}));
}

// As NumPy does: halves to even multiples.
TEST(TensorElementwise, RoundingOfIntegers) {
  const Tensor x({0, 4, 5, 6, 15, 25, -5, -15, -26, 149, 150, 250});
  EXPECT_TRUE(holds<int>(x.round(-1), {0, 0, 0, 10, 20, 20, 0, -20, -30, 150, 150, 250}, {12}));
  EXPECT_TRUE(holds<int>(x.round(-2), {0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200, 200}, {12}));
  EXPECT_TRUE(holds<int>(x.round(2), x.to_vector<int>(), {12}));
  EXPECT_TRUE(holds<int>(x.round(-12), std::vector<int>(12, 0), {12}));
  EXPECT_TRUE(holds<int>(Tensor({-128, 44}, {.dtype = dtypes::i8}).round(-1).cast(dtypes::i32),
                         {126, 40}, {2}));
}

TEST(TensorElementwise, Powers) {
  EXPECT_TRUE(near(Tensor({2.0, 9.0}).pow(0.5), {std::sqrt(2.0), 3}, {2}));
  EXPECT_TRUE(near(Tensor({2.0, 3.0}).pow(Tensor({3.0, -1.0})), {8, 1.0 / 3}, {2}));
  EXPECT_TRUE(holds<int>(Tensor({2, -3}).pow(5), {32, -243}, {2}));
  EXPECT_TRUE(holds<int>(Tensor({2, 3}).pow(Tensor({10, 4})), {1024, 81}, {2}));
  EXPECT_TRUE(holds<int>(Tensor({7}).pow(0), {1}, {1}));
  EXPECT_EQ(error_of([] { Tensor({2}).pow(-1); }),
            "pow: integers to the power -1: cast to a float first");
}

struct Function {
  const char* name;
  Tensor (*ours)(const Tensor&);
  double (*theirs)(double);
};

double softplus(double x) { return std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Function functions[] = {
    {"exp", [](const Tensor& x) { return x.exp(); }, std::exp},
    {"exp2", [](const Tensor& x) { return x.exp2(); }, std::exp2},
    {"log", [](const Tensor& x) { return x.abs().log(); },
     [](double x) { return std::log(std::abs(x)); }},
    {"log2", [](const Tensor& x) { return x.abs().log2(); },
     [](double x) { return std::log2(std::abs(x)); }},
    {"log10", [](const Tensor& x) { return x.abs().log10(); },
     [](double x) { return std::log10(std::abs(x)); }},
    {"sqrt", [](const Tensor& x) { return x.abs().sqrt(); },
     [](double x) { return std::sqrt(std::abs(x)); }},
    {"rsqrt", [](const Tensor& x) { return x.abs().rsqrt(); },
     [](double x) { return 1 / std::sqrt(std::abs(x)); }},
    {"reciprocal", [](const Tensor& x) { return x.reciprocal(); }, [](double x) { return 1 / x; }},
    {"sin", [](const Tensor& x) { return x.sin(); }, std::sin},
    {"cos", [](const Tensor& x) { return x.cos(); }, std::cos},
    {"tan", [](const Tensor& x) { return x.tan(); }, std::tan},
    {"erf", [](const Tensor& x) { return x.erf(); }, std::erf},
    {"tanh", [](const Tensor& x) { return x.tanh(); }, std::tanh},
    {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }, sigmoid},
    {"logsigmoid", [](const Tensor& x) { return x.logsigmoid(); },
     [](double x) { return -softplus(-x); }},
    {"softplus", [](const Tensor& x) { return x.softplus(); }, softplus},
    {"silu", [](const Tensor& x) { return x.silu(); }, [](double x) { return x * sigmoid(x); }},
    {"mish", [](const Tensor& x) { return x.mish(); },
     [](double x) { return x * std::tanh(softplus(x)); }},
    {"relu", [](const Tensor& x) { return x.relu(); }, [](double x) { return x > 0 ? x : 0; }},
    {"relu6", [](const Tensor& x) { return x.relu6(); },
     [](double x) { return std::min(x > 0 ? x : 0, 6.0); }},
    {"leaky_relu", [](const Tensor& x) { return x.leaky_relu(0.1); },
     [](double x) { return x > 0 ? x : 0.1 * x; }},
    {"elu", [](const Tensor& x) { return x.elu(2); },
     [](double x) { return x > 0 ? x : 2 * std::expm1(x); }},
    {"hardtanh", [](const Tensor& x) { return x.hardtanh(); },
     [](double x) { return std::max(-1.0, std::min(1.0, x)); }},
    {"gelu", [](const Tensor& x) { return x.gelu(); },
     [](double x) {
       return 0.5 * x *
              (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     }},
    {"exact gelu", [](const Tensor& x) { return x.gelu(Gelu::Exact); },
     [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"abs", [](const Tensor& x) { return x.abs(); }, [](double x) { return std::abs(x); }},
    {"neg", [](const Tensor& x) { return -x; }, [](double x) { return -x; }},
    {"square", [](const Tensor& x) { return x.square(); }, [](double x) { return x * x; }},
    {"sign", [](const Tensor& x) { return x.sign(); },
     [](double x) { return x > 0   ? 1.0
                           : x < 0 ? -1.0
                                   : x; }},
};

TEST(TensorElementwise, Functions) {
  const std::vector<double> values{-9.25, -3.5, -1.0, -0.37, -0.01, 0.01, 0.25, 1.0, 2.0, 8.75};
  for (const Function& function : functions) {
    std::vector<double> expected;
    for (double value : values) expected.push_back(function.theirs(static_cast<float>(value)));
    const Tensor x(values, {.dtype = dtypes::f32});
    EXPECT_TRUE(near(function.ours(x), expected, {10}, 2e-6)) << function.name;
    const Tensor wide(values);
    for (std::size_t i = 0; i < values.size(); ++i) expected[i] = function.theirs(values[i]);
    EXPECT_TRUE(near(function.ours(wide), expected, {10}, 1e-12)) << function.name;
  }
}

// Half a unit in the last place, which is 2^-8 of it at most, and what the polynomial is off.
TEST(TensorElementwise, ErfOfBf16IsWithinAUnit) {
  std::vector<float> values;
  for (std::uint32_t bits = 0x3000; bits < 0x4200; ++bits)
    for (const std::uint32_t sign : {0U, 0x8000U})
      values.push_back(std::bit_cast<float>((bits | sign) << 16U));
  const Tensor x = Tensor(values).cast(dtypes::bf16);
  const std::vector<float> y = x.erf().cast(dtypes::f32).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(y[i] / std::erf(values[i]), 1, 0x1p-8 + 0x1p-11) << values[i];
  const Tensor far = Tensor({-infinity, -0.0, 1e30, nan}).cast(dtypes::bf16);
  EXPECT_TRUE(near(far.erf().cast(dtypes::f32), {-1, 0, 1, nan}, {4}));
}

TEST(TensorElementwise, InfinityAndNaN) {
  const Tensor x({-infinity, -0.0, infinity, nan});
  EXPECT_TRUE(holds<bool>(x.isnan(), {false, false, false, true}, {4}));
  EXPECT_TRUE(holds<bool>(x.isinf(), {true, false, true, false}, {4}));
  EXPECT_TRUE(holds<bool>(x.isfinite(), {false, true, false, false}, {4}));
  EXPECT_TRUE(near(x.relu(), {0, 0, infinity, nan}, {4}));
  EXPECT_TRUE(near(x.sigmoid(), {0, 0.5, 1, nan}, {4}));
  EXPECT_TRUE(near(x.exp(), {0, 1, infinity, nan}, {4}));
  EXPECT_TRUE(near(x.softplus(), {0, std::log(2.0), infinity, nan}, {4}));
  EXPECT_TRUE(near(x.sign(), {-1, 0, 1, nan}, {4}));
  EXPECT_TRUE(holds<bool>(Tensor({1, 2}).isinf(), {false, false}, {2}));
}

TEST(TensorElementwise, Casts) {
  EXPECT_TRUE(holds<int>(Tensor({1.9, -1.9, 300.0}).cast(dtypes::u8), {1, 0, 255}, {3}));
  EXPECT_TRUE(holds<bool>(Tensor({0.0, 0.5}).cast(dtypes::bool_), {false, true}, {2}));
  EXPECT_TRUE(holds<double>(Tensor({2049.0, 0.1}).to(dtypes::f16), {2048, 0.0999755859375}, {2}));
  EXPECT_TRUE(holds<std::uint32_t>(Tensor({1.0}).bitcast(dtypes::u32), {0x3f800000}, {1}));
  EXPECT_EQ(error_of([] { Tensor({1.0}).bitcast(dtypes::u8); }),
            "bitcast: f32 and u8 differ in width");
  const Tensor bools({true, false});
  EXPECT_TRUE(holds<int>((bools ^ Tensor({true, true})).bitcast(dtypes::i8), {0, 1}, {2}));
  EXPECT_TRUE(holds<bool>((bools.cast(dtypes::u8) * 2).bitcast(dtypes::bool_), {true, false}, {2}));
  const Tensor x({1, 2});
  EXPECT_EQ(x.bitcast(x.dtype()).realize().data<int>().data(), x.data<int>().data());
}

// As many as fill vectors, with what lies around the ends of each type.
TEST(TensorElementwise, FloatsSaturateAsIntegersInVectors) {
  std::vector<double> values{0,   -0.0,     0.99,      -0.99, 1.5,   -1.5,
                             NAN, INFINITY, -INFINITY, 1e300, -1e300};
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64})
    for (const double off : {-1.0, -0.5, 0.0, 0.5, 1.0})
      for (const double sign : {-1.0, 1.0}) values.push_back(sign * (std::ldexp(1.0, bits) + off));
  for (const DType from : {dtypes::f32, dtypes::f64}) {
    const Tensor x = Tensor(values, {.dtype = dtypes::f64}).cast(from).realize();
    for (const DType to : {dtypes::i8, dtypes::u8, dtypes::i16, dtypes::u16, dtypes::i32,
                           dtypes::u32, dtypes::i64, dtypes::u64}) {
      const auto bits_of = [&](const Tensor& of) {
        return of.cast(to).realize().to("INTERP").cast(dtypes::i64).to_vector<std::int64_t>();
      };
      EXPECT_EQ(bits_of(x), bits_of(x.to("INTERP"))) << from.str() << " to " << to.str();
    }
  }
}

TEST(Elementwise, FloorsQuotientsOfItsOwnDtype) {
  const Tensor one({1.0}, {.dtype = dtypes::f16}), tenth({0.1}, {.dtype = dtypes::f16});
  EXPECT_EQ(one.floordiv(0.1).item<float>(), 10);
  EXPECT_EQ(one.floordiv(tenth).item<float>(), 10);
}

// The quotients of f32 are known in f64; those of f64 in integers.
TEST(Elementwise, FloorsQuotientsThatRoundToTheNextInteger) {
  std::mt19937_64 random(1);
  std::vector<float> a{1284096, -1284096}, b{0.2f, 0.2f};
  std::vector<double> wide_a, wide_b, expected, wide_expected;
  for (int i = 0; i < 4000; ++i) {
    const float divisor =
        std::ldexp(static_cast<float>(random() % 1000 + 1), static_cast<int>(random() % 20) - 10);
    const auto times = static_cast<float>(random() % (std::uint64_t{1} << random() % 24));
    b.push_back(random() % 2 == 0 ? divisor : -divisor);
    a.push_back(random() % 2 == 0 ? times * divisor : std::nextafter(times * divisor, 0.f));
  }
  for (std::size_t i = 0; i < a.size(); ++i)
    expected.push_back(std::floor(static_cast<double>(a[i]) / static_cast<double>(b[i])));
  const std::vector<float> found = Tensor(a).floordiv(Tensor(b)).to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(found[i], static_cast<float>(expected[i])) << a[i] << " by " << b[i];
  for (int i = 0; i < 1000; ++i) {
    const auto divisor = static_cast<std::int64_t>(random() % 1000 + 1),
               dividend = static_cast<std::int64_t>(random() >> 12) - (std::int64_t{1} << 51);
    wide_a.push_back(static_cast<double>(dividend));
    wide_b.push_back(static_cast<double>(divisor));
    wide_expected.push_back(
        static_cast<double>(dividend / divisor - (dividend % divisor < 0 ? 1 : 0)));
  }
  EXPECT_TRUE(holds<double>(Tensor(wide_a).floordiv(Tensor(wide_b)), wide_expected, {1000}));
}

}  // namespace
}  // namespace weft
