#include <weft/dev/ir/value.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/error.h>

#include "float_reference.h"

namespace weft {
namespace {

using namespace dtypes;
using reference::small_float;
using reference::small_floats;
using reference::SmallFloat;

constexpr std::uint64_t seed = 20250311;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<DType> ints = {index, i8, i16, i32, i64, u8, u16, u32, u64};
const std::vector<DType> floats = {weak, f8e4m3, f8e5m2, f16, bf16, f32, f64};

std::vector<DType> all_numbers() {
  std::vector<DType> all = {bool_};
  all.insert(all.end(), ints.begin(), ints.end());
  all.insert(all.end(), floats.begin(), floats.end());
  return all;
}

template <class Word, class T>
Bits raw(T value) {
  return std::bit_cast<Word>(value);
}
Bits f32_raw(float value) { return raw<std::uint32_t>(value); }
Bits f64_raw(double value) { return raw<std::uint64_t>(value); }

// Calls f with a value of the C++ type of each fixed-width integer dtype.
template <class F>
void for_native_ints(F f) {
  f(i8, std::int8_t{});
  f(i16, std::int16_t{});
  f(i32, std::int32_t{});
  f(i64, std::int64_t{});
  f(u8, std::uint8_t{});
  f(u16, std::uint16_t{});
  f(u32, std::uint32_t{});
  f(u64, std::uint64_t{});
}

const std::vector<std::int64_t>& int_edges() {
  static const std::vector<std::int64_t> edges = [] {
    std::vector<std::int64_t> all;
    for (int bit : {0, 1, 3, 7, 8, 11, 12, 15, 16, 24, 25, 31, 32, 53, 54, 62, 63})
      for (int delta : {-2, -1, 0, 1, 2}) {
        const std::uint64_t value = (std::uint64_t{1} << bit) + static_cast<std::uint64_t>(delta);
        all.push_back(static_cast<std::int64_t>(value));
        all.push_back(static_cast<std::int64_t>(0 - value));
      }
    return all;
  }();
  return edges;
}

// Every number of a small float, and just beside and between each two neighbours.
template <class T>
std::vector<T> boundaries(const SmallFloat& format) {
  const T far = std::numeric_limits<T>::infinity();
  std::vector<T> all = {far, std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min()};
  for (std::size_t i = 0; i < format.values.size(); ++i) {
    const double low = format.values[i];
    const double high = i + 1 < format.values.size() ? format.values[i + 1] : format.past_end;
    for (double exact : {low, (low + high) / 2}) {
      const T x = static_cast<T>(exact);
      all.insert(all.end(), {x, std::nextafter(x, far), std::nextafter(x, -far)});
    }
  }
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) all.push_back(-all[i]);
  return all;
}

TEST(Decode, EveryCodeOfTheSmallFloats) {
  for (const SmallFloat& format : small_floats())
    for (Bits code = 0; code < format.codes(); ++code) {
      const double got = double_from_bits(code, format.dtype), want = format.decode(code);
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << format.dtype.str() << " " << code;
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got)) << format.dtype.str() << " " << code;
      else
        ASSERT_EQ(got, want) << format.dtype.str() << " " << code;
      const Bits single = convert(code, format.dtype, f32);
      ASSERT_EQ(convert(single, f32, f64), f64_raw(got)) << format.dtype.str() << " " << code;
    }
}

TEST(Encode, SmallFloatsAtAllBoundaries) {
  for (const SmallFloat& format : small_floats()) {
    for (double x : boundaries<double>(format))
      ASSERT_EQ(bits_from_double(x, format.dtype), format.encode(x))
          << format.dtype.str() << fmt::format(" of {:a}", x);
    for (float x : boundaries<float>(format))
      ASSERT_EQ(convert(f32_raw(x), f32, format.dtype), format.encode(x))
          << format.dtype.str() << fmt::format(" of {:a}", x);
  }
}

TEST(Encode, SmallFloatsFromEachOther) {
  for (const SmallFloat& from : small_floats())
    for (const SmallFloat& to : small_floats())
      for (Bits code = 0; code < from.codes(); ++code) {
        if (from.is_nan(code) || from.dtype == to.dtype) continue;
        ASSERT_EQ(convert(code, from.dtype, to.dtype), to.encode(from.decode(code)))
            << from.dtype.str() << " " << code << " to " << to.dtype.str();
      }
}

