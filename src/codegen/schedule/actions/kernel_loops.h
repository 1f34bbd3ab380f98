// The kernel that actions transform, with its loops and reads by name.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/ir/graph.h>

#include "staged.h"

namespace weft {

class OnlineRescale;

// Whether the iterations of the range run loops or fill memory of their own. Such a range cannot
// become vector lanes, because lanes only hold values.
bool iterations_run_loops(const Node* closer, const Node* range);

class KernelLoops {
 public:
  explicit KernelLoops(const UOp& kernel);

  void apply(const Schedule& schedule);
  const UOp& kernel() const { return kernel_; }
  std::vector<NamedLoop> names() const;  // outermost first
  std::vector<NamedRead> reads() const;
  const Node* closer_of(const Node* range) const;
  // For each loop over blocks of which a mask hides some: the mean fraction of its iterations that
  // are executed.
  std::map<std::string, double> visible_fractions() const;

  // Applies what depends on the final loop order (STAGEs, prefetches, partial sums) and returns the
  // kernel with its loops in that order.
  UOp finished();

 private:
  const Node* loop(std::string_view name) const;
  using LoopIterator = std::vector<std::string>::const_iterator;  // in order_
  LoopIterator find_loop(const Node* range) const;                // the end if the loop has no name
  const std::string& name_of(const Node* range) const { return *find_loop(range); }
  std::size_t position(std::string_view name) const;
  std::vector<const Node*> closers() const;
  bool comes_before(const Node* range, const Node* other) const;
  // Returns the loops for which the test holds, outermost first.
  std::vector<const Node*> loops_where(const std::function<bool(const Node*)>& test) const;
  // Returns the first name PREFIX`number`, PREFIX`number + 1` ... that no loop has.
  std::string free_name(std::string_view prefix, int number = 0) const;
  // Names a loop, directly outside of the one at `at`, and returns its place.
  LoopIterator add_loop(LoopIterator at, const std::string& name, const UOp& range);

  void add_inner(const std::string& name, const UOp& outer, const UOp& inner);
  void pad_to(const std::string& name, std::int64_t count);
  void refuse_if_carrying(const Action& action, const std::string& name) const;
  void pad(const Action& action);
  void tile(const Action& action);
  void merge(const Action& action);
  void split_parallel(const Action& action);
  void set_kind(const Action& action);
  void reorder(const Action& action);
  void swap(const Action& action);
  void stage(const Action& action);
  void stage_value(const Action& action);
  void stage_all();
  std::vector<const Node*> inside_of(const Action& action, const Node* load) const;
  UOp stage_read(const Action& action, const Node* load);
  std::vector<UOp> items() const;
  UOp filled_by_items(const Action& action, const UOp& begin, const Fill& fill) const;
  UOp filled(const Action& action, const UOp& begin, const Fill& fill) const;
  void prefetch(const Action& action);
  std::vector<const Node*> repeated_inside(const Node* around, const Node* load) const;
  UOp prefetch_before_read(const Action& action, const Node* load) const;
  std::vector<UOp> lines_in_iteration(const Action& action, const Node* access,
                                      const std::vector<const Node*>& repeated, std::int64_t most,
                                      const Substitution& iteration) const;
  const Node* stored_as(const std::string& name) const;
  void prefetch_stores(const Action& action);
  void pipeline(const Action& action);
  void batch(const Action& action);
  void online(const Action& action);
  void name_online(const OnlineRescale& running);
  void drop_closed_loops();
  void find_hidden_in_sums(const OnlineRescale& running);
  void shorten_masked_loops();
  void mma(const Action& action);
  void set_kind(const std::string& name, LoopKind kind);
  UOp batch_memory(const Node* ready, const Node* range);
  std::vector<UOp> batch_sum(const Node* sum, NodeList inside);
  const Node* filled_or_summed_in(const Node* range) const;
  const Node* carrying_loop(const Action& action, const Staged& staged) const;
  std::vector<UOp> loops_around(const Node* range) const;
  Staged rotating_buffer(const Action& action, const Staged& staged);
  void nest_carrying_loops();
  void join_barriers();
  void group(const Action& action);
  std::vector<UOp> items_closed_by(Op op) const;
  void share_reductions();
  UOp output_items_for(const UOp& own) const;
  void share_reduction(const std::string& name, const UOp& own);
  void add_shared_loop(const std::string& name);
  void check_workers() const;
  void check_kinds() const;
  void sort(const Node* closer);
  void keep_partial_sums(const Node* reduce);
  void replace(const Node* node, const UOp& by) { kernel_ = substitute(kernel_, {{node, by}}); }
  void substitute_in_bounds(const Node* range, const UOp& to);

  UOp kernel_;
  std::map<std::string, UOp, std::less<>> loops_;
  std::vector<std::string> order_;  // all loops, outermost first
  UOp sharing_;                     // over items that share reductions; null if none do
  std::set<std::string> carrying_;  // loops that carry memory between iterations
  // For each loop over blocks of which a mask hides some: how many of its iterations to execute.
  std::map<std::string, UOp> visible_blocks_;
  // For each sum over a block that a mask hides in part: how many of its `size` iterations to
  // execute, in terms of all other loops.
  struct PartlyHidden {
    UOp iterations;
    std::int64_t size;
  };
  std::map<std::string, PartlyHidden> partly_hidden_;
  // Actions on reads, which are applied last, when the loops and their order are final.
  Schedule stages_, prefetched_;
};

// A value that equals the operand of a reduction but is computed over other loops.
struct SameValue {
  UOp value;
  std::vector<UOp> ranges;  // of the other loops
};
std::vector<SameValue> same_values(const Node* kernel, const Node* reduce);

// Returns the next iteration of the range; in the last iteration, that one again.
UOp next_iteration(const Node* range);
// Returns the place that the load reads in the next iteration of the range, clamped to the memory.
UOp next_place(const Node* load, const Node* range);

const Node* read_named(const Action& action, const std::vector<NamedRead>& reads);

[[noreturn]] void refuse(const Action& action, std::string_view why);
// Refuses loops of symbolic size.
void check_sizes(const Action& action, NodeList loops);
[[noreturn]] void refuse_other_loops(std::string_view worker);

}  // namespace weft
