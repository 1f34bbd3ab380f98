#include <weft/object.h>

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {

std::string_view Object::name_of(const Object& object) {
  static constexpr std::string_view names[] = {"nothing", "a bool",   "an integer", "a number",
                                               "text",    "a tensor", "a list",     "a dictionary"};
  return names[object.value_.index()];
}

void Object::wrong(std::string_view wanted) const {
  user_error(fmt::format("{} where {} is wanted", name_of(*this), wanted));
}

double Object::number() const {
  return is<std::int64_t>() ? static_cast<double>(as<std::int64_t>()) : as<double>();
}

const Object* Object::find(std::string_view key) const {
  const Dict& dict = as<Dict>();
  const auto found = std::ranges::find(dict, key, &Dict::value_type::first);
  return found == dict.end() ? nullptr : &found->second;
}

const Object& Object::at(std::string_view key) const {
  const Object* found = find(key);
  if (found == nullptr) user_error(fmt::format("there is no '{}'", key));
  return *found;
}

const Object& Object::at(std::size_t index) const {
  const List& list = as<List>();
  if (index >= list.size())
    user_error(fmt::format("there is no element {} in a list of {}", index, list.size()));
  return list[index];
}

std::size_t Object::size() const { return is<Dict>() ? as<Dict>().size() : as<List>().size(); }

}  // namespace weft
