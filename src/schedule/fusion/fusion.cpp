#include "fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>

#include "kernel_order.h"
#include "workload.h"

namespace weft {
namespace {

// A kernel that computes a value at more sites than this would do little else.
constexpr std::size_t most_compute_sites = 4;
// Among many kernels that might merge, each is compared only with this many of the nearest.
constexpr std::ptrdiff_t most_compared = 8;
// The most kernels that the search for a dependence visits before it assumes one.
constexpr int most_visited = 256;
// The same where a wrong answer would break the order of kernels, and giving up costs memory.
constexpr int most_visited_for_order = 4096;
// A value of more than `large` bytes, and of more than `much_more` times all other memory accessed
// for it, is fused even if that takes `worth_memory` times as long.
constexpr double large = 64 << 20, much_more = 4, worth_memory = 1.6;
// Fractions of a kernel's time: times that differ by less than `alike` count as equal; then a
// difference of more than `clearly_less` in the computation decides.
constexpr double alike = 0.001, clearly_less = 0.1;
// The fraction of the time that a stage has to save if the kernel of its sum could compute the
// value instead.
constexpr double least_saving = 0.05;

class Fuser {
 public:
  Fuser(const Partition& partition, const std::vector<IterationDomain>& domains,
        const Target& target)
      : partition_(partition), domains_(domains), estimator_(partition, domains, target) {
    result_.placements.resize(partition.points.size());
    sites_.resize(partition.points.size());
    readers_.resize(partition.points.size());
    for (std::size_t i = 0; i < partition.points.size(); ++i)
      for (const ReadAccess& access : domains[i].accesses) {
        const Node* placeholder = access.index->src(0);
        if (const auto source = partition.point_of(placeholder))
          readers_[*source].emplace_back(i, &access);
        if (const auto by = partition.overwritten_by(placeholder); by && *by != i)
          readers_of_overwritten_[placeholder->arg<BufferArg>().id.value].push_back(i);
      }
    for (std::size_t i = 0; i < partition.points.size(); ++i) read_by_itself(i);
    find_producers();
    for (std::size_t i = 0; i < partition.points.size(); ++i)
      for (const UOp& placeholder : partition.points[i].waits)
        if (const auto source = partition.point_of(placeholder.node()))
          waiting_[*source].push_back(i);
  }

  Fusion run() {
    // Visits users first, so that all sites that need a value are known when it is placed.
    for (std::size_t point = partition_.points.size(); point-- > 0;) place(point);
    merge_readers_of_inputs();
    order();
    return std::move(result_);
  }

 private:
  std::size_t representative(std::size_t kernel) const {
    while (merged_into_[kernel] != kernel) kernel = merged_into_[kernel];
    return kernel;
  }
  const Node* placeholder(std::size_t point) const {
    return partition_.points[point].placeholder.node();
  }

  // Records what a copy or a step loop reads.
  void read_by_itself(std::size_t reader) {
    const PartitionPoint& point = partition_.points[reader];
    if (!needs_own_kernel(point)) return;
    for (const Node* read : placeholders_of(point)) {
      if (const auto source = partition_.point_of(read))
        readers_[*source].emplace_back(reader, nullptr);
      if (const auto by = partition_.overwritten_by(read); by && *by != reader)
        readers_of_overwritten_[read->arg<BufferArg>().id.value].push_back(reader);
    }
  }

  void place(std::size_t point) {
    std::set<std::size_t> users;
    for (const auto& [reader, access] : readers_[point])
      for (const ComputeSite& site : sites_[reader]) users.insert(representative(site.kernel));
    users = merge_equal_loops(users);
    ComputeSite root = compute_sites_.root(domains_[point], kernels_.size());
    Workload alone = estimator_.alone(point, root);
    if (!partition_.points[point].must_materialise && !users.empty() &&
        try_fuse(users, point, alone, root))
      return;
    if (add_to_loop_kernel(point, root)) return;
    const std::size_t kernel = kernels_.size();
    sites_[point] = {std::move(root)};
    merged_into_.push_back(kernel);
    kernels_.push_back(std::move(alone));
    last_point_.push_back(point);
    update_last_point(kernel);
  }

