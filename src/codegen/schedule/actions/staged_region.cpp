// STAGE by region, which has the dimensions of the param.

#include <algorithm>
#include <optional>

#include <weft/dev/cost/nest.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>

#include "fills.h"
#include "kernel_loops.h"
#include "staged.h"

namespace weft {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 40;  // per dimension

// An index as a sum: the base depends only on loops around, the offset only on those inside.
struct Split {
  UOp base, offset;
};

// Splits an index. Returns nothing if base and offset are not separate terms.
std::optional<Split> split(const Node* index, const std::vector<const Node*>& inside) {
  const auto is_inside = [&](const Node* range) { return has_node(inside, range); };
  if (std::ranges::none_of(index->ranges(), is_inside)) return Split{UOp(index), const_int(0)};
  if (std::ranges::all_of(index->ranges(), is_inside)) return Split{const_int(0), UOp(index)};
  const bool is_scaled = index->op() == Op::Mul && index->src(1)->is_const();
  if (index->op() != Op::Add && !is_scaled) return std::nullopt;
  const auto first = split(index->src(0), inside);
  if (!first) return std::nullopt;
  if (is_scaled) {
    const std::int64_t factor = index->src(1)->lo();
    return Split{first->base * factor, first->offset * factor};
  }
  const auto second = split(index->src(1), inside);
  if (!second) return std::nullopt;
  return Split{first->base + second->base, first->offset + second->offset};
}

UOp is_inside_of(const UOp& index, const UOp& size) { return (index >= 0) & (index < size); }

class Region {
 public:
  Region(const Action& action, const Node* value, const std::vector<const Node*>& inside)
      : action_(action),
        value_(value),
        load_(value->op() == Op::Load ? value : value->src(0)),
        place_(load_->src(0)),
        inside_(inside),
        sizes_(storage_of(place_->src(0))->dims()),
        has_zeros_(!is_carried() && load_->size() == 1 && !place_->src(1)->is_const() &&
                   is_apart()) {}

  // Elements outside of the param are stored as zeros if the region includes padding. Otherwise
  // readers keep the condition of the original read and never access them.
  Staged staged() const {
    Staged staged{{}, {}, has_zeros_ ? without_padding() : UOp(place_->src(1))};
    if (load_->size() > 1) staged.otherwise = converted(UOp(load_->src(1)));
    std::vector<UOp> source{UOp(place_->src(0)), const_bool(true)};
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      const Extent extent = extent_of(d);
      if (!extent.size->is_const()) refuse(action_, "a size is not a constant");
      source.push_back(extent.base + (d + 1 == sizes_.size()
                                          ? add_row(extent, staged)
                                          : add(extent.size, extent.offset, staged)));
      source[1] = source[1] & is_inside_of(source.back(), UOp(sizes_[d]));
    }
    staged.value = converted(make(Op::Load, {make(Op::Index, source)}));
    return staged;
  }

 private:
  // A decoded STAGE holds the result of the read's conversion.
  UOp converted(const UOp& read) const { return cast(read, value_->dtype()); }

  // The elements of a dimension that the loops inside access: `size` elements from `base` on.
  // `offset` is the index relative to `base`.
  struct Extent {
    UOp base, offset, size;
  };

  // Whether a loop carries the memory between iterations. Each dimension of the param is then a
  // single dimension of the STAGE.
  bool is_carried() const { return action_.slides || action_.count > 1; }

  // Returns the whole dimension if the loops inside access no less of it, or if the index cannot be
  // split. A region with zeros also covers elements outside of the param.
  Extent extent_of(std::size_t d) const {
    const Node *index = place_->src(d + 2), *whole = sizes_[d];
    if (const auto parts = split(index, inside_)) {
      const auto [lo, hi] = parts->offset->bounds();
      const bool is_less = has_zeros_ || !whole->is_const() || hi - lo + 1 < whole->lo();
      if (is_less && hi - lo < most_elements) {
        const UOp first = const_int(static_cast<std::int64_t>(lo));
        return {parts->base + first, parts->offset - first,
                const_int(static_cast<std::int64_t>(hi - lo + 1))};
      }
    }
    return {const_int(0), UOp(index), UOp(whole)};
  }

  bool is_apart() const {
    return std::ranges::all_of(place_->src().subspan(2), [&](const Node* index) {
      return split(index, inside_).has_value();
    });
  }

  // Returns the condition of the read without the clauses that check that its place is inside the
  // param.
  UOp without_padding() const {
    std::vector<UOp> known;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      const UOp bound = simplify(is_inside_of(UOp(place_->src(d + 2)), UOp(sizes_[d])));
      for (const Node* clause : clauses_of(bound.node())) known.emplace_back(clause);
    }
    const UOp valid = simplify(UOp(place_->src(1)));
    UOp left = const_bool(true);
    for (const Node* clause : clauses_of(valid.node()))
      if (std::ranges::find(known, clause, &UOp::node) == known.end()) left = left & UOp(clause);
    return left;
  }

  // Returns the stride of lanes whose strided load reads whole vectors and shuffles them; otherwise
  // 1.
  std::int64_t shuffle_stride(const UOp& row) const {
    for (const Node* range : inside_) {
      if (kind_of(range) != LoopKind::Vector) continue;
      const UOp step = simplify(substitute(row, {{range, const_int(1)}}) -
                                substitute(row, {{range, const_int(0)}}));
      if (step->is_const() && has_short_stride(step->lo(), range->src(0)->lo())) return step->lo();
    }
    return 1;
  }

  static UOp add(const UOp& size, const UOp& at, Staged& staged) {
    staged.ranges.push_back(weft::range(size, fresh_id().value));
    staged.at.push_back(at);
    return staged.ranges.back();
  }

  // Adds the innermost dimension. For lanes with a stride it is stored as that many separate parts,
  // so that the lanes read contiguous elements.
  UOp add_row(const Extent& extent, Staged& staged) const {
    const std::int64_t apart = is_carried() ? 1 : shuffle_stride(extent.offset);
    std::int64_t size = (extent.size->lo() + apart - 1) / apart;
    if (has_zeros_) size = region_row(size, static_cast<std::int64_t>(value_->dtype().bytes()));
    if (apart == 1) return add(const_int(size), extent.offset, staged);
    const UOp part = add(const_int(apart), extent.offset % apart, staged);
    return add(const_int(size), extent.offset / apart, staged) * apart + part;
  }

  const Action& action_;
  const Node *value_, *load_, *place_;
  const std::vector<const Node*>& inside_;
  NodeList sizes_;
  bool has_zeros_;
};

}  // namespace

Staged staged_by_region(const Action& action, const Node* value,
                        const std::vector<const Node*>& inside) {
  const bool is_read = value->op() == Op::Load;
  if (!is_read && (value->op() != Op::Cast || value->src(0)->op() != Op::Load))
    refuse(action, "a region must be a read or the conversion of one");
  return Region(action, value, inside).staged();
}

}  // namespace weft
