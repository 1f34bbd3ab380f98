// Pickles of Python. A pickle is a program for a machine with a stack; here that machine can make nothing but
// containers, numbers, text, and tensors of PyTorch and NumPy.
//
// What it makes are nodes that point to each other, since containers are filled after they were handed on. Only
// when the program has ended are they turned into an Object, which cannot change and has no cycles.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <weft/object.h>

#include "cursor.h"

namespace weft {

class Pickle {
 public:
  // All elements that a storage of PyTorch holds, on one axis.
  using Storages = std::function<Tensor(const std::string& key, DType dtype, std::int64_t count)>;

  // Runs one pickle, and leaves the cursor behind it.
  explicit Pickle(Cursor& from);
  Object object(const std::string& device, const Storages& storages) const;
  // By their keys, the bytes of an element.
  std::map<std::string, std::size_t> storage_widths() const;

 private:
  friend struct Opcodes;
  friend struct Globals;
  class Converter;

  using Ref = std::size_t;  // of a node
  using Refs = std::vector<Ref>;
  using Call = Ref (*)(Pickle&, const Refs& arguments);

  struct Sequence {
    Refs items;
  };
  struct Table {
    std::vector<std::pair<Ref, Ref>> entries;
  };
  // A class or a function that is known by its name.
  struct Global {
    std::string name;
    Call call = nullptr;  // null: it is only named
    DType dtype = {};     // that it stands for
  };
  struct Storage {
    std::string key;
    DType dtype;         // void: bytes
    std::int64_t count;  // of elements
  };
  struct TorchTensor {
    Ref storage;
    DType dtype;
    std::int64_t offset;
    std::vector<std::int64_t> shape, strides;
  };
  struct NumpyType {
    DType dtype;
    bool swapped = false;
  };
  struct NumpyArray {
    NumpyType type;
    bool column_major = false, is_number = false;
    std::vector<std::int64_t> shape;
    std::string bytes;
  };
  using Node =
      std::variant<Object, Sequence, Table, Global, Storage, TorchTensor, NumpyType, NumpyArray>;

  [[noreturn]] void fail(std::string_view what) const { in().fail(what); }
  const InFile& in() const { return from_.in(); }

  template <class T>
  Ref add(T node) {
    nodes_.emplace_back(std::move(node));
    return nodes_.size() - 1;
  }
  void push(Ref node) { stack_.push_back(node); }
  template <class T>
  void make(T node) {
    push(add(std::move(node)));
  }
  Ref pop();
  Ref top() const;
  Refs pop_to_mark();

  template <class T>
  T* find(Ref node) {
    return std::get_if<T>(&nodes_[node]);
  }
  // What a call is given, checked.
  template <class T>
  T& get(const Refs& arguments, std::size_t place);
  std::int64_t integer(Ref node);
  std::string text(Ref node);
  std::vector<std::int64_t> integers(Ref node);
  // What a few bytes copy may be large: all of it together may not be.
  void spend(std::size_t count);

  void find_global(const std::string& name);
  void call();
  void build();
  void fill(Ref container, const Refs& items);
  void keep(std::uint64_t place, Ref node) { kept_[place] = node; }
  void push_kept(std::uint64_t place);
  void make_storage();

  Cursor& from_;
  std::vector<Node> nodes_;
  Refs stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint64_t, Ref> kept_;
  Ref result_ = 0;
  std::size_t spent_ = 0;
};

}  // namespace weft
