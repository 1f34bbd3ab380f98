#include "fuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>

#include "run_order.h"
#include "workload.h"

namespace weft {
namespace {

// A kernel that computes a value at more places than this would be mostly that.
constexpr std::size_t most_compute_sites = 4;
// Of many kernels that might become one, each is compared with so many: the nearest.
constexpr std::ptrdiff_t most_compared = 8;
// How far a merge looks for a path between its kernels before it gives up.
constexpr int most_visited = 256;
// Values of more bytes, and of so many times as many as all else that is touched for them, stay without memory for so
// much more time.
constexpr double large = 64 << 20, much_more = 4, worth_memory = 1.6;
// Of the time of a kernel: less is no difference.
constexpr double alike = 0.001, clearly_less = 0.1;
// Of that time, what a stage has to save if its value could go where the sum is made.
constexpr double least_saving = 0.05;

class Fuser {
 public:
  Fuser(const CutGraph& graph, const std::vector<Body>& bodies, const Profile& profile)
      : graph_(graph), bodies_(bodies), estimator_(graph, bodies, profile) {
    result_.placements.resize(graph.cuts.size());
    instances_.resize(graph.cuts.size());
    readers_.resize(graph.cuts.size());
    for (std::size_t i = 0; i < graph.cuts.size(); ++i)
      for (const Reading& reading : bodies[i].readings) {
        const Node* leaf = reading.index->src(0);
        if (const auto source = graph.cut_of(leaf)) readers_[*source].emplace_back(i, &reading);
        if (const auto by = graph.overwritten_by(leaf); by && *by != i)
          readers_of_overwritten_[leaf->arg<BufferArg>().id.value].push_back(i);
      }
    for (std::size_t i = 0; i < graph.cuts.size(); ++i) read_by_itself(i);
    find_followers();
    for (std::size_t i = 0; i < graph.cuts.size(); ++i)
      for (const UOp& leaf : graph.cuts[i].waits)
        if (const auto source = graph.cut_of(leaf.node())) waiting_[*source].push_back(i);
  }

  Fusion run() {
    // Users first, so that all places where a value is needed are known when its turn comes.
    for (std::size_t cut = graph_.cuts.size(); cut-- > 0;) place(cut);
    merge_readers_of_inputs();
    order();
    return std::move(result_);
  }

 private:
  std::size_t whole(std::size_t kernel) const {
    while (taken_by_[kernel] != kernel) kernel = taken_by_[kernel];
    return kernel;
  }
  const Node* leaf(std::size_t cut) const { return graph_.cuts[cut].leaf.node(); }

  // What a copy copies, and what steps are given.
  void read_by_itself(std::size_t reader) {
    const Cut& cut = graph_.cuts[reader];
    if (!is_by_itself(cut)) return;
    for (const Node* read : leaves_of(cut)) {
      if (const auto source = graph_.cut_of(read)) readers_[*source].emplace_back(reader, nullptr);
      if (const auto by = graph_.overwritten_by(read); by && *by != reader)
        readers_of_overwritten_[read->arg<BufferArg>().id.value].push_back(reader);
    }
  }

  void place(std::size_t cut) {
    std::set<std::size_t> users;
    for (const auto& [reader, reading] : readers_[cut])
      for (const Instance& instance : instances_[reader]) users.insert(whole(instance.kernel));
    users = merge_alike(users);
    Instance root = nests_.root(bodies_[cut], kernels_.size());
    Workload alone = estimator_.alone(cut, root);
    if (!graph_.cuts[cut].must && !users.empty() && fit_in(users, cut, alone, root)) return;
    if (is_of_known_loop(cut, root)) return;
    const std::size_t kernel = kernels_.size();
    instances_[cut] = {std::move(root)};
    taken_by_.push_back(kernel);
    kernels_.push_back(std::move(alone));
    furthest_.push_back(cut);
    update_furthest(kernel);
  }

