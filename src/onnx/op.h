// How an operator of ONNX becomes tensors: a short function, found by its name in a table.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/onnx.h>

namespace weft::onnx {

using Values = std::vector<Value>;

// One node as it is met: what it is given, and how it is asked for. Errors name the node, its operator and what
// is wrong.
class Call {
 public:
  // --- Inputs. Those behind the last, and those without a name, are left out -----------------------------
  std::size_t inputs() const;
  bool has(std::size_t input) const;
  const Value& value(std::size_t input) const;
  // On the model's device.
  Tensor tensor(std::size_t input) const;
  Tensor tensor_or_null(std::size_t input) const;  // null where it is left out
  // One float that nobody can change, which kernels may have as a part of them.
  std::optional<double> known_float(std::size_t input) const;
  // A tensor, or what is known.
  Tensor operand(std::size_t input) const;
  std::vector<Tensor> tensors(std::size_t from = 0) const;  // this one and all that follow
  const Text& text(std::size_t input) const;
  const Sequence& sequence(std::size_t input) const;
  // Elements of a tensor. Where nothing knows them they are computed now, and the model's calls are not captured.
  std::vector<std::int64_t> ints(std::size_t input) const;
  std::vector<Dim> dims(std::size_t input) const;  // integers that may be symbolic
  std::vector<double> numbers(std::size_t input) const;
  // The same of what the node has computed from its inputs.
  std::vector<std::int64_t> ints(const Tensor& values) const;
  std::vector<double> numbers(const Tensor& values) const;
  // A tensor of one element.
  std::int64_t integer(std::size_t input) const;
  double number(std::size_t input) const;
  bool is_true(const Value& value) const;    // of what the node has computed
  void realize(const Values& values) const;  // once, so that nothing of it is captured

  const Value& named(
      std::string_view name) const;  // what the graph calls so; throws where it has none

  // --- Attributes -----------------------------------------------------------------------------------------
  bool has(std::string_view attribute) const;
  // T is std::int64_t, double, std::string, Tensor, Text, Type, Value (whatever tensor it is), or a vector of
  // one of the first three.
  template <class T>
  T attr(std::string_view name) const;  // throws where there is none
  // As the default is: attr("axis", -1), attr("alpha", 0.01), attr("mode", "linear").
  template <class T>
  auto attr(std::string_view name, T otherwise) const {
    if constexpr (std::is_same_v<T, bool> || std::integral<T>)
      return has(name) ? attr<std::int64_t>(name) : static_cast<std::int64_t>(otherwise);
    else if constexpr (std::floating_point<T>)
      return has(name) ? attr<double>(name) : static_cast<double>(otherwise);
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      return has(name) ? attr<std::string>(name) : std::string(otherwise);
    else
      return has(name) ? attr<T>(name) : std::move(otherwise);
  }

  // --- The node --------------------------------------------------------------------------------------------
  std::size_t outputs() const;
  bool wants(std::size_t output) const;     // somebody may read it
  int opset() const;                        // of the operator's domain
  Options options(DType dtype = {}) const;  // of new tensors: on the model's device
  [[noreturn]] void refuse(std::string_view why) const;

  // The outputs of a graph that is an attribute, whose names may be those of the graph around it.
  Values run(std::string_view attribute, const Values& inputs) const;

 private:
  friend class Runner;
  struct State;
  explicit Call(State& state) : state_(state) {}
  State& state_;
};

template <>
std::int64_t Call::attr<std::int64_t>(std::string_view name) const;
template <>
double Call::attr<double>(std::string_view name) const;
template <>
std::string Call::attr<std::string>(std::string_view name) const;
template <>
Type Call::attr<Type>(std::string_view name) const;
template <>
Value Call::attr<Value>(std::string_view name) const;
template <>
Tensor Call::attr<Tensor>(std::string_view name) const;
template <>
Text Call::attr<Text>(std::string_view name) const;
template <>
std::vector<std::int64_t> Call::attr<std::vector<std::int64_t>>(std::string_view name) const;
template <>
std::vector<double> Call::attr<std::vector<double>>(std::string_view name) const;
template <>
std::vector<std::string> Call::attr<std::vector<std::string>>(std::string_view name) const;

// A line of a table. The function holds from the opset `since` until the next line of that name.
struct Op {
  using One = Tensor (*)(const Call&);
  using Many = Values (*)(const Call&);

  Op(std::string_view op_name, int from, One function)
      : name(op_name), since(from), one(function) {}
  Op(std::string_view op_name, int from, Many function)
      : name(op_name), since(from), many(function) {}

  Values operator()(const Call& call) const { return many ? many(call) : Values{one(call)}; }

  std::string_view name;
  int since;
  One one = nullptr;
  Many many = nullptr;
};

// The operators of one file.
struct OpTable {
  std::string_view domain;
  std::span<const Op> ops;
};

Type type_of(DType dtype);
int bits_of(Type type);  // of an element in a file; 0 where it is none of fixed size

}  // namespace weft::onnx
