#include "c_places.h"

#include <ranges>

#include "program.h"
#include "shuffle.h"

namespace weft {

const Node* condition_of(const Node* index) {
  const Node* valid = index->src(1);
  return valid->op() == Op::Splat ? valid->src(0) : valid;
}

const Node* first_of(const Node* index) {
  const Node* at = index_of(index);
  const auto run = at != nullptr ? run_of(at) : std::nullopt;
  return run ? run->base : at;
}

std::vector<const Node*> needed_by(const Node* node) {
  static const OpSet no_values{Op::End, Op::Sink, Op::Tuple, Op::Index, Op::Buffer};
  if (no_values.contains(node->op())) return {};
  if (const auto shuffle = shuffle_in(node)) return {shuffle->a, shuffle->b};
  std::vector<const Node*> operands(node->src().begin(), node->src().end());
  if (node->op() == Op::After) operands.resize(node->dtype().is_void() ? 0 : 1);
  if (OpSet{Op::Load, Op::Store, Op::Prefetch}.contains(node->op())) {
    const Node* index = node->src(0);
    operands.resize(node->op() == Op::Store ? 2 : node->size());
    operands.erase(operands.begin());
    operands.push_back(condition_of(index));
    if (const Node* at = first_of(index)) operands.push_back(at);
  }
  return operands;
}

CPlaces::CPlaces(const std::vector<const Node*>& program) {
  stand(program);
  static const OpSet statements{Op::Store, Op::Range, Op::Prefetch};
  for (const Node* node : program | std::views::reverse) {
    if (!statements.contains(node->op()) && !is_used(node)) continue;
    for (const Node* operand : needed_by(node)) {
      Place place = *places_.find(operand);
      place.user = node;
      ++place.uses;
      places_.set(operand, place);
    }
  }
}

void CPlaces::stand(const std::vector<const Node*>& program) {
  std::vector<std::uint32_t> bodies{0};
  std::uint32_t count = 0, epoch = 0;
  for (const Node* node : program) {
    if (node->op() == Op::End) bodies.resize(bodies.size() - (node->size() - 1));
    places_.set(node, {bodies.back(), epoch, 0, nullptr});
    if (node->op() == Op::Range) bodies.push_back(++count);
    if (OpSet{Op::Range, Op::End, Op::Store}.contains(node->op())) ++epoch;
  }
}

bool CPlaces::may_move(const Node* node, bool reads_memory) const {
  const Place& here = *places_.find(node);
  if (here.uses != 1) return false;
  const Place& there = *places_.find(here.user);
  return there.body == here.body && (!reads_memory || there.epoch == here.epoch);
}

}  // namespace weft
