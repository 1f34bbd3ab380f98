// What files hold beside tensors: nothing, truth, numbers, text, lists and dictionaries of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// A handle: copies are the same object, and none of them can change it.
class Object {
 public:
  using List = std::vector<Object>;  // tuples and sets too
  // In the order of the file. Keys that are numbers there are their digits here.
  using Dict = std::vector<std::pair<std::string, Object>>;

  Object() = default;  // None, null
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Object(T number) {  // NOLINT: values read as they are
    if constexpr (std::is_same_v<T, bool>)
      value_ = number;
    else if constexpr (std::is_floating_point_v<T>)
      value_ = static_cast<double>(number);
    else
      value_ = static_cast<std::int64_t>(number);
  }
  Object(std::string text) : value_(std::move(text)) {}                         // NOLINT
  Object(const char* text) : value_(std::string(text)) {}                       // NOLINT
  Object(Tensor tensor) : value_(std::move(tensor)) {}                          // NOLINT
  Object(List list) : value_(std::make_shared<const List>(std::move(list))) {}  // NOLINT
  Object(Dict dict) : value_(std::make_shared<const Dict>(std::move(dict))) {}  // NOLINT

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  // Of bool, std::int64_t, double, std::string (bytes too), Tensor, List, Dict. An integer that does not fit
  // in 64 bits is a double.
  template <class T>
  bool is() const {
    return std::holds_alternative<Held<T>>(value_);
  }
  // Throws where it is something else.
  template <class T>
  const T& as() const {
    if (!is<T>()) wrong(name_of(Object(T())));
    if constexpr (std::is_same_v<T, List> || std::is_same_v<T, Dict>)
      return *std::get<Held<T>>(value_);
    else
      return std::get<T>(value_);
  }
  double number() const;  // an integer or a double

  // Of a dictionary: throws where there is no such key, or null.
  const Object& at(std::string_view key) const;
  const Object* find(std::string_view key) const;
  // Of a list.
  const Object& at(std::size_t index) const;
  std::size_t size() const;  // of a list or a dictionary

 private:
  template <class T>
  using Held = std::conditional_t<std::is_same_v<T, List> || std::is_same_v<T, Dict>,
                                  std::shared_ptr<const T>, T>;

  static std::string_view name_of(const Object& object);
  [[noreturn]] void wrong(std::string_view wanted) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor,
               std::shared_ptr<const List>, std::shared_ptr<const Dict>>
      value_;
};

}  // namespace weft
