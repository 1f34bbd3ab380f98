// A reduction whose outer loop stands before loops of what it computes: all of its values, for the
// trips inside, are kept in memory of the kernel's own from one trip of that loop to the next.

#include <algorithm>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/slice.h>
#include <weft/error.h>

#include "kernel_loops.h"

namespace weft {
namespace {

// Registers hold what these count.
bool is_unrolled(const Node* range) {
  const LoopKind kind = range->arg<RangeArg>().kind;
  return kind == LoopKind::Upcast || kind == LoopKind::Vector || kind == LoopKind::Unroll;
}

std::vector<UOp> copies_of(const std::vector<const Node*>& ranges) {
  std::vector<UOp> copies;
  for (const Node* range : ranges) copies.push_back(range_like(range, range->src(0)->lo()));
  return copies;
}

UOp with_list(Op op, const UOp& first, const std::vector<UOp>& rest) {
  std::vector<UOp> src{first};
  src.insert(src.end(), rest.begin(), rest.end());
  return src.size() == 1 ? first : make(op, src);
}

std::vector<UOp> list_of(NodeList nodes) {
  std::vector<UOp> list;
  for (const Node* node : nodes) list.emplace_back(node);
  return list;
}

UOp place(const UOp& buffer, const std::vector<UOp>& at) {
  std::vector<UOp> src{buffer, const_bool(true)};
  src.insert(src.end(), at.begin(), at.end());
  return make(Op::Index, src);
}

UOp store(const UOp& place, const UOp& value) {
  return make(Op::Store, {place, value}, {}, StoreArg{});
}

// All values of a sum that one trip of its outer loops goes on with, in memory of the kernel's own.
class Parts {
 public:
  Parts(const Node* reduce, const std::vector<const Node*>& inside, const std::vector<UOp>& around)
      : reduce_(reduce), op_(reduce->arg<ReduceArg>().op), inside_(inside), around_(around) {
    std::vector<UOp> sizes;
    for (const Node* range : inside) sizes.emplace_back(range->src(0));
    dtype_ = accumulator_of(op_, reduce->dtype());
    buffer_ = make(Op::Buffer, sizes, dtype_, BufferArg{fresh_id(), Space::Scratch});
  }

  // Each trip of `outer` adds what the trips of `inner` come to.
  UOp filled(const std::vector<UOp>& outer, const std::vector<UOp>& inner) const {
    const UOp begin = with_list(Op::After, buffer_, around_);
    const std::vector<UOp> first = copies_of(inside_);
    const UOp cleared =
        with_list(Op::End, store(place(begin, first), identity_of(op_, dtype_)), first);
    std::vector<UOp> trips{cleared};
    trips.insert(trips.end(), outer.begin(), outer.end());
    const UOp now = place(with_list(Op::After, buffer_, trips), list_of(inside_));
    std::vector<UOp> body{UOp(reduce_->src(0))};
    body.insert(body.end(), inner.begin(), inner.end());
    const UOp part = inner.empty() ? body[0] : with_sources(UOp(reduce_), body);
    const UOp sum = make(op_, {make(Op::Load, {now}), cast(part, dtype_)});
    std::vector<UOp> loops = outer;
    for (const Node* range : inside_) loops.emplace_back(range);
    return with_list(Op::End, store(now, sum), loops);
  }

  UOp total(const UOp& filled, const std::vector<UOp>& at) const {
    return cast(make(Op::Load, {place(make(Op::After, {buffer_, filled}), at)}), reduce_->dtype());
  }

 private:
  const Node* reduce_;
  Op op_;
  std::vector<const Node*> inside_;
  std::vector<UOp> around_;
  DType dtype_;
  UOp buffer_;
};

}  // namespace

void KernelLoops::sum_in_parts(const Node* reduce) {
  const NodeList own = reduce->src().subspan(1);
  const auto begin = std::ranges::find_if_not(own, is_unrolled);
  if (begin == own.end()) return;
  std::vector<const Node*> inside;  // the loops that stand in the first of the reduction's own
  std::vector<UOp> around, outer, inner;
  for (const Node* range : reduce->ranges()) {
    const bool is_output = closer_of(range)->op() == Op::End;
    if (is_output && (is_unrolled(range) || comes_before(*begin, range)))
      inside.push_back(range);
    else
      around.emplace_back(range);
  }
  if (std::ranges::all_of(inside, is_unrolled)) return;
  std::ranges::sort(inside, [&](auto a, auto b) { return comes_before(a, b); });
  for (const Node* range : own) {
    const auto stands_after = [&](auto other) { return comes_before(other, range); };
    if (!is_unrolled(range) && std::ranges::none_of(inside, stands_after))
      outer.emplace_back(range);
    else if (is_unrolled(range) || std::ranges::all_of(inside, [&](auto other) {
               return stands_after(other) || is_unrolled(other);
             }))
      inner.emplace_back(range);
    else
      user_error("schedule: the loops of a reduction stand in more than two places");
  }
  const Node* end = closer_of(inside[0]);
  const Parts parts(reduce, inside, around);
  const std::vector<UOp> last = copies_of(inside);
  Substitution by{{reduce, parts.total(parts.filled(outer, inner), last)}};
  for (std::size_t i = 0; i < inside.size(); ++i) by.emplace(inside[i], last[i]);
  std::vector<UOp> src{substitute(UOp(end->src(0)), by)};
  for (const Node* range : end->src().subspan(1))
    src.push_back(by.contains(range) ? by.at(range) : UOp(range));
  replace(end, make(Op::End, src));
}

}  // namespace weft
