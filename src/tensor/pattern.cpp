// Patterns of named axes, as einops has them: "b (h w) c -> b c h w".

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

using Names = std::vector<std::string>;
// What makes up one axis: a name, several in brackets, or none for a 1.
using Side = std::vector<Names>;

// An ellipsis; within brackets all its axes become one.
constexpr const char* ellipsis_axes = "...";
constexpr const char* bracketed_ellipsis = "(...)";

Names flat(const Side& side) {
  Names names;
  for (const Names& group : side) names.insert(names.end(), group.begin(), group.end());
  return names;
}

bool has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Both sides of a pattern for a tensor of so many axes: an ellipsis has become names "...0", "...1" ...
class Pattern {
 public:
  Pattern(const char* op, std::string_view written, const Tensor& tensor,
          const Tensor::AxisSizes& sizes)
      : op_(op), written_(written), shape_(shape_text(tensor.uop())) {
    const auto arrow = written.find("->");
    if (arrow == std::string_view::npos) wrong("there is no ->");
    left = side(written.substr(0, arrow));
    right = side(written.substr(arrow + 2));
    spell_ellipsis(tensor.ndim());
    if (std::ssize(left) != tensor.ndim())
      wrong(fmt::format("{} axes for shape {}", left.size(), shape_));
    for (const Side* each : {&left, &right}) want_different(flat(*each));
    take(sizes);
    measure(tensor.dims());
  }

  [[noreturn]] void wrong(const std::string& what) const {
    user_error(fmt::format("{}: \"{}\": {}", op_, written_, what));
  }

  const Dim& size(const std::string& name) const {
    const auto found = sizes_.find(name);
    if (found == sizes_.end()) wrong(fmt::format("the size of {} is not given", name));
    return found->second;
  }

  Side left, right;

 private:
  Side side(std::string_view text) const {
    Side side;
    bool is_open = false;
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == ' ') {
        ++i;
      } else if (c == '(' || c == ')') {
        if ((c == '(') == is_open) wrong("brackets do not match");
        if (!is_open) side.emplace_back();
        is_open = !is_open;
        ++i;
      } else {
        const std::string name = name_at(text, i);
        i += name.size();
        if (!is_open) side.emplace_back();
        if (name == ellipsis_axes)
          side.back().emplace_back(is_open ? bracketed_ellipsis : ellipsis_axes);
        else if (name != "1")
          side.back().push_back(name);
      }
    }
    if (is_open) wrong("brackets do not match");
    return side;
  }

  std::string name_at(std::string_view text, std::size_t start) const {
    if (text.substr(start, 3) == ellipsis_axes) return ellipsis_axes;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    std::size_t end = start;
    while (end < text.size() && is_part(text[end])) ++end;
    const std::string name(text.substr(start, end - start));
    if (name.empty()) wrong(fmt::format("'{}' is part of no name", text[start]));
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 && name != "1")
      wrong(fmt::format("{} is no name", name));
    return name;
  }

  void spell_ellipsis(std::int64_t ndim) {
    const Names on_left = flat(left), on_right = flat(right);
    const auto count = [](const Names& names) {
      return std::ranges::count(names, ellipsis_axes) +
             std::ranges::count(names, bracketed_ellipsis);
    };
    if (has(on_left, bracketed_ellipsis)) wrong("an ellipsis in brackets on the left");
    if (count(on_left) > 1 || count(on_right) > 1) wrong("more than one ellipsis");
    if (count(on_left) == 0 && count(on_right) > 0) wrong("an ellipsis is on the right only");
    if (count(on_left) == 0) return;
    const std::int64_t axes = ndim - std::ssize(left) + 1;
    if (axes < 0) wrong(fmt::format("{} axes for shape {}", left.size() - 1, shape_));
    Names names;
    Side apart;
    for (std::int64_t i = 0; i < axes; ++i) {
      names.push_back(fmt::format("...{}", i));
      apart.push_back({names.back()});
    }
    for (Side* side : {&left, &right}) {
      const auto at = std::ranges::find(*side, Names{ellipsis_axes});
      if (at != side->end()) side->insert(side->erase(at), apart.begin(), apart.end());
    }
    for (Names& group : right)
      if (const auto at = std::ranges::find(group, bracketed_ellipsis); at != group.end())
        group.insert(group.erase(at), names.begin(), names.end());
  }

  void want_different(const Names& names) const {
    for (const std::string& name : names)
      if (std::ranges::count(names, name) > 1) wrong(fmt::format("{} comes twice", name));
  }

  void take(const Tensor::AxisSizes& sizes) {
    for (const auto& [name, size] : sizes) {
      if (!has(flat(left), name) && !has(flat(right), name))
        wrong(fmt::format("there is no {} to be of size {}", name, size));
      if (size < 1) wrong(fmt::format("{} cannot be of size {}", name, size));
      sizes_.emplace(name, size);
    }
  }

  // Of each axis of the tensor the names that make it up, one of which may be what is left.
  void measure(const std::vector<Dim>& dims) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      std::string open;
      std::int64_t known = 1;
      for (const std::string& name : left[i]) {
        if (const auto found = sizes_.find(name); found != sizes_.end())
          known *= found->second.uop()->lo();
        else if (open.empty())
          open = name;
        else
          wrong(fmt::format("the sizes of {} and {} are not given", open, name));
      }
      if (left[i].size() == 1 && !open.empty()) {
        sizes_.emplace(open, dims[i]);
        continue;
      }
      const std::int64_t size = constant_size(op_, dims[i].uop());
      if (open.empty() ? size != known : size % known != 0)
        wrong(fmt::format("axis {} of shape {} is {}{}", i, shape_,
                          open.empty() ? "not " : "no multiple of ", known));
      if (!open.empty()) sizes_.emplace(open, size / known);
    }
  }

  const char* const op_;
  const std::string_view written_;
  const std::string shape_;
  std::map<std::string, Dim> sizes_;
};

