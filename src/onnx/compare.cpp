// What cheaper numbers cost, and which of them an error allows.
#include <algorithm>
#include <map>
#include <set>

#include <weft/error.h>

#include "probe.h"

namespace weft::onnx {

double Comparison::error() const {
  double most = 0;
  for (const auto& [name, difference] : outputs) most = std::max(most, difference.largest);
  return most;
}

namespace {

void check(std::span<const NamedValues> calls) {
  if (calls.empty()) user_error("onnx: precisions are compared by calls, and there is none");
}

void grow(Difference& most, const Difference& other) {
  most.largest = std::max(most.largest, other.largest);
  most.rms = std::max(most.rms, other.rms);
}

// What the last call of both adds.
void add_call(Comparison& result, const Probe& exact, const Probe& lowered) {
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    LayerComparison& row = result.layers[i];
    const std::string_view beside = exact.layers()[i].beside;
    const auto& values = exact.numbers(row.layer.output);
    row.products = std::max(row.products, exact.products(i));
    if (!beside.empty()) grow(row.alone, difference(exact.numbers(beside), values));
    grow(row.together, difference(lowered.numbers(row.layer.output), values));
  }
  for (auto& [name, most] : result.outputs)
    grow(most, difference(lowered.numbers(name), exact.numbers(name)));
}

}  // namespace

Comparison compare(const std::string& path, std::span<const NamedValues> calls,
                   const LoadOptions& options) {
  check(calls);
  Probe exact(path, options, true), lowered(path, options);
  Comparison result;
  for (const PlacedLayer& each : exact.layers()) result.layers.push_back({each.layer, 0, {}, {}});
  for (const Port& port : exact.outputs()) result.outputs.emplace_back(port.name, Difference());
  for (const NamedValues& inputs : calls) {
    exact.call(inputs);
    lowered.call(inputs);
    add_call(result, exact, lowered);
  }
  return result;
}

// --- A choice ---------------------------------------------------------------------------------------------

namespace {

// A layer's step to a cheaper type, with what it alone does to the outputs.
struct Move {
  std::string layer;
  Precision precision;
  double saved;  // products, by the share of their bytes that goes
  double error = 0;
};

double saved_share(Precision precision) {
  constexpr double shares[] = {0, 0.5, 0.5, 0.75};
  return shares[static_cast<std::size_t>(precision)];
}

class Choice {
 public:
  Choice(const std::string& path, std::span<const NamedValues> calls, const LoadOptions& options,
         const PrecisionSearch& search)
      : path_(path), calls_(calls), options_(options), search_(search) {
    LoadOptions plain = options;
    plain.precision = Precision::F32;
    plain.layer_precisions.clear();
    const Context sums = plain_sums();
    Probe exact(path, plain);
    for (const NamedValues& inputs : calls) {
      exact.call(inputs);
      auto& outputs = exact_.emplace_back();
      for (const Port& port : exact.outputs()) outputs.emplace(port.name, exact.numbers(port.name));
    }
    std::map<std::string_view, double> products;
    for (std::size_t i = 0; i < exact.layers().size(); ++i)
      products[exact.layers()[i].layer.name] += exact.products(i);
    std::set<std::string, std::less<>> seen;
    for (const Layer& layer : Model::load(path, plain).layers()) {
      if (is_said(layer) || !seen.insert(layer.name).second) continue;
      for (const Precision each : search.candidates)
        if (each != Precision::F32 && (each != Precision::I8 || layer.has_i8))
          moves_.push_back(
              {layer.name, each, std::max(products[layer.name], 1.0) * saved_share(each)});
    }
  }

  Precisions made() {
    if (fits(moves_.size())) return precisions(moves_.size());
    for (Move& move : moves_) move.error = error_of({{move.layer, move.precision}});
    std::ranges::sort(moves_, {}, [](const Move& move) { return move.error / move.saved; });
    // Errors add up at most, nearly: all that this promises is tried first.
    std::size_t least = 0, most = moves_.size(), next = 0;  // the first fits, the last does not
    for (double sum = 0; next < most && (sum += moves_[next].error) <= search_.max_error;) ++next;
    for (; most - least > 1; next = (least + most) / 2) {
      next = std::clamp(next, least + 1, most - 1);
      (fits(next) ? least : most) = next;
    }
    return precisions(least);
  }

 private:
  bool is_said(const Layer& layer) const {
    return options_.layer_precisions.contains(layer.name) ||
           options_.layer_precisions.contains(layer.output);
  }

  // By the first moves: of a layer's the one that saves most.
  Precisions precisions(std::size_t moves) const {
    Precisions result;
    for (std::size_t i = 0; i < moves; ++i) {
      Precision& own = result.try_emplace(moves_[i].layer, Precision::F32).first->second;
      if (saved_share(moves_[i].precision) > saved_share(own)) own = moves_[i].precision;
    }
    return result;
  }

  bool fits(std::size_t moves) const { return error_of(precisions(moves)) <= search_.max_error; }

  double error_of(const Precisions& precisions) const {
    LoadOptions options = options_;
    options.precision = Precision::F32;
    options.layer_precisions.insert(precisions.begin(), precisions.end());
    double most = 0;
    const Model model = Model::load(path_, options);
    for (std::size_t i = 0; i < calls_.size(); ++i)
      for (const auto& [name, value] : model(calls_[i]))
        most = std::max(most, difference(numbers_of(value), exact_[i].at(name)).largest);
    return most;
  }

  const std::string& path_;
  std::span<const NamedValues> calls_;
  const LoadOptions& options_;
  const PrecisionSearch& search_;
  std::vector<std::map<std::string, std::vector<double>>> exact_;  // outputs of each call
  std::vector<Move> moves_;
};

}  // namespace

Precisions choose_precisions(const std::string& path, std::span<const NamedValues> calls,
                             const LoadOptions& options, const PrecisionSearch& search) {
  check(calls);
  return Choice(path, calls, options, search).made();
}

}  // namespace weft::onnx
