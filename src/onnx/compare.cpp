// What cheaper numbers cost, and which of them an error allows.
#include <algorithm>
#include <map>
#include <set>

#include "probe.h"

namespace weft::onnx {

double Comparison::error() const {
  double most = 0;
  for (const auto& [name, difference] : outputs) most = std::max(most, difference.largest);
  return most;
}

Comparison compare(const std::string& path, const NamedValues& inputs, const LoadOptions& options) {
  const Probe exact(path, options, inputs, true), lowered(path, options, inputs);
  Comparison result;
  for (std::size_t i = 0; i < exact.layers().size(); ++i) {
    const PlacedLayer& each = exact.layers()[i];
    const auto& values = exact.numbers(each.layer.output);
    LayerComparison row{each.layer, exact.products(i), {}, {}};
    if (!each.beside.empty()) row.alone = difference(exact.numbers(each.beside), values);
    row.together = difference(lowered.numbers(each.layer.output), values);
    result.layers.push_back(std::move(row));
  }
  for (const Port& port : exact.outputs())
    result.outputs.emplace_back(port.name,
                                difference(lowered.numbers(port.name), exact.numbers(port.name)));
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
  Choice(const std::string& path, const NamedValues& inputs, const LoadOptions& options,
         const PrecisionSearch& search)
      : path_(path), inputs_(inputs), options_(options), search_(search) {
    LoadOptions plain = options;
    plain.precision = Precision::F32;
    plain.layer_precisions.clear();
    const Probe exact(path, plain, inputs);
    for (const Port& port : exact.outputs()) exact_.emplace(port.name, exact.numbers(port.name));
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
    for (const auto& [name, value] : Model::load(path_, options)(inputs_))
      most = std::max(most, difference(numbers_of(value), exact_.at(name)).largest);
    return most;
  }

  const std::string& path_;
  const NamedValues& inputs_;
  const LoadOptions& options_;
  const PrecisionSearch& search_;
  std::map<std::string, std::vector<double>> exact_;
  std::vector<Move> moves_;
};

}  // namespace

Precisions choose_precisions(const std::string& path, const NamedValues& inputs,
                             const LoadOptions& options, const PrecisionSearch& search) {
  return Choice(path, inputs, options, search).made();
}

}  // namespace weft::onnx
