// ai.onnx.ml: ensembles of decision trees.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "forest.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Mode = Forest::Mode;

// An attribute of floats, or that of doubles beside it.
Numbers numbers_named(const Call& call, const std::string& name) {
  if (call.has(name + "_as_tensor"))
    return call.attr<Tensor>(name + "_as_tensor").to_vector<double>();
  return call.attr(name, Numbers());
}

template <class T>
void want_size(const Call& call, std::string_view name, const std::vector<T>& values,
               std::size_t size) {
  if (values.size() != size)
    call.refuse(fmt::format("{} has {} elements for {}", name, values.size(), size));
}

Mode mode_named(const Call& call, const std::string& name) {
  static constexpr std::pair<std::string_view, Mode> known[] = {
      {"BRANCH_LEQ", Mode::Leq}, {"BRANCH_LT", Mode::Lt}, {"BRANCH_GTE", Mode::Gte},
      {"BRANCH_GT", Mode::Gt},   {"BRANCH_EQ", Mode::Eq}, {"BRANCH_NEQ", Mode::Neq},
      {"LEAF", Mode::Leaf}};
  for (const auto& [each, mode] : known)
    if (each == name) return mode;
  call.refuse("a node of the unknown mode " + name);
}

// Nodes by the numbers of their tree and of themselves within it.
class Numbering {
 public:
  Numbering(const Call& call, Ints trees, const Ints& nodes)
      : call_(call), trees_(std::move(trees)) {
    want_size(call, "nodes_nodeids", nodes, trees_.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!places_.try_emplace({trees_[i], nodes[i]}, static_cast<std::int64_t>(i)).second)
        call.refuse(fmt::format("node {} of tree {} comes twice", nodes[i], trees_[i]));
  }
  std::int64_t at(std::int64_t tree, std::int64_t node) const {
    const auto found = places_.find({tree, node});
    if (found == places_.end())
      call_.refuse(fmt::format("there is no node {} in tree {}", node, tree));
    return found->second;
  }
  const Ints& trees() const { return trees_; }

 private:
  const Call& call_;
  Ints trees_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places_;
};

// The nodes of TreeEnsembleClassifier and TreeEnsembleRegressor; the first of each tree is its root.
Forest forest_of(const Call& call, const Numbering& numbering) {
  const Ints& trees = numbering.trees();
  const std::size_t count = trees.size();
  const auto modes = call.attr<std::vector<std::string>>("nodes_modes");
  const Ints features = call.attr<Ints>("nodes_featureids"),
             yes = call.attr<Ints>("nodes_truenodeids"), no = call.attr<Ints>("nodes_falsenodeids");
  Ints missing = call.attr("nodes_missing_value_tracks_true", Ints());
  if (missing.empty()) missing.resize(count);
  const Numbers values = numbers_named(call, "nodes_values");
  want_size(call, "nodes_modes", modes, count);
  want_size(call, "nodes_featureids", features, count);
  want_size(call, "nodes_truenodeids", yes, count);
  want_size(call, "nodes_falsenodeids", no, count);
  want_size(call, "nodes_missing_value_tracks_true", missing, count);
  want_size(call, "nodes_values", values, count);
  Forest forest;
  std::set<std::int64_t> known;
  for (std::size_t i = 0; i < count; ++i) {
    const auto here = static_cast<std::int64_t>(i);
    if (known.insert(trees[i]).second) forest.roots.push_back(here);
    Forest::Node node{.mode = mode_named(call, modes[i]), .yes = here, .no = here};
    if (node.mode != Mode::Leaf) {
      node.feature = features[i];
      node.value = values[i];
      node.missing_is_true = missing[i] != 0;
      node.yes = numbering.at(trees[i], yes[i]);
      node.no = numbering.at(trees[i], no[i]);
    }
    forest.nodes.push_back(node);
  }
  return forest;
}

