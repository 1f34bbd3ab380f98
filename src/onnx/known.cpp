#include "known.h"

#include <algorithm>
#include <array>
#include <limits>

#include "known_elements.h"

namespace weft::onnx {
namespace {

using Known = Value::Known;
using Result = std::optional<Known>;

constexpr std::size_t most_elements = 1024;

const Known& input(const Call& call, std::size_t i) { return *call.value(i).known(); }

// Of lists of one length, or one of one element.
std::optional<std::size_t> common_length(const std::vector<const Known*>& inputs) {
  std::size_t length = 1;
  for (const Known* each : inputs) {
    const std::size_t own = each->elements.size();
    if (own == 1) continue;
    if (length != 1 && length != own) return {};
    length = own;
  }
  return length;
}

const Dim& element(const Known& list, std::size_t i) {
  return list.elements[list.elements.size() == 1 ? 0 : i];
}

bool checked(const Known& known) {
  return known.elements.size() <= most_elements &&
         std::ranges::all_of(known.elements,
                             [&](const Dim& each) { return fits(each, known.dtype); });
}

// A 0 of floats with the sign of what it is a product or the negative of: no integer has one.
bool may_have_sign(const Known& known, std::string_view op) {
  constexpr std::string_view signing[] = {"Mul", "Neg", "ReduceProd"};
  return known.dtype.is_float() && std::ranges::find(signing, op) != std::end(signing) &&
         std::ranges::any_of(known.elements,
                             [](const Dim& each) { return each.uop()->is_const_int(0); });
}

Result by_elements(const Call& call, const KnownOp& how) {
  // Quotients of floats are no integers, and % of attributes `fmod` has another sign.
  const Known &a = input(call, 0), &b = input(call, 1);
  const bool is_exact = a.dtype.is_int() || a.dtype.is_bool() || !how.is_division;
  if (call.inputs() != 2 || a.dtype != b.dtype || !is_exact || call.attr("fmod", 0) != 0) return {};
  if (call.opset() < 7) return {};  // broadcasting was another
  const auto length = common_length({&a, &b});
  if (!length) return {};
  Known result{{}, a.is_scalar && b.is_scalar, how.gives_bool ? dtypes::bool_ : a.dtype};
  for (std::size_t i = 0; i < *length; ++i) {
    auto value = how.element(element(a, i), element(b, i));
    if (!value) return {};
    result.elements.push_back(*std::move(value));
  }
  return result;
}

// --- Others -----------------------------------------------------------------------------------------

Result constant(const Call& call) {
  if (call.has("value_int"))
    return Known{{call.attr<std::int64_t>("value_int")}, true, dtypes::i64};
  if (call.has("value_ints")) {
    const auto ints = call.attr<std::vector<std::int64_t>>("value_ints");
    return Known{{ints.begin(), ints.end()}, false, dtypes::i64};
  }
  if (!call.has("value")) return {};
  const Value value = call.attr<Value>("value");
  return value.known() == nullptr ? Result() : *value.known();
}

std::optional<std::vector<Dim>> dims_of(const Value& value) {
  if (value.is_tensor()) return value.tensor().dims();
  if (!value.is_text()) return {};
  const auto& shape = value.text().shape;
  return std::vector<Dim>(shape.begin(), shape.end());
}

Result shape(const Call& call) {
  const auto found = dims_of(call.value(0));
  if (!found) return {};
  const std::vector<Dim>& dims = *found;
  const auto count = static_cast<std::int64_t>(dims.size());
  const auto place = [&](std::string_view name, std::int64_t otherwise) {
    const std::int64_t given = call.attr(name, otherwise);
    return std::clamp<std::int64_t>(given < 0 ? given + count : given, 0, count);
  };
  const std::int64_t start = place("start", 0), end = std::max(start, place("end", count));
  return Known{{dims.begin() + start, dims.begin() + end}, false, dtypes::i64};
}

Result product(const std::vector<Dim>& elements) {
  Dim all = 1;
  for (const Dim& each : elements) {
    auto next = multiply(all, each);
    if (!next) return {};
    all = *std::move(next);
  }
  return Known{{all}, true, dtypes::i64};
}

Result size(const Call& call) {
  const auto dims = dims_of(call.value(0));
  return dims ? product(*dims) : Result();
}

Result same(const Call& call) { return input(call, 0); }

Result cast(const Call& call) {
  const Type to = call.attr<Type>("to");
  if (bits_of(to) < 8 || to == Type::C64 || to == Type::C128) return {};
  const Known& from = input(call, 0);
  Known result{{}, from.is_scalar, dtype_of(to)};
  for (const Dim& each : from.elements) {
    if (to == Type::Bool && each.is_symbolic()) return {};
    result.elements.push_back(to == Type::Bool ? Dim(std::int64_t(number(each) != 0)) : each);
  }
  if (type_of(result.dtype) != to) return {};
  return result;
}

Result negative(const Call& call) {
  Known result = input(call, 0);
  for (Dim& each : result.elements) {
    auto value = subtract(0, each);
    if (!value) return {};
    each = *std::move(value);
  }
  return result;
}

Result logical_not(const Call& call) {
  Known result = input(call, 0);
  for (Dim& each : result.elements) each = subtract(1, each).value_or(each);
  return result;
}

// Places, of which negative ones count from the end.
Result gather(const Call& call) {
  const Known &from = input(call, 0), &places = input(call, 1);
  if (from.is_scalar || call.attr("axis", 0) > 0) return {};
  const auto count = static_cast<std::int64_t>(from.elements.size());
  Known result{{}, places.is_scalar, from.dtype};
  for (const Dim& place : places.elements) {
    if (place.is_symbolic() || number(place) < -count || number(place) >= count) return {};
    const std::int64_t at = number(place) < 0 ? number(place) + count : number(place);
    result.elements.push_back(from.elements[static_cast<std::size_t>(at)]);
  }
  return result;
}

// The only number of an input that may be left out.
std::optional<std::int64_t> number_of(const Call& call, std::size_t i, std::int64_t otherwise) {
  if (!call.has(i)) return otherwise;
  const Known& given = input(call, i);
  if (given.elements.size() != 1 || given.elements[0].is_symbolic()) return {};
  return number(given.elements[0]);
}

Result sliced(const Known& from, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto count = static_cast<std::int64_t>(from.elements.size());
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) return {};
  Known result{{}, false, from.dtype};
  if (count == 0) return result;
  const std::int64_t highest = step > 0 ? count : count - 1;
  const auto place = [&](std::int64_t at, std::int64_t lowest) {
    return std::clamp(at < 0 ? at + count : at, lowest, highest);
  };
  const std::int64_t last = place(end, step > 0 ? 0 : -1);
  for (std::int64_t at = place(start, 0); step > 0 ? at < last : at > last;) {
    result.elements.push_back(from.elements[static_cast<std::size_t>(at)]);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return result;
}

Result slice(const Call& call) {
  const Known& from = input(call, 0);
  if (from.is_scalar) return {};
  if (call.opset() < 10) {
    const auto starts = call.attr<std::vector<std::int64_t>>("starts");
    const auto ends = call.attr<std::vector<std::int64_t>>("ends");
    if (starts.size() != 1 || ends.size() != 1) return {};
    return sliced(from, starts[0], ends[0], 1);
  }
  const auto start = number_of(call, 1, 0), end = number_of(call, 2, 0);
  const auto axis = number_of(call, 3, 0), step = number_of(call, 4, 1);
  if (!start || !end || !step || !axis || (*axis != 0 && *axis != -1)) return {};
  return sliced(from, *start, *end, *step);
}

Result concat(const Call& call) {
  Known result{{}, false, input(call, 0).dtype};
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const Known& each = input(call, i);
    if (each.is_scalar || each.dtype != result.dtype) return {};
    result.elements.insert(result.elements.end(), each.elements.begin(), each.elements.end());
  }
  return result;
}

Result unsqueeze(const Call& call) {
  Known result = input(call, 0);
  const std::size_t axes = call.opset() < 13 ? call.attr<std::vector<std::int64_t>>("axes").size()
                                             : input(call, 1).elements.size();
  if (!result.is_scalar || axes != 1) return {};
  result.is_scalar = false;
  return result;
}

Result squeeze(const Call& call) {
  Known result = input(call, 0);
  if (result.is_scalar || result.elements.size() != 1) return {};
  result.is_scalar = true;
  return result;
}

// To one axis or none.
Result reshape(const Call& call) {
  if (call.opset() < 5) return {};
  Known result = input(call, 0);
  const std::vector<Dim>& shape = input(call, 1).elements;
  const auto count = static_cast<std::int64_t>(result.elements.size());
  if (shape.size() > 1 || (shape.empty() && count != 1)) return {};
  if (!shape.empty() &&
      (shape[0].is_symbolic() || (number(shape[0]) != -1 && number(shape[0]) != count)))
    return {};
  result.is_scalar = shape.empty();
  return result;
}

Result where(const Call& call) {
  const Known &condition = input(call, 0), &yes = input(call, 1), &no = input(call, 2);
  const auto length = common_length({&condition, &yes, &no});
  if (!length || yes.dtype != no.dtype) return {};
  Known result{{}, condition.is_scalar && yes.is_scalar && no.is_scalar, yes.dtype};
  for (std::size_t i = 0; i < *length; ++i) {
    if (element(condition, i).is_symbolic()) return {};
    result.elements.push_back(element(number(element(condition, i)) != 0 ? yes : no, i));
  }
  return result;
}

Result range(const Call& call) {
  std::array<std::int64_t, 3> given{};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto one = number_of(call, i, 0);
    if (!one) return {};
    given[i] = *one;
  }
  const auto [start, limit, step] = given;
  Known result{{}, false, input(call, 0).dtype};
  if (step == 0) return {};
  for (std::int64_t at = start; step > 0 ? at < limit : at > limit;) {
    if (result.elements.size() == most_elements) return {};
    result.elements.push_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return result;
}

Result constant_of_shape(const Call& call) {
  const Known& shape = input(call, 0);
  if (shape.elements.size() > 1 || !call.has("value")) return {};
  const Value value = call.attr<Value>("value");
  if (value.known() == nullptr || value.known()->elements.size() != 1) return {};
  Known result = *value.known();
  result.is_scalar = shape.elements.empty();
  if (result.is_scalar) return result;
  const Dim& count = shape.elements[0];
  if (count.is_symbolic() || number(count) < 0 || number(count) > std::int64_t(most_elements))
    return {};
  const Dim all = result.elements[0];
  result.elements.assign(static_cast<std::size_t>(number(count)), all);
  return result;
}

Result reduce(const Call& call, KnownElement how, std::int64_t start) {
  const Known& from = input(call, 0);
  if (from.is_scalar || call.attr("noop_with_empty_axes", 0) != 0) return {};
  Dim all = start;
  for (const Dim& each : from.elements) {
    auto next = how(all, each);
    if (!next) return {};
    all = *std::move(next);
  }
  return Known{{all}, call.attr("keepdims", 1) == 0, from.dtype};
}

Result reduce_product(const Call& call) { return reduce(call, multiply, 1); }
Result reduce_sum(const Call& call) { return reduce(call, add, 0); }

struct Rule {
  std::string_view op;
  Result (*function)(const Call& call);
  std::size_t least_inputs;  // that are known, as all others that are given
};

constexpr Rule rules[] = {
    {"Cast", cast, 1},
    {"Ceil", same, 1},
    {"Concat", concat, 1},
    {"ConstantOfShape", constant_of_shape, 1},
    {"Floor", same, 1},
    {"Gather", gather, 2},
    {"Identity", same, 1},
    {"Neg", negative, 1},
    {"Not", logical_not, 1},
    {"Range", range, 3},
    {"ReduceProd", reduce_product, 1},
    {"ReduceSum", reduce_sum, 1},
    {"Reshape", reshape, 2},
    {"Round", same, 1},
    {"Slice", slice, 1},
    {"Squeeze", squeeze, 1},
    {"Unsqueeze", unsqueeze, 1},
    {"Where", where, 3},
};
// Of these the inputs may be anything.
constexpr Rule shape_rules[] = {{"Constant", constant, 0}, {"Shape", shape, 1}, {"Size", size, 1}};

bool all_known(const Call& call) {
  for (std::size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && call.value(i).known() == nullptr) return false;
  return true;
}

Result result_of(const Call& call, std::string_view op) {
  for (const Rule& rule : shape_rules)
    if (rule.op == op && call.inputs() >= rule.least_inputs) return rule.function(call);
  if (!all_known(call)) return {};
  const auto has = [&](std::size_t inputs) {
    for (std::size_t i = 0; i < inputs; ++i)
      if (!call.has(i)) return false;
    return true;
  };
  for (const Rule& rule : rules)
    if (rule.op == op) return has(rule.least_inputs) ? rule.function(call) : Result();
  const KnownOp* by_element = find_known_op(op);
  return by_element != nullptr && has(2) ? by_elements(call, *by_element) : Result();
}

}  // namespace

std::optional<Values> known_values(const Call& call, const Step& step) {
  if (!step.node->domain.empty() || step.op == nullptr) return {};
  Result result = result_of(call, step.node->op);
  if (!result || !checked(*result) || may_have_sign(*result, step.node->op)) return {};
  return Values{Value::known(std::move(result->elements), result->is_scalar, result->dtype)};
}

}  // namespace weft::onnx