  // The kernel that makes the others of its loop makes it as well.
  bool is_of_known_loop(std::size_t cut, Instance& root) {
    if (graph_.cuts[cut].loop == nullptr) return false;
    const auto [known, is_new] = of_loops_.emplace(graph_.cuts[cut].loop.get(), kernels_.size());
    if (is_new) return false;
    root.kernel = known->second;
    instances_[cut] = {std::move(root)};
    kernels_[known->second].outputs.push_back(cut);
    update_furthest(known->second);
    return true;
  }

  // Where each kernel needs the cut; one too many where there are too many.
  std::map<std::size_t, std::vector<Instance>> places_of(std::size_t cut) {
    std::map<std::size_t, std::vector<Instance>> by_kernel;
    for (const auto& [reader, reading] : readers_[cut]) {
      if (reading == nullptr) continue;
      for (Instance& around : instances_[reader]) {
        std::vector<Instance>& places = by_kernel[whole(around.kernel)];
        if (places.size() > most_compute_sites) continue;
        Instance place = nests_.read(around, bodies_[reader], *reading);
        place.kernel = whole(around.kernel);
        add_place(places, std::move(place));
      }
    }
    return by_kernel;
  }

  static void add_place(std::vector<Instance>& places, Instance place) {
    const auto same = [&](const Instance& other) { return are_same_place(place, other); };
    if (std::ranges::none_of(places, same)) places.push_back(std::move(place));
  }

  struct Offer {
    std::size_t kernel;
    Placement placement;
    Workload workload;
    std::vector<Instance> instances;
  };

  // Computes the cut inside the kernels that need it, where that takes less time.
  bool fit_in(const std::set<std::size_t>& users, std::size_t cut, const Workload& alone,
              const Instance& root) {
    double apart = time_with_followers(alone, cut, {root}), together = 0;
    std::vector<Offer> offers;
    std::map<std::size_t, std::vector<Instance>> places = places_of(cut);
    for (std::size_t user : users) {
      auto offer = offer_in(user, cut, std::move(places[user]), users.size() == 1);
      if (!offer) return false;
      apart += estimator_.time(kernels_[user]);
      together += time_with_followers(offer->workload, cut, offer->instances);
      offers.push_back(std::move(*offer));
    }
    if (takes_much_memory(alone, users)) apart *= worth_memory;
    if (together > apart ||
        (together >= (1 - least_saving) * apart && is_staged_for_nothing(cut, offers)))
      return false;
    for (Offer& offer : offers) {
      kernels_[offer.kernel] = std::move(offer.workload);
      result_.placements[cut] = std::move(offer.placement);
      std::ranges::move(offer.instances, std::back_inserter(instances_[cut]));
      update_furthest(offer.kernel);
    }
    return true;
  }

  // As the scores of many tokens.
  bool takes_much_memory(const Workload& alone, const std::set<std::size_t>& users) const {
    if (alone.output_bytes < large) return false;
    double others = 0;
    const auto add = [&](const Workload& kernel) {
      for (const auto& [input, bytes] : kernel.inputs)
        if (const auto source = graph_.cut_of(input); !source || !instances_[*source].empty())
          others += bytes;
    };
    add(alone);
    for (const std::size_t user : users) {
      add(kernels_[user]);
      others += kernels_[user].output_bytes;
    }
    return alone.output_bytes > much_more * others;
  }

  // What goes on from a sum costs nothing more where the sum is made, which is not here.
  bool is_staged_for_nothing(std::size_t cut, const std::vector<Offer>& offers) {
    const auto is_alone = [&](const Offer& offer) {
      if (offer.placement.where != Placement::Stage) return false;
      return time_inside(offer.workload, cut, offer.instances) >
             time_with_followers(offer.workload, cut, offer.instances);
    };
    return is_as_large_as_followers(cut) && std::ranges::all_of(offers, is_alone);
  }

  // Of what each cut reads, unless it sums that, what nobody else does and which is or leads to a sum:
  // where the cut goes, it is likely to go.
  void find_followers() {
    followers_.resize(graph_.cuts.size());
    for (std::size_t cut = 0; cut < graph_.cuts.size(); ++cut) {
      std::set<std::size_t> found;
      if (!bodies_[cut].reduction.empty()) continue;
      for (const Reading& reading : bodies_[cut].readings)
        if (const auto source = graph_.cut_of(reading.index->src(0)))
          if (follows_to_sum(*source, cut)) found.insert(*source);
      followers_[cut] = list_of(found);
    }
  }

