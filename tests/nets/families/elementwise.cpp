// Steps that compute each element by itself.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

bool is_number(Type type) { return !is_bool(type); }
bool has_bits(Type type) { return !is_float(type); }
bool is_any(Type) { return true; }

struct Operation {
  const char* name;
  bool (*fits)(Type type);
};

void draw_unary(Draft& draft) {
  static const std::vector<Operation> exact{
      {"neg", is_number},      {"abs", is_number},        {"square", is_number},
      {"relu", is_number},     {"sign", is_number},       {"trunc", is_number},
      {"floor", is_number},    {"ceil", is_number},       {"round", is_number},
      {"isnan", is_number},    {"isfinite", is_number},   {"isinf", is_number},
      {"logical_not", is_any}, {"bitwise_not", has_bits}, {"neg", is_number},
      {"relu", is_number}};
  static const std::vector<Operation> smooth{
      {"neg", is_float},  {"square", is_float},   {"sin", is_float},  {"cos", is_float},
      {"tanh", is_float}, {"sigmoid", is_float},  {"silu", is_float}, {"gelu", is_float},
      {"erf", is_float},  {"softplus", is_float}, {"exp", is_float},  {"relu", is_float},
      {"abs", is_float}};
  static const std::vector<Operation> rounding{
      {"sqrt", is_number}, {"reciprocal", is_number}, {"rsqrt", is_number},   {"exp", is_number},
      {"exp2", is_number}, {"log", is_number},        {"log2", is_number},    {"sin", is_number},
      {"cos", is_number},  {"tanh", is_number},       {"sigmoid", is_number}, {"silu", is_float},
      {"gelu", is_float},  {"softplus", is_float},    {"erf", is_float}};
  const std::vector<Operation>& list = draft.is_smooth()        ? smooth
                                       : draft.random.one_in(3) ? rounding
                                                                : exact;
  const Operation& drawn = draft.random.of(list);
  const std::size_t x = draft.any();
  want(drawn.fits(draft[x].type), "another type");
  draft.add({.kind = drawn.name, .operands = {x}});
}

const std::vector<Operation>& binary_operations() {
  static const std::vector<Operation> list{{"add", is_any},          {"add", is_any},
                                           {"add", is_any},          {"sub", is_number},
                                           {"sub", is_number},       {"mul", is_any},
                                           {"mul", is_any},          {"mul", is_any},
                                           {"maximum", is_any},      {"minimum", is_any},
                                           {"div", is_any},          {"floordiv", is_number},
                                           {"mod", is_number},       {"fmod", is_number},
                                           {"div_trunc", is_number}, {"lt", is_any},
                                           {"le", is_any},           {"gt", is_any},
                                           {"ge", is_any},           {"eq", is_any},
                                           {"ne", is_any},           {"logical_and", is_any},
                                           {"logical_or", is_any},   {"bitwise_and", has_bits},
                                           {"bitwise_or", has_bits}, {"bitwise_xor", has_bits},
                                           {"lshift", has_bits},     {"rshift", has_bits}};
  return list;
}

const Operation& any_operation(Draft& draft) {
  static const std::vector<Operation> smooth{{"add", is_float},     {"sub", is_float},
                                             {"mul", is_float},     {"mul", is_float},
                                             {"maximum", is_float}, {"minimum", is_float}};
  return draft.random.of(draft.is_smooth() ? smooth : binary_operations());
}

// Of a bool and another, or of two bools, an op may be refused though it takes each of them.
bool fits_both(const Operation& drawn, Type a, Type b) {
  const std::string_view name = drawn.name;
  const bool is_shift = name.ends_with("shift");
  if (is_shift && (is_bool(a) || is_bool(b))) return false;
  if (name.starts_with("bitwise") || is_shift) return !is_float(promoted(a, b));
  return drawn.fits(promoted(a, b));
}

void draw_binary(Draft& draft) {
  const Operation& drawn = any_operation(draft);
  const std::size_t x = draft.any();
  const std::size_t y = draft.partner(x, [&](Type type) {
    return fits_both(drawn, draft[x].type, type) && (!draft.is_smooth() || is_float(type));
  });
  const bool is_second = draft.random.one_in(2);
  draft.add({.kind = drawn.name, .operands = {is_second ? y : x, is_second ? x : y}});
}

// A shift by a literal has to be of bits that are there.
void draw_with_number(Draft& draft) {
  const Operation& drawn = any_operation(draft);
  const std::size_t x = draft.any();
  const Literal number = draft.literal(draft[x].type);
  const std::string_view name = drawn.name;
  const Type other = number.form == Literal::Form::Float ? Type::F32
                     : is_bool(draft[x].type)            ? Type::I32
                                                         : draft[x].type;
  want(fits_both(drawn, draft[x].type, other), "another type");
  want(!name.starts_with("logical"), "an operand of another kind");
  const bool is_first = draft.random.one_in(4) && !name.ends_with("shift") && name != "div_trunc" &&
                        name != "maximum" && name != "minimum" && name != "fmod";
  draft.add({.kind = is_first ? "number_" + std::string(name) : std::string(name) + "_number",
             .operands = {x},
             .number = number});
}

void draw_where(Draft& draft) {
  const std::size_t x = draft.any();
  const auto mask = draft.any([&](const Array& y) {
    return is_bool(y.type) && broadcast_shape(y.shape, y.shape) == y.shape;
  });
  std::size_t condition = 0;
  if (mask && !draft.random.one_in(3)) {
    condition = *mask;
  } else {
    condition = draft.input(Type::Bool, draft.broadcasting(draft[x].shape), Filling::Small);
  }
  if (draft.random.one_in(3)) {
    draft.add({.kind = "where_number",
               .operands = {condition, x},
               .number = draft.literal(draft[x].type)});
    return;
  }
  const std::size_t y =
      draft.partner(x, [&](Type type) { return !draft.is_smooth() || is_float(type); });
  draft.add({.kind = "where", .operands = {condition, x, y}});
}

void draw_masked_fill(Draft& draft) {
  const std::size_t x = draft.any();
  const std::size_t mask = draft.input(Type::Bool, draft[x].shape, Filling::Small);
  draft.add(
      {.kind = "masked_fill", .operands = {x, mask}, .number = draft.held_literal(draft[x].type)});
}

void draw_clamp(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return !is_bool(a.type); });
  want(x.has_value(), "no numbers");
  const std::int64_t least = draft.random.between(is_unsigned(draft[*x].type) ? 0 : -3, 2);
  draft.add({.kind = "clamp", .operands = {*x}, .i = least, .j = draft.random.between(least, 4)});
}

void draw_cast(Draft& draft) {
  const std::size_t x = draft.any();
  draft.add({.kind = "cast", .operands = {x}, .type = draft.any_type()});
}

}  // namespace

std::vector<Family> elementwise_families() {
  return {{14, draw_unary, true},     {18, draw_binary, true}, {10, draw_with_number, true},
          {4, draw_where, true},      {2, draw_clamp, true},   {6, draw_cast, true},
          {2, draw_masked_fill, true}};
}

}  // namespace nets
