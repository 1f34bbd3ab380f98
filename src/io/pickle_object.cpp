// From the nodes of a pickle to an object.

#include <optional>

#include <fmt/format.h>

#include <weft/dev/io/shape.h>
#include "npy.h"
#include "pickle.h"
#include "strided.h"

namespace weft {

class Pickle::Converter {
 public:
  Converter(const Pickle& pickle, const std::string& device, const Storages& storages)
      : pickle_(pickle), device_(device), storages_(storages), made_(pickle.nodes_.size()) {}

  // The same node is the same object wherever it stands: what is shared stays so, and takes no time again.
  Object operator()(Ref node) {
    if (const std::optional<Object>& found = made_[node]) return copied(*found);
    if (++level_ > most_levels) pickle_.fail("its pickle is nested too deeply, or contains itself");
    Object made = std::visit([&](const auto& each) { return object(each); }, pickle_.nodes_[node]);
    --level_;
    made_[node] = made;
    return made;
  }

 private:
  static constexpr int most_levels = 100;

  // A text is another one wherever it stands, and it takes two bytes to point to it.
  Object copied(const Object& object) {
    constexpr std::size_t free = 1 << 26, times = 16;
    if (object.is<std::string>()) copied_ += object.as<std::string>().size();
    if (copied_ > free && (copied_ - free) / times > pickle_.from_.size())
      pickle_.fail("its pickle makes far more text than it has");
    return object;
  }

  Object object(const Object& plain) { return plain; }
  Object object(const Global& global) { return global.name; }
  Object object(const Storage&) { pickle_.fail("its pickle has a storage that is no tensor's"); }
  Object object(const NumpyType& type) { return type.dtype.str(); }

  Object object(const Sequence& sequence) {
    Object::List list;
    for (const Ref item : sequence.items) list.push_back((*this)(item));
    return list;
  }

  Object object(const Table& table) {
    Object::Dict dict;
    for (const auto& [key, value] : table.entries)
      dict.emplace_back(name_of((*this)(key)), (*this)(value));
    return dict;
  }

  std::string name_of(const Object& key) const {
    if (key.is<std::string>()) return key.as<std::string>();
    if (key.is<bool>()) return key.as<bool>() ? "True" : "False";
    if (key.is<std::int64_t>()) return fmt::format("{}", key.as<std::int64_t>());
    if (key.is<double>()) return fmt::format("{}", key.as<double>());
    pickle_.fail("its pickle has a dictionary with keys that are neither text nor numbers");
  }

  Object object(const TorchTensor& tensor) {
    if (!storages_) pickle_.fail("its pickle has a tensor where none can be");
    const auto& storage = std::get<Storage>(pickle_.nodes_[tensor.storage]);
    const std::size_t width = tensor.dtype.bytes();
    if (tensor.dtype.is_void()) pickle_.fail("its pickle has a tensor of unknown dtype");
    const std::int64_t count =
        storage.dtype.is_void() ? storage.count / static_cast<std::int64_t>(width) : storage.count;
    const std::vector<std::int64_t>&shape = tensor.shape, &strides = tensor.strides;
    const auto reached = shape.size() == strides.size() && checked_bytes(tensor.dtype, shape)
                             ? reach(shape, strides)
                             : std::nullopt;
    if (!reached || tensor.offset < 0 || tensor.offset > count || *reached > count - tensor.offset)
      pickle_.fail("its pickle has a tensor that does not fit in its storage");
    const Tensor all = storages_(storage.key, tensor.dtype, count);
    return strided(all, tensor.offset, shape, strides);
  }

  Object object(const NumpyArray& array) {
    if (array.type.dtype.is_void()) pickle_.fail("its pickle has an array that is never filled");
    const auto bytes = std::as_bytes(std::span(array.bytes));
    const Tensor tensor =
        numpy_tensor({array.type.dtype, array.type.swapped, array.column_major, array.shape}, bytes,
                     pickle_.in().path, {.device = array.is_number ? "CPU" : device_});
    if (!array.is_number) return tensor;
    if (tensor.dtype().is_float()) return tensor.item<double>();
    if (tensor.dtype().is_bool()) return tensor.item<bool>();
    return tensor.item<std::int64_t>();
  }

  const Pickle& pickle_;
  const std::string& device_;
  const Storages& storages_;
  std::vector<std::optional<Object>> made_;
  std::size_t copied_ = 0;
  int level_ = 0;
};

Object Pickle::object(const std::string& device, const Storages& storages) const {
  return Converter(*this, device, storages)(result_);
}

std::map<std::string, std::size_t> Pickle::storage_widths() const {
  std::map<std::string, std::size_t> widths;
  for (const Node& node : nodes_)
    if (const auto* storage = std::get_if<Storage>(&node))
      widths[storage->key] = storage->dtype.is_void() ? 1 : storage->dtype.bytes();
  return widths;
}

}  // namespace weft