TEST(Encode, RoundsOnceFromDouble) {
  // Just above the tie of 1 and the next f16: through f32 it would become the tie, and 1.
  EXPECT_EQ(bits_from_double(1 + 0x1p-11 + 0x1p-40, f16), 0x3c01u);
  EXPECT_EQ(bits_from_double(1 + 0x1p-8 + 0x1p-40, bf16), 0x3f81u);
  EXPECT_EQ(bits_from_double(1 + 0x1p-4 + 0x1p-40, f8e4m3), 0x39u);
  EXPECT_EQ(bits_from_double(1 + 0x1p-3 + 0x1p-40, f8e5m2), 0x3du);
  EXPECT_EQ(bits_from_double(0x1p-25 + 0x1p-70, f16), 1u);
  EXPECT_EQ(bits_from_double(0x1p-25, f16), 0u);
}

TEST(Encode, OverflowOfFp8) {
  EXPECT_EQ(bits_from_double(464, f8e4m3), 0x7eu);  // the tie goes to 448
  EXPECT_EQ(bits_from_double(-465, f8e4m3), 0xffu);
  EXPECT_EQ(bits_from_double(61439, f8e5m2), 0x7bu);
  EXPECT_EQ(bits_from_double(61440, f8e5m2), 0x7cu);  // this tie goes to infinity
  EXPECT_EQ(bits_from_int(-100000, f8e5m2), 0xfcu);
  EXPECT_EQ(convert(~Bits{0}, u64, f8e4m3), 0x7fu);
  EXPECT_EQ(bits_from_double(-inf, f8e5m2), 0xfcu);
  EXPECT_EQ(bits_from_double(-inf, f8e4m3), 0xffu);
}

TEST(Encode, NativeFloatsAsTheProcessorDoes) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200000; ++i) {
    const int exponent = static_cast<int>(random() % 300) - 160;
    const double x = std::ldexp(static_cast<std::int64_t>(random()), exponent - 63);
    ASSERT_EQ(convert(f64_raw(x), f64, f32), f32_raw(static_cast<float>(x))) << "seed " << seed;
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(single)) continue;
    ASSERT_EQ(convert(f32_raw(single), f32, f64), f64_raw(single)) << "seed " << seed;
  }
}

TEST(Encode, NanStaysNan) {
  EXPECT_EQ(convert(0x7fc00000, f32, f16), 0x7e00u);
  EXPECT_EQ(convert(0xffc00000, f32, f16), 0xfe00u);
  EXPECT_EQ(convert(0xff802000, f32, f16), 0xfe01u);  // signalling: quiet, top of the payload kept
  EXPECT_EQ(convert(0x7f800001, f32, f16), 0x7e00u);
  EXPECT_EQ(convert(0x7fa10000, f32, bf16), 0x7fe1u);
  EXPECT_EQ(convert(0xfd55, f16, f32), 0xffeaa000u);
  EXPECT_EQ(convert(0xff81, bf16, f32), 0xff810000u);  // bits that move
  EXPECT_EQ(convert(0xfff4000000000001, f64, f32), 0xffe00000u);
  EXPECT_EQ(convert(0xffc00000, f32, f8e4m3), 0xffu);
  EXPECT_EQ(convert(0x7fe00000, f32, f8e5m2), 0x7fu);
  EXPECT_EQ(convert(0xff, f8e4m3, f32), 0xffc00000u);
  EXPECT_EQ(convert(0xff, f8e4m3, f8e5m2), 0xfeu);
  for (DType from : floats)
    for (DType to : floats)
      EXPECT_TRUE(std::isnan(double_from_bits(convert(bits_from_double(nan, from), from, to), to)))
          << from.str() << " " << to.str();
}