// Each name an axis of its own.
Tensor taken_apart(const Tensor& x, const Pattern& pattern) {
  std::vector<Dim> sizes;
  for (const std::string& name : flat(pattern.left)) sizes.push_back(pattern.size(name));
  return x.reshape(Shape(sizes));
}

// From axes of these names, in any order, to the right side of the pattern.
Tensor put_together(const Tensor& x, const Names& names, const Pattern& pattern) {
  Axes order;
  for (const std::string& name : flat(pattern.right))
    order.push_back(std::ranges::find(names, name) - names.begin());
  Tensor result = x.permute(order);
  for (std::size_t i = 0; i < pattern.right.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i), parts = std::ssize(pattern.right[i]);
    if (parts == 0) result = result.unsqueeze(axis);
    if (parts > 1) result = result.flatten(axis, axis + parts - 1);
  }
  return result;
}

void want_no_others(const Pattern& pattern, const Side& side, const Side& other,
                    std::string_view where) {
  for (const std::string& name : flat(side))
    if (!has(flat(other), name)) pattern.wrong(fmt::format("{} is on the {} only", name, where));
}

}  // namespace

Tensor Tensor::rearrange(std::string_view formula, const AxisSizes& sizes) const {
  const Called called;
  const Pattern pattern("rearrange", formula, *this, sizes);
  want_no_others(pattern, pattern.left, pattern.right, "left");
  want_no_others(pattern, pattern.right, pattern.left, "right");
  return put_together(taken_apart(*this, pattern), flat(pattern.left), pattern);
}

Tensor Tensor::reduce(std::string_view formula, Reduce how, const AxisSizes& sizes) const {
  const Called called;
  const Pattern pattern("reduce", formula, *this, sizes);
  want_no_others(pattern, pattern.right, pattern.left, "right");
  Tensor x = taken_apart(*this, pattern);
  Axes axes;
  Names names;
  for (const std::string& name : flat(pattern.left)) {
    if (has(flat(pattern.right), name))
      names.push_back(name);
    else
      axes.push_back(std::ssize(axes) + std::ssize(names));
  }
  using Method = Tensor (*)(const Tensor&, const Axes&);
  constexpr Method methods[] = {
      [](const Tensor& t, const Axes& over) { return t.sum(over); },
      [](const Tensor& t, const Axes& over) { return t.prod(over); },
      [](const Tensor& t, const Axes& over) { return t.mean(over); },
      [](const Tensor& t, const Axes& over) { return t.max(over); },
      [](const Tensor& t, const Axes& over) { return t.min(over); },
  };
  if (!axes.empty()) x = methods[static_cast<std::size_t>(how)](x, axes);
  return put_together(x, names, pattern);
}

Tensor Tensor::repeat(std::string_view formula, const AxisSizes& sizes) const {
  const Called called;
  const Pattern pattern("repeat", formula, *this, sizes);
  want_no_others(pattern, pattern.left, pattern.right, "left");
  Tensor x = taken_apart(*this, pattern);
  Names names = flat(pattern.left);
  std::vector<Dim> all = x.dims();
  for (const std::string& name : flat(pattern.right)) {
    if (has(names, name)) continue;
    names.push_back(name);
    all.push_back(pattern.size(name));
    x = x.unsqueeze(-1);
  }
  return put_together(x.expand(Shape(all)), names, pattern);
}

}  // namespace weft
