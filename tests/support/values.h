// The values of expressions under many assignments to their leaves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>

namespace weft {

// Several expressions as one list of steps. Leaves with equal ids are one leaf, whatever their
// width, and a loop over a symbolic size stays below the value of that size.
class Values {
 public:
  explicit Values(const std::vector<UOp>& roots) {
    for (const Node* node : toposort(nodes_of(roots))) add(node);
    for (const UOp& root : roots) roots_.push_back(places_.at(root.node()));
  }

  // Calls `check(values of the roots)` for every assignment where there are at most `most` of them;
  // otherwise for the ends of all leaves and then for random ones, `most` in total. Stops where the
  // check is false; returns whether it never was.
  template <class Check>
  bool for_each(std::uint64_t seed, int most, Check check) {
    random_.seed(seed);
    results_.resize(roots_.size());
    const bool all = size_of_domain(most) <= static_cast<std::uint64_t>(most);
    odometer_.clear();
    for (int i = 0; i < most; ++i) {
      mode_ = all                                           ? Mode::Every
              : i < std::min(most / 4, 1 << leaves_.size()) ? Mode::Ends
                                                            : Mode::Random;
      ends_ = i;
      if (run()) {
        for (std::size_t r = 0; r < roots_.size(); ++r) results_[r] = values_[roots_[r]];
        if (!check(results_)) return false;
      }
      if (all && !advance()) break;
    }
    return true;
  }

  // Of the assignment that was last checked.
  std::string assignment() const {
    std::vector<std::string> parts;
    for (const auto& [key, value] : chosen_)
      parts.push_back(
          fmt::format("{}={}", expression_text(leaves_.at(key)), static_cast<std::int64_t>(value)));
    return fmt::format("{}", fmt::join(parts, " "));
  }

  // A node whose bounds leave out its value; null where there is none.
  const Node* out_of_bounds() const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Node* node = steps_[i].node;
      if (!node->dtype().is_int() && !node->dtype().is_bool()) continue;
      if (!node->bounds().contains(wide(values_[i], node->dtype()))) return node;
    }
    return nullptr;
  }
  Bits value_of(const Node* node) const { return values_[places_.at(node)]; }

 private:
  enum class Mode { Every, Ends, Random };
  using Key = std::pair<Op, std::uint64_t>;
  struct Step {
    const Node* node;
    std::array<std::size_t, 3> src{};
    std::optional<Key> leaf;
  };

  static Wide wide(Bits bits, DType dtype) {
    return dtype.kind() == Kind::U64 ? Wide{bits} : Wide{static_cast<std::int64_t>(bits)};
  }

  static std::optional<Key> key_of(const Node* node) {
    switch (node->op()) {
      case Op::Range: return Key{Op::Range, node->arg<RangeArg>().id.value};
      case Op::Variable: return Key{Op::Variable, node->arg<VariableArg>().id.value};
      case Op::Special: return Key{Op::Special, node->arg<SpecialArg>().axis};
      default: return std::nullopt;
    }
  }

  void add(const Node* node) {
    Step step{node, {}, key_of(node)};
    for (std::size_t i = 0; i < node->size(); ++i) step.src[i] = places_.at(node->src(i));
    if (step.leaf) leaves_.emplace(*step.leaf, node);
    places_.emplace(node, steps_.size());
    steps_.push_back(step);
    values_.push_back(0);
  }

  std::uint64_t size_of_domain(int most) const {
    std::uint64_t size = 1;
    for (const auto& [key, leaf] : leaves_) {
      const Wide count = leaf->bounds().hi - leaf->bounds().lo + 1;
      if (count > most) return ~std::uint64_t{0};
      size = std::min<std::uint64_t>(size * static_cast<std::uint64_t>(count), most + 1);
    }
    return size;
  }

  // False where a loop has no iteration.
  bool run() {
    chosen_.clear();
    choices_ = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (!step.leaf)
        values_[i] = compute(step);
      else if (const auto known = chosen_.find(*step.leaf); known != chosen_.end())
        values_[i] = known->second;
      else if (const auto value = choose(step))
        chosen_[*step.leaf] = values_[i] = *value;
      else
        return false;
    }
    return true;
  }

  Bits compute(const Step& step) const {
    const Node* node = step.node;
    const auto value = [&](std::size_t i) { return values_[step.src[i]]; };
    if (node->is_const()) return node->arg<ConstArg>().bits;
    if (node->op() == Op::Bind) return value(0);
    if (node->op() == Op::Cast) return convert(value(0), node->src(0)->dtype(), node->dtype());
    if (node->op() == Op::Bitcast)
      return reinterpret(value(0), node->src(0)->dtype(), node->dtype());
    const std::array<Bits, 3> operands{value(0), value(1), value(2)};
    const DType dtype = node->src(node->op() == Op::Where ? 1 : 0)->dtype();
    return evaluate(node->op(), dtype, std::span(operands).first(node->size())).value();
  }

  std::optional<Bits> choose(const Step& step) {
    Interval domain = step.node->bounds();
    if (step.node->op() != Op::Variable)  // a RANGE or SPECIAL
      domain = {0, wide(values_[step.src[0]], step.node->src(0)->dtype()) - 1};
    if (domain.lo > domain.hi) return std::nullopt;
    const auto count = static_cast<std::uint64_t>(domain.hi - domain.lo) + 1;
    return static_cast<Bits>(domain.lo) + offset(domain, count);
  }

  // How far from the domain's least value; a count of 0 is 2^64.
  std::uint64_t offset(Interval domain, std::uint64_t count) {
    if (mode_ == Mode::Every) {
      if (choices_ == odometer_.size()) odometer_.push_back({0, 0});
      odometer_[choices_].count = count;
      return odometer_[choices_++].at;
    }
    if (mode_ == Mode::Ends) return (ends_ >> choices_++ & 1) != 0 ? count - 1 : 0;
    if (random_() % 4 != 0) return count == 0 ? random_() : random_() % count;
    const std::uint64_t step = std::min<std::uint64_t>(random_() % 3, count - 1);
    switch (random_() % (domain.contains(0) ? 3 : 2)) {  // near the ends, or 0
      case 0: return step;
      case 1: return count - 1 - step;
      default: return std::min(static_cast<std::uint64_t>(-domain.lo) + step, count - 1);
    }
  }

  // To the next assignment of them all; what follows a changed choice starts again, since its
  // domain may be another.
  bool advance() {
    odometer_.resize(choices_);
    while (!odometer_.empty() && ++odometer_.back().at >= odometer_.back().count)
      odometer_.pop_back();
    return !odometer_.empty();
  }

  struct Digit {
    std::uint64_t at, count;
  };

  std::vector<Step> steps_;
  std::vector<Bits> values_, results_;
  std::vector<std::size_t> roots_;
  std::map<const Node*, std::size_t> places_;
  std::map<Key, const Node*> leaves_;
  std::map<Key, Bits> chosen_;
  std::vector<Digit> odometer_;
  std::size_t choices_ = 0;
  int ends_ = 0;
  Mode mode_ = Mode::Every;
  std::mt19937_64 random_;
};

