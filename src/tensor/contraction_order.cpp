#include "contraction_order.h"

#include <bit>
#include <functional>
#include <limits>

namespace weft {
namespace {

constexpr std::size_t most_for_best = 8;

double elements(Labels labels, std::span<const double> sizes) {
  double count = 1;
  for (; labels != 0; labels &= labels - 1)
    count *= sizes[static_cast<std::size_t>(std::countr_zero(labels))];
  return count;
}

// The cheapest way to contract every set of operands, from those of its halves.
class Best {
 public:
  Best(std::span<const Labels> operands, Labels output, std::span<const double> sizes)
      : operands_(operands), output_(output), count_(std::size_t{1} << operands.size()) {
    cost_.assign(count_, 0);
    part_.assign(count_, 0);
    for (std::size_t set = 1; set < count_; ++set)
      if (!std::has_single_bit(set)) choose(set, sizes);
  }

  Pairs order() {
    Pairs pairs;
    add(count_ - 1, pairs);
    return pairs;
  }

 private:
  Labels all(std::size_t set) const {
    Labels labels = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if ((set >> i) % 2 == 1) labels |= operands_[i];
    return labels;
  }

  // What is left of a set of operands once they are one tensor.
  Labels kept(std::size_t set) const { return all(set) & (output_ | all(count_ - 1 - set)); }

  void choose(std::size_t set, std::span<const double> sizes) {
    cost_[set] = std::numeric_limits<double>::infinity();
    for (std::size_t part = (set - 1) & set; part > set - part; part = (part - 1) & set) {
      const std::size_t rest = set - part;
      const double cost = cost_[part] + cost_[rest] + elements(kept(part) | kept(rest), sizes);
      if (cost < cost_[set]) cost_[set] = cost, part_[set] = part;
    }
  }

  std::size_t add(std::size_t set, Pairs& pairs) {
    if (std::has_single_bit(set)) return static_cast<std::size_t>(std::countr_zero(set));
    const std::size_t part = add(part_[set], pairs), rest = add(set - part_[set], pairs);
    pairs.emplace_back(part, rest);
    return operands_.size() + pairs.size() - 1;
  }

  const std::span<const Labels> operands_;
  const Labels output_;
  const std::size_t count_;  // of sets
  std::vector<double> cost_;
  std::vector<std::size_t> part_;
};

struct Left {
  std::size_t number;
  Labels labels;
};

// Which labels of a pair are needed beside it, without looking at the others again.
class Needed {
 public:
  Needed(std::span<const Left> left, Labels output) : by_third_(output) {
    for (const Left& each : left) {
      by_third_ |= twice_ & each.labels;
      twice_ |= once_ & each.labels;
      once_ |= each.labels;
    }
  }

  // What two have is nobody else's if they both have it.
  Labels of(Labels a, Labels b) const { return (a | b) & (by_third_ | (twice_ & ~(a & b))); }

 private:
  Labels once_ = 0, twice_ = 0;
  Labels by_third_;  // or by the output
};

// Each time the pair whose product is smaller than the two by most, of equal ones the cheaper.
Pairs greedy(std::span<const Labels> operands, Labels output, std::span<const double> sizes) {
  std::vector<Left> left;
  for (std::size_t i = 0; i < operands.size(); ++i) left.push_back({i, operands[i]});
  Pairs pairs;
  while (left.size() > 1) {
    using Cost = std::pair<double, double>;
    Cost least{std::numeric_limits<double>::infinity(), 0};
    std::size_t first = 0, second = 0;
    Labels product = 0;
    const Needed needed(left, output);
    for (std::size_t a = 0; a < left.size(); ++a)
      for (std::size_t b = a + 1; b < left.size(); ++b) {
        const Labels both = left[a].labels | left[b].labels;
        const Labels kept = needed.of(left[a].labels, left[b].labels);
        const Cost cost{elements(kept, sizes) - elements(left[a].labels, sizes) -
                            elements(left[b].labels, sizes),
                        elements(both, sizes)};
        if (cost < least) least = cost, first = a, second = b, product = kept;
      }
    pairs.emplace_back(left[first].number, left[second].number);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(second));
    left[first] = {operands.size() + pairs.size() - 1, product};
  }
  return pairs;
}

}  // namespace

Pairs contraction_order(std::span<const Labels> operands, Labels output,
                        std::span<const double> sizes) {
  if (operands.size() > most_for_best) return greedy(operands, output, sizes);
  return operands.empty() ? Pairs() : Best(operands, output, sizes).order();
}

}  // namespace weft
