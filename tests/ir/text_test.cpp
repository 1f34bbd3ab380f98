#include <weft/dev/ir/text.h>

#include <limits>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/spec.h>

#include "../support/nodes.h"
#include "../support/random_graph.h"

namespace weft {
namespace {

std::string print(const UOp& root) { return print_graph("g", nodes_of({root})); }

// One node at least with each struct of args.h.
constexpr std::string_view every_arg = R"(graph every_arg {
  %0 = const 8 : index
  %1 = const 4 : index
  %2 = buffer %0, %1 {id = 2, space = shared, align = 16, swizzle = 3, device = "cpu"} : f16
  %3 = const true : bool
  %4 = special %0 {kind = local, axis = 2} : index
  %5 = index %2, %3, %4, %4 : f16
  %6 = param %0, %1 {slot = 1, access = readwrite, alias = 5} : f16
  %7 = range %0 {id = 1, kind = reduce} : index
  %8 = index %6, %3, %7, %4 : f16
  %9 = load %8 : f16
  %10 = stage %9, %7 {id = 3, space = register, layout = [1, 0]} : f16
  %11 = reduce %10, %7 {op = max, axes = []} : f16
  %12 = store %5, %11 {combine = true, op = add}
  %13 = end %12, %4
  %14 = barrier %13 {scope = group}
  %15 = permute %6 {axes = [1, 0]} : f16
  %16 = copy %15 {device = "gpu:0"} : f16
  %17 = shard %16 {axis = 1, devices = "gpu:0,gpu:1"} : f16
  %18 = reduce %17 {op = add, axes = [0, 1]} : f16
  %19 = remat %18 {id = 4} : f16
  %20 = call %19, %19 {id = 5, name = "f", again = false} : f16
  %21 = custom %20 {code = "x = \"y\";\n"} : f16x4
  %22 = mma %21, %21, %21 {name = "m4"} : f16x4
  %23 = lane %22 {at = 3} : f16
  %24 = variable {name = "n", id = 7, lo = 1, hi = 64} : i32
  %25 = sink %14, %23, %24 {name = "kernel", schedule = "", far_constants = false}
  return %25
}
)";

TEST(Print, WritesEveryKindOfArg) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp n = make(Op::Variable, {}, dtypes::i32, VariableArg{Symbol("n"), {7}, 1, 64});
  const UOp rows = const_int(8), columns = const_int(4), yes = const_bool(true);
  const UOp r = range(rows, 1, LoopKind::Reduce);
  const UOp lane = make(Op::Special, {rows}, {}, SpecialArg{LoopKind::Local, 2});
  const UOp shared = make(Op::Buffer, {rows, columns}, dtypes::f16,
                          BufferArg{{2}, Space::Shared, 16, 3, Symbol("cpu")});
  const UOp param =
      make(Op::Param, {rows, columns}, dtypes::f16, ParamArg{1, Access::ReadWrite, 5});
  const UOp load = make(Op::Load, {make(Op::Index, {param, yes, r, lane})});
  const UOp stage = make(Op::Stage, {load, r}, {}, StageArg{{3}, Space::Register, IntList({1, 0})});
  const UOp most = make(Op::Reduce, {stage, r}, {}, ReduceArg{Op::Max, {}});
  const UOp store = make(Op::Store, {make(Op::Index, {shared, yes, lane, lane}), most}, {},
                         StoreArg{true, Op::Add});
  const UOp barrier = make(Op::Barrier, {make(Op::End, {store, lane})}, {}, ScopeArg{Scope::Group});
  const UOp turned = make(Op::Permute, {param}, {}, AxesArg{IntList({1, 0})});
  const UOp copy = make(Op::Copy, {turned}, {}, DeviceArg{Symbol("gpu:0")});
  const UOp shard = make(Op::Shard, {copy}, {}, ShardArg{1, Symbol("gpu:0,gpu:1")});
  const UOp sum = make(Op::Reduce, {shard}, {}, ReduceArg{Op::Add, IntList({0, 1})});
  const UOp remat = make(Op::Remat, {sum}, {}, IdArg{{4}});
  const UOp call = make(Op::Call, {remat, remat}, dtypes::f16, CallArg{{5}, Symbol("f")});
  const UOp custom =
      make(Op::Custom, {call}, dtypes::f16.vec(4), CustomArg{Symbol("x = \"y\";\n")});
  const UOp product =
      make(Op::Mma, {custom, custom, custom}, custom->dtype(), NameArg{Symbol("m4")});
  const UOp element = make(Op::Lane, {product}, {}, PositionArg{3});
  const UOp sink = make(Op::Sink, {barrier, element, n}, {}, KernelArg{Symbol("kernel")});

  std::set<ArgType> args;
  for (const Node* node : toposort(sink.node())) args.insert(info(node->op()).arg);
  EXPECT_EQ(args.size(), std::size_t{static_cast<int>(ArgType::ScopeArg)} + 1);
  EXPECT_EQ(print_graph("every_arg", nodes_of({sink})), every_arg);
  EXPECT_TRUE(parse_node(every_arg).is(sink));
}

