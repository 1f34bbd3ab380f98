#include <weft/dtype.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/error.h>

namespace weft {
namespace {

using namespace dtypes;

const std::vector<DType> numbers = {bool_, index, i8,     i16,    i32, i64,  u8,  u16, u32,
                                    u64,   weak,  f8e4m3, f8e5m2, f16, bf16, f32, f64};

TEST(DType, SizesOfScalarsAndVectors) {
  struct {
    DType dtype;
    int bits;
    std::size_t bytes;
  } const cases[] = {
      {void_, 0, 0},     {bool_, 1, 1},        {index, 64, 8},
      {weak, 64, 8},     {i8, 8, 1},           {u16, 16, 2},
      {i32, 32, 4},      {u64, 64, 8},         {f8e4m3, 8, 1},
      {f8e5m2, 8, 1},    {f16, 16, 2},         {bf16, 16, 2},
      {f32, 32, 4},      {f64, 64, 8},         {f32.vec(4), 32, 16},
      {i8.vec(3), 8, 3}, {bool_.vec(5), 1, 5}, {DType::fragment("a"), 0, 0},
  };
  for (const auto& [dtype, bits, bytes] : cases) {
    EXPECT_EQ(dtype.bits(), bits) << dtype.str();
    EXPECT_EQ(dtype.bytes(), bytes) << dtype.str();
  }
}

TEST(DType, GroupsAreDisjointAndComplete) {
  for (DType dtype : numbers)
    EXPECT_EQ(dtype.is_bool() + dtype.is_int() + dtype.is_float(), 1) << dtype.str();
  EXPECT_TRUE(index.is_int() && index.is_weak() && !index.is_unsigned());
  EXPECT_TRUE(weak.is_float() && weak.is_weak() && !f64.is_weak());
  EXPECT_FALSE(void_.is_int() || void_.is_float() || void_.is_bool());
}

TEST(DType, PrintsAndParsesBack) {
  std::set<std::string> seen;
  for (DType dtype : numbers)
    for (DType each : {dtype, dtype.vec(2), dtype.vec(16), dtype.vec(DType::most_lanes)}) {
      EXPECT_TRUE(seen.insert(each.str()).second) << each.str();
      EXPECT_EQ(parse_dtype(each.str()), each) << each.str();
    }
  EXPECT_EQ(parse_dtype("void"), void_);
  EXPECT_EQ(parse_dtype("index"), index);
  EXPECT_EQ(f32.vec(4).str(), "f32x4");
  EXPECT_EQ(index.vec(8).str(), "indexx8");
  const DType tile = DType::fragment("m16n8k16.a");
  EXPECT_EQ(tile.str(), "fragment<m16n8k16.a>");
  EXPECT_EQ(parse_dtype(tile.str()), tile);
}

TEST(DType, RejectsWhatItWouldNotPrint) {
  for (const char* text : {"",
                           " ",
                           "f",
                           "f31",
                           "F32",
                           "f32 ",
                           " f32",
                           "f32x",
                           "f32x0",
                           "f32x1",
                           "f32x04",
                           "f32x+4",
                           "f32x-4",
                           "f32x4x4",
                           "f32x 4",
                           "f32x4 ",
                           "f32x4097",
                           "f32x16777217",
                           "f32x99999999999999999999",
                           "x4",
                           "voidx4",
                           "fragment",
                           "fragmentx4",
                           "fragment<",
                           "fragment<>",
                           "fragment<a",
                           "fragment<a>>",
                           "fragment<a b>",
                           "fragment<<a>",
                           "fragment<a>x2",
                           "fragment<\n>"})
    EXPECT_EQ(parse_dtype(text), std::nullopt) << text;
}

std::string error_of_vec(DType dtype, std::uint32_t lanes) {
  try {
    return dtype.vec(lanes).str();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(DType, VectorsHaveLanesWithinTheLimit) {
  EXPECT_EQ(error_of_vec(f32, 0), "0 lanes of f32, but a vector has 1 to 4096");
  EXPECT_EQ(error_of_vec(f32, 4096), "f32x4096");
  EXPECT_EQ(error_of_vec(f32, 4097), "4097 lanes of f32, but a vector has 1 to 4096");
  EXPECT_EQ(error_of_vec(f32.vec(2), 1u << 24),
            "16777216 lanes of f32, but a vector has 1 to 4096");
  EXPECT_EQ(f32.vec(8).vec(2), f32.vec(2));
  EXPECT_EQ(f32.vec(8).vec(1), f32);
}

TEST(DType, HasNoVectorsOfVoidAndFragments) {
  const DType tile = DType::fragment("vectorless");
  EXPECT_EQ(tile.vec(1), tile);
  EXPECT_EQ(error_of_vec(tile, 4), "4 lanes of fragment<vectorless>, which has no vectors");
  EXPECT_EQ(void_.vec(1), void_);
  EXPECT_EQ(error_of_vec(void_, 2), "2 lanes of void, which has no vectors");
  EXPECT_THROW(static_cast<void>(DType(Kind::Fragment)), Error);
}

TEST(DType, FragmentsAreEqualByName) {
  const DType a = DType::fragment("tile"), b = DType::fragment(std::string("ti") + "le");
  EXPECT_EQ(a, b);
  EXPECT_NE(a, DType::fragment("tile2"));
  EXPECT_EQ(a.fragment_name(), "tile");
  EXPECT_EQ(a.fragment_name().data(), b.fragment_name().data());
  EXPECT_EQ(a.lanes(), 1u);
  EXPECT_EQ(a.scalar(), a);
  EXPECT_EQ(f32.fragment_name(), "");
  EXPECT_THROW(DType::fragment(""), Error);
  EXPECT_THROW(DType::fragment("a>b"), Error);
}

TEST(DType, FragmentsAreNamedByManyThreads) {
  constexpr int threads = 4, names = 300;
  std::vector<std::vector<DType>> made(threads);
  std::vector<std::thread> workers;
  workers.reserve(threads);
  for (auto& mine : made)
    workers.emplace_back([&mine] {
      for (int i = 0; i < names; ++i) {
        mine.push_back(DType::fragment("shared" + std::to_string(i)));
        if (mine.back().fragment_name() != "shared" + std::to_string(i)) mine.clear();
      }
    });
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(made[0].size(), static_cast<std::size_t>(names));
  for (const auto& each : made) EXPECT_EQ(each, made[0]);
}

TEST(Promote, KeyPairs) {
  struct {
    DType a, b, result;
  } const cases[] = {
      {bool_, index, index},  {bool_, i8, i8},       {bool_, f16, f16},    {bool_, weak, weak},
      {index, i8, i8},        {index, u64, u64},     {index, weak, weak},  {index, f16, f16},
      {i8, u8, i16},          {i8, u16, i32},        {i8, u32, i64},       {i8, u64, f32},
      {i16, u8, i16},         {i32, u32, i64},       {i32, u8, i32},       {i64, u32, i64},
      {i64, u64, f32},        {u8, u64, u64},        {i32, weak, weak},    {u64, weak, weak},
      {weak, f8e4m3, f8e4m3}, {weak, f16, f16},      {weak, bf16, bf16},   {weak, f32, f32},
      {weak, f64, f64},       {i64, f8e5m2, f8e5m2}, {u64, f16, f16},      {i32, f32, f32},
      {f8e4m3, f8e5m2, f16},  {f8e4m3, f16, f16},    {f8e4m3, bf16, bf16}, {f8e5m2, f32, f32},
      {f16, bf16, f32},       {f16, f32, f32},       {bf16, f64, f64},     {f32, f64, f64},
  };
  for (const auto& [a, b, result] : cases) {
    EXPECT_EQ(promote(a, b), result) << a.str() << " " << b.str();
    EXPECT_EQ(promote(b, a), result) << b.str() << " " << a.str();
    EXPECT_EQ(promote(a.vec(4), b.vec(4)), result.vec(4)) << a.str() << " " << b.str();
  }
}

TEST(Promote, IsIdempotentAndCommutes) {
  for (DType a : numbers) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : numbers) {
      EXPECT_EQ(promote(a, b), promote(b, a)) << a.str() << " " << b.str();
      EXPECT_EQ(promote(a, promote(a, b)), promote(a, b)) << a.str() << " " << b.str();
    }
  }
}

TEST(Promote, OnlyALiteralMakesALiteral) {
  for (DType a : numbers)
    for (DType b : numbers)
      EXPECT_TRUE(!promote(a, b).is_weak() || a.is_weak() || b.is_weak()) << a.str() << b.str();
}

TEST(Promote, AssociatesButForTheStatedExceptions) {
  const auto is_exception = [](const std::set<Kind>& kinds) {
    const bool signed_int = kinds.contains(Kind::I8) || kinds.contains(Kind::I16) ||
                            kinds.contains(Kind::I32) || kinds.contains(Kind::I64);
    bool narrow_float = false;
    for (Kind kind : kinds) narrow_float |= kind >= Kind::Weak && kind <= Kind::BF16;
    const bool fp8_pair = kinds.contains(Kind::F8E4M3) && kinds.contains(Kind::F8E5M2);
    return (kinds.contains(Kind::U64) && signed_int && narrow_float) ||
           (fp8_pair && kinds.contains(Kind::BF16));
  };
  for (DType a : numbers)
    for (DType b : numbers)
      for (DType c : numbers) {
        if (is_exception({a.kind(), b.kind(), c.kind()})) continue;
        EXPECT_EQ(promote(promote(a, b), c), promote(a, promote(b, c)))
            << a.str() << " " << b.str() << " " << c.str();
      }
}

TEST(Promote, RefusesWhatHasNoCommonDType) {
  const DType tile = DType::fragment("tile");
  EXPECT_EQ(promote(tile, tile), tile);
  EXPECT_EQ(promote(void_, void_), void_);
  EXPECT_THROW(promote(tile, DType::fragment("other")), Error);
  EXPECT_THROW(promote(tile, f32), Error);
  EXPECT_THROW(promote(void_, f32), Error);
  EXPECT_THROW(promote(f32, f32.vec(2)), Error);
  EXPECT_THROW(promote(f32.vec(4), f16.vec(2)), Error);
}

}  // namespace
}  // namespace weft