  // Adds the point to the kernel of its step loop, if there is one already.
  bool add_to_loop_kernel(std::size_t point, ComputeSite& root) {
    if (partition_.points[point].loop == nullptr) return false;
    const auto [known, is_new] =
        of_loops_.emplace(partition_.points[point].loop.get(), kernels_.size());
    if (is_new) return false;
    root.kernel = known->second;
    sites_[point] = {std::move(root)};
    kernels_[known->second].outputs.push_back(point);
    update_last_point(known->second);
    return true;
  }

  // Returns the sites where each kernel needs the point, or one more than the limit if there are
  // too many.
  std::map<std::size_t, std::vector<ComputeSite>> places_of(std::size_t point) {
    std::map<std::size_t, std::vector<ComputeSite>> by_kernel;
    for (const auto& [reader, access] : readers_[point]) {
      if (access == nullptr) continue;
      for (ComputeSite& around : sites_[reader]) {
        std::vector<ComputeSite>& places = by_kernel[representative(around.kernel)];
        if (places.size() > most_compute_sites) continue;
        ComputeSite place = compute_sites_.read(around, domains_[reader], *access);
        place.kernel = representative(around.kernel);
        add_place(places, std::move(place));
      }
    }
    return by_kernel;
  }

  static void add_place(std::vector<ComputeSite>& places, ComputeSite place) {
    const auto same = [&](const ComputeSite& other) { return are_same_site(place, other); };
    if (std::ranges::none_of(places, same)) places.push_back(std::move(place));
  }

  struct Offer {
    std::size_t kernel;
    Placement placement;
    Workload workload;
    std::vector<ComputeSite> sites;
    double keeping = 0;  // seconds that a stage takes beside inlining
  };

  // Fuses the point into the kernels that need it, if that takes less time. Returns whether it did.
  bool try_fuse(const std::set<std::size_t>& users, std::size_t point, const Workload& alone,
                const ComputeSite& root) {
    double apart = time_with_producers(alone, point, {root}), together = 0;
    std::vector<Offer> offers;
    std::map<std::size_t, std::vector<ComputeSite>> places = places_of(point);
    for (std::size_t user : users) {
      auto offer = offer_in(user, point, std::move(places[user]), users.size() == 1);
      if (!offer) return false;
      apart += estimator_.time(kernels_[user]);
      together += time_with_producers(offer->workload, point, offer->sites);
      offers.push_back(std::move(*offer));
    }
    if (takes_much_memory(alone, users)) apart *= worth_memory;
    if (together > apart ||
        (together >= (1 - least_saving) * apart && is_staged_for_nothing(point, offers)))
      return false;
    for (Offer& offer : offers) {
      kernels_[offer.kernel] = std::move(offer.workload);
      result_.placements[point] = std::move(offer.placement);
      std::ranges::move(offer.sites, std::back_inserter(sites_[point]));
      update_last_point(offer.kernel);
    }
    return true;
  }

  // Returns whether the value is too large to be materialised, such as the attention scores of many
  // tokens.
  bool takes_much_memory(const Workload& alone, const std::set<std::size_t>& users) const {
    if (alone.output_bytes < large) return false;
    double others = 0;
    const auto add = [&](const Workload& kernel) {
      for (const auto& [input, bytes] : kernel.inputs)
        if (const auto source = partition_.point_of(input); !source || !sites_[*source].empty())
          others += bytes;
    };
    add(alone);
    for (const std::size_t user : users) {
      add(kernels_[user]);
      others += kernels_[user].output_bytes;
    }
    return alone.output_bytes > much_more * others;
  }

  // Returns whether all offers stage a value that the kernel of its sum, which is a different one,
  // would compute at no extra cost.
  bool is_staged_for_nothing(std::size_t point, const std::vector<Offer>& offers) {
    const auto is_alone = [&](const Offer& offer) {
      if (offer.placement.where != Placement::Stage) return false;
      return time_inside(offer.workload, point, offer.sites) >
             time_with_producers(offer.workload, point, offer.sites);
    };
    return is_as_large_as_producers(point) && std::ranges::all_of(offers, is_alone);
  }

