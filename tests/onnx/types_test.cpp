// Elements that tensors have no dtype for: strings, and numbers of few bits.

#include <limits>

#include "../tensor/tensor_test.h"
#include "one_node.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

Tensor run(const OneNode& node, const std::vector<Value>& inputs) {
  return node(inputs).at(0).tensor();
}

Value integers(const Ints& values) { return Tensor(values); }

OneNode cast_to(Type type, std::int64_t saturate = 1, const std::string& rounding = "up") {
  return {
      "Cast",
      28,
      {{"to", static_cast<std::int64_t>(type)}, {"saturate", saturate}, {"round_mode", rounding}}};
}

// --- Attributes that say what there is ---

TEST(OnnxResize, RefusesUnknownModesForAllSizes) {
  struct Wrong {
    std::string attribute, value;
  };
  const Wrong wrong[] = {
      {"mode", "bogus"}, {"nearest_mode", "bogus"}, {"coordinate_transformation_mode", "bogus"}};
  for (const std::int64_t from : {1, 2, 3, 4})
    for (const auto& [attribute, value] : wrong) {
      const Value x = Tensor::ones({1, 1, from, from}), sizes = integers({1, 1, 4, 4});
      const OneNode node{"Resize", 19, {{attribute, value}}};
      const std::string why = error_of([&] { run(node, {x, {}, {}, sizes}); });
      EXPECT_NE(why.find(attribute + " is 'bogus'"), std::string::npos) << from << ": " << why;
    }
}

// --- Strings --------------------------------------------------------------------------------------------------

TEST(OnnxStrings, MoveAsTensorsDo) {
  const Value words = Text{{2, 2}, {"b", "a", "b", "c"}};
  const Text turned = OneNode{"Transpose", 13}({words})[0].text();
  EXPECT_EQ(turned.values, (Strings{"b", "b", "a", "c"}));
  const Text chosen = OneNode{"Gather", 13, {{"axis", 1}}}({words, integers({-1})})[0].text();
  EXPECT_EQ(chosen.shape, (Sizes64{2, 1}));
  EXPECT_EQ(chosen.values, (Strings{"a", "c"}));
  const Text joined =
      OneNode{"Concat", 13, {{"axis", 0}}}({words, Text{{1, 2}, {"z", ""}}})[0].text();
  EXPECT_EQ(joined.values, (Strings{"b", "a", "b", "c", "z", ""}));
  const Text written =
      OneNode{"ScatterElements",
              18}({words, Tensor({{1, 0}}, {.dtype = dtypes::i64}), Text{{1, 2}, {"x", "y"}}})[0]
          .text();
  EXPECT_EQ(written.values, (Strings{"b", "y", "x", "c"}));
}

TEST(OnnxStrings, AreNotReduced) {
  const OneNode added{"ScatterElements", 18, {{"reduction", "add"}}};
  EXPECT_THROW(added({Text{{1}, {"a"}}, integers({0}), Text{{1}, {"b"}}}), Error);
}

TEST(OnnxStrings, ArePaddedWithStrings) {
  const Value words = Text{{1}, {"a"}};
  const Value fill = Text{{}, {"fill"}};
  EXPECT_EQ((OneNode{"Pad", 19}({words, integers({1, 0}), fill})[0].text().values),
            (Strings{"fill", "a"}));
  EXPECT_EQ((OneNode{"Pad", 19}({words, integers({0, 1})})[0].text().values), (Strings{"a", ""}));
}

TEST(OnnxStrings, AreComparedAndSorted) {
  const Value words = Text{{3}, {"b", "a", "b"}};
  EXPECT_TRUE(holds<bool>(run({"Equal", 19}, {words, Text{{1}, {"b"}}}), {true, false, true}, {3}));
  const std::vector<Value> unique = OneNode{"Unique", 11, {}, 4}({words});
  EXPECT_EQ(unique[0].text().values, (Strings{"a", "b"}));
  EXPECT_TRUE(holds<std::int64_t>(unique[1].tensor(), {1, 0}, {2}));
  EXPECT_TRUE(holds<std::int64_t>(unique[2].tensor(), {1, 0, 1}, {3}));
  EXPECT_TRUE(holds<std::int64_t>(unique[3].tensor(), {1, 2}, {2}));
}

