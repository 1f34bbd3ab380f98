// The tensors within a value: a model, an optimiser, what a function takes or gives.
//
//   struct Mlp {
//     nn::Linear in{2, 8}, out{8, 1};
//     Tensor operator()(const Tensor& x) const { return out(in(x).relu()); }
//     WEFT_FIELDS(in, out);
//   };
//   save_npz("mlp.npz", get_state_dict(mlp));   // in.weight, in.bias, out.weight, out.bias
//
// A struct says once which members are looked into. Members may be tensors, such structs, and vectors,
// arrays, optionals, pointers, pairs, tuples and maps by strings of them; numbers, strings and whatever has
// no state are passed over.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/tensor.h>

// A struct that numbers its members otherwise has visit_fields() of its own, const and not: it calls
// visit(name, member) for each.
#define WEFT_FIELDS(...)                                                                         \
  auto named_fields() { return ::weft::fields::named(#__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); } \
  auto named_fields() const {                                                                    \
    return ::weft::fields::named(#__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__);                       \
  }                                                                                              \
  static_assert(true)

namespace weft {

namespace fields {

// The first of "a, b, c", which is then gone from the list.
inline std::string_view take_name(std::string_view& names) {
  const std::size_t end = std::min(names.find(','), names.size());
  const std::string_view name = names.substr(0, end);
  names.remove_prefix(std::min(names.find_first_not_of(" ,", end), names.size()));
  return name;
}

// What WEFT_FIELDS says. No template, which a struct within a function could not have.
template <class... Members>
struct NamedFields {
  std::string_view names;  // "a, b, c"
  std::tuple<Members&...> members;
};

template <class... Members>
NamedFields<Members...> named(std::string_view names, Members&... members) {
  return {names, {members...}};
}

struct Ignore {
  template <class T>
  void operator()(std::string_view, T&&) const {}
};

template <class T>
concept Named = requires(T& value, const T& constant) {
  value.named_fields();
  constant.named_fields();
};
template <class T>
concept Visitable = requires(T& value, const T& constant) {
  value.visit_fields(Ignore{});
  constant.visit_fields(Ignore{});
};
template <class T>
concept Struct = Named<T> || Visitable<T>;

// Each kind of type by its template.
template <class T>
inline constexpr bool is_sequence = false;
template <class T, class A>
inline constexpr bool is_sequence<std::vector<T, A>> = true;
template <class T, std::size_t N>
inline constexpr bool is_sequence<std::array<T, N>> = true;

template <class T>
inline constexpr bool is_product = false;
template <class... T>
inline constexpr bool is_product<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_product<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_map = false;
template <class T, class C, class A>
inline constexpr bool is_map<std::map<std::string, T, C, A>> = true;

// One member, or none.
template <class T>
inline constexpr bool is_maybe = false;
template <class T>
inline constexpr bool is_maybe<std::optional<T>> = true;
template <class T, class D>
inline constexpr bool is_maybe<std::unique_ptr<T, D>> = true;
template <class T>
inline constexpr bool is_maybe<std::shared_ptr<T>> = true;

// What certainly holds no tensor, and has nothing to look into.
template <class T>
inline constexpr bool is_plain =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T> ||
    std::is_member_function_pointer_v<T> || std::is_function_v<std::remove_pointer_t<T>> ||
    std::same_as<T, std::string> || std::same_as<T, std::string_view> ||
    std::same_as<T, const char*> || std::same_as<T, DType>;
template <class T, class A>
inline constexpr bool is_plain<std::vector<T, A>> = is_plain<T>;
template <class T, std::size_t N>
inline constexpr bool is_plain<std::array<T, N>> = is_plain<T>;

template <class T>
inline constexpr bool can_be_visited = false;

}  // namespace fields

// Calls visit(name, member) for the members of a value itself: of a struct by their names, of a map by their
// keys, else by their numbers.
template <class T, class Visit>
void for_each_member(T& value, Visit&& visit) {
  using Value = std::remove_const_t<T>;
  if constexpr (fields::Visitable<Value>) {
    value.visit_fields(visit);
  } else if constexpr (fields::Named<Value>) {
    const auto own = value.named_fields();
    [[maybe_unused]] std::string_view names = own.names;
    std::apply([&](auto&... members) { (visit(fields::take_name(names), members), ...); },
               own.members);
  } else if constexpr (fields::is_sequence<Value>) {
    std::size_t number = 0;
    for (auto& member : value) visit(std::to_string(number++), member);
  } else if constexpr (fields::is_map<Value>) {
    for (auto& [key, member] : value) visit(key, member);
  } else if constexpr (fields::is_product<Value>) {
    std::size_t number = 0;
    std::apply([&](auto&... members) { (visit(std::to_string(number++), members), ...); }, value);
  } else {
    static_assert(fields::can_be_visited<Value>,
                  "a value of this type cannot be looked into for tensors: give the struct "
                  "WEFT_FIELDS(...), or leave the member out of its list");
  }
}

// Calls visit(name, tensor) for all tensors within, null ones too: "layers.0.weight".
template <class T, class Visit>
void for_each_tensor(T&& value, Visit&& visit, const std::string& name = {}) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (std::derived_from<Value, Tensor>) {
    visit(name, value);
  } else if constexpr (fields::is_maybe<Value>) {
    if (!value) return;
    if constexpr (std::is_const_v<std::remove_reference_t<T>>)
      for_each_tensor(std::as_const(*value), visit, name);
    else
      for_each_tensor(*value, visit, name);
  } else if constexpr (fields::Struct<Value> || !fields::is_plain<Value>) {
    for_each_member(value, [&](std::string_view field, auto& member) {
      for_each_tensor(member, visit,
                      name.empty() ? std::string(field) : name + "." + std::string(field));
    });
  }
}

using NamedTensor = std::pair<std::string, Tensor>;

// All tensors that are not null, in order, one that several members are by each of their names.
template <class Model>
std::vector<NamedTensor> get_tensors(const Model& model) {
  std::vector<NamedTensor> tensors;
  for_each_tensor(model, [&](const std::string& name, const Tensor& tensor) {
    if (!tensor.is_null()) tensors.emplace_back(name, tensor);
  });
  return tensors;
}

namespace fields {
std::vector<Tensor> each_once(const std::vector<NamedTensor>& tensors, bool requires_grad);
std::int64_t elements_of(const std::vector<Tensor>& tensors);
}  // namespace fields

// Those that require gradients, each once, in order.
template <class Model>
std::vector<Tensor> get_parameters(const Model& model) {
  return fields::each_once(get_tensors(model), true);
}
// The others, which are computed along: running means, say.
template <class Model>
std::vector<Tensor> get_buffers(const Model& model) {
  return fields::each_once(get_tensors(model), false);
}
template <class Model>
std::int64_t count_parameters(const Model& model) {
  return fields::elements_of(get_parameters(model));
}

using StateDict = std::map<std::string, Tensor>;

// The tensors themselves, not copies.
template <class Model>
StateDict get_state_dict(const Model& model) {
  const Called called("get_state_dict");
  StateDict dict;
  for (const auto& [name, tensor] : get_tensors(model)) dict.emplace(name, tensor);
  return dict;
}

struct LoadOptions {
  bool strict = true;    // neither may have a name that the other has not
  bool convert = false;  // other dtypes become those of the model
};
struct Unmatched {
  std::vector<std::string> missing, unexpected;
};

namespace fields {
Unmatched load(const std::vector<NamedTensor>& places, const StateDict& dict,
               const LoadOptions& options);
}  // namespace fields

// Puts the values into the tensors that are there, computed at once: whoever has a copy of their handles
// sees them. Shapes () and (1,) may stand for each other. Of several names of one tensor the dictionary
// needs one. Nothing is loaded where something does not fit.
template <class Model>
Unmatched load_state_dict(const Model& model, const StateDict& dict,
                          const LoadOptions& options = {}) {
  const Called called("load_state_dict");
  return fields::load(get_tensors(model), dict, options);
}

}  // namespace weft
