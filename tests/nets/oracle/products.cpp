#include "products.h"

#include <algorithm>
#include <map>

#include "contraction.h"
#include "estimate.h"
#include "movement.h"
#include "rearrange.h"

namespace nets {
namespace {

using Sizes = std::map<char, std::int64_t>;

Numbers sizes_for(std::string_view letters, const Sizes& sizes) {
  Numbers result;
  for (const char letter : letters) result.push_back(sizes.at(letter));
  return result;
}

}  // namespace

Array einsum(std::string_view equation, const std::vector<Array>& operands) {
  const std::size_t arrow = equation.find("->");
  const std::string_view out = equation.substr(arrow + 2);
  std::vector<std::string_view> in;
  for (std::string_view rest = equation.substr(0, arrow); !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    in.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  want(in.size() == operands.size() && in.size() <= 2, "other operands");
  Sizes sizes;
  for (std::size_t k = 0; k < in.size(); ++k) {
    want(in[k].size() == operands[k].shape.size(), "other axes");
    for (std::size_t axis = 0; axis < in[k].size(); ++axis) {
      const auto [at, is_new] = sizes.emplace(in[k][axis], operands[k].shape[axis]);
      want(at->second == operands[k].shape[axis], "sizes that differ");
    }
  }
  std::string all(out);
  for (const auto& [letter, size] : sizes)
    if (out.find(letter) == std::string_view::npos) all += letter;
  const Contraction with(operands[0].type, operands.back().type);
  std::vector<Array> ready;
  for (const Array& x : operands) ready.push_back(with.ready(x));
  const Numbers shape = sizes_for(out, sizes), whole = sizes_for(all, sizes);
  want(count_of(whole) <= 100000, "too large");
  std::vector<std::vector<Cell>> terms(at(count_of(shape)));
  for (std::size_t i = 0; i < at(count_of(whole)); ++i) {
    const Numbers place = coordinates_of(i, whole);
    std::vector<Cell> factors;
    for (std::size_t k = 0; k < in.size(); ++k) {
      Numbers own;
      for (const char letter : in[k]) own.push_back(place[all.find(letter)]);
      factors.push_back(ready[k][position(own, ready[k].shape)]);
    }
    const Numbers to(place.begin(), place.begin() + std::ssize(out));
    terms[position(to, shape)].push_back(
        factors.size() == 1 ? factors[0] : combined("mul", factors[0], factors[1], with.within));
  }
  Array result = fresh(with.within, shape);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = sum_of(terms[i], with.within);
  return with.result(result);
}

Array tensordot(const Array& x, const Array& y, std::int64_t axes) {
  want(axes <= x.rank() && axes <= y.rank(), "too few axes");
  constexpr std::string_view letters = "abcdefgh";
  const std::string_view own = letters.substr(0, x.shape.size()),
                         common = own.substr(own.size() - at(axes)),
                         others = letters.substr(own.size(), y.shape.size() - at(axes));
  return einsum(std::string(own) + "," + std::string(common) + std::string(others) + "->" +
                    std::string(own.substr(0, own.size() - at(axes))) + std::string(others),
                {x, y});
}

Array inner(const Array& x, const Array& y) {
  return tensordot(x, y.rank() > 1 ? movedim(y, -1, 0) : y, 1);
}

Array added(const Array& x, const Array& product, double beta, double alpha) {
  const Type type = promoted(x.type, product.type);
  want(is_float(type), "integers");
  const Numbers shape = broadcast_shape(x.shape, product.shape);
  const Array own = expanded(cast(x, type), shape), other = expanded(cast(product, type), shape);
  Array result = fresh(type, shape);
  const auto times = [&](const Cell& cell, double factor) {
    const Estimate value(type, cell);
    return factor == 1 ? value : value * Estimate(type, Cell::of_real(rounded(factor, type)));
  };
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = (times(own[i], beta) + times(other[i], alpha)).cell();
  return result;
}

Array cross(const Array& x, const Array& y, std::int64_t axis) {
  const Type type = promoted(x.type, y.type);
  want(x.shape == y.shape && x.shape[at(axis_in(axis, x.rank()))] == 3, "no three");
  const auto turned = [&](const Array& a, std::int64_t by) {
    return roll(cast(a, type), by, axis);
  };
  const Array a = turned(x, -1), b = turned(y, 1), c = turned(x, 1), d = turned(y, -1);
  if (!is_float(type)) return binary("sub", binary("mul", a, b), binary("mul", c, d));
  Array result = fresh(type, x.shape);
  const auto of = [&](const Cell& cell) { return Estimate(type, cell); };
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = (of(a[i]) * of(b[i]) - of(c[i]) * of(d[i])).cell();
  return result;
}

namespace {

// A score and by how much a correct implementation may have another one.
struct Score {
  double value = 0, error = 0;
};

Score score_of(const Array& query, const Array& key, std::size_t q, std::size_t k, Type type) {
  const std::size_t width = at(query.shape.back());
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  double sum = 0, size = 0, error = 0;
  for (std::size_t w = 0; w < width; ++w) {
    const Cell &a = query[q * width + w], &b = key[k * width + w];
    sum += a.real * b.real, size += std::abs(a.real * b.real);
    error += std::abs(a.real) * b.error + std::abs(b.real) * a.error + a.error * b.error;
  }
  const double all = scale * (error + (static_cast<double>(width) + 4) * half_ulp(type) * size);
  return {sum * scale, std::isnan(all) ? unknown : all};  // anything times 0 is anything
}

Cell weighted(const std::vector<Score>& scores, const std::vector<Cell>& values, Type type) {
  double most = -unknown, off = 0;
  for (const Score& score : scores) most = std::max(most, score.value);
  for (const Score& score : scores) off = std::max(off, score.error);
  double total = 0, value = 0, error = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double below = scores[i].value - most, weight = std::exp(below);
    const double relative =
        4 * off + (static_cast<double>(scores.size()) + 24 + 8 * std::abs(below)) * half_ulp(type);
    total += weight, value += weight * values[i].real;
    error += weight * (2 * relative * std::abs(values[i].real) + values[i].error);
  }
  if (!std::isfinite(value) || !(off < 0.1)) return Cell::of_real(value, unknown);
  return rounded_cell(value / total, 1.5 * error / total, type, 8);
}

}  // namespace

Array attention(const Array& query, const Array& key, const Array& value, bool is_causal) {
  want(query.rank() == 3 && key.rank() == 3 && value.rank() == 3, "no batch");
  const Type type = query.type;
  const std::int64_t queries = query.shape[1], keys = key.shape[1], width = value.shape[2];
  Array result = fresh(type, {query.shape[0], queries, width});
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Numbers place = coordinates_of(i, result.shape);
    std::vector<Score> scores;
    std::vector<Cell> values;
    const std::int64_t seen = is_causal ? std::min(keys, place[1] + 1) : keys;
    // What is not seen may count 0 times.
    bool is_finite = true;
    for (std::int64_t k = 0; k < keys; ++k)
      is_finite &= std::isfinite(value[at((place[0] * keys + k) * width + place[2])].real);
    for (std::int64_t k = 0; k < seen; ++k) {
      scores.push_back(
          score_of(query, key, at(place[0] * queries + place[1]), at(place[0] * keys + k), type));
      values.push_back(value[at((place[0] * keys + k) * width + place[2])]);
    }
    want(!scores.empty(), "no keys");
    result[i] = weighted(scores, values, type);
    if (!is_finite) result[i].error = unknown;
  }
  return result;
}

}  // namespace nets
