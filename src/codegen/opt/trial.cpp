#include "trial.h"

#include <algorithm>

namespace weft {
namespace {

bool changes_with_reduce(const Nest& nest, const NestAccess& access) {
  for (std::size_t loop = 0; loop < nest.loops.size(); ++loop)
    if (nest.loops[loop].is_reduce && access.changes_with(loop)) return true;
  return false;
}

// Elements that the pieces inside of one go through.
double inside_of(const NestPlan& plan, const NestAccess& access, std::size_t at) {
  double elements = 1;
  for (std::size_t i = at + 1; i < plan.pieces.size(); ++i)
    if (access.changes_with(plan.pieces[i].loop))
      elements *= static_cast<double>(plan.pieces[i].trips);
  return elements;
}

}  // namespace

void sort_by_time(std::vector<Option>& options) {
  std::sort(options.begin(), options.end(), [](const Option& a, const Option& b) {
    return std::pair(a.seconds, a.number) < std::pair(b.seconds, b.number);
  });
}

bool has_outputs(const Nest& nest) {
  return !std::ranges::all_of(nest.loops, [](const NestLoop& loop) { return loop.is_reduce; });
}

double Trial::seconds(const Option& option, bool with_copies) const {
  const NestTime time = time_of(target_.machine, nest_, plan_of(nest_, option));
  return time.total() - (with_copies ? 0 : time.copies);
}

bool Trial::may_be_staged(const NestAccess& access) const {
  return !access.name.empty() && !access.is_index && changes_with_reduce(nest_, access);
}

bool Trial::is_legal(const Option& option) const {
  const NestPlan plan = plan_of(nest_, option);
  double scratch = 0;
  for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
    if (!option.staged[a]) continue;
    if (plan.staged[a] < 0) return false;
    scratch += inside_of(plan, nest_.accesses[a], static_cast<std::size_t>(plan.staged[a])) *
               nest_.accesses[a].bytes;
  }
  if (nest_.has_reduce() && (option.block > 0 || option.across > 0)) {
    // What is summed in parts is kept for all trips inside.
    if (option.vector == static_cast<int>(first_reduce(nest_))) return false;
    double values = 1;
    bool is_inside = false;
    for (const Piece& piece : plan.pieces) {
      if (is_inside && !nest_.loops[piece.loop].is_reduce)
        values *= static_cast<double>(piece.trips);
      is_inside = is_inside || nest_.loops[piece.loop].is_reduce;
    }
    scratch += values * static_cast<double>(std::max<std::size_t>(4, nest_.widest));
  }
  return scratch <= static_cast<double>(target_.scratch_bytes) / 2;
}

}  // namespace weft