// The weights of leaves, whose attributes begin with "class" or "target".
void add_weights(const Call& call, const Numbering& numbering, const std::string& prefix,
                 Forest& forest) {
  const Ints trees = call.attr<Ints>(prefix + "_treeids"),
             nodes = call.attr<Ints>(prefix + "_nodeids"),
             targets = call.attr<Ints>(prefix + "_ids");
  const Numbers weights = numbers_named(call, prefix + "_weights");
  want_size(call, prefix + "_treeids", trees, targets.size());
  want_size(call, prefix + "_nodeids", nodes, targets.size());
  want_size(call, prefix + "_weights", weights, targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    forest.weights.push_back({numbering.at(trees[i], nodes[i]), targets[i], weights[i]});
}

Forest::Sum sum_named(const Call& call, const std::string& name) {
  if (name == "SUM") return Forest::Sum::Sum;
  if (name == "AVERAGE") return Forest::Sum::Average;
  if (name == "MIN") return Forest::Sum::Min;
  if (name == "MAX") return Forest::Sum::Max;
  call.refuse("aggregate_function is SUM, AVERAGE, MIN or MAX, not " + name);
}

Tensor with_base(const Call& call, const Tensor& scores) {
  const Numbers base = numbers_named(call, "base_values");
  if (base.empty()) return scores;
  want_size(call, "base_values", base, static_cast<std::size_t>(scores.size(1)));
  return scores + Tensor(base, call.options(scores.dtype()));
}

Numbering numbering_of(const Call& call) {
  return {call, call.attr<Ints>("nodes_treeids"), call.attr<Ints>("nodes_nodeids")};
}

Tensor tree_regressor(const Call& call) {
  const Numbering numbering = numbering_of(call);
  Forest forest = forest_of(call, numbering);
  add_weights(call, numbering, "target", forest);
  forest.targets = call.attr<std::int64_t>("n_targets");
  forest.sum = sum_named(call, call.attr("aggregate_function", "SUM"));
  const Tensor scores = with_base(call, walked(call, forest, features_of(call)));
  return transformed_scores(call, scores).cast(dtypes::f32);
}

// Two classes of which the leaves know one: its score decides, against a half where all weights are probabilities.
// That of the first class by number is taken for the second's, and gives both scores.
Values of_one_class(const Call& call, const Labels& labels, const Forest& forest, Tensor score,
                    bool is_second) {
  const Numbers base = numbers_named(call, "base_values");
  if (!base.empty()) score = score + base.back();
  const bool is_positive = std::ranges::all_of(
      forest.weights, [](const Forest::Weight& each) { return each.weight >= 0; });
  const Tensor place = (score.squeeze(1) > (is_positive ? 0.5 : 0.0)).cast(dtypes::i64);
  if (is_second) {
    const Tensor both = Tensor::cat({score.zeros_like(), score}, 1);
    return {labels.at(place), transformed_scores(call, both).cast(dtypes::f32)};
  }
  const Second second = is_positive ? Second::Complement : Second::Opposite;
  return {labels.at(place), two_scores(call, score, second).cast(dtypes::f32)};
}

Values tree_classifier(const Call& call) {
  const Labels labels(call, "classlabels_int64s", "classlabels_strings");
  const Numbering numbering = numbering_of(call);
  Forest forest = forest_of(call, numbering);
  add_weights(call, numbering, "class", forest);
  forest.targets = static_cast<std::int64_t>(labels.size());
  const Tensor scores = walked(call, forest, features_of(call));
  const std::int64_t known = forest.weights.empty() ? 0 : forest.weights[0].target;
  const bool is_one = std::ranges::all_of(
      forest.weights, [&](const Forest::Weight& each) { return each.target == known; });
  if (labels.size() <= 2 && is_one)
    return of_one_class(call, labels, forest, scores.narrow(1, known, 1), known == 1);
  const Tensor all = with_base(call, scores);
  return {labels.at(all.argmax(1)), transformed_scores(call, all).cast(dtypes::f32)};
}

// --- TreeEnsemble: branches and leaves by themselves ---------------------------------------------------------

// The members of each set follow each other, NaN behind each.
void add_members(const Call& call, Forest& forest) {
  const Numbers members = call.has("membership_values")
                              ? call.attr<Tensor>("membership_values").to_vector<double>()
                              : Numbers();
  std::size_t at = 0;
  for (Forest::Node& node : forest.nodes) {
    if (node.mode != Mode::Member) continue;
    while (at < members.size() && !std::isnan(members[at])) node.members.push_back(members[at++]);
    if (at++ >= members.size())
      call.refuse("membership_values has fewer sets than there are nodes");
  }
}

Forest branches_of(const Call& call, std::size_t leaves) {
  const Ints modes = call.attr<Tensor>("nodes_modes").to_vector<std::int64_t>(),
             features = call.attr<Ints>("nodes_featureids"),
             yes = call.attr<Ints>("nodes_truenodeids"), no = call.attr<Ints>("nodes_falsenodeids"),
             yes_ends = call.attr<Ints>("nodes_trueleafs"),
             no_ends = call.attr<Ints>("nodes_falseleafs");
  const Numbers values = call.attr<Tensor>("nodes_splits").to_vector<double>();
  const std::size_t count = modes.size();
  Ints missing = call.attr("nodes_missing_value_tracks_true", Ints());
  if (missing.empty()) missing.resize(count);
  want_size(call, "nodes_featureids", features, count);
  want_size(call, "nodes_truenodeids", yes, count);
  want_size(call, "nodes_falsenodeids", no, count);
  want_size(call, "nodes_trueleafs", yes_ends, count);
  want_size(call, "nodes_falseleafs", no_ends, count);
  want_size(call, "nodes_splits", values, count);
  want_size(call, "nodes_missing_value_tracks_true", missing, count);
  // Leaves are behind the branches.
  const auto place = [&](std::int64_t number, std::int64_t is_leaf) {
    const std::size_t most = is_leaf != 0 ? leaves : count;
    if (number < 0 || static_cast<std::size_t>(number) >= most)
      call.refuse(fmt::format("there is no branch or leaf {} of {}", number, most));
    return is_leaf != 0 ? number + static_cast<std::int64_t>(count) : number;
  };
  Forest forest;
  for (std::size_t i = 0; i < count; ++i) {
    if (modes[i] < 0 || modes[i] > static_cast<int>(Mode::Member))
      call.refuse(fmt::format("a node of the unknown mode {}", modes[i]));
    forest.nodes.push_back({.mode = static_cast<Mode>(modes[i]),
                            .feature = features[i],
                            .value = values[i],
                            .missing_is_true = missing[i] != 0,
                            .yes = place(yes[i], yes_ends[i]),
                            .no = place(no[i], no_ends[i])});
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    const std::int64_t here = std::ssize(forest.nodes);
    forest.nodes.push_back({.mode = Mode::Leaf, .yes = here, .no = here});
  }
  return forest;
}

Tensor tree_ensemble(const Call& call) {
  const Ints targets = call.attr<Ints>("leaf_targetids");
  const Numbers weights = call.attr<Tensor>("leaf_weights").to_vector<double>();
  want_size(call, "leaf_weights", weights, targets.size());
  Forest forest = branches_of(call, targets.size());
  add_members(call, forest);
  const std::int64_t branches = std::ssize(forest.nodes) - std::ssize(targets);
  for (std::size_t i = 0; i < targets.size(); ++i)
    forest.weights.push_back({branches + static_cast<std::int64_t>(i), targets[i], weights[i]});
  forest.roots = call.attr<Ints>("tree_roots");
  forest.targets = call.attr("n_targets", 1);
  const std::int64_t sum = call.attr("aggregate_function", 1), how = call.attr("post_transform", 0);
  if (sum < 0 || sum > 3) call.refuse(fmt::format("aggregate_function is 0 to 3, not {}", sum));
  forest.sum = static_cast<Forest::Sum>(sum);
  static constexpr const char* names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  if (how < 0 || how > 4) call.refuse(fmt::format("post_transform is 0 to 4, not {}", how));
  const Tensor scores = walked(call, forest, features_of(call));
  return transformed_scores(call, scores, names[how]).cast(call.tensor(0).dtype());
}

}  // namespace

OpTable learning_trees_ops() {
  static const Op ops[] = {
      {"TreeEnsemble", 5, tree_ensemble},
      {"TreeEnsembleClassifier", 1, tree_classifier},
      {"TreeEnsembleRegressor", 1, tree_regressor},
  };
  return {"ai.onnx.ml", ops};
}

}  // namespace weft::onnx
