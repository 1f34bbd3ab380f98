#include "length_forms.h"

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <map>

#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

constexpr std::size_t most_lengths = 4;  // of one graph that change independently

// The values of a size in the two runs.
struct TwoSizes {
  std::int64_t a, b;
  friend auto operator<=>(const TwoSizes&, const TwoSizes&) = default;
  friend TwoSizes operator*(TwoSizes x, TwoSizes y) { return {x.a * y.a, x.b * y.b}; }
};

// How many times the product the size is, in both.
std::optional<std::int64_t> factor_of(TwoSizes size, TwoSizes product) {
  const std::int64_t factor = size.a / product.a;
  const bool is_multiple = size.a == factor * product.a && size.b == factor * product.b;
  return is_multiple ? std::optional(factor) : std::nullopt;
}

// As windows are counted: few times the length, or that a little longer. Others are seldom meant.
std::optional<LengthForm> line_through(TwoSizes size, TwoSizes length) {
  constexpr std::int64_t most_times = 64, few_times = 2, most_more = 16;
  if (length.a == length.b || (size.a - size.b) % (length.a - length.b) != 0) return {};
  const std::int64_t factor = (size.a - size.b) / (length.a - length.b), times = std::abs(factor),
                     more = size.a - factor * length.a;
  const bool is_few = times <= few_times;
  const bool is_of_longer =
      times <= most_times && more % factor == 0 && std::abs(more / factor) <= most_more;
  return is_few || is_of_longer ? std::optional(LengthForm{factor, {}, {}, more}) : std::nullopt;
}

// The simplest that gives both; nothing where none does.
std::optional<LengthForm> form_of(TwoSizes size, const std::vector<TwoSizes>& lengths) {
  if (size.a == size.b) return LengthForm{size.a};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (const auto factor = factor_of(size, lengths[i])) return LengthForm{*factor, i};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::size_t j = i; j < lengths.size(); ++j)
      if (const auto factor = factor_of(size, lengths[i] * lengths[j]))
        return LengthForm{*factor, i, j};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (const auto form = line_through(size, lengths[i]))
      return LengthForm{form->factor, i, {}, form->more};
  return {};
}

constexpr std::int64_t most_of_size = std::int64_t{1} << 31;  // products of two are in range

}  // namespace

Wide LengthForm::of(const Values& lengths) const {
  const Wide product = length ? lengths[*length] : 1;
  return product * (other ? lengths[*other] : 1) * factor + more;
}

UOp LengthForm::of(const std::vector<UOp>& lengths) const {
  UOp product = const_int(factor);
  for (const auto& each : {length, other})
    if (each) product = product * lengths[*each];
  return simplify(product + more);
}

Values LengthForms::lengths_of(const Values& values) const {
  Values result;
  for (const std::size_t size : lengths) result.push_back(values[size]);
  return result;
}

bool LengthForms::fit(const Values& values) const {
  const Values own = lengths_of(values);
  return std::ranges::equal(sizes, values, {},
                            [&](const LengthForm& form) { return form.of(own); });
}

std::optional<LengthForms> concluded(const Values& before, const Values& now) {
  LengthForms forms;
  std::vector<TwoSizes> lengths;
  std::map<TwoSizes, LengthForm> known;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const TwoSizes size{before[i], now[i]};
    if (std::max(std::abs(size.a), std::abs(size.b)) > most_of_size && size.a != size.b) return {};
    auto found = known.find(size);
    if (found == known.end()) {
      auto form = form_of(size, lengths);
      if (!form) {
        if (lengths.size() == most_lengths || std::min(size.a, size.b) < 2) return {};
        form = LengthForm{1, lengths.size()};
        lengths.push_back(size);
        forms.lengths.push_back(i);
      }
      found = known.emplace(size, *form).first;
    }
    forms.sizes.push_back(found->second);
  }
  return forms;
}

}  // namespace weft
