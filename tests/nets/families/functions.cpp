// Functions of each element beyond operators.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

using Names = std::vector<std::string>;

// Of floats more often: what integers become floats for is the same for all functions.
std::size_t any_float(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return is_float(a.type); });
  want(x.has_value(), "no floats");
  return *x;
}

// Where a function is not defined, its slope is NaN in what comes of it, also where that is not taken.
bool is_defined(const std::string& name, const Array& x) {
  const bool is_arc = name == "asin" || name == "acos" || name == "atanh";
  const double least = is_arc || name == "log1p" ? -0.9 : name == "log10" ? 0.1 : -unknown;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i].real >= least && (!is_arc || x[i].real <= 0.9))) return false;
  return true;
}

void draw_function(Draft& draft) {
  static const Names of_numbers{"expm1", "log1p",   "log10", "tan",   "asin",  "acos",
                                "atan",  "sinh",    "cosh",  "asinh", "acosh", "atanh",
                                "log1p", "signbit", "sinc",  "atan"};
  static const Names of_floats{"erfc",      "lgamma",      "deg2rad",    "rad2deg",    "frac",
                               "relu6",     "hardtanh",    "leaky_relu", "elu",        "celu",
                               "selu",      "mish",        "softsign",   "logsigmoid", "quick_gelu",
                               "hardswish", "hardsigmoid", "exact_gelu", "leaky_relu", "elu"};
  static const Names smooth{
      "expm1",      "atan",  "sinh",       "cosh",       "asinh",       "sinc",       "erfc",
      "elu",        "celu",  "selu",       "mish",       "softsign",    "hardswish",  "relu6",
      "log1p",      "tan",   "logsigmoid", "quick_gelu", "hardsigmoid", "exact_gelu", "hardtanh",
      "leaky_relu", "atanh", "asin",       "acos",       "log10",       "deg2rad"};
  if (draft.is_smooth()) {
    const std::string kind = draft.random.of(smooth);
    const auto x =
        draft.any([&](const Array& a) { return is_float(a.type) && is_defined(kind, a); });
    want(x.has_value(), "nowhere defined");
    draft.add({.kind = kind, .operands = {*x}});
    return;
  }
  if (draft.random.one_in(2)) {
    const std::size_t x = draft.any();
    want(!is_bool(draft[x].type), "bools");
    draft.add({.kind = draft.random.of(of_numbers), .operands = {x}});
    return;
  }
  if (draft.random.one_in(20)) {
    draft.add({.kind = "softplus_beta",
               .operands = {any_float(draft)},
               .number = {Literal::Form::Float, 0, draft.random.one_in(2) ? 2 : 0.5}});
    return;
  }
  draft.add({.kind = draft.random.of(of_floats), .operands = {any_float(draft)}});
}

bool is_of_integers(const std::string& name) { return name == "gcd" || name == "lcm"; }
bool is_of_any(const std::string& name) {
  return name == "fmax" || name == "fmin" || name == "heaviside" || name == "pow";
}
bool fits(const std::string& name, Type type) {
  return is_of_integers(name) ? is_int(type) : is_of_any(name) ? !is_bool(type) : is_float(type);
}

void draw_pair(Draft& draft) {
  static const Names all{"atan2",       "hypot",    "logaddexp",   "logaddexp2", "xlogy",
                         "float_power", "gcd",      "lcm",         "fmax",       "fmin",
                         "heaviside",   "copysign", "nextafter",   "pow",        "pow",
                         "pow",         "fmax",     "logical_xor", "isclose",    "isclose_within"};
  static const Names smooth{"hypot", "atan2", "logaddexp", "logaddexp2",
                            "xlogy", "pow",   "fmax",      "fmin"};
  const std::string name = draft.random.of(draft.is_smooth() ? smooth : all);
  const bool is_plain = name == "logical_xor" || name.starts_with("isclose");
  const auto x = draft.any([&](const Array& a) { return is_plain || fits(name, a.type); });
  want(x.has_value(), "no operand");
  if (!is_plain && draft.random.one_in(3)) {
    const Literal number = draft.held_literal(draft[*x].type);
    const bool is_first = name == "pow" && is_float(draft[*x].type) && draft.random.one_in(3);
    draft.add(
        {.kind = is_first ? "number_pow" : name + "_number", .operands = {*x}, .number = number});
    return;
  }
  const std::size_t y = draft.partner(*x, [&](Type type) {
    return is_plain || (fits(name, promoted(draft[*x].type, type)) && !is_bool(type) &&
                        is_float(type) == is_float(draft[*x].type));
  });
  draft.add({.kind = name, .operands = {*x, y}, .flag = draft.random.one_in(2)});
}

void draw_triple(Draft& draft) {
  static const Names kinds{"lerp", "lerp", "addcmul", "addcdiv"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = any_float(draft);
  const auto is_own = [&](Type type) { return type == draft[x].type; };
  const std::size_t y = draft.partner(x, is_own);
  if (kind == "lerp" && draft.random.one_in(2)) {
    const double weight = static_cast<double>(draft.random.between(0, 8)) / 8;
    draft.add(
        {.kind = "lerp_number", .operands = {x, y}, .number = {Literal::Form::Float, 0, weight}});
    return;
  }
  const std::size_t z = draft.partner(x, is_own);
  const Literal number =
      draft.random.one_in(2) ? Literal{Literal::Form::Integer, 1, 0} : draft.literal(draft[x].type);
  draft.add({.kind = kind, .operands = {x, y, z}, .number = number});
}

void draw_limits(Draft& draft) {
  static const Names kinds{"clip_least", "clip_most", "clamp_tensors", "clamp_least", "clamp_most"};
  const std::string kind = draft.random.of(kinds);
  const auto x = draft.any([](const Array& a) { return !is_bool(a.type); });
  want(x.has_value(), "no numbers");
  if (kind.starts_with("clip")) {
    draft.add({.kind = kind, .operands = {*x}, .number = draft.held_literal(draft[*x].type)});
    return;
  }
  const auto is_own = [&](Type type) { return type == draft[*x].type; };
  std::vector<std::size_t> operands{*x, draft.partner(*x, is_own)};
  if (kind == "clamp_tensors") operands.push_back(draft.partner(*x, is_own));
  draft.add({.kind = kind, .operands = operands});
}

void draw_test(Draft& draft) {
  if (draft.random.one_in(2)) {
    const std::size_t x = any_float(draft);
    const bool is_plain = draft.random.one_in(2);
    draft.add({.kind = is_plain ? "nan_to_num" : "nan_to_num_number",
               .operands = {x},
               .number = draft.literal(draft[x].type)});
    return;
  }
  const std::size_t x = draft.any();
  want(!draft.is_smooth(), "conditions");
  const std::size_t elements =
      draft.input(draft[x].type, {draft.random.between(1, 5)}, Filling::Small);
  draft.add({.kind = "isin", .operands = {x, elements}});
}

}  // namespace

std::vector<Family> function_families() {
  return {{10, draw_function, true},
          {8, draw_pair, true},
          {3, draw_triple, true},
          {3, draw_limits, true},
          {2, draw_test, false}};
}

}  // namespace nets
