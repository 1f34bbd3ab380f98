// Schedules of random actions for the loops and reads of a kernel.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/ir/graph.h>

#include "random_kernels.h"

namespace weft::drawn {

// Draws actions; most of what it draws can be done.
class Drawer {
 public:
  Drawer(Random& random, const Node* kernel) : random_(random) {
    for (const auto& [name, range] : loops_of_kernel(kernel))
      loops_.push_back({name, range->src(0)->lo(), name[0] == 'k'});
    for (const auto& [name, load] : reads_of_kernel(kernel)) reads_.push_back(name);
    fills_ = std::ranges::any_of(loops_, [](const Loop& loop) { return loop.name[0] == 's'; });
    for (const Node* node : toposort(kernel))
      if (node->op() == Op::Reduce && node->arg<ReduceArg>().op == Op::Max)
        of_maximum(node->src(1), kernel);
  }

  Schedule schedule() {
    if (loops_.empty()) return {};
    for (const Loop& loop : loops_)
      if (loop.is_reduce && random_.chance(0.2))
        schedule_.push_back({.type = Action::Stage, .name = loop.name});
    if (!fills_ && tops_.empty() && random_.chance(0.2)) merge();
    if (random_.chance(0.2)) pad();
    if (fills_ && random_.chance(0.6)) batch();
    if (!tops_.empty() && random_.chance(0.3)) online();
    for (std::int64_t tiles = random_.in(0, 4); tiles > 0; --tiles) tile();
    if (random_.chance(0.5)) share();
    if (has_groups_ || random_.chance(0.1)) group();
    if (!reads_.empty() && random_.chance(0.2))
      schedule_.push_back({.type = Action::Prefetch,
                           .name = random_.any_of(reads_),
                           .at = random_.any_of(loops_).name});
    if (has_groups_ || random_.chance(0.7)) order();
    for (const std::string& read : reads_)
      if (random_.chance(has_groups_ ? 0.6 : 0.3)) stage(read);
    if (random_.chance(0.1)) split_parallel();
    kinds();
    return schedule_;
  }

  // Iterations that go block by block, in the order in which they are.
  Schedule blocks() {
    if (tops_.empty()) return {};
    if (fills_ && random_.chance(0.6)) batch();
    online();
    for (std::int64_t tiles = random_.in(0, 3); tiles > 0; --tiles) tile();
    if (random_.chance(0.7)) kinds();
    return schedule_;
  }

  // Lanes and copies, of outputs and of sums.
  Schedule lanes() {
    for (std::int64_t tiles = random_.in(1, 4); tiles > 0; --tiles) tile();
    order();
    kinds();
    return schedule_;
  }

  // Reads that a loop hands on, from iteration to iteration: where outputs stand around sums, they
  // can be.
  Schedule handing() {
    if (loops_.empty() || reads_.empty()) return {};
    for (std::int64_t tiles = random_.in(0, 2); tiles > 0; --tiles) tile();
    if (random_.chance(0.4)) share();
    order(true);
    std::vector<std::string> loops, sums;
    for (const Loop& loop : loops_)
      if (!is_parallel(loop.kind)) (loop.is_reduce ? sums : loops).push_back(loop.name);
    const bool slides = random_.chance(0.5);
    const std::vector<std::string>& around = slides || random_.chance(0.3) ? loops : sums;
    if (around.empty()) return schedule_;
    const std::string read = random_.any_of(reads_);
    schedule_.push_back({.type = Action::Stage,
                         .name = read,
                         .at = random_.any_of(around),
                         .by_region = slides || random_.chance(0.3),
                         .slides = slides,
                         .space = space()});
    if (!slides)
      schedule_.push_back({.type = Action::Pipeline, .name = read, .count = random_.in(2, 4)});
    if (random_.chance(0.3)) kinds();
    return schedule_;
  }

  bool has_groups() const { return has_groups_; }

 private:
  struct Loop {
    std::string name;
    std::int64_t size;
    bool is_reduce;
    LoopKind kind = LoopKind::Loop;
  };