TEST(IntToFloat, RoundsOnce) {
  const auto compare_whole = [](std::uint64_t magnitude) {
    return [magnitude](double x) -> std::partial_ordering {
      if (x >= 0x1p64) return std::partial_ordering::less;
      const auto whole = static_cast<std::uint64_t>(x);
      if (magnitude == whole && x != std::trunc(x)) return std::partial_ordering::less;
      return magnitude <=> whole;
    };
  };
  for (const SmallFloat& format : small_floats()) {
    std::vector<std::int64_t> values = int_edges();
    for (double x : boundaries<double>(format))
      if (std::fabs(x) < 0x1p62)
        for (int delta : {-1, 0, 1}) values.push_back(static_cast<std::int64_t>(x) + delta);
    for (std::int64_t value : values) {
      const auto code = [&](std::uint64_t magnitude) {
        return format.nearest(compare_whole(magnitude));
      };
      const auto bits = static_cast<Bits>(value);
      const Bits want = value < 0 ? format.sign | code(0 - bits) : code(bits);
      ASSERT_EQ(bits_from_int(value, format.dtype), want) << format.dtype.str() << " " << value;
      ASSERT_EQ(convert(bits, u64, format.dtype), code(bits)) << format.dtype.str() << " " << value;
    }
  }
}

TEST(IntToFloat, NativeFloatsAsTheProcessorDoes) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> values = int_edges();
  for (int i = 0; i < 20000; ++i)
    values.push_back(static_cast<std::int64_t>(random()) >> random() % 64);
  for (std::int64_t value : values) {
    const auto bits = static_cast<Bits>(value);
    ASSERT_EQ(bits_from_int(value, f32), f32_raw(static_cast<float>(value))) << value;
    ASSERT_EQ(bits_from_int(value, f64), f64_raw(static_cast<double>(value))) << value;
    ASSERT_EQ(convert(bits, u64, f32), f32_raw(static_cast<float>(bits))) << bits;
    ASSERT_EQ(convert(bits, u64, weak), f64_raw(static_cast<double>(bits))) << bits;
  }
}

// What the op table says of CAST, for a type of `bits` bits.
Bits truncated(double x, DType to) {
  if (std::isnan(x)) return 0;
  const int magnitude_bits = to.is_unsigned() ? to.bits() : to.bits() - 1;
  const double end = std::ldexp(1, magnitude_bits), whole = std::trunc(x);
  const Bits highest = ~Bits{0} >> (64 - magnitude_bits);
  if (whole >= end) return highest;
  if (to.is_unsigned()) return whole <= 0 ? 0 : static_cast<Bits>(whole);
  return whole < -end ? ~highest : static_cast<Bits>(static_cast<std::int64_t>(whole));
}

TEST(FloatToInt, EveryCodeOfTheSmallFloats) {
  for (const SmallFloat& format : small_floats())
    for (DType to : ints)
      for (Bits code = 0; code < format.codes(); ++code)
        ASSERT_EQ(convert(code, format.dtype, to), truncated(format.decode(code), to))
            << format.dtype.str() << " " << code << " to " << to.str();
}

TEST(FloatToInt, TruncatesAndSaturates) {
  for (DType to : ints)
    for (std::int64_t edge : int_edges())
      for (double x : {static_cast<double>(edge), static_cast<double>(edge) + 0.5,
                       std::nextafter(static_cast<double>(edge), inf),
                       std::nextafter(static_cast<double>(edge), -inf), -0.0, inf, -inf, nan}) {
        ASSERT_EQ(bits_from_double(x, to), truncated(x, to)) << x << " to " << to.str();
        const auto single = static_cast<float>(x);
        ASSERT_EQ(convert(f32_raw(single), f32, to), truncated(single, to)) << x << to.str();
      }
  EXPECT_EQ(int_from_bits(f32_raw(-3.99f), f32), -3);
  EXPECT_EQ(bits_from_double(300, u8), 255u);
  EXPECT_EQ(bits_from_double(-300, i8), static_cast<Bits>(-128));
  EXPECT_EQ(bits_from_double(-0.9, u64), 0u);
  EXPECT_EQ(bits_from_double(0x1p63, index), 0x7fffffffffffffffu);
  EXPECT_EQ(int_from_bits(~Bits{0}, u64), -1);
}