  // Finds the producer chain of each point that is no reduction: sources that are reductions or
  // lead to one, and that nothing else reads. They are likely to be fused wherever the point is.
  void find_producers() {
    producers_.resize(partition_.points.size());
    for (std::size_t point = 0; point < partition_.points.size(); ++point) {
      std::set<std::size_t> found;
      if (!domains_[point].reduction.empty()) continue;
      for (const ReadAccess& access : domains_[point].accesses)
        if (const auto source = partition_.point_of(access.index->src(0)))
          if (leads_to_sum(*source, point)) found.insert(*source);
      producers_[point] = list_of(found);
    }
  }

  bool leads_to_sum(std::size_t source, std::size_t point) const {
    const auto is_point = [&](const auto& reader) { return reader.first == point; };
    return !partition_.points[source].must_materialise &&
           std::ranges::all_of(readers_[source], is_point) &&
           (!domains_[source].reduction.empty() || !producers_[source].empty());
  }

  // Returns the time of a kernel that computes the point at these sites, and of its producer chain,
  // in this kernel or in kernels of their own.
  double time_with_producers(const Workload& kernel, std::size_t point,
                             const std::vector<ComputeSite>& at) {
    double apart = estimator_.time(kernel);
    if (producers_[point].empty()) return apart;
    for (std::size_t producer : producers_[point]) {
      const ComputeSite root = compute_sites_.root(domains_[producer], kernels_.size());
      apart += time_with_producers(estimator_.alone(producer, root), producer, {root});
    }
    return std::min(apart, time_inside(kernel, point, at));
  }

  // Returns the time of a kernel that computes the whole producer chain as well; infinity if that
  // is not allowed.
  double time_inside(Workload kernel, std::size_t point, std::vector<ComputeSite> at) {
    for (std::size_t producer : producers_[point]) add_producer(kernel, producer, point, at);
    return estimator_.is_allowed(kernel) ? estimator_.time(kernel)
                                         : std::numeric_limits<double>::infinity();
  }

  void add_producer(Workload& kernel, std::size_t producer, std::size_t point,
                    std::vector<ComputeSite>& at) {
    std::vector<ComputeSite> places;
    for (const auto& [reader, access] : readers_[producer])
      for (ComputeSite& around : at)
        add_place(places, compute_sites_.read(around, domains_[point], *access));
    remove_input(kernel, producer);
    estimator_.add_inline(kernel, producer, places);
    for (std::size_t next : producers_[producer]) add_producer(kernel, next, producer, places);
  }

  // Compares ids: a symbolic size of the placeholder may be simplified in one place and not in
  // another.
  void remove_input(Workload& kernel, std::size_t point) const {
    std::erase_if(kernel.inputs,
                  [&](const auto& input) { return partition_.point_of(input.first) == point; });
  }

  // Returns whether the first kernel is faster. If both take equally long because they read the
  // same memory, the one with clearly less computation is better: it stages the value rather than
  // the sums that the value is computed from.
  bool is_better(const Offer& offer, const Offer& than, std::size_t point) const {
    const double time = estimator_.time(offer.workload), other = estimator_.time(than.workload);
    if (!is_as_large_as_producers(point)) return time + offer.keeping < other + than.keeping;
    const double saved = estimator_.computing(than.workload) - estimator_.computing(offer.workload);
    const bool are_alike = std::abs(time - other) <= alike * other;
    return are_alike && std::abs(saved) > clearly_less * time ? saved > 0 : time < other;
  }

  bool is_as_large_as_producers(std::size_t point) const {
    const auto is_as_large = [&](std::size_t producer) {
      return elements(placeholder(producer)->dims()) == elements(placeholder(point)->dims());
    };
    return !producers_[point].empty() && std::ranges::all_of(producers_[point], is_as_large);
  }

