// Golden cases: what the methods of Tensor have to give, by PyTorch, numpy and scipy (docs/testing.md).
// make.py writes them; here they are read, and each group says how a method is called.
//
//   const Group group("movement", {
//     {"roll", [](const Case& c) { return one(c[0].roll(c.integer("shifts"), c.integer("dims"))); }},
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.h>

namespace weft::golden {

using Numbers = std::vector<std::int64_t>;

// An argument as it is written: 2, -1.5, true, "sum", [1,[2,3]].
struct Value {
  std::string text;         // without its quotes
  std::vector<Value> list;  // of a list, which has no text
  bool is_list = false;

  explicit Value(std::string_view written);
};

// Movement over an input, such as permute[1,0].
struct Move {
  std::string op;
  Numbers numbers;
};

// A tensor in the file: f32[2,3]@128|permute[1,0].
struct Stored {
  DType dtype;
  Numbers shape;  // before it is moved
  std::span<const std::byte> bytes;
  std::vector<Move> moves;

  Stored(std::string_view written, std::span<const std::byte> file);
  std::int64_t numel() const;
  Tensor load() const;  // into memory of its own, not moved yet
};

class Case {
 public:
  // A line of the text file, which has these bytes. `load` makes the base of an input of that number.
  using Load = std::function<Tensor(const Stored&, std::size_t)>;
  static Tensor as_stored(const Stored& stored, std::size_t) { return stored.load(); }
  Case(std::string_view line, std::span<const std::byte> file, const Load& load = as_stored);

  // The inputs, null where one is left out.
  const Tensor& operator[](std::size_t i) const { return inputs_.at(i); }
  std::span<const Tensor> inputs(std::size_t first = 0) const;
  // An input, or the number that the case has in its place.
  Operand operand(std::size_t i, std::string_view key) const;

  // The arguments. What has no fallback has to be there.
  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool is_list(std::string_view key) const { return has(key) && find(key)->is_list; }
  std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  double real(std::string_view key, std::optional<double> fallback = {}) const;
  bool flag(std::string_view key, bool fallback = false) const;
  std::string text(std::string_view key, std::optional<std::string> fallback = {}) const;
  DType dtype(std::string_view key) const;      // void where it is left out
  Scalar number(std::string_view key) const;    // bool, integer or float, as written
  Numbers numbers(std::string_view key) const;  // a number is a list of one
  Numbers numbers(std::string_view key, Numbers fallback) const;
  std::vector<Numbers> lists(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;  // none where it is left out
  AxisList axes(std::string_view key) const;              // all where it is left out

  // What has to come out, and the gradients for `seeds`; none where it is not asked for.
  std::vector<Stored> outputs;
  std::vector<std::optional<Stored>> seeds, gradients;
  std::vector<Tensor> bases;  // of the inputs: what gradients are for
  std::int64_t largest = 0;   // elements of the largest tensor
  bool is_odd = false;        // it has a tensor of at most one element, or a view

 private:
  const Value* find(std::string_view key) const;
  const Value& get(std::string_view key) const;
  void add_input(std::string_view word, std::span<const std::byte> file, const Load& load);
  void look_at(const Stored& stored);

  std::vector<Tensor> inputs_;
  std::map<std::string, Value, std::less<>> arguments_;
};

using Method = std::function<std::vector<Tensor>(const Case&)>;
inline std::vector<Tensor> one(const Tensor& tensor) { return {tensor}; }

// The methods of data/NAME.txt. To make one registers it.
class Group {
 public:
  using Methods = std::map<std::string, Method, std::less<>>;
  Group(std::string_view group_name, const Methods& group_methods);

  const std::string name;
  const Methods methods;
};
const std::vector<const Group*>& groups();

// The file of a group, its lines by their method.
class Data {
 public:
  explicit Data(std::string_view group);

  struct Line {
    int number;
    std::string text;
  };
  std::map<std::string, std::vector<Line>> lines;
  std::vector<std::byte> bytes;
};
std::string folder();  // the one of this file

// Whether what has this number is in one of `parts`, which runs take in turn (WEFT_TURN). All are with WEFT_FULL=1.
bool is_in_turn(std::size_t number, std::size_t parts);

}  // namespace weft::golden
