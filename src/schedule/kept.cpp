#include "kept.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace weft {
namespace {

// How much memory is needed at each step. Adding to a stretch of steps, and the most of all, take
// logarithmic time: a tree of maxima, each without what was added to all of its steps at once.
class NeededMemory {
 public:
  explicit NeededMemory(std::size_t steps) {
    while (size_ < steps) size_ *= 2;
    most_.resize(2 * size_);
    added_.resize(2 * size_);
  }

  void add(std::size_t first, std::size_t last, std::int64_t bytes) {
    add(1, 0, size_ - 1, first, last, bytes);
  }
  std::int64_t most() const { return most_[1]; }
  std::size_t first_with_most() const {
    std::size_t at = 1;
    while (at < size_) at = 2 * at + (most_[2 * at] >= most_[2 * at + 1] ? 0 : 1);
    return at - size_;
  }

 private:
  void add(std::size_t at, std::size_t from, std::size_t to, std::size_t first, std::size_t last,
           std::int64_t bytes) {
    if (last < from || to < first) return;
    if (first <= from && to <= last) {
      added_[at] += bytes;
      most_[at] += bytes;
      return;
    }
    const std::size_t middle = (from + to) / 2;
    add(2 * at, from, middle, first, last, bytes);
    add(2 * at + 1, middle + 1, to, first, last, bytes);
    most_[at] = added_[at] + std::max(most_[2 * at], most_[2 * at + 1]);
  }

  std::size_t size_ = 1;
  std::vector<std::int64_t> most_, added_;
};

// The steps that read each cut, ascending.
std::vector<std::vector<std::size_t>> reads_of(const Fusion& fusion) {
  std::vector<std::vector<std::size_t>> reads(fusion.placements.size());
  for (std::size_t step = 0; step < fusion.kernels.size(); ++step)
    for (std::size_t cut : fusion.kernels[step].reads) reads[cut].push_back(step);
  return reads;
}

class Chooser {
 public:
  Chooser(const CutGraph& graph, const Fusion& fusion, const Flow& flow, Price price)
      : graph_(graph),
        fusion_(fusion),
        flow_(flow),
        price_(price),
        parts_(lifetimes(graph, fusion, flow)),
        reads_(reads_of(fusion)),
        needed_(fusion.kernels.size()),
        again_(graph.cuts.size()),
        again_at_(graph.cuts.size(), Flow::nowhere),
        lives_(graph.cuts.size()),
        inputs_(graph.cuts.size()),
        users_(graph.cuts.size()) {
    for (std::size_t cut = 0; cut < parts_.size(); ++cut) live(cut, {{parts_[cut]}});
    step_ = needed_.first_with_most();
  }

  std::optional<Again> run() {
    find_first_late();
    const std::int64_t before = needed_.most();
    for (std::size_t cut : candidates())
      if (seconds(cut) <= price_.seconds && pays(cut)) price_.seconds -= seconds(cut);
    if (before - needed_.most() <= before / least_part) return {};
    return Again{step_, again_};
  }

 private:
  static constexpr std::int64_t least_part = 16;  // of all, that is worth other kernels

  bool is_late(std::size_t cut) const { return flow_.is_stored(cut) && flow_.step[cut] > step_; }

  // Of the kernel that stores it, alone or with others.
  double seconds(std::size_t cut) const { return fusion_.kernels[flow_.step[cut]].seconds; }

  // The first of the late cuts, in the program's order, that read each: through what has no memory as well.
  void find_first_late() {
    first_late_.assign(graph_.cuts.size(), Flow::nowhere);
    for (std::size_t user = graph_.cuts.size(); user-- > 0;) {
      if (flow_.is_stored(user) && !is_late(user)) continue;
      const std::size_t first = is_late(user) ? user : first_late_[user];
      for (std::size_t source : flow_.sources[user])
        first_late_[source] = std::min(first_late_[source], first);
    }
  }

  // What in memory the value is made of, through what has none.
  std::vector<std::size_t> inputs_of(std::size_t cut) const {
    std::vector<std::size_t> inputs;
    std::set<std::size_t> seen;
    for (std::vector<std::size_t> open{cut}; !open.empty();) {
      const std::size_t at = open.back();
      open.pop_back();
      for (std::size_t source : flow_.sources[at])
        if (seen.insert(source).second) (flow_.is_stored(source) ? inputs : open).push_back(source);
    }
    return inputs;
  }

  // Those that are cheap for their bytes, the cheapest first.
  std::vector<std::size_t> candidates() {
    std::vector<std::size_t> found;
    for (std::size_t cut = 0; cut < graph_.cuts.size(); ++cut) {
      if (!may_be_again(cut)) continue;
      inputs_[cut] = inputs_of(cut);
      found.push_back(cut);
    }
    const auto cost = [&](std::size_t cut) {
      return seconds(cut) / static_cast<double>(parts_[cut].bytes);
    };
    std::erase_if(found, [&](std::size_t cut) { return cost(cut) > price_.seconds_per_byte; });
    std::ranges::sort(found, {}, [&](std::size_t cut) { return std::pair(cost(cut), cut); });
    return found;
  }

  bool may_be_again(std::size_t cut) const {
    const Cut& piece = graph_.cuts[cut];
    return parts_[cut].bytes > 0 && !is_by_itself(piece) &&
           !graph_.overwritten_by(piece.leaf.node()) && parts_[cut].first <= step_ &&
           parts_[cut].last > step_ && first_late_[cut] != Flow::nowhere &&
           awaited(graph_, fusion_, flow_, cut, {step_, first_late_[cut]});
  }