  // Returns the best way to compute the point inside the kernel, inline or in a stage; nothing if
  // no way is allowed.
  std::optional<Offer> offer_in(std::size_t user, std::size_t point,
                                std::vector<ComputeSite> places, bool may_stage) {
    const Workload& kernel = kernels_[user];
    if (kernel.outputs.empty() || needs_own_kernel(partition_.points[kernel.outputs[0]])) return {};
    if (places.empty() || breaks_order(user, point, places)) return {};
    std::optional<Offer> best;
    const auto consider = [&](Offer offer) {
      if (!estimator_.is_allowed(offer.workload)) return;
      if (!best || is_better(offer, *best, point)) best = std::move(offer);
    };
    Workload without = kernel;
    remove_input(without, point);
    const std::size_t depth = ComputeSites::common_depth(places);
    ComputeSite stage = compute_sites_.stage(places, depth, domains_[point]);
    if (places.size() <= most_compute_sites) {
      Offer offer{user, {Placement::Inline, {}}, without, places};
      estimator_.add_inline(offer.workload, point, places);
      consider(std::move(offer));
    }
    if (may_stage && stage.nest.size() > depth) {
      Offer offer{user, {Placement::Stage, {}}, std::move(without), {}};
      for (const DimIndex& bound : stage.dims)
        offer.placement.outside.push_back(bound.loop != nullptr && bound.depth <= depth);
      estimator_.add_stage(offer.workload, point, stage, depth);
      offer.keeping = estimator_.keeping(stage);
      offer.sites = {std::move(stage)};
      consider(std::move(offer));
    }
    return best;
  }

  // Returns whether the kernel would read memory after it is overwritten. A kernel that follows the
  // assignment must not read the old version, and the kernel of the assignment may do so only in
  // the iteration that overwrites the element.
  bool breaks_order(std::size_t user, std::size_t point, std::vector<ComputeSite>& places) {
    const Workload& kernel = kernels_[user];
    for (const ReadAccess& access : domains_[point].accesses) {
      const auto assignment = partition_.overwritten_by(access.index->src(0));
      if (!assignment) continue;
      const bool stores = std::ranges::find(kernel.outputs, *assignment) != kernel.outputs.end();
      if (!stores && runs_after(user, *assignment)) return true;
      if (!stores) continue;
      for (ComputeSite& place : places) {
        const ComputeSite read = compute_sites_.read(place, domains_[point], access);
        if (!is_stored_place(read, *assignment)) return true;
      }
    }
    return false;
  }

  // Returns whether the kernel follows the assignment, by what it computes or by what the kernels
  // so far have inlined.
  bool runs_after(std::size_t kernel, std::size_t assignment) const {
    return kernels_[kernel].follows[partition_.points[assignment].assignment] ||
           std::ranges::any_of(sites_[assignment], [&](const ComputeSite& site) {
             return depends(kernel, representative(site.kernel), most_visited_for_order);
           });
  }