TEST(Print, WritesConstantsShortestAndExactly) {
  const struct {
    DType dtype;
    Bits bits;
    std::string_view text;
  } cases[] = {
      {dtypes::bool_, 0, "false"},
      {dtypes::bool_.vec(4), 1, "true"},
      {dtypes::index, ~Bits{0}, "-1"},
      {dtypes::i8, bits_from_int(-128, dtypes::i8), "-128"},
      {dtypes::i64, Bits{1} << 63, "-9223372036854775808"},
      {dtypes::u8, 255, "255"},
      {dtypes::u64, ~Bits{0}, "18446744073709551615"},
      {dtypes::u64.vec(2), Bits{1} << 63, "9223372036854775808"},
      {dtypes::f32, bits_from_double(0.1, dtypes::f32), "0.1"},
      {dtypes::f64, bits_from_double(0.1, dtypes::f64), "0.1"},
      {dtypes::f64, bits_from_double(0.1, dtypes::f64) + 1, "0.10000000000000002"},
      {dtypes::f32, 1, "1e-45"},
      {dtypes::f64, 1, "5e-324"},
      {dtypes::f32, 0x7f7fffff, "3.4028235e+38"},
      {dtypes::f32, 0x80000000, "-0"},
      {dtypes::weak, Bits{1} << 63, "-0"},
      {dtypes::f16, 0x7c00, "inf"},
      {dtypes::bf16, 0xff80, "-inf"},
      {dtypes::f8e4m3, 0x7f, "nan"},
      {dtypes::f8e4m3, 0xff, "-nan"},
      {dtypes::f32, 0x7fc00000, "nan"},
      {dtypes::f64, 0xfff8000000000000, "-nan"},
      {dtypes::f32, 0x7fc00001, "bits(0x7fc00001)"},
      {dtypes::f32, 0x7f800001, "bits(0x7f800001)"},
      {dtypes::f8e5m2, 0x7d, "bits(0x7d)"},
      {dtypes::f64, ~Bits{0}, "bits(0xffffffffffffffff)"},
  };
  for (const auto& [dtype, bits, text] : cases) {
    SCOPED_TRACE(fmt::format("{:#x} as {}", bits, dtype.str()));
    const UOp constant = const_bits(dtype, bits);
    EXPECT_EQ(print(constant), fmt::format("graph g {{\n  %0 = const {} : {}\n  return %0\n}}\n",
                                           text, dtype.str()));
    EXPECT_TRUE(parse_node(print(constant)).is(constant));
  }
}

