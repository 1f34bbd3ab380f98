#include "probe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <weft/dev/ir/graph.h>

namespace weft::onnx {
namespace {

// --- Values -----------------------------------------------------------------------------------------------

// The numbers of a value, and of all in it.
void add_numbers(const Value& value, std::vector<double>& numbers) {
  if (value.is_tensor()) {
    const auto own = value.tensor().to_vector<double>();
    numbers.insert(numbers.end(), own.begin(), own.end());
  } else if (value.is_sequence()) {
    for (const Value& each : value.sequence()) add_numbers(each, numbers);
  } else if (value.is_map()) {
    for (const auto& [key, each] : value.map()) add_numbers(each, numbers);
  }
}

double share(double part, double whole) {
  if (part == 0) return 0;
  return whole == 0 ? std::numeric_limits<double>::infinity() : part / whole;
}

}  // namespace

std::vector<double> numbers_of(const Value& value) {
  std::vector<double> numbers;
  add_numbers(value, numbers);
  return numbers;
}

Difference difference(const std::vector<double>& values, const std::vector<double>& exact) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (values.size() != exact.size()) return {infinity, infinity};
  double furthest = 0, most = 0, squares = 0, exact_squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_same = values[i] == exact[i] || (std::isnan(values[i]) && std::isnan(exact[i]));
    const double distance = is_same ? 0 : std::abs(values[i] - exact[i]);
    furthest = std::max(furthest, std::isnan(distance) ? infinity : distance);
    squares += std::isnan(distance) ? infinity : distance * distance;
    if (!std::isfinite(exact[i])) continue;
    most = std::max(most, std::abs(exact[i]));
    exact_squares += exact[i] * exact[i];
  }
  return {share(furthest, most), share(std::sqrt(squares), std::sqrt(exact_squares))};
}

// --- Work -------------------------------------------------------------------------------------------------

namespace {

double elements_of(const Node* node) {
  double count = 1;
  for (const Node* size : node->dims()) count *= static_cast<double>(size->bounds().hi);
  return count;
}

// That are summed on the way from the factors to what is made of them.
double products_between(const Values& factors, const Value& made) {
  std::set<const Node*> seen;
  for (const Value& factor : factors)
    if (factor.is_tensor() && factor.known() == nullptr) seen.insert(factor.tensor().uop().node());
  if (!made.is_tensor() || made.known() != nullptr) return 0;
  const UOp root = made.tensor().uop();
  std::vector<const Node*> open{root.node()};
  double products = 0;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second || node->op() == weft::Op::Buffer) continue;
    if (node->op() == weft::Op::Reduce && node->src(0)->op() == weft::Op::Mul)
      products += elements_of(node->src(0));
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
  return products;
}

}  // namespace

// --- Calls ------------------------------------------------------------------------------------------------

Probe::Probe(const std::string& path, const LoadOptions& options, bool beside)
    : state_(Model::State::open(path, options, beside)), beside_(beside) {
  std::erase_if(state_->layers, [](const PlacedLayer& each) { return each.layer.is_inside; });
  for (const PlacedLayer& each : layers()) watch(each.layer.output);
  for (const PlacedLayer& each : layers())
    if (!each.apart.empty()) watch(each.apart);
  first_ = watched().size();
  for (const PlacedLayer& each : layers())
    if (!each.beside.empty()) watch(each.beside);
  computed_ = watched().size();
  for (const PlacedLayer& each : layers())
    for (const std::string_view factor : each.factors) watch(factor);
}

void Probe::watch(std::string_view name) {
  ValueInfoProto value;
  value.name = name;
  watched().push_back(value);
}

void Probe::count_products(const Values& all) {
  std::map<std::string_view, Value> values;
  for (std::size_t i = 0; i < all.size(); ++i) values.emplace(watched()[i].name, all[i]);
  products_.clear();
  for (const PlacedLayer& each : layers()) {
    Values factors;
    for (const std::string_view name : each.factors) factors.push_back(values.at(name));
    products_.push_back(products_between(factors, values.at(each.layer.output)));
  }
}

Values Probe::called(const NamedValues& inputs) {
  const Inputs given = state_->checked(inputs);
  state_->make_ready();
  Values all = state_->graph_of(given);
  count_products(all);
  all.resize(computed_);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(first_);
  Tensor::realize(tensors_of(Values(all.begin(), end)));
  return all;
}

void Probe::call(const NamedValues& inputs) {
  const Values all = in_its_name(state_->in, [&] {
    Values values;
    if (beside_) {
      const Context plain = plain_sums();
      values = called(inputs);
    } else {
      values = called(inputs);
    }
    Tensor::realize(tensors_of(values));
    return values;
  });
  numbers_.clear();
  for (std::size_t i = 0; i < all.size(); ++i)
    numbers_.emplace(watched()[i].name, numbers_of(all[i]));
}

}  // namespace weft::onnx