  void tile() {
    const auto at = static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1));
    const Loop loop = loops_[at];
    if (loop.size < 2) return;
    const std::int64_t count =
        random_.any_of<std::int64_t>({2, 3, 4, 4, 5, 8, 8, 16, random_.in(1, loop.size)});
    if (count > loop.size) return;
    const bool is_even = loop.size % count == 0;
    const Tail tail = is_even ? Tail::None : static_cast<Tail>(random_.in(1, 3));
    schedule_.push_back({.type = Action::Tile, .name = loop.name, .count = count, .tail = tail});
    cut(at, count);
  }

  void batch() {
    Loop& loop = loops_[static_cast<std::size_t>(random_.in(0, 1))];
    const std::int64_t count = random_.in(1, loop.size);
    const Tail tail = loop.size % count == 0 ? Tail::None : static_cast<Tail>(random_.in(1, 3));
    schedule_.push_back({.type = Action::Batch, .name = loop.name, .count = count, .tail = tail});
    loop.size = (loop.size + count - 1) / count;
    loops_.push_back({"b0", count, false});
  }

  void of_maximum(const Node* range, const Node* kernel) {
    for (const NamedLoop& loop : loops_of_kernel(kernel))
      if (loop.range == range) tops_.push_back(loop.name);
  }

  // As far as it can be done, every loop over the iterations has fewer of them.
  void online() {
    const auto top = std::ranges::find(loops_, random_.any_of(tops_), &Loop::name);
    const std::int64_t iterations = top->size,
                       count = random_.in(1, std::max<std::int64_t>(1, iterations - 1));
    schedule_.push_back({.type = Action::Online, .name = top->name, .count = count});
    for (Loop& loop : loops_)
      if (loop.size == iterations && loop.name[0] != 'r' && loop.name[0] != 'b') loop.size = count;
  }

  // Refused where they are not of one nest.
  void merge() {
    const auto outer = static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1));
    const auto inner = static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1));
    if (outer == inner || loops_[outer].name[0] != loops_[inner].name[0]) return;
    schedule_.push_back(
        {.type = Action::Merge, .name = {}, .loops = {loops_[outer].name, loops_[inner].name}});
    loops_[outer].size *= loops_[inner].size;
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(inner));
  }

  void pad() {
    Loop& loop = loops_[static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1))];
    const std::int64_t count = random_.any_of<std::int64_t>({2, 3, 4, 8, 16});
    schedule_.push_back(
        {.type = Action::Pad, .name = loop.name, .count = count, .tail = Tail::Mask});
    loop.size = (loop.size + count - 1) / count * count;
  }

  // Nothing else is done with its parts.
  void split_parallel() {
    const auto loop = std::ranges::find_if(loops_, [](const Loop& each) {
      return each.name[0] == 'r' && each.kind == LoopKind::Loop;
    });
    if (loop == loops_.end()) return;
    schedule_.push_back(
        {.type = Action::SplitParallel, .name = loop->name, .count = random_.in(1, loop->size)});
    loops_.erase(loop);
  }

  Loop& cut(std::size_t at, std::int64_t count) {
    const Loop loop = loops_[at];
    const std::string family = loop.name.substr(0, loop.name.find('.'));
    loops_[at].size = (loop.size + count - 1) / count;
    loops_.push_back({family + "." + std::to_string(++cuts_[family]), count, loop.is_reduce});
    return loops_.back();
  }

  // Some loops of the output are those of work-groups, some those of their items.
  void share() {
    for (Loop& loop : loops_)
      if (loop.name[0] == 'r' && random_.chance(0.6)) {
        loop.kind = loop.size <= 16 && random_.chance(0.6) ? LoopKind::Local : LoopKind::Global;
        has_groups_ = true;
        add(loop, loop.kind);
      }
  }

  // As many items for all reductions; a tile with a kind, or both at once.
  void group() {
    const std::int64_t count = random_.in(2, 8);
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const Loop loop = loops_[i];
      if (!loop.is_reduce || loop.size < count || !random_.chance(0.3)) continue;
      const Tail tail = loop.size % count == 0 ? Tail::None : static_cast<Tail>(random_.in(1, 2));
      const bool is_one = random_.chance(0.5);
      schedule_.push_back({.type = is_one ? Action::Group : Action::Tile,
                           .name = loop.name,
                           .count = count,
                           .tail = tail});
      Loop& inner = cut(i, count);
      inner.kind = LoopKind::Local;
      if (!is_one) add(inner, LoopKind::Local);
      has_groups_ = true;
    }
  }

  void stage(const std::string& read) {
    Action action{.type = Action::Stage, .name = read};
    if (!random_.chance(0.2)) action.at = random_.any_of(loops_).name;
    action.by_region = random_.chance(0.4);
    action.slides = action.by_region && random_.chance(0.3);
    action.decoded = !action.by_region && random_.chance(0.2);
    action.space = space();
    schedule_.push_back(action);
    if (!action.slides && random_.chance(0.15))
      schedule_.push_back({.type = Action::Pipeline, .name = read, .count = random_.in(2, 4)});
  }

  Space space() {
    if (has_groups_ && random_.chance(0.7)) return Space::Shared;
    return random_.chance(0.2) ? Space::Register : Space::Scratch;
  }

  // Any, but that workers share what stands outermost.
  void order(bool sums_last = false) {
    random_.shuffle(loops_);
    std::ranges::sort(loops_, {}, [&](const Loop& loop) {
      if (is_parallel(loop.kind)) return loop.kind == LoopKind::Global ? 0 : 1;
      return sums_last && loop.is_reduce ? 3 : 2;
    });
    std::vector<std::string> names;
    for (const Loop& loop : loops_) names.push_back(loop.name);
    schedule_.push_back({.type = Action::Order, .name = {}, .loops = names});
    if (!has_groups_ && random_.chance(0.3))
      schedule_.push_back({.type = Action::Swap,
                           .name = {},
                           .loops = {random_.any_of(names), random_.any_of(names)}});
  }

  void kinds() {
    bool has_vector = false;
    for (const Loop& loop : loops_) {
      if (is_parallel(loop.kind)) continue;
      const bool fits = loop.size == 2 || loop.size == 4 || loop.size == 8 || loop.size == 16;
      if (fits && !has_vector && random_.chance(0.5)) {
        has_vector = true;
        add(loop, LoopKind::Vector);
      } else if ((loop.size <= 5 || loop.size == 8 || loop.size == 16) && random_.chance(0.4)) {
        add(loop, random_.chance(0.7) ? LoopKind::Upcast : LoopKind::Unroll);
      } else if (!loop.is_reduce && !has_groups_ && !has_threads_ && random_.chance(0.1)) {
        has_threads_ = true;
        add(loop, LoopKind::Thread);
      }
    }
  }
  void add(const Loop& loop, LoopKind kind) {
    schedule_.push_back({.type = Action::Kind, .name = loop.name, .kind = kind});
  }

  Random& random_;
  std::vector<Loop> loops_;
  std::vector<std::string> reads_, tops_;
  std::map<std::string, int> cuts_;
  bool has_threads_ = false, has_groups_ = false, fills_ = false;
  Schedule schedule_;
};

}  // namespace weft::drawn
