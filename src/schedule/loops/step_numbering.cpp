#include "step_numbering.h"

#include <algorithm>

#include "graph/reshape.h"

namespace weft {
namespace {

// Returns whether the op may be part of a step.
bool is_of_step(const Node* node) {
  return is_elementwise(node->op()) || is_movement(node) ||
         OpSet{Op::Reduce, Op::Contiguous, Op::Load, Op::Index}.contains(node->op());
}

// The position of the source does not matter for commutative ops.
bool takes(const Node* user, std::size_t place, const Node* source) {
  if (!has(user->op(), OpFlag::Commutes)) return user->src(place) == source;
  return std::ranges::find(user->src(), source) != user->src().end();
}

}  // namespace

NumberedSteps::NumberedSteps(std::vector<Chain> chains)
    : chains_(std::move(chains)), is_valid_(chains_.size(), true), last_(chains_.size(), unknown) {
  for (std::size_t c = 0; c < chains_.size(); ++c)
    for (std::size_t i = 0; i < chains_[c].nodes.size(); ++i)
      member_.insert(chains_[c].nodes[i], Member{c, i});
}

bool NumberedSteps::find_steps(std::int64_t least_steps) {
  drop_incomplete();
  if (!find_edges() || !number_what_is_used()) return false;
  number_what_is_left();
  if (!number_what_is_used()) return false;
  // A source belongs to the same step as its user or to the previous one.
  const auto are_neighbours = [&](const Edge& edge) {
    return last_[edge.user] == unknown || chains_[edge.source].is_slice() ||
           steps_apart(edge) == 0 || steps_apart(edge) == 1;
  };
  return std::ranges::all_of(edges_, are_neighbours) && find_step_range(least_steps);
}

bool NumberedSteps::is_covered(std::size_t chain) const {
  return is_valid_[chain] && last_[chain] != unknown && last_[chain] >= to_ &&
         last_[chain] - alike(chain) <= from_;
}

std::optional<Member> NumberedSteps::member(const Node* node) const {
  const Member* found = member_.find(node);
  return found != nullptr && is_valid_[found->chain] ? std::optional(*found) : std::nullopt;
}

bool NumberedSteps::changes(const Member& user, std::size_t source) const {
  const bool has_before = user.index + 1 < chains_[user.chain].alike;
  const std::size_t other = has_before ? user.index + 1 : user.index - 1;
  const auto found = member(node(user)->src(source));
  if (!found || found->index + other < user.index) return false;
  const std::size_t at = found->index + other - user.index;
  return at < chains_[found->chain].nodes.size() &&
         takes(node({user.chain, other}), source, node({found->chain, at}));
}

// Returns whether every source of the chain's nodes is in a chain or is the same in all steps.
bool NumberedSteps::is_complete(std::size_t chain) const {
  if (chains_[chain].is_slice()) return true;
  const Node* last = node({chain, 0});
  if (!is_of_step(last) || !have_known_sizes(last->dims())) return false;
  if (last->op() == Op::Index && changes({chain, 0}, 0)) return false;
  for (std::size_t i = 0; i < last->size(); ++i)
    if (!changes({chain, 0}, i) && !takes(node({chain, 1}), i, last->src(i))) return false;
  return true;
}

void NumberedSteps::drop_incomplete() {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::size_t c = 0; c < chains_.size(); ++c)
      if (is_valid_[c] && !is_complete(c)) is_valid_[c] = is_done = false;
  }
}

// Collects the edges between chains. Returns whether any chain is state.
bool NumberedSteps::find_edges() {
  bool has_state = false;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    if (!is_valid_[c]) continue;
    if (is_given(c)) {
      has_state = true;
      last_[c] = static_cast<std::int64_t>(chains_[c].nodes.size()) - 1;  // initial value: step 0
    }
    if (chains_[c].is_slice()) continue;
    const Node* last = node({c, 0});
    for (std::size_t i = 0; i < last->size(); ++i) {
      if (!changes({c, 0}, i)) continue;
      const Member& source = own(last->src(i));
      edges_.push_back({c, source.chain, source.index});
    }
  }
  return has_state;
}

// Assigns values to the step of their earliest user. Chains with an initial value are numbered
// already. Returns false if this does not converge.
bool NumberedSteps::number_what_is_used() {
  for (std::size_t round = 0; round <= chains_.size(); ++round) {
    bool is_done = true;
    for (const Edge& edge : edges_) {
      if (last_[edge.user] == unknown || is_given(edge.source)) continue;
      const std::int64_t most = last_[edge.user] + static_cast<std::int64_t>(edge.index);
      if (last_[edge.source] <= most) continue;
      last_[edge.source] = most;
      is_done = false;
    }
    if (is_done) return true;
  }
  return false;
}

// Assigns values without users to the latest step of their sources.
void NumberedSteps::number_what_is_left() {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      if (!is_valid_[c] || last_[c] != unknown || chains_[c].is_slice()) continue;
      std::int64_t least = none;
      for (const Edge& edge : edges_)
        if (edge.user == c && !chains_[edge.source].is_slice())
          least = last_[edge.source] == unknown
                      ? unknown
                      : std::max(least, last_[edge.source] - static_cast<std::int64_t>(edge.index));
      if (least == unknown || least == none) continue;
      last_[c] = least;
      is_done = false;
    }
  }
}

std::int64_t NumberedSteps::steps_apart(const Edge& edge) const {
  return last_[edge.user] - (last_[edge.source] - static_cast<std::int64_t>(edge.index));
}

std::vector<bool> NumberedSteps::needed_by_states() const {
  std::vector<bool> is_needed(chains_.size());
  for (std::size_t c = 0; c < chains_.size(); ++c) is_needed[c] = is_given(c);
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const Edge& edge : edges_) {
      if (!is_needed[edge.user] || is_needed[edge.source]) continue;
      is_needed[edge.source] = true;
      is_done = false;
    }
  }
  return is_needed;
}

bool NumberedSteps::find_step_range(std::int64_t least_steps) {
  const std::vector<bool> is_needed = needed_by_states();
  to_ = unknown;
  from_ = 0;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    if (!is_needed[c]) continue;
    if (last_[c] == unknown) return false;
    to_ = std::min(to_, last_[c]);
    from_ = std::max(from_, last_[c] - alike(c));
  }
  for (const Edge& edge : edges_)
    if (is_needed[edge.user] && !chains_[edge.source].has_initial_value() && steps_apart(edge) > 0)
      from_ = std::max(from_, last_[edge.source] - alike(edge.source) + steps_apart(edge));
  return to_ != unknown && to_ - from_ >= least_steps;
}

}  // namespace weft
