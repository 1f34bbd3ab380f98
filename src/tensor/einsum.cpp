// einsum: a formula read, its letters as labels of axes.

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <weft/error.h>

#include "contraction.h"
#include "ops.h"

namespace weft {
namespace {

// "ab...c": the letters before and after an ellipsis, if there is one.
struct Term {
  std::string text, front, back;
  bool has_ellipsis = false;
};

// An axis by its letter, or one of the ellipsis by -1 for the last, -2 ...
using Name = int;

std::string name_text(Name name) {
  return name < 0 ? fmt::format("axis {} of the ellipsis", name)
                  : std::string(1, static_cast<char>(name));
}

class Formula {
 public:
  Formula(std::string_view written, const std::vector<Tensor>& tensors)
      : written_(written), tensors_(tensors) {
    read();
    if (terms_.size() != tensors.size())
      wrong(fmt::format("{} operands are written, {} given", terms_.size(), tensors.size()));
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      names_.push_back(names_of(i));
      for (std::size_t axis = 0; axis < names_[i].size(); ++axis)
        meet(names_[i][axis], UOp(tensors_[i].uop()->dims()[axis]));
    }
    if (sizes_.size() > 64) wrong("more than 64 different axes");
  }

  // Without axes twice, and without those of size 1 that are longer elsewhere.
  std::vector<Labelled> operands() const {
    std::vector<Labelled> result;
    for (std::size_t i = 0; i < terms_.size(); ++i) result.push_back(operand(i));
    return result;
  }

  std::vector<std::size_t> output() const {
    std::vector<std::size_t> labels;
    for (const Name name : output_ ? written_output(*output_) : implied_output())
      labels.push_back(label(name));
    return labels;
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    user_error(fmt::format("einsum: \"{}\": {}", written_, what));
  }

  void read() {
    std::string text(written_);
    std::erase(text, ' ');
    std::string_view inputs = text;
    if (const auto arrow = text.find("->"); arrow != std::string::npos) {
      inputs = inputs.substr(0, arrow);
      output_ = term(std::string_view(text).substr(arrow + 2));
    }
    for (std::size_t start = 0; start <= inputs.size();) {
      const std::size_t end = std::min(inputs.find(',', start), inputs.size());
      terms_.push_back(term(inputs.substr(start, end - start)));
      start = end + 1;
    }
  }

  Term term(std::string_view text) const {
    Term term{.text = std::string(text), .front = {}, .back = {}};
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
        (term.has_ellipsis ? term.back : term.front) += text[i];
      } else if (text.substr(i, 3) == "..." && !term.has_ellipsis) {
        term.has_ellipsis = true;
        i += 2;
      } else {
        wrong(fmt::format("'{}' is no letter, and not the only \"...\" of \"{}\"", text[i], text));
      }
    }
    return term;
  }

  static std::vector<Name> named(const Term& term, std::int64_t ellipsis_axes) {
    std::vector<Name> names(term.front.begin(), term.front.end());
    for (std::int64_t axis = -ellipsis_axes; axis < 0; ++axis)
      names.push_back(static_cast<Name>(axis));
    names.insert(names.end(), term.back.begin(), term.back.end());
    return names;
  }

  std::vector<Name> names_of(std::size_t i) const {
    const Term& term = terms_[i];
    const std::int64_t rest = tensors_[i].ndim() - std::ssize(term.front) - std::ssize(term.back);
    if (rest < 0 || (rest > 0 && !term.has_ellipsis))
      wrong(fmt::format("operand {} of shape {} has not the axes \"{}\"", i,
                        shape_text(tensors_[i].uop()), term.text));
    return named(term, rest);
  }

  void meet(Name name, const UOp& size) {
    ++counts_[name];
    const auto [at, is_new] = sizes_.try_emplace(name, size);
    if (is_new || at->second.is(size) || size->is_const_int(1)) return;
    if (!at->second->is_const_int(1))
      wrong(
          fmt::format("{} is {} and {}", name_text(name), size_text(at->second), size_text(size)));
    at->second = size;
  }

  std::size_t label(Name name) const {
    return static_cast<std::size_t>(std::distance(sizes_.begin(), sizes_.find(name)));
  }

  Labelled operand(std::size_t i) const {
    Tensor x = tensors_[i];
    std::vector<Name> names = names_[i];
    for (std::size_t a = 0; a < names.size(); ++a) {
      const auto again =
          std::find(names.begin() + static_cast<std::ptrdiff_t>(a) + 1, names.end(), names[a]);
      if (again == names.end()) continue;
      const auto b = again - names.begin();
      const Name name = names[a];
      if (x.dims()[a].uop().node() != x.dims()[static_cast<std::size_t>(b)].uop().node())
        wrong(fmt::format("{} is twice in operand {} of shape {}, with different sizes",
                          name_text(name), i, shape_text(tensors_[i].uop())));
      x = x.diagonal(0, static_cast<std::int64_t>(a), b);  // as the last axis
      names.erase(again);
      names.erase(names.begin() + static_cast<std::ptrdiff_t>(a));
      names.push_back(name);
      --a;  // another axis is here now
    }
    Labelled result;
    std::vector<Dim> kept;
    const std::vector<Dim> sizes = x.dims();
    for (std::size_t axis = 0; axis < names.size(); ++axis) {
      if (!sizes[axis].uop().is(sizes_.at(names[axis]))) continue;
      kept.push_back(sizes[axis]);
      result.labels.push_back(label(names[axis]));
    }
    result.tensor = x.reshape(Shape(kept));
    return result;
  }

  std::int64_t ellipsis_axes() const {
    return std::ranges::count_if(sizes_, [](const auto& each) { return each.first < 0; });
  }

  std::vector<Name> written_output(const Term& output) const {
    std::vector<Name> names = named(output, output.has_ellipsis ? ellipsis_axes() : 0);
    for (const Name name : names) {
      if (!sizes_.contains(name))
        wrong(fmt::format("{} of the output is in no operand", name_text(name)));
      if (std::ranges::count(names, name) > 1)
        wrong(fmt::format("{} is in the output twice", name_text(name)));
    }
    return names;
  }

  // The axes of the ellipsis are in order because they are negative.
  std::vector<Name> implied_output() const {
    std::vector<Name> names;
    for (const auto& [name, count] : counts_)
      if (name < 0 || count == 1) names.push_back(name);
    return names;
  }

  const std::string_view written_;
  const std::vector<Tensor>& tensors_;
  std::vector<Term> terms_;
  std::optional<Term> output_;
  std::vector<std::vector<Name>> names_;  // of the axes of each operand
  std::map<Name, UOp> sizes_;             // its order numbers the labels
  std::map<Name, int> counts_;
};

}  // namespace

Tensor Tensor::einsum(std::string_view formula, const std::vector<Tensor>& operands, DType dtype) {
  const Called called;
  const Formula read(formula, operands);
  const std::vector<std::size_t> output = read.output();
  return contraction("einsum", read.operands(), output, dtype);
}

}  // namespace weft