TEST(Print, EscapesStrings) {
  const struct {
    std::string text, printed;
  } cases[] = {
      {"", R"("")"},
      {"plain // no comment", R"("plain // no comment")"},
      {"\"\\\"", R"("\"\\\"")"},
      {"a\nb\tc", R"("a\nb\x09c")"},
      {std::string("\0\x7f", 2), R"("\x00\x7f")"},
      {"\xc3\xa9", "\"\xc3\xa9\""},
  };
  for (const auto& [text, printed] : cases) {
    const UOp custom = make(Op::Custom, {}, dtypes::void_, CustomArg{Symbol(text)});
    EXPECT_EQ(print(custom),
              fmt::format("graph g {{\n  %0 = custom {{code = {}}}\n  return %0\n}}\n", printed));
    EXPECT_TRUE(parse_node(print(custom)).is(custom));
  }
}

TEST(Print, QuotesGraphNamesThatAreNotWords) {
  const UOp one = const_int(1);
  const struct {
    std::string name, printed;
  } cases[] = {
      {"g", "g"},
      {"layer.2_Q", "layer.2_Q"},
      {"graph", "graph"},
      {"return", "return"},
      {"7", "7"},
      {"", R"("")"},
      {" ", R"(" ")"},
      {"a b", R"("a b")"},
      {"a{", R"("a{")"},
      {"//", R"("//")"},
      {"\"\\", R"("\"\\")"},
      {std::string("\0\n", 2), R"("\x00\n")"},
      {"\xc3\xa9\xff", "\"\xc3\xa9\xff\""},
  };
  for (const auto& [name, printed] : cases) {
    const std::string text = print_graph({name, {one}});
    EXPECT_TRUE(text.starts_with("graph " + printed + " {\n")) << text;
    const std::vector<Graph> graphs = parse_graphs(text);
    ASSERT_EQ(graphs.size(), 1u) << text;
    EXPECT_EQ(graphs[0].name, name);
    EXPECT_TRUE(graphs[0].roots.at(0).is(one)) << text;
  }
}

TEST(Print, WritesTheWidestVector) {
  const UOp widest = make(Op::Stack, std::vector<UOp>(DType::most_lanes, const_int(1, dtypes::i8)));
  EXPECT_TRUE(parse_node(print(widest)).is(widest));
}

TEST(Print, IsTheSameForEqualStructuresWhenRenumbered) {
  const auto build = [](std::uint64_t first, std::uint64_t second, std::uint64_t buffer) {
    const UOp a = range(4, first), b = range(4, second);
    const UOp place = make(Op::Buffer, {const_int(4)}, dtypes::f32, BufferArg{{buffer}});
    return make(Op::Sink, {a + b, a, make(Op::Index, {place, const_bool(true), b})}, {},
                KernelArg{});
  };
  const auto renumbered = [](const UOp& root) {
    return print_graph("g", nodes_of({root}), {.renumber = true});
  };
  const std::string text = renumbered(build(12, 3, 40));
  EXPECT_EQ(text, renumbered(build(0, 1, 2)));
  EXPECT_EQ(text, renumbered(build(0, 1, 0)));  // a BUFFER and a RANGE may share a number
  EXPECT_NE(text, renumbered(build(0, 0, 2)));
  EXPECT_EQ(text, renumbered(parse_node(text)));
}

TEST(Parse, SkipsBlanksAndComments) {
  const UOp sum = const_int(1) + const_int(2);
  EXPECT_TRUE(parse_node(print(sum)).is(sum));
  EXPECT_TRUE(parse_node("//first\r\ngraph g{%0=const 1:index //one\n%1 = const 2:index\n"
                         "\t%2=add%0,%1:index return%2}//end")
                  .is(sum));
}

TEST(Parse, ReadsSeveralGraphsWithSeveralRoots) {
  const auto graphs = parse_graphs(R"(
    graph first { %0 = const 1 : index return %0, %0 }
    graph second.2 { %0 = const 2 : index %1 = neg %0 : index return %1, %0 })");
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[0].name, "first");
  EXPECT_EQ(graphs[1].name, "second.2");
  ASSERT_EQ(graphs[0].roots.size(), 2u);
  EXPECT_TRUE(graphs[0].roots[0].is(graphs[0].roots[1]));
  ASSERT_EQ(graphs[1].roots.size(), 2u);
  EXPECT_TRUE(graphs[1].roots[0].is(-const_int(2)));
  EXPECT_TRUE(graphs[1].roots[1].is(const_int(2)));
  EXPECT_TRUE(parse_graphs(" // nothing\n").empty());
}

TEST(Parse, TellsASourceFromTheNextNode) {
  const UOp nothing = tuple({}), one = const_int(1);
  EXPECT_TRUE(parse_node(print(tuple({nothing, one}))).is(tuple({nothing, one})));
  EXPECT_TRUE(parse_node("graph g { %0 = tuple %1 = tuple %0 return %1 }").is(tuple({nothing})));
}

TEST(Parse, ReadsNumbersAsWritten) {
  const struct {
    std::string_view text;
    UOp constant;
  } cases[] = {
      {"0.5 : f16", const_float(0.5, dtypes::f16)},
      {"1e3 : f32", const_float(1000, dtypes::f32)},
      {"3 : f64", const_float(3, dtypes::f64)},
      {"infinity : f64", const_float(std::numeric_limits<double>::infinity(), dtypes::f64)},
      {"1e300 : f32", const_float(std::numeric_limits<double>::infinity(), dtypes::f32)},
      {"-0 : i32", const_int(0, dtypes::i32)},
      {"007 : u8", const_int(7, dtypes::u8)},
      {"bits(0x3c00) : f16", const_float(1, dtypes::f16)},
  };
  for (const auto& [text, constant] : cases)
    EXPECT_TRUE(parse_node(fmt::format("graph g {{ %0 = const {} return %0 }}", text)).is(constant))
        << text;
}

TEST(RandomGraph, IsLegal) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    const std::vector<const Node*> nodes = nodes_of(RandomGraph(seed).roots(60));
    const std::vector<std::string> violations = spec_violations(nodes, Level::Any);
    ASSERT_TRUE(violations.empty()) << "seed " << seed << ": " << violations[0] << "\n"
                                    << print_graph("g", nodes);
  }
}

