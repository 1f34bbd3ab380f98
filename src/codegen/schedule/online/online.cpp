// ONLINE: computes a maximum and the sums that depend on it together, block by block.

#include "online.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <weft/dev/base/size_limits.h>

#include "causal_skip.h"
#include "online_rescale.h"
#include "schedule/actions/fills.h"

namespace weft {
namespace {

constexpr std::int64_t sizes_of_blocks[] = {256, 128, 512, 64};
constexpr double least_iterations = 128;

bool is_maximum(const Node* closer) {
  return closer->op() == Op::Reduce && closer->arg<ReduceArg>().op == Op::Max &&
         closer->size() == 2 && closer->dtype().is_float() && closer->src(1)->src(0)->is_const();
}

// Returns why the loop of `top` by itself cannot run in such blocks; empty if it can.
std::string refusal_of(const Node* top, const Action& action) {
  if (!is_maximum(top))
    return "it is not the only loop of a float maximum, or its size is not a constant";
  const std::int64_t iterations = top->src(1)->src(0)->lo();
  return action.count < iterations ? "" : fmt::format("it has only {} iterations", iterations);
}

// Returns a loop that has a kind; null if all are plain.
const Node* first_non_plain_loop(const OnlineRescale& running) {
  for (const auto& [range, iteration] : running.in_block())
    if (!is_plain_loop(range)) return range;
  return nullptr;
}

// Returns the size of blocks of about `size` iterations. Divisors of the number of iterations are
// preferred, because nothing is masked then, and among these the ones with more factors of two.
std::int64_t block_of(std::int64_t iterations, std::int64_t size) {
  const auto evenness = [](std::int64_t block) { return block & -block; };
  std::int64_t best = 0;
  for (std::int64_t block = size; block > size / 2; --block)
    if (iterations % block == 0 && evenness(block) > evenness(best)) best = block;
  return best == 0 ? size : best;
}

// Estimates the mean over the loops that the value depends on, by evenly spaced samples.
double mean_of(const UOp& value) {
  constexpr std::int64_t samples = 16;
  double sum = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    Substitution at;
    for (const Node* range : value->ranges())
      at.emplace(range, const_int((2 * i + 1) * range->src(0)->hi() / (2 * samples)));
    sum += static_cast<double>(substitute(value, at)->bounds().hi);
  }
  return sum / static_cast<double>(samples);
}

}  // namespace

void KernelLoops::online(const Action& action) {
  const Node* top = closer_of(loop(action.name));
  if (const std::string why = refusal_of(top, action); !why.empty()) refuse(action, why);
  const std::int64_t iterations = top->src(1)->src(0)->lo();
  const OnlineRescale running(kernel_, top, action.count, names());
  if (!running.refusal().empty()) refuse(action, running.refusal());
  if (const Node* range = first_non_plain_loop(running))
    refuse(action, fmt::format("{} is not a plain loop", name_of(range)));
  name_online(running);
  kernel_ = running.kernel();
  drop_closed_loops();
  const Node* blocks = running.added()[0].node();
  const Node* all_blocks = closer_of(blocks);
  const UOp seen = visible_iterations(closer_of(loop(action.name)), blocks, [&](const Node* range) {
    return changes_with(all_blocks, range);
  });
  if (seen.is_null()) return;
  visible_blocks_.emplace(name_of(blocks), seen);
  // If blocks do not divide the iterations, the end of the last block is a mask as well. It hides
  // too little to be worth sums of variable length.
  if (iterations % action.count == 0) find_hidden_in_sums(running);
}

void KernelLoops::find_hidden_in_sums(const OnlineRescale& running) {
  for (const auto& [all, iteration] : running.in_block()) {
    const Node* sum = closer_of(iteration.node());
    if (sum->op() != Op::Reduce || sum->size() != 2 || sum->arg<ReduceArg>().op != Op::Add)
      continue;
    const UOp iterations = iterations_before_zero(sum, iteration.node());
    if (!iterations.is_null())
      partly_hidden_.emplace(name_of(iteration.node()),
                             PartlyHidden{iterations, iteration->src(0)->lo()});
  }
}