  // Takes the cut as computed again, if then less is needed.
  bool pays(std::size_t cut) {
    const std::int64_t before = needed_.most();
    put(cut, true);
    if (needed_.most() < before) return true;
    put(cut, false);
    return false;
  }

  void put(std::size_t changed, bool is_again) {
    again_[changed] = is_again;
    for (std::size_t input : inputs_[changed]) {
      if (is_again)
        users_[input].insert(changed);
      else
        users_[input].erase(changed);
    }
    // Users before what they need: what one needs earlier is needed earlier of others.
    std::set<std::size_t, std::greater<>> open(inputs_[changed].begin(), inputs_[changed].end());
    open.insert(changed);
    while (!open.empty()) {
      const std::size_t cut = *open.begin();
      open.erase(open.begin());
      if (settle(cut) && again_[cut]) open.insert(inputs_[cut].begin(), inputs_[cut].end());
    }
  }

  // When the cut is needed, by what is known of its users; whether its copy is needed at another time than before.
  bool settle(std::size_t cut) {
    const auto late = std::ranges::upper_bound(reads_[cut], step_);
    std::size_t first = late != reads_[cut].end() ? *late : Flow::nowhere, last = parts_[cut].last;
    for (std::size_t user : users_[cut]) {
      first = std::min(first, again_at_[user]);
      last = std::max(last, again_at_[user]);
    }
    const std::size_t bytes = parts_[cut].bytes, birth = parts_[cut].first;
    if (!again_[cut]) {
      live(cut, {{bytes, birth, last}});
      return false;
    }
    std::vector<Lifetime> lives{{bytes, first, last}};
    if (late != reads_[cut].begin()) lives.push_back({bytes, birth, *std::prev(late)});
    live(cut, std::move(lives));
    return std::exchange(again_at_[cut], first) != first;
  }

  void live(std::size_t cut, std::vector<Lifetime> lives) {
    for (const auto& [bytes, first, last] : lives_[cut])
      needed_.add(first, last, -static_cast<std::int64_t>(bytes));
    lives_[cut] = std::move(lives);
    for (const auto& [bytes, first, last] : lives_[cut])
      needed_.add(first, last, static_cast<std::int64_t>(bytes));
  }

  const CutGraph& graph_;
  const Fusion& fusion_;
  const Flow& flow_;
  Price price_;  // what is left of it
  const std::vector<Lifetime> parts_;
  const std::vector<std::vector<std::size_t>> reads_;
  NeededMemory needed_;
  std::size_t step_ = 0;  // where most is needed when everything is kept
  std::vector<std::size_t> first_late_;
  std::vector<bool> again_;
  std::vector<std::size_t> again_at_;             // the step of the first that needs the copy
  std::vector<std::vector<Lifetime>> lives_;      // of each cut and its copy
  std::vector<std::vector<std::size_t>> inputs_;  // of candidates
  std::vector<std::set<std::size_t>> users_;      // of those, what is computed again from each
};

}  // namespace

Flow::Flow(const CutGraph& graph, const Fusion& fusion)
    : sources(graph.cuts.size()), step(graph.cuts.size(), nowhere) {
  for (std::size_t i = 0; i < fusion.kernels.size(); ++i)
    for (std::size_t output : fusion.kernels[i].outputs) step[output] = i;
  for (std::size_t cut = 0; cut < graph.cuts.size(); ++cut) {
    std::set<std::size_t> found;
    for (const Node* leaf : leaves_of(graph.cuts[cut]))
      if (const auto source = graph.cut_of(leaf)) found.insert(*source);
    sources[cut].assign(found.begin(), found.end());
  }
}

std::vector<Lifetime> lifetimes(const CutGraph& graph, const Fusion& fusion, const Flow& flow) {
  const std::vector<bool> outlives = outliving(graph);
  const std::vector<std::vector<std::size_t>> reads = reads_of(fusion);
  std::vector<Lifetime> lives;
  for (std::size_t cut = 0; cut < graph.cuts.size(); ++cut) {
    if (!flow.is_stored(cut)) {
      lives.push_back({0, 0, 0});
      continue;
    }
    const std::size_t first = flow.step[cut];
    const std::size_t last = reads[cut].empty() ? first : reads[cut].back();
    lives.push_back({outlives[cut] ? 0 : new_bytes(graph.cuts[cut]), first, last});
  }
  return lives;
}

std::optional<Again> worth_computing_again(const CutGraph& graph, const Fusion& fusion,
                                           const Flow& flow, Price price) {
  if (fusion.kernels.empty()) return {};
  return Chooser(graph, fusion, flow, price).run();
}

std::optional<std::size_t> awaited(const CutGraph& graph, const Fusion& fusion, const Flow& flow,
                                   std::size_t cut, Late late) {
  const auto follows_no_more = [&](std::size_t read) {
    return std::ranges::equal(graph.cuts[read].follows, graph.cuts[cut].follows, std::less_equal{});
  };
  std::optional<std::size_t> latest;
  for (std::size_t read : fusion.kernels[flow.step[late.reader]].reads)
    if (read < late.reader && flow.step[read] > late.step && follows_no_more(read) &&
        (!latest || flow.step[read] > flow.step[latest.value()]))
      latest = read;
  return latest;
}

}  // namespace weft
