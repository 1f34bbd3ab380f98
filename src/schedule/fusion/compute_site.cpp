#include "compute_site.h"

#include <algorithm>

#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

// Returns the dimension that the loop indexes, if any.
std::optional<std::size_t> dimension_of(const ComputeSite& site, const Loop* loop) {
  for (std::size_t i = 0; i < site.dims.size(); ++i)
    if (const Loop* own = site.dims[i].loop; own != nullptr && own->same() == loop->same())
      return i;
  return std::nullopt;
}

// Returns whether an index that is a loop stays within the dimension. A loop may also cover the
// dimension and its padding.
bool stays_inside(const Node* index, const Node* size) {
  return index->op() != Op::Range || index->src(0) == size ||
         index->src(0)->bounds().hi <= size->bounds().lo;
}

// Returns whether the index is a range or its reversal, which may begin elsewhere than at 0.
bool is_slice(const Node* index) {
  for (const Node* node : toposort(index))
    if (!OpSet{Op::Range, Op::Const, Op::Add, Op::Sub, Op::Mul}.contains(node->op())) return false;
  if (index->ranges().size() != 1) return false;
  const Interval all = index->bounds(), own = index->ranges()[0]->bounds();
  return all.hi - all.lo == own.hi - own.lo;
}

// Returns whether the bound's loop is around a stage that has loops of its own. A scan would have
// to carry one value for each of their iterations.
bool runs_others(const ComputeSite& site, const DimIndex& bound) {
  return site.outside && bound.depth <= *site.outside && site.nest.size() > *site.outside;
}

// Returns how many terms of the scan an iteration adds where a loop of the site carries it: its own
// and its share of those before the slice that the loop covers. All of them if none can: a loop
// inside a reduction cannot, nor one that padding makes longer than the dimension where the scan
// begins at the end.
double terms_of_iteration(const ComputeSite& site, const CarriedScan& scan,
                          const IterationDomain& body) {
  const DimIndex& bound = site.dims[scan.own];
  const Loop* loop = site.loop_along(scan.own);
  if (loop == nullptr || runs_others(site, bound) || std::ranges::any_of(site.nest, &Loop::reduces))
    return scan.iterations;
  const double size = iterations(body.loops[scan.own].node()),
               own = std::max(1.0, loop->same()->iterations);
  const bool is_whole = bound.loop != nullptr;
  const double first = is_whole ? 0 : static_cast<double>(bound.index->bounds().lo),
               last = is_whole ? own - 1 : static_cast<double>(bound.index->bounds().hi);
  if (!scan.rises && last >= size) return scan.iterations;
  const double skipped = scan.rises ? first : size - 1 - last;
  return (std::max(0.0, scan.before + skipped) + own) / own;
}

// Returns how often an iteration computes the value: for each term of the scans that read it, and of
// its own.
double times_computed(const ComputeSite& site, const IterationDomain& body) {
  double times = site.repeats;
  for (const CarriedScan& scan : body.carried_scans) times *= terms_of_iteration(site, scan, body);
  return times;
}

}  // namespace

bool are_same_loops(LoopList a, LoopList b) {
  return std::ranges::equal(a, b, {}, &Loop::same, &Loop::same);
}

bool is_among(const Loop* loop, LoopList loops) {
  return std::ranges::find(loops, loop->same(), &Loop::same) != loops.end();
}

const Loop* ComputeSite::loop_along(std::size_t dim) const {
  const DimIndex& bound = dims[dim];
  if (bound.loop != nullptr || bound.index == nullptr || !is_slice(bound.index)) return bound.loop;
  return bound.depth == 0 ? nullptr : nest[bound.depth - 1];
}

std::size_t ComputeSite::depth_of(const std::vector<std::size_t>& own) const {
  std::size_t depth = 0;
  for (std::size_t each : own) depth = std::max(depth, dims[each].depth);
  return depth;
}

double ComputeSite::trip_count(std::size_t depth) const {
  double count = 1;
  for (const Loop* loop : outermost(depth)) count *= loop->iterations;
  return count;
}

double ComputeSite::operations(const IterationDomain& body, double Operations::* of) const {
  double total = 0;
  const bool decodes = body.decodes();
  for (const Operations& operations : body.operations)
    total += operations.*of * trip_count(depth_of(operations.own)) /
             (decodes ? neighbours(operations.own) : 1);
  return total * times_computed(*this, body);
}

double ComputeSite::neighbours(const std::vector<std::size_t>& own) const {
  const LoopList around = outermost(depth_of(own));
  if (std::ranges::none_of(around, &Loop::reduces)) return 1;
  double iterations = 1;
  for (const Loop* loop : around) {
    const auto changes = [&](std::size_t each) { return dims[each].changes_with(loop); };
    if (!loop->reduces && std::ranges::none_of(own, changes)) iterations *= loop->iterations;
  }
  return std::min(iterations, most_reuse);
}

