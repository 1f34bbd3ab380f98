// Assigns each value of a set of chains to a step.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <weft/dev/ir/below.h>

#include "step_chains.h"

namespace weft {

struct Member {
  std::size_t chain, index;  // index 0 is the latest step
};

class NumberedSteps {
 public:
  explicit NumberedSteps(std::vector<Chain> chains);

  // Numbers the steps. Returns whether at least `least_steps` of them, those after from() up to and
  // including to(), contain all that the state depends on. Other members are valid only then.
  bool find_steps(std::int64_t least_steps);
  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }
  std::int64_t iterations() const { return to_ - from_; }

  std::size_t size() const { return chains_.size(); }
  const Chain& operator[](std::size_t chain) const { return chains_[chain]; }
  // Returns whether the chain is state, i.e. has an initial value.
  bool is_given(std::size_t chain) const {
    return is_valid_[chain] && chains_[chain].has_initial_value();
  }
  // Returns whether all of these steps contain a value of the chain.
  bool is_covered(std::size_t chain) const;

  const Node* node(const Member& at) const { return chains_[at.chain].nodes[at.index]; }
  std::optional<Member> member(const Node* node) const;
  // Like member(), for a node that is known to be in a chain.
  const Member& own(const Node* node) const { return *member_.find(node); }
  std::int64_t step(const Member& of) const {
    return last_[of.chain] - static_cast<std::int64_t>(of.index);
  }
  Member in_step(std::size_t chain, std::int64_t step) const {
    return {chain, static_cast<std::size_t>(last_[chain] - step)};
  }
  // Returns whether that source of a node is in a chain too, and so differs from step to step.
  bool changes(const Member& user, std::size_t source) const;

 private:
  struct Edge {
    std::size_t user, source, index;  // node 0 of `user` reads node `index` of `source`
  };
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

  std::int64_t alike(std::size_t chain) const {
    return static_cast<std::int64_t>(chains_[chain].alike);
  }
  bool is_complete(std::size_t chain) const;
  void drop_incomplete();
  bool find_edges();
  bool number_what_is_used();
  void number_what_is_left();
  std::int64_t steps_apart(const Edge& edge) const;
  std::vector<bool> needed_by_states() const;
  bool find_step_range(std::int64_t least_steps);

  std::vector<Chain> chains_;
  NodeMap<Member> member_;
  std::vector<bool> is_valid_;
  std::vector<Edge> edges_;
  std::vector<std::int64_t> last_;  // by chain: the step of its node 0, or unknown
  std::int64_t from_ = 0, to_ = 0;
};

}  // namespace weft
