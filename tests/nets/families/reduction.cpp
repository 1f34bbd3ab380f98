// Steps along axes: reductions, scans, orders, products and windows.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

bool has_elements(const Array& x) { return x.size() > 0; }

void draw_reduction(Draft& draft) {
  static const std::vector<std::string> all{"sum", "sum", "sum",  "max", "max", "min",      "prod",
                                            "any", "all", "mean", "var", "std", "logsumexp"};
  static const std::vector<std::string> smooth{"sum", "sum",       "mean", "max",
                                               "min", "logsumexp", "var",  "prod"};
  const std::string kind = draft.random.of(draft.is_smooth() ? smooth : all);
  const std::size_t x = draft.any();
  want(!draft.is_smooth() || is_float(draft[x].type), "no float");
  const bool is_plain = kind == "sum" || kind == "prod" || kind == "any" || kind == "all";
  want(is_plain || has_elements(draft[x]), "of nothing");
  const bool is_average = kind == "mean" || kind == "var" || kind == "std" || kind == "logsumexp";
  want(!is_average || !is_bool(draft[x].type), "of bools");
  draft.add({.kind = kind,
             .operands = {x},
             .n = draft.axes_of(draft[x]),
             .k = draft.random.one_in(3) ? 0 : 1,
             .flag = draft.random.one_in(3)});
}

void draw_extreme_place(Draft& draft) {
  const auto x = draft.any(has_elements);
  want(x.has_value(), "of nothing");
  const std::string kind = draft.random.one_in(2) ? "argmax" : "argmin";
  if (draft.random.one_in(4)) {
    draft.add({.kind = kind + "_all", .operands = {*x}});
  } else {
    draft.add({.kind = kind,
               .operands = {*x},
               .i = draft.axis_of(draft[*x]),
               .flag = draft.random.one_in(3)});
  }
}

void draw_scan(Draft& draft) {
  static const std::vector<std::string> kinds{"cumsum", "cumsum", "cumprod", "cummax", "cummin"};
  std::size_t x = draft.any();
  // Along an axis that does not change the input as well.
  if (draft.random.one_in(5)) {
    x = draft.add({.kind = "unsqueeze", .operands = {x}, .i = 0});
    Numbers shape = draft[x].shape;
    shape[0] = draft.random.between(2, 5);
    x = draft.add({.kind = "expand", .operands = {x}, .n = shape});
  }
  want(!draft.is_smooth() || is_float(draft[x].type), "no float");
  draft.add({.kind = draft.random.of(kinds), .operands = {x}, .i = draft.axis_of(draft[x])});
}

void draw_normal(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return is_float(a.type) && a.size() > 0; });
  want(x.has_value(), "no floats");
  const std::string kind =
      draft.random.of(std::vector<std::string>{"softmax", "log_softmax", "layernorm"});
  const std::int64_t axis = draft.axis_of(draft[*x]);
  draft.add({.kind = kind, .operands = {*x}, .n = {axis}, .i = axis});
}

void draw_order(Draft& draft) {
  static const std::vector<std::string> kinds{"sort", "sort_places", "argsort", "topk",
                                              "topk_places"};
  const std::size_t x = draft.any();
  const std::string kind = draft.random.of(kinds);
  want(!draft.is_smooth() || kind == "sort" || kind == "topk", "places");
  const std::int64_t axis = draft.axis_of(draft[x]),
                     size = draft[x].shape[at(axis_in(axis, draft[x].rank()))];
  const bool is_topk = kind.starts_with("topk");
  want(!is_topk || size > 0, "of nothing");
  draft.add({.kind = kind,
             .operands = {x},
             .i = axis,
             .k = is_topk ? draft.random.between(1, std::min<std::int64_t>(size, 4)) : 0,
             .flag = draft.random.one_in(2)});
}

void draw_matmul(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return a.rank() > 0 && a.rank() < 4; });
  want(x.has_value() && (!draft.is_smooth() || is_float(draft[*x].type)), "no rows");
  const std::int64_t inner = draft[*x].shape.back();
  auto y = draft.any([&](const Array& a) {
    return a.rank() > 0 && a.shape[a.rank() > 1 ? at(a.rank() - 2) : 0] == inner &&
           (!draft.is_smooth() || is_float(a.type));
  });
  if (!y || draft.random.one_in(2)) {
    Numbers shape{inner};
    if (!draft.random.one_in(4)) shape.push_back(draft.any_size());
    if (shape.size() > 1 && draft[*x].rank() == 3 && draft.random.one_in(3))
      shape.insert(shape.begin(), draft[*x].shape[0]);
    y = draft.input(draft.random.one_in(3) ? draft.any_type() : draft[*x].type, shape);
  }
  draft.add({.kind = "matmul", .operands = {*x, *y}});
}

// Images of channels that the groups divide.
void draw_conv(Draft& draft) {
  Random& random = draft.random;
  const std::int64_t spatial = random.of(Numbers{1, 1, 2, 2, 3}),
                     groups = random.of(Numbers{1, 1, 2});
  const std::int64_t in = draft.extent(1, 3);
  Numbers image{random.between(1, 2), groups * in}, weight{groups * draft.extent(1, 3), in};
  for (std::int64_t i = 0; i < spatial; ++i) {
    image.push_back(draft.extent(3, spatial == 3 ? 5 : 8));
    weight.push_back(random.between(1, 3));
  }
  const auto found = draft.any([&](const Array& a) {
    return a.rank() == spatial + 2 && a.shape[1] == image[1] && a.size() > 0 &&
           (!draft.is_smooth() || is_float(a.type));
  });
  const Type type = draft.any_type();
  const std::size_t x = found && random.one_in(2) ? *found : draft.input(type, image);
  const std::size_t w = draft.input(random.one_in(4) ? draft.any_type() : draft[x].type, weight);
  std::vector<std::size_t> operands{x, w};
  const bool is_wide =
      draft[x].type == draft[w].type && (draft[x].type == Type::F32 || draft[x].type == Type::F64);
  if (is_wide && random.one_in(2)) operands.push_back(draft.input(draft[x].type, {weight[0]}));
  draft.add({.kind = operands.size() == 3 ? "conv_bias" : "conv",
             .operands = operands,
             .n = {random.of(Numbers{1, 1, 2})},
             .i = groups,
             .j = random.between(1, 2),
             .k = random.between(0, 2)});
}

void draw_pool(Draft& draft) {
  const auto x =
      draft.any([](const Array& a) { return a.rank() > 1 && a.size() > 0 && !is_bool(a.type); });
  want(x.has_value() && (!draft.is_smooth() || is_float(draft[*x].type)), "no image");
  Numbers kernel;
  for (std::int64_t i = draft.random.between(1, 2); i > 0; --i)
    kernel.push_back(draft.random.between(1, 3));
  draft.add({.kind = draft.random.one_in(2) ? "max_pool" : "avg_pool",
             .operands = {*x},
             .n = kernel,
             .j = draft.random.between(1, 2),
             .k = draft.random.below(2)});
}

}  // namespace

std::vector<Family> reduction_families() {
  return {{16, draw_reduction, true}, {4, draw_extreme_place, false},
          {8, draw_scan, true},       {3, draw_normal, true},
          {4, draw_order, true},      {5, draw_matmul, true},
          {3, draw_conv, true},       {3, draw_pool, true}};
}

}  // namespace nets