bool ComputeSite::is_scattered() const {
  return std::ranges::any_of(dims, [](const DimIndex& bound) {
    return bound.loop == nullptr && bound.depth > 0 &&
           std::ranges::any_of(toposort(bound.index), [](const Node* node) {
             return OpSet{Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod, Op::Load}.contains(
                        node->op()) &&
                    !node->ranges().empty();
           });
  });
}

bool are_same_site(const ComputeSite& a, const ComputeSite& b) {
  const auto is_same_index = [](const DimIndex& x, const DimIndex& y) {
    if (x.loop != nullptr && y.loop != nullptr) return x.loop->same() == y.loop->same();
    return x.loop == y.loop && x.index == y.index;
  };
  return are_same_loops(a.nest, b.nest) && std::ranges::equal(a.dims, b.dims, is_same_index);
}

void ComputeSites::add_dimension(ComputeSite& site, const UOp& loop) {
  DimIndex bound{.index = loop.node()};
  if (loop->op() == Op::Range) {
    site.nest.push_back(new_loop(iterations(loop.node())));
    bound = {site.nest.back(), site.nest.size(), nullptr};
  }
  site.dims.push_back(bound);
}

ComputeSite ComputeSites::root(const IterationDomain& body, std::size_t kernel) {
  ComputeSite site;
  site.kernel = kernel;
  for (const UOp& loop : body.loops) add_dimension(site, loop);
  return site;
}

void ComputeSites::merge(ComputeSite& root, const IterationDomain& body, ComputeSite& into,
                         const IterationDomain& into_body) {
  const auto join = [](const Loop* loop, const Loop* with) {
    if (loop->same() != with->same()) loop->same()->merged = with->same();
  };
  for (std::size_t i = 0; i < root.nest.size(); ++i) join(root.nest[i], into.nest[i]);
  if (!std::ranges::equal(body.reduction, into_body.reduction, {}, iterations, iterations)) return;
  for (std::size_t i = 0; i < body.reduction.size(); ++i)
    join(inner_loop(root, body.reduction[i]), inner_loop(into, into_body.reduction[i]));
}

const Loop* ComputeSites::inner_loop(ComputeSite& site, const Node* range) {
  const Loop*& loop = site.inner[range];
  if (loop == nullptr) loop = new_loop(iterations(range), true);
  return loop;
}

ComputeSite ComputeSites::read(ComputeSite& reader, const IterationDomain& body,
                               const ReadAccess& access) {
  const LoopList around = reader.outermost(reader.depth_of(access.own));
  ComputeSite result;
  result.kernel = reader.kernel;
  result.outside = reader.outside;
  result.summed = access.summed;
  result.repeats = times_computed(reader, body);
  result.nest.assign(around.begin(), around.end());
  std::map<const Node*, DimIndex> known;
  for (std::size_t i = 0; i < body.loops.size(); ++i) known[body.loops[i].node()] = reader.dims[i];
  for (const Node* range : access.inner) {
    const Loop* loop = inner_loop(reader, range);
    result.nest.push_back(loop);
    known[range] = {loop, result.nest.size(), nullptr};
  }
  for (std::size_t i = 0; i + 2 < access.index->size(); ++i) {
    const Node* index = access.index->src(i + 2);
    const auto plain = known.find(index);
    if (plain != known.end() && stays_inside(index, access.index->src(0)->dims()[i])) {
      result.dims.push_back(plain->second);
      continue;
    }
    DimIndex bound{.index = index};
    for (const Node* range : index->ranges()) {
      const DimIndex& of = known[range];
      bound.depth = std::max(bound.depth, of.depth);
      if (of.loop != nullptr) bound.loops.push_back(of.loop);
      bound.loops.insert(bound.loops.end(), of.loops.begin(), of.loops.end());
    }
    result.dims.push_back(bound);
  }
  return result;
}

std::size_t ComputeSites::common_depth(const std::vector<ComputeSite>& sites) {
  const ComputeSite& first = sites[0];
  for (std::size_t depth = 0; depth < first.nest.size(); ++depth) {
    const Loop* loop = first.nest[depth];
    const auto dim = dimension_of(first, loop);
    const bool shared = dim && std::ranges::all_of(sites, [&](const ComputeSite& other) {
                          return depth < other.nest.size() &&
                                 other.nest[depth]->same() == loop->same() &&
                                 dimension_of(other, loop) == dim;
                        });
    if (!shared) return depth;
  }
  return first.nest.size();
}

ComputeSite ComputeSites::stage(const std::vector<ComputeSite>& sites, std::size_t depth,
                                const IterationDomain& body) {
  const ComputeSite& like = sites[0];
  ComputeSite result;
  result.kernel = like.kernel;
  result.outside = std::min(like.outside.value_or(depth), depth);
  const LoopList around = like.outermost(depth);
  result.nest.assign(around.begin(), around.end());
  for (std::size_t i = 0; i < body.loops.size(); ++i) {
    const DimIndex& bound = like.dims[i];
    if (bound.loop != nullptr && bound.depth <= depth)
      result.dims.push_back(bound);
    else
      add_dimension(result, body.loops[i]);
  }
  return result;
}

}  // namespace weft