  bool follows_to_sum(std::size_t source, std::size_t cut) const {
    const auto is_cut = [&](const auto& reader) { return reader.first == cut; };
    return !graph_.cuts[source].must && std::ranges::all_of(readers_[source], is_cut) &&
           (!bodies_[source].reduction.empty() || !followers_[source].empty());
  }

  // The time of a kernel that computes the cut at these places, and of what follows it, in it or apart.
  double time_with_followers(const Workload& kernel, std::size_t cut,
                             const std::vector<Instance>& at) {
    double apart = estimator_.time(kernel);
    if (followers_[cut].empty()) return apart;
    for (std::size_t follower : followers_[cut]) {
      const Instance root = nests_.root(bodies_[follower], kernels_.size());
      apart += time_with_followers(estimator_.alone(follower, root), follower, {root});
    }
    return std::min(apart, time_inside(kernel, cut, at));
  }

  // The same with all of them in the kernel.
  double time_inside(Workload kernel, std::size_t cut, std::vector<Instance> at) {
    for (std::size_t follower : followers_[cut]) add_follower(kernel, follower, cut, at);
    return estimator_.is_allowed(kernel) ? estimator_.time(kernel)
                                         : std::numeric_limits<double>::infinity();
  }

  void add_follower(Workload& kernel, std::size_t follower, std::size_t cut,
                    std::vector<Instance>& at) {
    std::vector<Instance> places;
    for (const auto& [reader, reading] : readers_[follower])
      for (Instance& around : at) add_place(places, nests_.read(around, bodies_[cut], *reading));
    read_no_more(kernel, follower);
    estimator_.add_inline(kernel, follower, places);
    for (std::size_t next : followers_[follower]) add_follower(kernel, next, follower, places);
  }

  // By its id: an open size of the leaf may have been simplified in one place and not in another.
  void read_no_more(Workload& kernel, std::size_t cut) const {
    std::erase_if(kernel.inputs,
                  [&](const auto& input) { return graph_.cut_of(input.first) == cut; });
  }

  // Of two that take as long, since they read as much, the one that computes clearly less: what is staged then is staged in
  // place of the sums that it is made of.
  bool is_better(const Workload& kernel, const Workload& than, std::size_t cut) const {
    const double time = estimator_.time(kernel), other = estimator_.time(than);
    const double saved = estimator_.computing(than) - estimator_.computing(kernel);
    const bool are_alike = std::abs(time - other) <= alike * other;
    return are_alike && std::abs(saved) > clearly_less * time && is_as_large_as_followers(cut)
               ? saved > 0
               : time < other;
  }

  bool is_as_large_as_followers(std::size_t cut) const {
    const auto is_as_large = [&](std::size_t follower) {
      return elements(leaf(follower)->dims()) == elements(leaf(cut)->dims());
    };
    return !followers_[cut].empty() && std::ranges::all_of(followers_[cut], is_as_large);
  }

  // The best way to compute the cut inside the kernel; nothing where there is none.
  std::optional<Offer> offer_in(std::size_t user, std::size_t cut, std::vector<Instance> places,
                                bool may_stage) {
    const Workload& kernel = kernels_[user];
    if (kernel.outputs.empty() || is_by_itself(graph_.cuts[kernel.outputs[0]])) return {};
    if (places.empty() || breaks_order(kernel, cut, places)) return {};
    std::optional<Offer> best;
    const auto consider = [&](Offer offer) {
      if (!estimator_.is_allowed(offer.workload)) return;
      if (!best || is_better(offer.workload, best->workload, cut)) best = std::move(offer);
    };
    Workload without = kernel;
    read_no_more(without, cut);
    const std::size_t depth = Nests::common_depth(places);
    Instance stage = nests_.stage(places, depth, bodies_[cut]);
    if (places.size() <= most_compute_sites) {
      Offer offer{user, {Placement::Inline, {}}, without, places};
      estimator_.add_inline(offer.workload, cut, places);
      consider(std::move(offer));
    }
    if (may_stage && stage.nest.size() > depth) {
      Offer offer{user, {Placement::Stage, {}}, std::move(without), {}};
      for (const Bound& bound : stage.dims)
        offer.placement.outside.push_back(bound.loop != nullptr && bound.depth <= depth);
      estimator_.add_stage(offer.workload, cut, stage, depth);
      offer.instances.push_back(std::move(stage));
      consider(std::move(offer));
    }
    return best;
  }

