// Shapes that follow from sources, and what is said where they do not fit.

#include <functional>
#include <limits>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/dev/ir/uop.h>
#include <weft/error.h>

#include "../support/errors.h"
#include "../support/nodes.h"

namespace weft {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

UOp param(const std::vector<UOp>& dims) { return make(Op::Param, dims, dtypes::f32, ParamArg{}); }
UOp param(std::initializer_list<std::int64_t> dims) {
  std::vector<UOp> src;
  for (std::int64_t size : dims) src.push_back(const_int(size));
  return param(src);
}
UOp variable(std::int64_t lo, std::int64_t hi, DType dtype = dtypes::index) {
  return make(Op::Variable, {}, dtype, VariableArg{Symbol("n"), {1}, lo, hi});
}
UOp permute(const UOp& a, std::vector<std::int64_t> axes) {
  return make(Op::Permute, {a}, {}, AxesArg{IntList(std::move(axes))});
}
UOp flip(const UOp& a, std::vector<std::int64_t> axes) {
  return make(Op::Flip, {a}, {}, AxesArg{IntList(std::move(axes))});
}
UOp reduce(const UOp& a, std::vector<std::int64_t> axes) {
  return make(Op::Reduce, {a}, {}, ReduceArg{Op::Add, IntList(std::move(axes))});
}
UOp reshape(const UOp& a, const UOp& to) { return make(Op::Reshape, {a, to}); }
UOp expand(const UOp& a, const UOp& to) { return make(Op::Expand, {a, to}); }
UOp pad(const UOp& a, const UOp& before, const UOp& after) {
  return make(Op::Pad, {a, before, after});
}
UOp shrink(const UOp& a, const UOp& start, const UOp& size) {
  return make(Op::Shrink, {a, start, size});
}
UOp get(const UOp& from, std::int32_t at) {
  return make(Op::GetTuple, {from}, dtypes::f32, PositionArg{at});
}

std::string shape_of(const UOp& node) {
  if (node->shape() == nullptr) return "scalar";
  std::vector<std::string> sizes;
  for (const Node* size : node->dims()) sizes.push_back(expression_text(size));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

TEST(Shape, FollowsFromTheSources) {
  const UOp x = param({4, 6}), one = param({1, 6, 1}), n = variable(1, 9),
            s = param({n, const_int(6)});
  const UOp f = const_float(2, dtypes::f32), r = range(4, 0), pair = tuple({x, f});
  const UOp place = make(Op::Index, {x, const_bool(true), r, r});
  const UOp rows = make(Op::Buffer, {const_int(7)}, dtypes::i32, BufferArg{});
  const UOp stage = make(Op::Stage, {f, r, range(n, 1)}, {}, StageArg{});
  const struct {
    UOp node;
    std::string_view shape;
  } cases[] = {
      // Leaves.
      {f, "scalar"},
      {r, "scalar"},
      {param({}), "scalar"},
      {x, "4, 6"},
      {s, "n, 6"},
      {make(Op::Buffer, {const_int(3)}, dtypes::f16, BufferArg{}), "3"},

      // Elementwise: a scalar fits every shape.
      {-x, "4, 6"},
      {x + x, "4, 6"},
      {x * f, "4, 6"},
      {f / x, "4, 6"},
      {x < f, "4, 6"},
      {where(x < f, f, f), "4, 6"},
      {where(const_bool(true), f, x), "4, 6"},
      {make(Op::MulAcc, {f, f, x}), "4, 6"},
      {cast(x, dtypes::i8), "4, 6"},
      {bitcast(x, dtypes::i32), "4, 6"},

      // Movement.
      {reshape(x, sizes({24})), "24"},
      {reshape(x, sizes({2, 3, 4, 1})), "2, 3, 4, 1"},
      {reshape(param({0, 5}), sizes({7, 0})), "7, 0"},
      {reshape(s, tuple({const_int(2), n, const_int(3)})), "2, n, 3"},
      {reshape(param({1}), tuple({})), "scalar"},
      {reshape(f, sizes({1, 1})), "1, 1"},
      {reshape(param({1}), tuple({})) + x, "4, 6"},
      {permute(x, {1, 0}), "6, 4"},
      {permute(one, {1, 2, 0}), "6, 1, 1"},
      {permute(f, {}), "scalar"},
      {expand(one, sizes({5, 6, 3})), "5, 6, 3"},
      {expand(one, tuple({n, const_int(6), const_int(0)})), "n, 6, 0"},
      {pad(x, sizes({1, 0}), sizes({2, 0})), "7, 6"},
      {pad(s, tuple({const_int(0), n}), sizes({1, 2})), "n + 1, n + 8"},
      {pad(param({largest}), sizes({1}), sizes({0})), "9223372036854775807 + 1"},
      {pad(param({largest}), sizes({1}), sizes({largest})),
       "9223372036854775807 + 1 + 9223372036854775807"},
      {pad(param({const_int(4, dtypes::i32)}), sizes({1}), tuple({variable(0, 3, dtypes::i32)})),
       "cast<index>(n) + 5"},
      {pad(x, tuple({const_int(0), variable(0, largest, dtypes::u64)}), sizes({0, 0})),
       "4, cast<index>(n) + 6"},
      {shrink(x, sizes({1, 0}), sizes({3, 6})), "3, 6"},
      {shrink(x, sizes({4, 0}), sizes({0, 6})), "0, 6"},
      {shrink(s, tuple({n, const_int(2)}), sizes({1, 4})), "1, 4"},
      {flip(x, {1, 0}), "4, 6"},
      {flip(x, {}), "4, 6"},

      // Reductions keep their axes, with size 1.
      {reduce(x, {1}), "4, 1"},
      {reduce(x, {1, 0}), "1, 1"},
      {reduce(s, {1}), "n, 1"},
      {reduce(x, {}), "4, 6"},
      {make(Op::Reduce, {x, r}, {}, ReduceArg{}), "4, 6"},
      {make(Op::AllReduce, {x}, {}, ReduceArg{}), "4, 6"},
      {make(Op::AllReduce, {x}, {}, ReduceArg{Op::Add, IntList({0})}), "1, 6"},

      // The graph around them.
      {make(Op::Copy, {x}, {}, DeviceArg{}), "4, 6"},
      {make(Op::Contiguous, {x}), "4, 6"},
      {make(Op::Detach, {x}), "4, 6"},
      {make(Op::Remat, {x}, {}, IdArg{}), "4, 6"},
      {make(Op::Shard, {x}, {}, ShardArg{}), "4, 6"},
      {make(Op::Multi, {x, param({3, 6})}, {}, ShardArg{0, Symbol("A,B")}), "7, 6"},
      {make(Op::Multi, {s, s}, {}, ShardArg{1, Symbol("A,B")}), "n, 12"},
      {make(Op::Multi, {x, x}, {}, ShardArg{-1, Symbol("A,B")}), "4, 6"},
      {make(Op::Multi, {f, f}, {}, ShardArg{-1, Symbol("A,B")}), "scalar"},
      {make(Op::After, {x, make(Op::Barrier, std::vector<UOp>{}, {}, ScopeArg{})}), "4, 6"},
      {pair, "scalar"},
      {get(pair, 0), "4, 6"},
      {get(pair, 1), "scalar"},
      {get(pair, 2), "scalar"},
      {get(pair, -1), "scalar"},
      {get(x, 0), "scalar"},
      {make(Op::Call, {x, f}, dtypes::f32, CallArg{}), "4, 6"},
      {make(Op::Call, {f, x}, dtypes::f32, CallArg{}), "scalar"},
      {get(make(Op::Call, {pair, f}, {}, CallArg{}), 0), "4, 6"},
      {get(make(Op::Remat, {make(Op::Copy, {pair}, {}, DeviceArg{})}, {}, IdArg{}), 0), "4, 6"},

      // Indices that are tensors gather.
      {make(Op::Load, {make(Op::Index, {x, const_bool(true), rows, const_int(2)})}), "7"},
      {make(Op::Load, {make(Op::Index, {x, rows < 4, rows, rows})}), "7"},

      // In a kernel there are places and values, and a stage has a dimension for each range.
      {stage, "4, n"},
      {make(Op::After, {stage, make(Op::Store, {place, f}, {}, StoreArg{})}), "4, n"},
      {make(Op::Stage, {f}, {}, StageArg{}), "scalar"},
      {place, "scalar"},
      {make(Op::Load, {place}), "scalar"},
      {make(Op::Store, {place, f}, {}, StoreArg{}), "scalar"},
  };
  for (const auto& [node, shape] : cases)
    EXPECT_EQ(shape_of(node), shape) << print_graph("g", nodes_of({node}));
}

TEST(Shape, IsOneNodeForEqualSizes) {
  const UOp x = param({4, 6}),
            y = make(Op::Buffer, {const_int(4), const_int(6)}, dtypes::i8, BufferArg{});
  EXPECT_NE(x->shape(), nullptr);
  EXPECT_EQ(x->shape(), y->shape());
  EXPECT_EQ(x->shape(), reshape(y, sizes({4, 6}))->shape());
  EXPECT_EQ(x->shape(), sizes({4, 6}).node());
}

// Folded where both are known, so that equal shapes stay equal.
TEST(Shape, OfPaddingMeetsThatOfTheSameSize) {
  const UOp padded = pad(param({4}), sizes({1}), sizes({3}));
  EXPECT_EQ(shape_of(padded + param({8})), "8");
  const UOp s = param({variable(1, 9)});
  EXPECT_EQ(shape_of(pad(s, sizes({1}), sizes({0})) * pad(s, sizes({0}), sizes({1}))), "n + 1");
}

// A symbolic size may be written in several ways: only what cannot be equal differs.
TEST(Shape, OfSizesThatMayBeEqualAgrees) {
  const UOp x = param({4, 6}), n = variable(1, 9);
  EXPECT_EQ(shape_of(param({n, const_int(6)}) + x), "n, 6");
  EXPECT_EQ(shape_of(x + param({n * 2 - n, const_int(6)})), "4, 6");
  EXPECT_EQ(shape_of(x + param({const_int(4, dtypes::i32), const_int(6)})), "4, 6");
  EXPECT_EQ(shape_of(expand(param({n}), sizes({9}))), "9");
  EXPECT_EQ(shape_of(expand(param({variable(0, 1)}), sizes({9}))), "9");
}

TEST(Shape, ErrorsNameTheOpAndTheShapes) {
  const UOp x = param({4, 6}), y = param({6, 4}), z = param({4}), n = variable(1, 9);
  const UOp f = const_float(1, dtypes::f32), s = param({n, const_int(6)});
  const UOp below = variable(-9, -1);
  const struct {
    std::function<UOp()> make;
    std::string_view error;
  } cases[] = {
      {[&] { return x + y; }, "add: shapes (4, 6) and (6, 4) differ"},
      {[&] { return x * z; }, "mul: shapes (4, 6) and (4,) differ"},
      {[&] { return param({variable(5, 9)}) < z; }, "cmplt: shapes (n,) and (4,) differ"},
      {[&] { return where(x < f, f, y); }, "where: shapes (4, 6) and (6, 4) differ"},
      {[&] { return make(Op::MulAcc, {f, x, z}); }, "mulacc: shapes (4, 6) and (4,) differ"},

      {[&] { return reshape(x, sizes({5, 5})); },
       "reshape: shape (4, 6) has 24 elements, (5, 5) has 25"},
      {[&] { return reshape(f, sizes({2})); }, "reshape: shape () has 1 elements, (2,) has 2"},
      {[&] { return reshape(x, sizes({-4, -6})); },
       "reshape: the shape (-4, -6) has a negative size"},
      {[&] { return reshape(s, tuple({below})); }, "reshape: the shape (n,) has a negative size"},
      {[&] { return reshape(x, x); }, "reshape: source 1 is not a tuple of sizes"},
      {[&] { return reshape(x, tuple({f})); }, "reshape: source 1 is not a tuple of sizes"},
      {[&] { return reshape(x, tuple({const_int(24, dtypes::i32.vec(2))})); },
       "reshape: source 1 is not a tuple of sizes"},

      {[&] { return permute(x, {0}); }, "permute: 1 axes for a tensor of shape (4, 6)"},
      {[&] { return permute(x, {0, 0}); },
       "permute: axis 0 is repeated or not an axis of shape (4, 6)"},
      {[&] { return permute(x, {0, 2}); },
       "permute: axis 2 is repeated or not an axis of shape (4, 6)"},
      {[&] { return permute(x, {-1, 0}); },
       "permute: axis -1 is repeated or not an axis of shape (4, 6)"},
      {[&] { return flip(f, {0}); }, "flip: axis 0 is repeated or not an axis of shape ()"},
      {[&] { return flip(x, {1, 1}); }, "flip: axis 1 is repeated or not an axis of shape (4, 6)"},

      {[&] { return expand(x, sizes({4})); }, "expand: 1 sizes for a tensor of shape (4, 6)"},
      {[&] { return expand(x, sizes({8, 6})); }, "expand: axis 0 of shape (4, 6) cannot become 8"},
      {[&] { return expand(param({variable(2, 5)}), sizes({9})); },
       "expand: axis 0 of shape (n,) cannot become 9"},
      {[&] { return expand(param({1}), sizes({-1})); },
       "expand: the shape (-1,) has a negative size"},

      {[&] { return pad(x, sizes({1}), sizes({0, 0})); },
       "pad: 1 sizes for a tensor of shape (4, 6)"},
      {[&] { return pad(x, sizes({0, 0}), sizes({0})); },
       "pad: 1 sizes for a tensor of shape (4, 6)"},
      {[&] { return pad(x, sizes({0, 0}), sizes({0, -1})); },
       "pad: negative padding on axis 1: shrink instead"},
      {[&] { return pad(z, tuple({below}), sizes({0})); },
       "pad: negative padding on axis 0: shrink instead"},
      {[&] { return pad(x, f, f); }, "pad: source 1 is not a tuple of sizes"},

      {[&] { return shrink(x, sizes({0, 0}), sizes({5, 6})); },
       "shrink: axis 0: 5 elements from 0 are not inside 4"},
      {[&] { return shrink(x, sizes({0, 3}), sizes({4, 4})); },
       "shrink: axis 1: 4 elements from 3 are not inside 6"},
      {[&] { return shrink(z, sizes({-1}), sizes({2})); },
       "shrink: axis 0: 2 elements from -1 are not inside 4"},
      {[&] { return shrink(z, sizes({1}), sizes({-1})); },
       "shrink: the shape (-1,) has a negative size"},
      {[&] { return shrink(z, sizes({largest}), sizes({largest})); },
       "shrink: axis 0: 9223372036854775807 elements from 9223372036854775807 are not inside 4"},
      {[&] { return shrink(s, tuple({const_int(9), n}), tuple({n, n})); },
       "shrink: axis 0: n elements from 9 are not inside n"},
      {[&] { return shrink(x, sizes({0, 0}), sizes({4})); },
       "shrink: 1 sizes for a tensor of shape (4, 6)"},

      {[&] { return make(Op::Multi, {x, y}, {}, ShardArg{0, Symbol("A,B")}); },
       "multi: the parts' shapes (4, 6) and (6, 4) differ"},
      {[&] { return make(Op::Multi, {x, z}, {}, ShardArg{0, Symbol("A,B")}); },
       "multi: 1 sizes for a tensor of shape (4, 6)"},
      {[&] { return make(Op::Multi, {x, x}, {}, ShardArg{2, Symbol("A,B")}); },
       "multi: axis 2 of parts of shape (4, 6)"},

      {[&] { return reduce(x, {2}); }, "reduce: axis 2 is repeated or not an axis of shape (4, 6)"},
      {[&] { return reduce(x, {0, 0}); },
       "reduce: axis 0 is repeated or not an axis of shape (4, 6)"},
      {[&] { return reduce(f, {0}); }, "reduce: axis 0 is repeated or not an axis of shape ()"},

      {[&] { return param({f}); }, "param: a dimension is not an integer"},
      {[&] { return param({const_int(3), const_int(-3)}); },
       "param: the shape (3, -3) has a negative size"},
      {[&] { return make(Op::Buffer, {tuple({})}, dtypes::f32, BufferArg{}); },
       "buffer: a dimension is not an integer"},
  };
  for (const auto& [make, error] : cases) EXPECT_EQ(error_of(make), error);
}

}  // namespace
}  // namespace weft