// Two NaNs are one value: arithmetic makes its own.
inline bool same_value(Bits a, Bits b, DType dtype) {
  if (a == b) return true;
  return dtype.is_float() && std::isnan(double_from_bits(a, dtype)) &&
         std::isnan(double_from_bits(b, dtype));
}

inline std::string value_text(Bits bits, DType dtype) {
  if (dtype.is_float()) return fmt::format("{}", double_from_bits(bits, dtype));
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

// How `after` differs from `before` under some assignment; empty where it never does. Of INDEX nodes
// the conditions have to agree everywhere and the indices wherever the condition holds. Bounds are
// checked by the way.
inline std::string difference(const UOp& before, const UOp& after, int most_assignments = 500) {
  const bool gated = before->op() == Op::Index;
  std::vector<UOp> roots;
  for (const UOp& root : {before, after}) {
    if (!gated)
      roots.push_back(root);
    else
      for (const Node* source : root->src().subspan(1)) roots.emplace_back(source);
  }
  const std::size_t count = roots.size() / 2;
  Values values(roots);
  std::string found;
  values.for_each(1, most_assignments, [&](const std::vector<Bits>& results) {
    // The nodes of an index say nothing where they are not used.
    if (const Node* node = gated ? nullptr : values.out_of_bounds())
      found = fmt::format("{} is {}, outside its bounds {}..{}", expression_text(node),
                          value_text(values.value_of(node), node->dtype()), node->lo(), node->hi());
    const std::size_t used = gated && results[0] == 0 ? 1 : count;
    for (std::size_t i = 0; i < used && found.empty(); ++i)
      if (const DType dtype = roots[i]->dtype(); !same_value(results[i], results[count + i], dtype))
        found = fmt::format("{} became {}", value_text(results[i], dtype),
                            value_text(results[count + i], dtype));
    if (!found.empty()) found += " under " + values.assignment();
    return found.empty();
  });
  return found;
}

}  // namespace weft