  // What reads memory that is overwritten has to run before that: not in a kernel that comes after
  // it, and in the one that overwrites only where each element is read just where it is stored.
  bool breaks_order(const Workload& kernel, std::size_t cut, std::vector<Instance>& places) {
    for (const Reading& reading : bodies_[cut].readings) {
      const auto assignment = graph_.overwritten_by(reading.index->src(0));
      if (!assignment) continue;
      const bool stores = std::ranges::find(kernel.outputs, *assignment) != kernel.outputs.end();
      if (!stores && kernel.follows[graph_.cuts[*assignment].assignment]) return true;
      if (!stores) continue;
      for (Instance& place : places) {
        const Instance read = nests_.read(place, bodies_[cut], reading);
        if (!is_stored_place(read, *assignment)) return true;
      }
    }
    return false;
  }

  bool is_stored_place(const Instance& read, std::size_t assignment) {
    const Instance& root = instances_[assignment][0];
    const Body& body = bodies_[assignment];
    const NodeList stored = body.place->src().subspan(2);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i]->is_const() && stored[i] == read.dims[i].index) continue;
      const auto at = std::ranges::find(body.loops, stored[i], &UOp::node);
      if (at == body.loops.end() || read.dims[i].loop == nullptr) return false;
      const Bound& own = root.dims[static_cast<std::size_t>(at - body.loops.begin())];
      if (own.loop == nullptr || own.loop->same() != read.dims[i].loop->same()) return false;
    }
    return true;
  }

  // Kernels with the same loops become one where that saves time: each keeps its outputs. Only those
  // near each other are compared, or steps that share a weight would take quadratic time.
  std::set<std::size_t> merge_alike(const std::set<std::size_t>& kernels) {
    std::set<std::size_t> result;
    std::unordered_map<const Node*, std::vector<std::size_t>> left;  // by shape
    for (std::size_t kernel : kernels) {
      std::vector<std::size_t>& others = left[first_output(kernel).leaf->shape()];
      const auto nearest = others.end() - std::min(most_compared, std::ssize(others));
      if (std::any_of(nearest, others.end(), [&](auto other) { return merge(kernel, other); }))
        continue;
      others.push_back(kernel);
      result.insert(kernel);
    }
    return result;
  }

  const Cut& first_output(std::size_t kernel) const {
    return graph_.cuts[kernels_[kernel].outputs[0]];
  }

  bool merge(std::size_t kernel, std::size_t into) {
    const Cut &a = first_output(kernel), &b = first_output(into);
    if (is_by_itself(a) || is_by_itself(b) || a.device != b.device) return false;
    for (std::size_t number : {kernel, into})
      for (std::size_t cut : kernels_[number].outputs)
        if (!graph_.cuts[cut].place.is_null()) return false;
    Workload merged = kernels_[into];
    Estimator::merge(merged, kernels_[kernel]);
    if (!estimator_.is_allowed(merged) ||
        estimator_.time(merged) >
            estimator_.time(kernels_[kernel]) + estimator_.time(kernels_[into]) ||
        depends(kernel, into) || depends(into, kernel))
      return false;
    const std::size_t from = kernels_[kernel].outputs[0], to = kernels_[into].outputs[0];
    nests_.merge(instances_[from][0], bodies_[from], instances_[to][0], bodies_[to]);
    kernels_[into] = std::move(merged);
    kernels_[kernel] = {};
    taken_by_[kernel] = into;
    update_furthest(into);
    return true;
  }

  // The cuts that have to be computed before: what it reads, and what reads the memory that it
  // overwrites.
  std::vector<std::size_t> waits_for(std::size_t kernel) const {
    std::vector<std::size_t> cuts;
    for (const auto& [input, bytes] : kernels_[kernel].inputs)
      if (const auto cut = graph_.cut_of(input)) cuts.push_back(*cut);
    for (const Node* leaf : kernels_[kernel].waits)
      if (const auto cut = graph_.cut_of(leaf)) cuts.push_back(*cut);
    for (std::size_t output : kernels_[kernel].outputs) {
      const UOp& before = graph_.cuts[output].before;
      if (before.is_null()) continue;
      if (const auto cut = graph_.cut_of(before.node())) cuts.push_back(*cut);
      const auto readers = readers_of_overwritten_.find(before->arg<BufferArg>().id.value);
      if (readers != readers_of_overwritten_.end())
        cuts.insert(cuts.end(), readers->second.begin(), readers->second.end());
    }
    return cuts;
  }

  // The kernels that have to run before.
  std::vector<std::size_t> sources_of(std::size_t kernel) const {
    std::vector<std::size_t> sources;
    for (std::size_t cut : waits_for(kernel)) add_kernels_of(cut, sources);
    return sources;
  }

  // The kernels that have to run after, of those that there are.
  std::vector<std::size_t> users_of(std::size_t kernel) const {
    std::vector<std::size_t> users;
    const auto add_overwriting = [&](const Node* leaf) {
      if (const auto by = graph_.overwritten_by(leaf)) add_kernels_of(*by, users);
    };
    for (std::size_t output : kernels_[kernel].outputs) {
      for (const auto& [reader, reading] : readers_[output]) add_kernels_of(reader, users);
      if (const auto waiting = waiting_.find(output); waiting != waiting_.end())
        for (std::size_t cut : waiting->second) add_kernels_of(cut, users);
      add_overwriting(leaf(output));
    }
    for (const auto& [input, bytes] : kernels_[kernel].inputs) add_overwriting(input);
    return users;
  }

  void add_kernels_of(std::size_t cut, std::vector<std::size_t>& kernels) const {
    for (const Instance& instance : instances_[cut]) kernels.push_back(whole(instance.kernel));
  }

  // What is new in the kernel may go further than what was there, and so do those after it.
  void update_furthest(std::size_t kernel) {
    for (std::size_t output : kernels_[kernel].outputs)
      furthest_[kernel] = std::max(furthest_[kernel], output);
    for (std::size_t source : sources_of(kernel))
      furthest_[kernel] = std::max(furthest_[kernel], furthest_[source]);
    std::vector<std::size_t> open{kernel};
    while (!open.empty()) {
      const std::size_t source = open.back();
      open.pop_back();
      for (std::size_t user : users_of(source)) {
        if (furthest_[user] >= furthest_[source]) continue;
        furthest_[user] = furthest_[source];
        open.push_back(user);
      }
    }
  }

  // Whether the first needs what the second makes, or what is to run before it does; also where that
  // takes too long to find out. What lies before the second on every path is not looked at.
  bool depends(std::size_t first, std::size_t second) const {
    std::vector<std::size_t> open{first};
    std::set<std::size_t> seen{first};
    while (!open.empty()) {
      const std::size_t kernel = open.back();
      open.pop_back();
      if (furthest_[kernel] < furthest_[second]) continue;
      for (std::size_t source : sources_of(kernel)) {
        if (source == second) return true;
        if (furthest_[source] >= furthest_[second] && seen.insert(source).second)
          open.push_back(source);
        if (std::ssize(seen) > most_visited) return true;
      }
    }
    const auto& later = kernels_[first].follows;
    for (const auto& [input, bytes] : kernels_[second].inputs)
      if (const auto assignment = graph_.overwritten_by(input))
        if (later[graph_.cuts[*assignment].assignment]) return true;
    return false;
  }

  void merge_readers_of_inputs() {
    std::map<std::uint64_t, std::set<std::size_t>> readers;  // by the id of the BUFFER
    for (std::size_t kernel = 0; kernel < kernels_.size(); ++kernel)
      for (const auto& [input, bytes] : kernels_[kernel].inputs)
        readers[input->arg<BufferArg>().id.value].insert(kernel);
    for (const auto& [input, kernels] : readers) {
      std::set<std::size_t> now;
      for (std::size_t kernel : kernels) now.insert(whole(kernel));
      merge_alike(now);
    }
  }

  // Each kernel after those that it reads from, and before those that overwrite what it reads.
  void order() {
    std::vector<std::size_t> running, number(kernels_.size());
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      number[i] = running.size();
      if (!kernels_[i].outputs.empty()) running.push_back(i);
    }
    std::vector<std::set<std::size_t>> reads(running.size()), next(running.size());
    const auto edge = [&](std::size_t before, std::size_t after) {
      if (before != after) next[number[before]].insert(number[after]);
    };
    for (std::size_t i : running) {
      for (const auto& [input, bytes] : kernels_[i].inputs) {
        if (const auto cut = graph_.cut_of(input)) {
          edge(whole(instances_[*cut][0].kernel), i);
          reads[number[i]].insert(*cut);
        }
        if (const auto assignment = graph_.overwritten_by(input))
          edge(i, whole(instances_[*assignment][0].kernel));
      }
      for (const Node* leaf : kernels_[i].waits)
        if (const auto cut = graph_.cut_of(leaf)) edge(whole(instances_[*cut][0].kernel), i);
      for (std::size_t output : kernels_[i].outputs)
        if (const Cut& cut = graph_.cuts[output]; !cut.before.is_null())
          if (const auto source = graph_.cut_of(cut.before.node()))
            edge(whole(instances_[*source][0].kernel), i);
    }
    std::vector<RunKernel> kernels;
    for (std::size_t i : running)
      kernels.push_back({std::ranges::min(kernels_[i].outputs), list_of(reads[number[i]]),
                         kernels_[i].outputs, list_of(next[number[i]])});
    const std::vector<std::size_t> order = run_order(kernels, bytes_of_cuts());
    if (order.size() != running.size()) internal_error("kernels that wait for each other");
    for (std::size_t kernel : order)
      result_.kernels.push_back({kernels[kernel].writes, kernels[kernel].reads,
                                 kernels_[running[kernel]].work(),
                                 estimator_.time(kernels_[running[kernel]])});
  }

  static std::vector<std::size_t> list_of(const std::set<std::size_t>& numbers) {
    return {numbers.begin(), numbers.end()};
  }

  // 0 for what outlives the run, or is memory that was there before.
  std::vector<std::size_t> bytes_of_cuts() const {
    const std::vector<bool> outlives = outliving(graph_);
    std::vector<std::size_t> bytes;
    for (std::size_t cut = 0; cut < graph_.cuts.size(); ++cut)
      bytes.push_back(outlives[cut] ? 0 : new_bytes(graph_.cuts[cut]));
    return bytes;
  }

  const CutGraph& graph_;
  const std::vector<Body>& bodies_;
  Estimator estimator_;
  Nests nests_;
  // By cut: who reads it and where (null for a copy), and where it is computed.
  std::vector<std::vector<std::pair<std::size_t, const Reading*>>> readers_;
  std::vector<std::vector<Instance>> instances_;
  std::vector<std::vector<std::size_t>> followers_;                                     // by cut
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> readers_of_overwritten_;  // by leaf
  std::unordered_map<std::size_t, std::vector<std::size_t>> waiting_;  // by cut: for it to be there
  std::vector<Workload> kernels_;
  // By kernel: the one it was merged into, or itself; and the last cut that is made by it or by a
  // kernel that it needs, so that nobody whose last cut comes before can need it.
  std::vector<std::size_t> taken_by_, furthest_;
  std::unordered_map<const StepLoop*, std::size_t> of_loops_;  // the kernel
  Fusion result_;
};

}  // namespace

Fusion fuse(const CutGraph& graph, const std::vector<Body>& bodies, const Profile& profile) {
  return Fuser(graph, bodies, profile).run();
}

}  // namespace weft