// What the text form promises, for every op, dtype and arg.
TEST(Text, ParsesBackToTheSameNodes) {
  std::set<Op> seen;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Arena arena, other;
    const InternerScope scope(arena);
    const std::vector<UOp> roots = RandomGraph(seed).roots(static_cast<int>(seed % 60) + 5);
    const std::vector<const Node*> nodes = nodes_of(roots);
    for (const Node* node : toposort(nodes)) seen.insert(node->op());

    const std::string text = print_graph("g", nodes);
    const std::size_t size = arena.size();
    EXPECT_EQ(nodes_of(parse_graphs(text).at(0).roots), nodes);
    EXPECT_EQ(arena.size(), size);

    const InternerScope other_scope(other);
    const std::vector<UOp> copies = parse_graphs(text).at(0).roots;
    EXPECT_EQ(structural_hash(nodes_of(copies)), structural_hash(nodes));
    EXPECT_EQ(print_graph("g", nodes_of(copies)), text);
    const std::string renumbered = print_graph("g", nodes, {.renumber = true});
    const auto again = parse_graphs(renumbered).at(0).roots;
    EXPECT_EQ(structural_hash(nodes_of(again)), structural_hash(nodes));
    EXPECT_EQ(print_graph("g", nodes_of(again), {.renumber = true}), renumbered);
  }
  EXPECT_EQ(seen.size(), std::size_t{op_count});
}

TEST(ExpressionText, ReadsLikeArithmetic) {
  const UOp a = range(8, 0), b = range(8, 1);
  const UOp n = make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), {}, 0, 9});
  const UOp u = make(Op::Variable, {}, dtypes::u64, VariableArg{Symbol("u"), {}, 0, 9});
  const struct {
    UOp node;
    std::string_view text;
  } cases[] = {
      {a * 64 + b / 2, "r0*64 + r1//2"},
      {(a + b) * n, "(r0 + r1)*n"},
      {a - (b - n), "r0 - (r1 - n)"},
      {a - b - n, "r0 - r1 - n"},
      {a + -3, "r0 - 3"},
      {u + -1, "u + 18446744073709551615"},
      {(a % 4) / b, "r0%4//r1"},
      {a / (b % 4), "r0//(r1%4)"},
      {-a, "neg(r0)"},
      {a >= b, "r0 >= r1"},
      {!(a == b), "!(r0 == r1)"},
      {(a < b) & (b != n), "r0 < r1 & r1 != n"},
      {(a | b) ^ n, "(r0 | r1) ^ n"},
      {max(a, b), "max(r0, r1)"},
      {cast(a, dtypes::i32), "cast<i32>(r0)"},
      {where(a < b, a, const_int(0)), "where(r0 < r1, r0, 0)"},
      {const_float(-0.0, dtypes::f32), "-0"},
      {make(Op::Param, {}, dtypes::f32, ParamArg{2}), "p2"},
      {make(Op::Buffer, {}, dtypes::f32, BufferArg{{9}}), "b9"},
  };
  for (const auto& [node, text] : cases) EXPECT_EQ(expression_text(node.node()), text);
}

TEST(ExpressionText, StaysShortForDeepAndSharedGraphs) {
  UOp doubled = range(8, 0), deep = doubled;
  for (int i = 0; i < 1000; ++i) {
    doubled = doubled + doubled;
    deep = -deep;
  }
  const UOp wide = make(Op::Custom, std::vector<UOp>(100'000, deep), dtypes::f32, CustomArg{});
  for (const UOp& node : {doubled, deep, wide}) {
    const std::string text = expression_text(node.node());
    EXPECT_LT(text.size(), 10'000u);
    EXPECT_NE(text.find("..."), text.npos) << text;
  }
}

}  // namespace
}  // namespace weft
