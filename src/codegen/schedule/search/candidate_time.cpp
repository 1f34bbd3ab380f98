#include "candidate_time.h"

#include <algorithm>

namespace weft {
namespace {

constexpr double most_scratch = 0.75;  // fraction of the kernel's scratch memory
constexpr double most_kept = 1.25;     // size after prepacking, relative to the buffer

bool changes_with_reduce(const Nest& nest, const NestAccess& access) {
  for (std::size_t loop = 0; loop < nest.loops.size(); ++loop)
    if (nest.loops[loop].is_reduce && access.changes_with(loop)) return true;
  return false;
}

// Whether an access may be prepacked: each element is read at about one point of the iteration
// domain, so that prepacking hardly duplicates data.
bool may_be_kept(const Nest& nest, const NestAccess& access) {
  double elements = 1, places = 1;
  for (const std::int64_t size : access.sizes) elements *= static_cast<double>(size);
  for (std::size_t loop = 0; loop < nest.loops.size(); ++loop) {
    if (access.irregular[loop]) return false;
    if (access.changes_with(loop)) places *= static_cast<double>(nest.loops[loop].size);
  }
  return places <= elements * most_kept;
}

}  // namespace

void sort_by_time(std::vector<Option>& options) {
  std::sort(options.begin(), options.end(), [](const Option& a, const Option& b) {
    return std::pair(a.seconds, a.number) < std::pair(b.seconds, b.number);
  });
}

bool has_outputs(const Nest& nest) {
  return std::ranges::any_of(
      nest.loops, [](const NestLoop& loop) { return !loop.is_reduce && !loop.is_around; });
}

std::int64_t part_length(std::int64_t size, std::int64_t most) {
  const std::int64_t parts = std::max<std::int64_t>(2, (size + most - 1) / most);
  for (std::int64_t more = parts; more < 2 * parts; ++more)
    if (size % more == 0) return size / more;
  return size / parts;
}

std::vector<std::int64_t> CandidateTime::blocks(bool is_ordered) const {
  std::vector<std::int64_t> result{0};
  const auto first = std::ranges::find_if(nest_.loops, &NestLoop::is_reduce);
  if (is_ordered || !has_outputs(nest_) || first == nest_.loops.end()) return result;
  std::int64_t window = 1;
  for (auto inner = first + 1; inner != nest_.loops.end(); ++inner)
    if (inner->is_reduce) window *= inner->size;
  // Shorter blocks do not amortise the loads and stores of the partial sums.
  const std::int64_t least = window < 64 ? 16 : 1;
  if (first->size < 4 * least || first->size * window < 512) return result;
  for (std::int64_t steps : {256, 512, 1024}) {
    const std::int64_t most = std::max(least, (window > 1 ? 2 : 1) * steps / window);
    const std::int64_t block = part_length(first->size, most);
    if (block != result.back()) result.push_back(block);
  }
  return result;
}

std::optional<double> CandidateTime::seconds(const Option& option, bool with_copies,
                                             double most) const {
  const NestPlan plan = plan_of(nest_, option);
  if (!is_legal(option, plan)) return std::nullopt;
  const double least = instruction_time(target_.machine, nest_, plan);
  if (least > most) return least;
  const std::vector<std::size_t> loops = masked_loops(option);
  const NestTime time = loops.empty() ? time_of(target_.machine, nest_, plan)
                                      : time_of(target_.machine, masked(option, loops), plan);
  return time.total() - (with_copies ? 0 : time.copies);
}

// Returns the loops whose masks cost time. Masks are free in nests that store only to the
// kernel's own memory: masked sums did not slow down attention over 17 columns.
std::vector<std::size_t> CandidateTime::masked_loops(const Option& option) const {
  std::vector<std::size_t> loops;
  const auto is_output = [](const NestAccess& access) {
    return access.is_write && access.storage->op() == Op::Param;
  };
  if (uneven_ != Tail::Mask || std::ranges::none_of(nest_.accesses, is_output)) return loops;
  for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
    if (tail_of(nest_, loop, in_registers(option, loop), uneven_) == Tail::Mask)
      loops.push_back(loop);
  return loops;
}

// Returns the nest with the accesses masked that reach beyond the end of these loops. Staged values
// need no mask.
Nest CandidateTime::masked(const Option& option, const std::vector<std::size_t>& loops) const {
  Nest nest = nest_;
  for (std::size_t a = 0; a < nest.accesses.size(); ++a)
    for (const std::size_t loop : loops)
      if (option.staged[a] == Staging::None && nest.accesses[a].changes_with(loop))
        nest.accesses[a].is_masked = nest.accesses[a].guarded[loop] = true;
  return nest;
}

std::vector<Staging> CandidateTime::stagings(const NestAccess& access) const {
  if (access.name.empty() || access.is_index || !changes_with_reduce(nest_, access)) return {};
  if (access.is_constant && may_be_kept(nest_, access)) return {Staging::Kept};
  if (access.overlap == Overlap::Own) return {Staging::Region};
  if (access.overlap == Overlap::Shared && access.is_masked)
    return {Staging::Packed, Staging::Region};
  if (nest_.around() > 0) return {Staging::Packed, Staging::Near};
  return {Staging::Packed};
}

double CandidateTime::scratch_of(const Option& option, const NestPlan& plan) const {
  double scratch = 0;
  for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
    if (option.staged[a] != Staging::None && plan.staged[a] >= 0)
      scratch +=
          nest_.accesses[a].bytes *
          staged_elements(nest_.accesses[a], plan, a, static_cast<std::size_t>(plan.staged[a]) + 1);
  if (!nest_.has_reduce() || (option.block == 0 && option.across == 0)) return scratch;
  // Partial results of all sums are kept for all output iterations inside the outermost reduction loop.
  double values = 1;
  bool is_inside = false;
  for (const Piece& piece : plan.pieces) {
    if (is_inside && !nest_.loops[piece.loop].is_reduce)
      values *= static_cast<double>(piece.iterations);
    is_inside = is_inside || nest_.loops[piece.loop].is_reduce;
  }
  std::size_t bytes = std::max<std::size_t>(4, nest_.sum_bytes);
  for (const NestLoop& loop : nest_.loops) bytes = std::max(bytes, loop.widest);
  return scratch + values * static_cast<double>(bytes);
}

bool CandidateTime::is_legal(const Option& option, const NestPlan& plan) const {
  for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
    if (option.staged[a] != Staging::None && plan.staged[a] < 0 && !plan.is_kept(a)) return false;
  const bool sums_in_parts = nest_.has_reduce() && (option.block > 0 || option.across > 0);
  if (sums_in_parts && option.vector == static_cast<int>(first_reduce(nest_))) return false;
  return scratch_of(option, plan) <= static_cast<double>(target_.scratch_bytes) * most_scratch;
}

}  // namespace weft