TEST(OnnxStrings, AreReadAsNumbers) {
  const Value words = Text{{2, 2}, {"1.5", "+1e-5", "-INF", "nan"}};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor reals = run(cast_to(Type::F32), {words});
  EXPECT_TRUE(near(reals, {1.5, 1e-5, -infinity, std::nan("")}, {2, 2}));
  EXPECT_TRUE(holds<std::int64_t>(run(cast_to(Type::I64), {Text{{2}, {"9007199254740993", "2.5"}}}),
                                  {9007199254740993, 2}, {2}));
  EXPECT_THROW(run(cast_to(Type::F32), {Text{{1}, {"one"}}}), Error);
}

TEST(OnnxStrings, AreWrittenAsPlainDecimals) {
  const Tensor reals({0.1F, -2.0F, 1e10F, 1e-5F, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(cast_to(Type::String)({reals})[0].text().values,
            (Strings{"0.1", "-2", "10000000000", "0.00001", "INF"}));
  EXPECT_EQ(cast_to(Type::String)({integers({-7, 9007199254740993})})[0].text().values,
            (Strings{"-7", "9007199254740993"}));
}

// --- Few bits -------------------------------------------------------------------------------------------------

TEST(OnnxSmallTypes, IntegersKeepTheirLowestBits) {
  const Tensor x({-9, -8, 7, 8, 15, 17}, {.dtype = dtypes::f32});
  const Value signed_ones = cast_to(Type::I4)({x})[0];
  EXPECT_EQ(signed_ones.type(), Type::I4);
  EXPECT_TRUE(holds<int>(signed_ones.tensor(), {7, -8, 7, -8, -1, 1}, {6}));
  EXPECT_TRUE(holds<int>(run(cast_to(Type::U4), {x}), {7, 8, 7, 8, 15, 1}, {6}));
  EXPECT_TRUE(holds<int>(run(cast_to(Type::U2), {x}), {3, 0, 3, 0, 3, 1}, {6}));
}

TEST(OnnxSmallTypes, StayWhatTheyAreWhenMoved) {
  const Value x(Tensor({1, -2}, {.dtype = dtypes::i8}), Type::I4);
  EXPECT_EQ((OneNode{"Reshape", 25}({x, integers({2, 1})})[0].type()), Type::I4);
  EXPECT_EQ((OneNode{"Concat", 13, {{"axis", 0}}}({x, x})[0].type()), Type::I4);
  EXPECT_TRUE(holds<int>(run(cast_to(Type::I32), {x}), {1, -2}, {2}));
}

// Every code is a number that converts to itself, and what lies between two goes to the nearest.
TEST(OnnxSmallTypes, FloatsRoundToTheNearest) {
  struct Case {
    Type type;
    std::vector<double> from, to;
  };
  const Case cases[] = {
      {Type::F8E4M3FN, {448, 464, 1e6, 0.001, -17, -19}, {448, 448, 448, 0.001953125, -16, -20}},
      {Type::F8E4M3FNUZ, {240, 1e6, 0.0009765625, 0.0004, -9.5}, {240, 240, 0.0009765625, 0, -10}},
      {Type::F8E5M2, {57344, 1e6, 9, 11, -0.00001}, {57344, 57344, 8, 12, -0.0000152587890625}},
      {Type::F8E5M2FNUZ, {57344, 1e6, 9, 0.000007}, {57344, 57344, 8, 0.00000762939453125}},
      {Type::F6E2M3, {7.5, 100, 0.125, 0.06, 3.1}, {7.5, 7.5, 0.125, 0, 3}},
      {Type::F6E3M2, {28, 100, 0.0625, 5.4, -0.03}, {28, 28, 0.0625, 5, 0}},
      {Type::F4E2M1, {6, 100, 0.25, 0.75, 2.5, -5, 5.1}, {6, 6, 0, 1, 2, -4, 6}},
  };
  for (const Case& each : cases) {
    const auto count = static_cast<std::int64_t>(each.from.size());
    const Value small = cast_to(each.type)({Tensor(each.from)})[0];
    EXPECT_EQ(small.type(), each.type);
    EXPECT_TRUE(near(run(cast_to(Type::F64), {small}), each.to, {count}, 0))
        << static_cast<int>(each.type);
  }
}

TEST(OnnxSmallTypes, FloatsThatDoNotSaturateOverflow) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const Tensor x({-1e6, infinity, nan, 1.0});
  const std::vector<double> to_nan{nan, nan, nan, 1}, to_infinity{-infinity, infinity, nan, 1};
  for (const Type type : {Type::F8E4M3FN, Type::F8E4M3FNUZ, Type::F8E5M2FNUZ})
    EXPECT_TRUE(near(run(cast_to(Type::F64), {cast_to(type, 0)({x})[0]}), to_nan, {4}));
  EXPECT_TRUE(near(run(cast_to(Type::F64), {cast_to(Type::F8E5M2, 0)({x})[0]}), to_infinity, {4}));
}

TEST(OnnxSmallTypes, QuantisedFloatsSaturateAsTheNodeSays) {
  const Tensor x({1e6, -3.0});
  const double nan = std::nan("");
  const auto result = [&](const std::string& op, Type type, std::int64_t saturate) {
    const Value like = cast_to(type)({Tensor({0.0})})[0];
    std::vector<Value> inputs{x, like};
    if (op == "QuantizeLinear") inputs.insert(inputs.begin() + 1, Tensor({1.0}));
    return run(cast_to(Type::F64), {OneNode{op, 23, {{"saturate", saturate}}}(inputs)[0]});
  };
  for (const std::string op : {"CastLike", "QuantizeLinear"}) {
    EXPECT_TRUE(near(result(op, Type::F8E4M3FN, 1), {448, -3}, {2}, 0)) << op;
    EXPECT_TRUE(near(result(op, Type::F8E4M3FN, 0), {nan, -3}, {2}, 0)) << op;
    EXPECT_TRUE(near(result(op, Type::F8E5M2, 1), {57344, -3}, {2}, 0)) << op;
    EXPECT_TRUE(near(result(op, Type::F8E5M2, 0), {HUGE_VAL, -3}, {2}, 0)) << op;
    EXPECT_TRUE(near(result(op, Type::F8E4M3FNUZ, 0), {nan, -3}, {2}, 0)) << op;
  }
}

// Only 8-bit floats saturate, whatever the attribute is.
TEST(OnnxSmallTypes, WiderFloatsOverflow) {
  EXPECT_TRUE(
      near(run(cast_to(Type::F16), {Tensor({1e6, -HUGE_VAL})}), {HUGE_VAL, -HUGE_VAL}, {2}));
}

TEST(OnnxSmallTypes, PowersOfTwoRoundAsTheNodeSays) {
  const Tensor x({1.0, 1.1, 1.5, 3.9, 0.0});
  const auto rounded = [&](const std::string& how) {
    return run(cast_to(Type::F32), {cast_to(Type::F8E8M0, 1, how)({x})[0]});
  };
  const double least = 0x1p-127;
  EXPECT_TRUE(near(rounded("up"), {1, 2, 2, 4, least}, {5}, 0));
  EXPECT_TRUE(near(rounded("down"), {1, 1, 1, 2, least}, {5}, 0));
  EXPECT_TRUE(near(rounded("nearest"), {1, 1, 2, 4, least}, {5}, 0));
  EXPECT_THROW(rounded("sideways"), Error);
}

TEST(OnnxSmallTypes, BitsAreReadAsOtherTypes) {
  const auto read_as = [](Type type, const Value& value) {
    return OneNode{"BitCast", 26, {{"to", static_cast<std::int64_t>(type)}}}({value})[0];
  };
  const Value small(Tensor({-1, 7}, {.dtype = dtypes::i8}), Type::I4);
  EXPECT_TRUE(holds<int>(read_as(Type::U4, small).tensor(), {15, 7}, {2}));
  EXPECT_TRUE(near(read_as(Type::F4E2M1, small).tensor(), {-6, 6}, {2}, 0));
  EXPECT_TRUE(holds<std::int64_t>(read_as(Type::I32, Tensor({1.0F})).tensor(), {0x3f800000}, {1}));
  EXPECT_THROW(read_as(Type::I64, Tensor({1.0F})), Error);
}

}  // namespace
}  // namespace weft::onnx
