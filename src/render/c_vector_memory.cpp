// How vectors come from memory and go there.

#include <bit>

#include <fmt/format.h>

#include "c_helpers.h"
#include "c_vectors.h"

namespace weft {
namespace {

// A function on the memory of a row, by what it has.
class RowFunction {
 public:
  RowFunction(DType held, const CRow& row, CHelpers& helpers)
      : row_(row),
        helpers_(helpers),
        held_(held),
        type_(c_vector_type(held, helpers)),
        is_masked_(!row.mask.text.empty()),
        is_apart_(!row.at.text.empty()) {}

  std::string load(const std::string& other) {
    const std::string name = named("load", "gather"), element = held_.scalar().str();
    std::string text =
        fmt::format("static inline {} {}(const {} *from{}{}) {{\n", type_, name, element,
                    parameters(), is_masked_ ? ", " + type_ + " other" : "");
    if (!is_masked_ && !is_apart_) {
      text += whole(
          "return *(const {0}_there *)from;",
          "{0} to = {{0}};\n  __builtin_memcpy(&to, from, {1} * sizeof *from);\n  return to;");
    } else {
      const std::string place = is_apart_ ? "from[LANE(at, i)]" : "from[i]";
      if (is_masked_ && !is_apart_) text += all_at_once("return load_{0}(from)");
      text += fmt::format("  LANES({}, {}, {})", type_, held_.lanes(),
                          is_masked_ ? "LANE(mask, i) ? " + place + " : LANE(other, i)" : place);
    }
    helpers_.emplace(order(), text + "\n}");
    return fmt::format("{}({}{}{})", name, row_.address, arguments(),
                       is_masked_ ? ", " + other : "");
  }

  std::string store(const std::string& value) {
    const std::string name = named("store", "scatter"), element = held_.scalar().str();
    std::string text = fmt::format("static inline void {}({} *to{}, {} value) {{\n", name, element,
                                   parameters(), type_);
    if (!is_masked_ && !is_apart_) {
      text += whole("*({0}_there *)to = value;", "__builtin_memcpy(to, &value, {1} * sizeof *to);");
    } else {
      if (is_masked_ && !is_apart_) text += all_at_once("{{ store_{0}(to, value); return; }}");
      text += fmt::format("  EACH_LANE({}) {}{} = LANE(value, i);", held_.lanes(),
                          is_masked_ ? "if (LANE(mask, i)) " : "",
                          is_apart_ ? "to[LANE(at, i)]" : "to[i]");
    }
    helpers_.emplace(order(), text + "\n}");
    return fmt::format("{}({}{}, {})", name, row_.address, arguments(), value);
  }

 private:
  std::string named(std::string_view in_a_row, std::string_view apart) const {
    std::string name = fmt::format("{}_{}", is_apart_ ? apart : in_a_row, type_);
    if (is_apart_) name += "_at_" + row_.at.held.str();
    if (is_masked_) name += "_where_" + row_.mask.held.str();
    return name;
  }
  CHelperOrder order() const { return is_masked_ && !is_apart_ ? OfVectorFunctions : OfVectors; }

  std::string parameters() const {
    std::string text;
    if (is_apart_) text += fmt::format(", {} at", c_vector_type(row_.at.held, helpers_));
    if (is_masked_) text += fmt::format(", {} mask", c_vector_type(row_.mask.held, helpers_));
    return text;
  }
  std::string arguments() const {
    return (is_apart_ ? ", " + row_.at.text : "") + (is_masked_ ? ", " + row_.mask.text : "");
  }

  // A vector without more lanes in it than are in memory is read at any address.
  std::string whole(std::string_view direct, std::string_view copied) const {
    const auto formed = [&](std::string_view form) {
      return fmt::format(fmt::runtime(form), type_, held_.lanes());
    };
    if (!std::has_single_bit(held_.lanes())) return "  " + formed(copied);
    return fmt::format("#if HAS_VECTORS\n  {}\n#else\n  {}\n#endif", formed(direct),
                       formed(copied));
  }

  // Where no lane is left out: that is seen in words, where they fill some.
  std::string all_at_once(std::string_view otherwise) {
    const DType mask = row_.mask.held;
    const std::string type = c_vector_type(mask, helpers_);
    const std::size_t words = mask.bytes() / sizeof(std::uint64_t);
    const bool fills = std::has_single_bit(mask.lanes()) && words > 0;
    helpers_.emplace(
        OfVectors,
        fills ? fmt::format(
                    "static inline bool all_{0}({0} mask) {{\n  u64 words[{1}], all = ~0ull;\n"
                    "  __builtin_memcpy(words, &mask, sizeof words);\n"
                    "  EACH_LANE({1}) all &= words[i];\n"
                    "  return all == ~0ull;\n}}",
                    type, words)
              : fmt::format("static inline bool all_{0}({0} mask) {{\n  bool all = 1;\n"
                            "  EACH_LANE({1}) all &= LANE(mask, i) != 0;\n"
                            "  return all;\n}}",
                            type, mask.lanes()));
    CRow all{"", {}, {}};
    RowFunction inner(held_, all, helpers_);
    if (otherwise.find("store") != std::string_view::npos)
      inner.store("");
    else
      inner.load("");
    return fmt::format("  if (all_{}(mask)) {};\n", type,
                       fmt::format(fmt::runtime(otherwise), type_));
  }

  const CRow& row_;
  CHelpers& helpers_;
  DType held_;
  std::string type_;
  bool is_masked_, is_apart_;
};

}  // namespace

std::string c_vector_load(DType held, const CRow& row, const std::string& other,
                          CHelpers& helpers) {
  return RowFunction(held, row, helpers).load(other);
}

std::string c_vector_store(const CVector& value, const CRow& row, CHelpers& helpers) {
  return RowFunction(value.held, row, helpers).store(value.text);
}

}  // namespace weft