  bool is_stored_place(const ComputeSite& read, std::size_t assignment) {
    const ComputeSite& root = sites_[assignment][0];
    const IterationDomain& body = domains_[assignment];
    const NodeList stored = body.place->src().subspan(2);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i]->is_const() && stored[i] == read.dims[i].index) continue;
      const auto at = std::ranges::find(body.loops, stored[i], &UOp::node);
      if (at == body.loops.end() || read.dims[i].loop == nullptr) return false;
      const DimIndex& own = root.dims[static_cast<std::size_t>(at - body.loops.begin())];
      if (own.loop == nullptr || own.loop->same() != read.dims[i].loop->same()) return false;
    }
    return true;
  }

  // Merges kernels with equal loops into one with all their outputs, where that saves time. Only
  // near neighbours are compared: otherwise many steps that share a weight would take quadratic
  // time.
  std::set<std::size_t> merge_equal_loops(const std::set<std::size_t>& kernels) {
    std::set<std::size_t> result;
    std::unordered_map<const Node*, std::vector<std::size_t>> left;  // by shape
    for (std::size_t kernel : kernels) {
      std::vector<std::size_t>& others = left[first_output(kernel).placeholder->shape()];
      const auto nearest = others.end() - std::min(most_compared, std::ssize(others));
      if (std::any_of(nearest, others.end(), [&](auto other) { return merge(kernel, other); }))
        continue;
      others.push_back(kernel);
      result.insert(kernel);
    }
    return result;
  }

  const PartitionPoint& first_output(std::size_t kernel) const {
    return partition_.points[kernels_[kernel].outputs[0]];
  }

  bool merge(std::size_t kernel, std::size_t into) {
    const PartitionPoint &a = first_output(kernel), &b = first_output(into);
    if (needs_own_kernel(a) || needs_own_kernel(b) || a.device != b.device) return false;
    for (std::size_t number : {kernel, into})
      for (std::size_t point : kernels_[number].outputs)
        if (!partition_.points[point].place.is_null()) return false;
    Workload merged = kernels_[into];
    Estimator::merge(merged, kernels_[kernel]);
    if (!estimator_.is_allowed(merged) ||
        estimator_.time(merged) >
            estimator_.time(kernels_[kernel]) + estimator_.time(kernels_[into]) ||
        depends(kernel, into) || depends(into, kernel))
      return false;
    const std::size_t from = kernels_[kernel].outputs[0], to = kernels_[into].outputs[0];
    compute_sites_.merge(sites_[from][0], domains_[from], sites_[to][0], domains_[to]);
    kernels_[into] = std::move(merged);
    kernels_[kernel] = {};
    merged_into_[kernel] = into;
    update_last_point(into);
    return true;
  }

  // Returns the points that must be computed before the kernel: what it reads or waits for, and
  // what reads the memory that it overwrites.
  std::vector<std::size_t> waits_for(std::size_t kernel) const {
    std::vector<std::size_t> points;
    for (const auto& [input, bytes] : kernels_[kernel].inputs)
      if (const auto point = partition_.point_of(input)) points.push_back(*point);
    for (const Node* placeholder : kernels_[kernel].waits)
      if (const auto point = partition_.point_of(placeholder)) points.push_back(*point);
    for (std::size_t output : kernels_[kernel].outputs) {
      const UOp& before = partition_.points[output].before;
      if (before.is_null()) continue;
      if (const auto point = partition_.point_of(before.node())) points.push_back(*point);
      const auto readers = readers_of_overwritten_.find(before->arg<BufferArg>().id.value);
      if (readers != readers_of_overwritten_.end())
        points.insert(points.end(), readers->second.begin(), readers->second.end());
    }
    return points;
  }

  // Returns the kernels that must run before this one.
  std::vector<std::size_t> sources_of(std::size_t kernel) const {
    std::vector<std::size_t> sources;
    for (std::size_t point : waits_for(kernel)) add_kernels_of(point, sources);
    return sources;
  }

  // Returns the kernels, of those created so far, that must run after this one.
  std::vector<std::size_t> users_of(std::size_t kernel) const {
    std::vector<std::size_t> users;
    const auto add_overwriting = [&](const Node* placeholder) {
      if (const auto by = partition_.overwritten_by(placeholder)) add_kernels_of(*by, users);
    };
    for (std::size_t output : kernels_[kernel].outputs) {
      for (const auto& [reader, access] : readers_[output]) add_kernels_of(reader, users);
      if (const auto waiting = waiting_.find(output); waiting != waiting_.end())
        for (std::size_t point : waiting->second) add_kernels_of(point, users);
      add_overwriting(placeholder(output));
    }
    for (const auto& [input, bytes] : kernels_[kernel].inputs) add_overwriting(input);
    return users;
  }

  void add_kernels_of(std::size_t point, std::vector<std::size_t>& kernels) const {
    for (const ComputeSite& site : sites_[point]) kernels.push_back(representative(site.kernel));
  }

  // Raises `last_point_` of a kernel with new contents and of all kernels that depend on it.
  void update_last_point(std::size_t kernel) {
    for (std::size_t output : kernels_[kernel].outputs)
      last_point_[kernel] = std::max(last_point_[kernel], output);
    for (std::size_t source : sources_of(kernel))
      last_point_[kernel] = std::max(last_point_[kernel], last_point_[source]);
    std::vector<std::size_t> open{kernel};
    while (!open.empty()) {
      const std::size_t source = open.back();
      open.pop_back();
      for (std::size_t user : users_of(source)) {
        if (last_point_[user] >= last_point_[source]) continue;
        last_point_[user] = last_point_[source];
        open.push_back(user);
      }
    }
  }

  // Returns whether the first kernel depends on the second, or has to run after an assignment that
  // overwrites what the second reads; also if the search takes too long. Kernels whose
  // `last_point_` precedes that of the second cannot depend on it and are skipped.
  bool depends(std::size_t first, std::size_t second, int most = most_visited) const {
    std::vector<std::size_t> open{first};
    std::set<std::size_t> seen{first};
    while (!open.empty()) {
      const std::size_t kernel = open.back();
      open.pop_back();
      if (last_point_[kernel] < last_point_[second]) continue;
      for (std::size_t source : sources_of(kernel)) {
        if (source == second) return true;
        if (last_point_[source] >= last_point_[second] && seen.insert(source).second)
          open.push_back(source);
        if (std::ssize(seen) > most) return true;
      }
    }
    const auto& later = kernels_[first].follows;
    for (const auto& [input, bytes] : kernels_[second].inputs)
      if (const auto assignment = partition_.overwritten_by(input))
        if (later[partition_.points[*assignment].assignment]) return true;
    return false;
  }

  void merge_readers_of_inputs() {
    std::map<std::uint64_t, std::set<std::size_t>> readers;  // by the id of the BUFFER
    for (std::size_t kernel = 0; kernel < kernels_.size(); ++kernel)
      for (const auto& [input, bytes] : kernels_[kernel].inputs)
        readers[input->arg<BufferArg>().id.value].insert(kernel);
    for (const auto& [input, kernels] : readers) {
      std::set<std::size_t> now;
      for (std::size_t kernel : kernels) now.insert(representative(kernel));
      merge_equal_loops(now);
    }
  }

  // Orders the kernels: each after those that it reads from, and before those that overwrite what
  // it reads.
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
        if (const auto point = partition_.point_of(input)) {
          edge(representative(sites_[*point][0].kernel), i);
          reads[number[i]].insert(*point);
        }
        if (const auto assignment = partition_.overwritten_by(input))
          edge(i, representative(sites_[*assignment][0].kernel));
      }
      for (const Node* placeholder : kernels_[i].waits)
        if (const auto point = partition_.point_of(placeholder))
          edge(representative(sites_[*point][0].kernel), i);
      for (std::size_t output : kernels_[i].outputs)
        if (const PartitionPoint& point = partition_.points[output]; !point.before.is_null())
          if (const auto source = partition_.point_of(point.before.node()))
            edge(representative(sites_[*source][0].kernel), i);
    }
    std::vector<OrderedKernel> kernels;
    for (std::size_t i : running)
      kernels.push_back({std::ranges::min(kernels_[i].outputs), list_of(reads[number[i]]),
                         kernels_[i].outputs, list_of(next[number[i]])});
    const std::vector<std::size_t> order = kernel_order(kernels, bytes_of_points());
    if (order.size() != running.size()) internal_error("kernels that wait for each other");
    for (std::size_t kernel : order)
      result_.kernels.push_back({kernels[kernel].writes, kernels[kernel].reads,
                                 kernels_[running[kernel]].work(),
                                 estimator_.time(kernels_[running[kernel]])});
  }

  static std::vector<std::size_t> list_of(const std::set<std::size_t>& numbers) {
    return {numbers.begin(), numbers.end()};
  }

  // Returns the bytes of each point; 0 for memory that outlives the run, and for assignments.
  std::vector<std::size_t> bytes_of_points() const {
    const std::vector<bool> outlives = outlives_run(partition_);
    std::vector<std::size_t> bytes;
    for (std::size_t point = 0; point < partition_.points.size(); ++point)
      bytes.push_back(outlives[point] ? 0 : new_bytes(partition_.points[point]));
    return bytes;
  }

  const Partition& partition_;
  const std::vector<IterationDomain>& domains_;
  Estimator estimator_;
  ComputeSites compute_sites_;
  // By point: its readers with their accesses (null for a copy or a step loop), and its sites.
  std::vector<std::vector<std::pair<std::size_t, const ReadAccess*>>> readers_;
  std::vector<std::vector<ComputeSite>> sites_;
  std::vector<std::vector<std::size_t>> producers_;  // by point
  std::unordered_map<std::uint64_t, std::vector<std::size_t>>
      readers_of_overwritten_;  // by the id of the placeholder
  std::unordered_map<std::size_t, std::vector<std::size_t>>
      waiting_;  // by point: the points that wait for it
  std::vector<Workload> kernels_;
  // By kernel: the one it was merged into, or itself; and the last point that is computed by it or
  // by a kernel that it depends on. A kernel depends on no kernel with a later last point.
  std::vector<std::size_t> merged_into_, last_point_;
  std::unordered_map<const StepLoop*, std::size_t> of_loops_;  // the kernel of each
  Fusion result_;
};

}  // namespace

Fusion fuse(const Partition& partition, const std::vector<IterationDomain>& domains,
            const Target& target) {
  return Fuser(partition, domains, target).run();
}

}  // namespace weft
