// Which claims to make about a graph, and what to say about them.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/error.h>

#include "claim.h"

namespace weft {
namespace {

bool is_discrete(const Node* node) { return node->dtype().is_int() || node->dtype().is_bool(); }

bool is_scalar_bool(const Node* node) { return node->dtype() == dtypes::bool_; }

Proof unknown(std::string reason) { return {Verdict::Unknown, std::move(reason)}; }

UOp lane(const Node* value, std::uint32_t at) {
  if (value->dtype().lanes() == 1) return UOp(value);
  return make(Op::Lane, {UOp(value)}, {}, PositionArg{static_cast<std::int32_t>(at)});
}

// The lane of what is computed from vectors, computed from their lanes.
UOp computed_lane(const Match& m) {
  const Node* vector = m.root()->src(0);
  const auto at = static_cast<std::uint32_t>(m.root()->arg<PositionArg>().at);
  if (vector->is_const()) return const_bits(vector->dtype().scalar(), vector->arg<ConstArg>().bits);
  if (vector->op() == Op::Splat) return UOp(vector->src(0));
  if (vector->op() == Op::Stack) return UOp(vector->src(at));
  if (!is_elementwise(vector->op())) return {};
  std::vector<UOp> src;
  for (const Node* source : vector->src()) src.push_back(lane(source, at));
  const bool is_cast = vector->op() == Op::Cast || vector->op() == Op::Bitcast;
  return make(vector->op(), src, is_cast ? vector->dtype().scalar() : dtypes::void_);
}

const RuleSet& lanes_apart() {
  static const RuleSet rules{"lanes_apart", {rule(with_more(node(Op::Lane)), computed_lane)}};
  return rules;
}

// Of each lane in turn: where it is valid, and its place in each dimension.
std::vector<UOp> places_of(const Node* index) {
  std::uint32_t lanes = 1;
  for (const Node* source : index->src().subspan(1))
    lanes = std::max(lanes, source->dtype().lanes());
  std::vector<UOp> places;
  for (std::uint32_t at = 0; at < lanes; ++at)
    for (const Node* source : index->src().subspan(1)) places.push_back(lane(source, at));
  return lanes == 1 ? places : rewrite(places, lanes_apart());
}

std::string place_text(const Node* index) {
  std::string text = expression_text(storage_of(index->src(0))) + "[";
  for (std::size_t i = 2; i < index->size(); ++i)
    text += (i > 2 ? ", " : "") + expression_text(index->src(i));
  text += "]";
  if (!index->src(1)->is_const_int(1)) text += " where " + expression_text(index->src(1));
  return text;
}

Proof prove_inside(const Node* index, const Node* size, const Node* valid, unsigned timeout_ms) {
  Proof proof = decide({Claim::Form::Inside, index, size, valid}, timeout_ms);
  if (proof.verdict == Verdict::Refuted)
    proof.reason = fmt::format("{} is not in [0, {}) at {}", expression_text(index),
                               expression_text(size), proof.reason);
  if (proof.verdict == Verdict::Unknown)
    proof.reason = fmt::format("{} in [0, {}): {}", expression_text(index), expression_text(size),
                               proof.reason);
  return proof;
}

// The least certain of what is found for all lanes and dimensions; a refutation is certain.
Proof prove_index(const Node* index, unsigned timeout_ms) {
  const NodeList sizes = storage_of(index->src(0))->dims();
  if (sizes.size() != index->size() - 2) return unknown("the dimensions are not known");
  Proof result{Verdict::Proved, ""};
  const std::vector<UOp> places = places_of(index);
  for (std::size_t valid = 0; valid < places.size(); valid += sizes.size() + 1)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Node* place = places[valid + 1 + i].node();
      Proof proof = prove_inside(place, sizes[i], places[valid].node(), timeout_ms);
      if (proof.verdict == Verdict::Refuted) return proof;
      if (proof.verdict == Verdict::Unknown) result = std::move(proof);
    }
  return result;
}

}  // namespace

Proof prove(const Node* condition, const Node* given, unsigned timeout_ms) {
  for (const Node* node : {condition, given})
    if (node != nullptr && !is_scalar_bool(node))
      user_error(
          fmt::format("prove: {} is {}, not bool", expression_text(node), node->dtype().str()));
  return decide({Claim::Form::Holds, condition, nullptr, given}, timeout_ms);
}

Proof prove_equal(const Node* a, const Node* b, unsigned timeout_ms) {
  if (a == b) return {Verdict::Proved, ""};
  if (a->dtype().is_bool() != b->dtype().is_bool() || !is_discrete(a) || !is_discrete(b))
    return unknown(fmt::format("{} and {} are not compared", a->dtype().str(), b->dtype().str()));
  if (a->dtype().lanes() > 1 || b->dtype().lanes() > 1) return unknown("vectors are not compared");
  return decide({Claim::Form::Equal, a, b}, timeout_ms);
}

std::vector<IndexProof> prove_indices(NodeList roots, unsigned timeout_ms) {
  std::vector<IndexProof> proofs;
  for (const Node* node : toposort(roots))
    if (node->op() == Op::Index) proofs.push_back({node, prove_index(node, timeout_ms)});
  return proofs;
}

void validate_indices(NodeList roots, std::string_view pass, bool strict) {
  if (!can_prove()) user_error("VALIDATE=1 needs a build with Z3 (WEFT_Z3=ON)");
  std::string bad;
  for (const auto& [index, proof] : prove_indices(roots)) {
    if (proof.verdict == Verdict::Refuted || (strict && proof.verdict == Verdict::Unknown))
      bad += fmt::format("\n  {}\n    {}", place_text(index), proof.reason);
  }
  if (!bad.empty())
    internal_error(fmt::format("after {}, an index {} its buffer:{}", pass,
                               strict ? "is not proved to stay inside" : "leaves", bad));
}

}  // namespace weft