TEST(IntToInt, WrapsAsACastInCpp) {
  std::vector<std::int64_t> values = int_edges();
  for (int i = -70000; i < 70000; ++i) values.push_back(i);
  for_native_ints([&](DType from, auto source) {
    for_native_ints([&](DType to, auto target) {
      for (std::int64_t value : values) {
        const std::int64_t given = static_cast<decltype(source)>(value);
        const std::int64_t want = static_cast<decltype(target)>(given);
        ASSERT_EQ(convert(static_cast<Bits>(given), from, to), static_cast<Bits>(want))
            << value << " " << from.str() << " " << to.str();
      }
    });
  });
  for (std::int64_t value : values) {
    ASSERT_EQ(convert(static_cast<Bits>(value), index, i64), static_cast<Bits>(value));
    ASSERT_EQ(bits_from_int(value, i8), static_cast<Bits>(static_cast<std::int8_t>(value)));
    ASSERT_EQ(bits_from_int(value, u16), static_cast<Bits>(static_cast<std::uint16_t>(value)));
  }
}

TEST(Bool, IsWhetherNotZero) {
  for (DType dtype : all_numbers()) {
    EXPECT_EQ(convert(bits_from_int(0, dtype), dtype, bool_), 0u) << dtype.str();
    EXPECT_EQ(convert(bits_from_int(1, dtype), dtype, bool_), 1u) << dtype.str();
    EXPECT_EQ(convert(highest_bits(dtype), dtype, bool_), 1u) << dtype.str();
    EXPECT_EQ(int_from_bits(convert(1, bool_, dtype), dtype), 1) << dtype.str();
    EXPECT_EQ(int_from_bits(convert(0, bool_, dtype), dtype), 0) << dtype.str();
  }
  for (DType dtype : floats) {
    EXPECT_EQ(convert(bits_from_double(-0.0, dtype), dtype, bool_), 0u) << dtype.str();
    EXPECT_EQ(convert(bits_from_double(nan, dtype), dtype, bool_), 1u) << dtype.str();
  }
  EXPECT_EQ(bits_from_int(256, bool_), 1u);
  EXPECT_EQ(bits_from_double(0x1p-1074, bool_), 1u);
  EXPECT_EQ(bits_from_double(0.25, bool_), 1u);
}

// Values of one dtype in ascending order.
std::vector<Bits> ascending(DType dtype) {
  std::vector<Bits> values = {lowest_bits(dtype), highest_bits(dtype)};
  for (std::int64_t edge : int_edges()) values.push_back(bits_from_int(edge, dtype));
  for (double x : {0.1, 0.5, 1.5, 2.5, 3.7, 127.5, 255.5, 65504.5, 1e-8, 1e-40, 1e10, 1e30, 1e300})
    for (double signed_x : {x, -x}) values.push_back(bits_from_double(signed_x, dtype));
  std::erase_if(values, [&](Bits bits) { return std::isnan(double_from_bits(bits, dtype)); });
  std::ranges::sort(values, [&](Bits a, Bits b) {
    if (dtype.is_float()) return double_from_bits(a, dtype) < double_from_bits(b, dtype);
    return dtype.is_unsigned() ? a < b
                               : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  });
  return values;
}

TEST(Convert, AllPairsGiveCanonicalBits) {
  for (DType from : all_numbers())
    for (DType to : all_numbers())
      for (Bits bits : ascending(from)) {
        const Bits result = convert(bits, from, to);
        ASSERT_EQ(reinterpret(result, to, to), result) << from.str() << " " << to.str();
        ASSERT_EQ(convert(bits, from.vec(4), to.vec(4)), result);
        ASSERT_TRUE(from != to || result == bits) << from.str();
      }
}

TEST(Convert, AllPairsKeepTheOrderUnlessTheyWrap) {
  for (DType from : all_numbers())
    for (DType to : all_numbers()) {
      if (to.is_bool() || (from.is_int() && to.is_int())) continue;
      const std::vector<Bits> values = ascending(from);
      for (std::size_t i = 1; i < values.size(); ++i) {
        const Bits low = convert(values[i - 1], from, to), high = convert(values[i], from, to);
        const double before = double_from_bits(low, to), after = double_from_bits(high, to);
        if (std::isnan(before) || std::isnan(after)) continue;  // too large for f8e4m3
        ASSERT_LE(before, after) << from.str() << " " << to.str() << " " << values[i];
      }
    }
}

