// Statistics, orders and searches.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

using Names = std::vector<std::string>;

std::size_t any_numbers(Draft& draft, bool are_floats = false) {
  const auto x = draft.any([&](const Array& a) {
    return a.size() > 0 && !is_bool(a.type) &&
           (is_float(a.type) || !(are_floats || draft.is_smooth()));
  });
  want(x.has_value(), "no numbers");
  return *x;
}

Literal real(double value) { return {Literal::Form::Float, 0, value}; }

void draw_statistic(Draft& draft) {
  static const Names all{"amax",     "amin",        "aminmax_least", "aminmax_most", "var_mean",
                         "std_mean", "mean_of_var", "mean_of_std",   "nansum",       "nanmean"};
  const std::string kind = draft.random.of(all);
  const std::size_t x = any_numbers(draft, kind.starts_with("nan"));
  draft.add({.kind = kind,
             .operands = {x},
             .n = draft.axes_of(draft[x]),
             .k = draft.random.one_in(3) ? 0 : 1,
             .flag = draft.random.one_in(3)});
}

void draw_distance(Draft& draft) {
  static const std::vector<double> orders{2, 2, 1, 0, 3, unknown, -unknown, 0.5};
  static const std::vector<double> smooth{2, 2, 1, 3, unknown};
  const double p = draft.random.of(draft.is_smooth() ? smooth : orders);
  const std::size_t x = any_numbers(draft, draft.random.one_in(2));
  if (draft.random.one_in(4) && (p == 1 || p == 2)) {
    want(is_float(draft[x].type) && draft[x].rank() > 0, "no floats");
    draft.add(
        {.kind = "normalize", .operands = {x}, .n = {draft.axis_of(draft[x])}, .number = real(p)});
    return;
  }
  if (draft.random.one_in(4) && p > 0 && draft[x].rank() >= 2) {
    Numbers shape{draft.random.between(1, 4), draft[x].shape.back()};
    const std::size_t y = draft.input(draft[x].type, shape);
    draft.add({.kind = "cdist", .operands = {x, y}, .number = real(p)});
    return;
  }
  draft.add({.kind = "norm",
             .operands = {x},
             .n = draft.axes_of(draft[x]),
             .flag = draft.random.one_in(3),
             .number = real(p)});
}

void draw_ranked(Draft& draft) {
  static const Names kinds{"median", "nanmedian", "median_along", "nanmedian_along", "kthvalue",
                           "mode",   "msort",     "logcumsumexp", "cummax_places"};
  static const Names smooth{"median", "median_along", "kthvalue", "msort", "logcumsumexp"};
  const std::string kind = draft.random.of(draft.is_smooth() ? smooth : kinds);
  const std::size_t x = any_numbers(draft, kind == "logcumsumexp");
  want(draft[x].rank() > 0, "no axes");
  const std::int64_t axis = draft.axis_of(draft[x]),
                     size = draft[x].shape[at(axis_in(axis, draft[x].rank()))];
  draft.add({.kind = kind,
             .operands = {x},
             .i = axis,
             .k = draft.random.between(1, size),
             .flag = draft.random.one_in(3)});
}

void draw_quantile(Draft& draft) {
  static const std::vector<double> parts{0.5, 0.25, 0.75, 0, 1, 0.125, 0.1, 0.9, 0.3};
  static const Names kinds{"quantile", "quantile", "nanquantile", "quantile_all"};
  const std::size_t x = any_numbers(draft);
  want(draft[x].rank() > 0, "no axes");
  draft.add({.kind = draft.random.of(kinds),
             .operands = {x},
             .i = draft.axis_of(draft[x]),
             .k = draft.random.one_in(2) ? 0 : draft.random.below(5),
             .flag = draft.random.one_in(3),
             .number = real(draft.random.of(parts))});
}

void draw_search(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return a.rank() == 1 && !is_bool(a.type); });
  const std::size_t edges =
      x ? *x : draft.input(draft.any_type(), {draft.random.between(1, 20)}, Filling::Small);
  want(!is_bool(draft[edges].type), "bools");
  const std::size_t sorted = draft.add({.kind = "sort", .operands = {edges}, .i = 0});
  const std::size_t values = draft.input(draft[edges].type, draft.any_shape(0, 2));
  draft.add({.kind = draft.random.one_in(2) ? "searchsorted" : "bucketize",
             .operands = {sorted, values},
             .flag = draft.random.one_in(2)});
}

// How long the result is, the call asks for: within a jit it is not known.
void draw_counts(Draft& draft) {
  if (draft.random.one_in(2)) {
    const std::size_t x = any_numbers(draft, true);
    draft.add({.kind = "histc", .operands = {x}, .k = draft.random.of(Numbers{8, 4, 5, 1})});
    return;
  }
  want(draft.program.mode == Mode::Plain, "a length that is computed");
  const std::int64_t size = draft.random.between(1, 12);
  const std::size_t x =
      draft.input(draft.random.one_in(2) ? Type::I32 : Type::U8, {size}, Filling::Positive);
  const std::int64_t least = draft.random.below(8);
  if (draft.random.one_in(2)) {
    draft.add({.kind = "bincount", .operands = {x}, .k = least});
    return;
  }
  const std::size_t weights = draft.input(draft.random.one_in(2) ? Type::F32 : Type::I32, {size});
  draft.add({.kind = "bincount_weights", .operands = {x, weights}, .k = least});
}

}  // namespace

std::vector<Family> statistics_families() {
  return {{5, draw_statistic, true}, {4, draw_distance, true}, {4, draw_ranked, true},
          {3, draw_quantile, false}, {2, draw_search, false},  {2, draw_counts, false}};
}

}  // namespace nets