// Names the added loops o0, o1 ... They are outside of all that runs in a block.
void KernelLoops::name_online(const OnlineRescale& running) {
  std::set<const Node*> inside;
  for (const auto& [range, iteration] : running.in_block()) inside.insert(range);
  for (const Node* end : running.filling()) inside.insert(end->src().begin() + 1, end->src().end());
  LoopIterator at = std::ranges::find_if(
      order_, [&](const std::string& name) { return inside.contains(loop(name)); });
  for (const UOp& range : running.added()) at = add_loop(at, free_name("o"), range) + 1;
  carrying_.insert(name_of(running.added()[0].node()));
  for (auto& [name, range] : loops_)
    if (const auto iteration = running.in_block().find(range.node());
        iteration != running.in_block().end())
      range = iteration->second;
}

std::map<std::string, double> KernelLoops::visible_fractions() const {
  std::map<std::string, double> parts;
  for (const auto& [blocks, seen] : visible_blocks_)
    parts.emplace(blocks, mean_of(seen) / static_cast<double>(loop(blocks)->src(0)->lo()));
  return parts;
}

// This is the last step, because other actions, such as STAGE, need loops of constant size. A sum
// ends where the rest of a block is hidden in all iterations of the loops inside its own.
void KernelLoops::shorten_masked_loops() {
  for (const auto& [name, part] : partly_hidden_) {
    const auto found = loops_.find(name);
    if (found == loops_.end()) continue;
    const Node* range = found->second.node();
    if (!is_plain_loop(range) || !range->src(0)->is_const_int(part.size)) continue;  // it is tiled
    const Node* sum = closer_of(range);
    const UOp most = max_iterations(part.iterations, [&](const Node* other) {
      const bool has_iterations = is_plain_loop(other) || is_parallel(kind_of(other));
      return has_iterations && comes_before(other, range) && changes_with(sum, other);
    });
    const UOp left = max(min(most, UOp(range->src(0))), const_int(1));
    if (!left->is_const()) replace(range, with_sources(UOp(range), {left}));
  }
  for (const auto& [blocks, seen] : visible_blocks_) {
    const Node* range = loop(blocks);
    if (changes_with_each_of(closer_of(range), seen->ranges()))
      replace(range, with_sources(UOp(range), {seen}));
  }
}

// Forgets the loops that are no longer part of the kernel.
void KernelLoops::drop_closed_loops() {
  NodeMap<bool> left;
  for (const Node* node : toposort(kernel_.node())) left.set(node, true);
  std::erase_if(order_, [&](const std::string& name) { return !left.contains(loop(name)); });
  std::erase_if(loops_, [&](const auto& known) { return !left.contains(known.second.node()); });
}

std::vector<Action> online_blocks(const KernelLoops& loops) {
  const std::vector<NamedLoop> names = loops.names();
  std::vector<Action> found;
  for (const auto& [name, range] : names) {
    const Node* top = loops.closer_of(range);
    if (!is_maximum(top) || static_cast<double>(range->src(0)->lo()) < least_work(least_iterations))
      continue;
    const OnlineRescale tried(loops.kernel(), top, std::ranges::min(sizes_of_blocks), names);
    if (!tried.refusal().empty() || tried.filling().empty()) continue;
    for (const std::int64_t block : sizes_of_blocks)
      if (range->src(0)->lo() >= 2 * block)
        found.push_back(
            {.type = Action::Online, .name = name, .count = block_of(range->src(0)->lo(), block)});
    break;
  }
  return found;
}

bool may_be_online(const KernelLoops& loops, const Action& action) {
  const std::vector<NamedLoop> names = loops.names();
  const auto found = std::ranges::find(names, action.name, &NamedLoop::name);
  if (found == names.end()) return false;
  const Node* top = loops.closer_of(found->range);
  if (!refusal_of(top, action).empty()) return false;
  const OnlineRescale running(loops.kernel(), top, action.count, names);
  return running.refusal().empty() && first_non_plain_loop(running) == nullptr;
}

}  // namespace weft