TEST(Convert, WideningAndBackIsTheIdentity) {
  const auto digits = [](DType dtype) {  // of the integers that a dtype holds exactly
    switch (dtype.kind()) {
      case Kind::F16: return 11;
      case Kind::BF16: return 8;
      case Kind::F32: return 24;
      case Kind::F64:
      case Kind::Weak: return 53;
      default: return 0;
    }
  };
  for (DType from : ints)
    for (DType to : floats) {
      if (from.bits() > digits(to)) continue;
      for (Bits bits : ascending(from))
        ASSERT_EQ(convert(convert(bits, from, to), to, from), bits) << from.str() << to.str();
    }
  for (const SmallFloat& format : small_floats())
    for (Bits code = 0; code < format.codes(); ++code)
      for (DType wide : {f32, f64, weak}) {
        if (format.is_nan(code)) continue;
        ASSERT_EQ(convert(convert(code, format.dtype, wide), wide, format.dtype), code);
      }
}

TEST(Convert, RefusesWhatHasNoValue) {
  EXPECT_THROW(convert(0, void_, f32), Error);
  EXPECT_THROW(convert(0, f32, DType::fragment("tile")), Error);
  EXPECT_THROW(lowest_bits(void_), Error);
  EXPECT_THROW(highest_bits(DType::fragment("tile")), Error);
}

TEST(Reinterpret, ReadsTheSameBits) {
  EXPECT_EQ(reinterpret(f32_raw(-1.0f), f32, u32), 0xbf800000u);
  EXPECT_EQ(reinterpret(f32_raw(-1.0f), f32, i32), 0xffffffffbf800000u);
  EXPECT_EQ(reinterpret(0xffffffffbf800000, i32, f32), 0xbf800000u);
  EXPECT_EQ(reinterpret(static_cast<Bits>(-1), i8, u8), 0xffu);
  EXPECT_EQ(reinterpret(static_cast<Bits>(-1), i8, f8e4m3), 0xffu);
  EXPECT_EQ(reinterpret(0x8000, f16, i16), static_cast<Bits>(-32768));
  EXPECT_EQ(reinterpret(0x7fa1, bf16, f16), 0x7fa1u);  // a signalling NaN passes untouched
  EXPECT_EQ(reinterpret(~Bits{0}, i64, u64), ~Bits{0});
  EXPECT_EQ(reinterpret(1, bool_, bool_), 1u);
  for (DType a : all_numbers())
    for (DType b : all_numbers()) {
      if (a.bits() == b.bits())
        for (Bits bits : ascending(a)) EXPECT_EQ(reinterpret(reinterpret(bits, a, b), b, a), bits);
      else
        EXPECT_THROW(reinterpret(0, a, b), Error) << a.str() << " " << b.str();
    }
  EXPECT_THROW(reinterpret(0, void_, void_), Error);
}

TEST(Limits, OfEveryDType) {
  for_native_ints([](DType dtype, auto native) {
    using Native = decltype(native);
    EXPECT_EQ(lowest_bits(dtype), static_cast<Bits>(std::numeric_limits<Native>::min()));
    EXPECT_EQ(highest_bits(dtype), static_cast<Bits>(std::numeric_limits<Native>::max()));
  });
  EXPECT_EQ(lowest_bits(bool_), 0u);
  EXPECT_EQ(highest_bits(bool_), 1u);
  EXPECT_EQ(lowest_bits(index), lowest_bits(i64));
  EXPECT_EQ(double_from_bits(lowest_bits(f8e4m3), f8e4m3), -448);
  EXPECT_EQ(double_from_bits(highest_bits(f8e4m3), f8e4m3), 448);
  for (DType dtype : {weak, f8e5m2, f16, bf16, f32, f64}) {
    EXPECT_EQ(double_from_bits(lowest_bits(dtype), dtype), -inf) << dtype.str();
    EXPECT_EQ(double_from_bits(highest_bits(dtype), dtype), inf) << dtype.str();
  }
}

