// Which claims to make about a graph, and what to say about them.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "claim.h"

namespace weft {
namespace {

bool is_discrete(const Node* node) { return node->dtype().is_int() || node->dtype().is_bool(); }

bool is_scalar_bool(const Node* node) { return node->dtype() == dtypes::bool_; }

Proof unknown(std::string reason) { return {Verdict::Unknown, std::move(reason)}; }

// One lane of a vector as a scalar of its own, where the graph has it; null elsewhere.
const Node* lane(const Node* node, std::uint32_t at) {
  if (node->dtype().lanes() == 1) return node;
  if (node->op() == Op::Splat) return node->src(0);
  return node->op() == Op::Stack && at < node->size() ? node->src(at) : nullptr;
}

std::uint32_t lanes_of(NodeList nodes) {
  std::uint32_t most = 1;
  for (const Node* node : nodes) most = std::max(most, node->dtype().lanes());
  return most;
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
  if (index == nullptr || valid == nullptr) return unknown("a vector whose lanes are not apart");
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
  for (std::uint32_t at = 0; at < lanes_of(index->src().subspan(1)); ++at)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Proof proof =
          prove_inside(lane(index->src(i + 2), at), sizes[i], lane(index->src(1), at), timeout_ms);
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