// What numpy and ml_dtypes make of the same: see golden/make_minifloat.py.
class Golden : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "golden" / "minifloat.txt";
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }

  // The rest of the line that starts with these words.
  std::string find(const std::string& words) const {
    for (const std::string& line : lines)
      if (line.starts_with(words + " ")) return line.substr(words.size() + 1);
    return "no line: " + words;
  }

  std::vector<std::string> lines;
};

class Crc32 {
 public:
  void add(Bits bits, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      state_ ^= static_cast<std::uint32_t>(bits >> 8 * i & 0xff);
      for (int bit = 0; bit < 8; ++bit) state_ = state_ >> 1 ^ (state_ & 1 ? 0xedb88320 : 0);
    }
  }
  std::string str() const { return fmt::format("{:08x}", ~state_); }

 private:
  std::uint32_t state_ = ~0u;
};

Bits one_nan(Bits bits, DType dtype) {
  return std::isnan(double_from_bits(bits, dtype)) ? bits_from_double(nan, dtype) : bits;
}

TEST_F(Golden, DecodesAndEncodes) {
  for (const SmallFloat& format : small_floats()) {
    const DType dtype = format.dtype;
    Crc32 decoded, encoded;
    for (Bits code = 0; code < format.codes(); ++code)
      decoded.add(one_nan(convert(code, dtype, f32), f32), 4);
    EXPECT_EQ(find("decode " + dtype.str()), decoded.str());
    for (Bits i = 0; i < 65536; ++i) {
      const Bits code = convert(i * 65537, f32, dtype);
      encoded.add(one_nan(code, dtype), static_cast<int>(dtype.bytes()));
    }
    EXPECT_EQ(find("encode " + dtype.str()), encoded.str());
  }
}

TEST_F(Golden, EncodesDoublesNearTies) {
  const SmallFloat& format = small_float(f16);
  Crc32 crc;
  for (double end : {0.0, inf, -inf})
    for (Bits code = 0; code < format.codes(); ++code) {
      const Bits magnitude = code & 0x7fff;
      if (magnitude > format.largest()) continue;
      const double next =
          magnitude == format.largest() ? format.past_end : format.values[magnitude + 1];
      const double tie = format.decode(code) + (next - format.values[magnitude]) / 2;
      const double x = end == 0 ? tie : std::nextafter(tie, end);
      crc.add(bits_from_double(x, f16), 2);
    }
  EXPECT_EQ(find("encode_f64 f16"), crc.str());
}

TEST_F(Golden, CastsSamples) {
  const DType columns[] = {f16, bf16, f8e4m3, f8e5m2};
  int samples = 0;
  for (const std::string& line : lines) {
    if (!line.starts_with("cast ")) continue;
    std::istringstream words(line.substr(5));
    Bits source = 0;
    words >> std::hex >> source;
    for (DType dtype : columns) {
      Bits want = 0;
      words >> want;
      const Bits got = convert(source, f32, dtype);
      EXPECT_EQ(one_nan(got, dtype), want) << line << ": " << dtype.str();
    }
    ++samples;
  }
  EXPECT_GT(samples, 1000);
}

TEST_F(Golden, ComputesOnPairs) {
  struct {
    const char* name;
    Op op;
  } const ops[] = {{"add", Op::Add}, {"sub", Op::Sub}, {"mul", Op::Mul}, {"div", Op::Div}};
  for (const SmallFloat& format : small_floats())
    for (const auto& [name, op] : ops) {
      Crc32 crc;
      for (Bits i = 0; i < 65536; ++i) {
        const bool wide = format.dtype.bits() == 16;
        const Bits left = wide ? i : i >> 8, right = wide ? (40503 * i + 12345) & 0xffff : i & 0xff;
        const auto result = evaluate(op, format.dtype, std::array{left, right});
        crc.add(result.value(), static_cast<int>(format.dtype.bytes()));
      }
      EXPECT_EQ(find(fmt::format("{} {}", name, format.dtype.str())), crc.str());
    }
}

}  // namespace
}  // namespace weft
