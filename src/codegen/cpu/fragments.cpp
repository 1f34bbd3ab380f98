// Replaces the MMA loops of a sum of products by one matrix instruction, whose operands are vectors
// of the values of all iterations. The MMA loops of a product are closed in two places: by the REDUCE
// and by the END of the store.

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/strides.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "common/loops.h"
#include "lanes.h"

namespace weft {
namespace {

constexpr auto is_of_mma = is_range<LoopKind::Mma>;

std::vector<const Node*> loops_of_mma(const Node* closer) {
  std::vector<const Node*> found;
  std::ranges::copy_if(closer->src().subspan(1), std::back_inserter(found), is_of_mma);
  return found;
}

// Returns the closer without its MMA ranges.
UOp without_loops_of_mma(const Node* closer, const UOp& body) {
  std::vector<UOp> loops = list_of(closer->src().subspan(1));
  std::erase_if(loops, [](const UOp& range) { return is_of_mma(range.node()); });
  return closed_over(UOp(closer), body, loops);
}

const Node* without_cast(const Node* value) {
  return value->op() == Op::Cast ? value->src(0) : value;
}

// The loops over m, n and the two parts of k. `row` is null if the instruction has one row, and
// `depth` is null if it has one group of k.
struct MmaLoops {
  const Node *row, *column, *depth, *group;
};

// A sum of products in MMA loops, and the store of its result.
class Product {
 public:
  Product(const Node* end, const std::vector<MmaShape>& known) : end_(end), store_(end->src(0)) {
    const std::vector<const Node*> outer = loops_of_mma(end);
    sum_ = store_->size() == 2 ? store_->src(1) : nullptr;
    if (outer.size() > 2 || sum_ == nullptr || sum_->op() != Op::Reduce ||
        sum_->src(0)->op() != Op::Mul)
      refuse("they do not store a sum of products");
    const std::vector<const Node*> inner = loops_of_mma(sum_);
    if (inner.empty() || inner.size() > 2) refuse("the sum is not over one or two of these loops");
    loops_ = {outer.size() == 2 ? outer[0] : nullptr, outer.back(),
              inner.size() == 2 ? inner[0] : nullptr, inner.back()};
    a_ = without_cast(sum_->src(0)->src(0));
    b_ = without_cast(sum_->src(0)->src(1));
    if (changes_with(a_, loops_.column)) std::swap(a_, b_);
    shape_ = shape_in(known);
  }

  UOp lowered() const {
    const std::int64_t k = depth(), group = shape_.group;
    Steps along{{loops_.group, 1}};
    if (loops_.depth != nullptr) along.emplace_back(loops_.depth, group);
    const UOp a = fragment(a_, loops_.row, along, k),
              b = fragment(b_, loops_.depth, {{loops_.column, group}, {loops_.group, 1}},
                           group * shape_.columns);
    const DType dtype = shape_.c.vec(lanes(size(loops_.row) * shape_.columns));
    const UOp product = make(Op::Mma, {a, b, const_int(0, dtype)}, dtype,
                             NameArg{Symbol(std::string(shape_.name))});
    const UOp to = place(store_->src(0), loops_.row, {{loops_.column, 1}}, shape_.columns);
    const UOp store =
        make(Op::Store, {to, without_loops_of_mma(sum_, product)}, {}, store_->arg<StoreArg>());
    return without_loops_of_mma(end_, store);
  }

 private:
  // The loops along a row of a fragment, each with the elements between its iterations.
  using Steps = std::vector<std::pair<const Node*, std::int64_t>>;

  [[noreturn]] static void refuse(std::string_view why) {
    user_error(fmt::format("schedule: loops of kind mma: {}", why));
  }

  static std::uint32_t lanes(std::int64_t count) { return static_cast<std::uint32_t>(count); }

  MmaShape shape_in(const std::vector<MmaShape>& known) const {
    const auto found = std::ranges::find_if(known, [&](const MmaShape& shape) {
      return shape.a == a_->dtype() && shape.b == b_->dtype() && shape.c == sum_->dtype() &&
             shape.may_hold(b_->hi()) && (shape.rows > 1) == (loops_.row != nullptr) &&
             shape.rows_for(size(loops_.row)) == size(loops_.row) &&
             shape.columns == size(loops_.column) && shape.group == size(loops_.group) &&
             shape.depth_for(depth()) == depth();
    });
    if (found != known.end()) return *found;
    const bool is_narrow = std::ranges::any_of(known, [&](const MmaShape& shape) {
      return shape.widens(a_->dtype()) && shape.takes(a_->dtype(), b_->dtype());
    });
    refuse(is_narrow ? "rows of bytes have to be staged as decoded"
                     : "the device has no such instruction");
  }

  static std::int64_t size(const Node* range) { return range == nullptr ? 1 : range->src(0)->lo(); }
  std::int64_t depth() const { return size(loops_.depth) * size(loops_.group); }

  static std::int64_t stride(const Node* index, const Node* range) {
    if (range == nullptr) return 0;
    const auto stride = Strides(slice_of(index, range), range).of(index);
    if (!stride) refuse("rows do not have a constant stride");
    return *stride;
  }

  // Returns the place of all elements of a fragment.
  static UOp place(const Node* index, const Node* row, const Steps& steps, std::int64_t columns) {
    if (index->size() != 3 || !index->src(1)->is_const_int(1))
      refuse("conditional accesses have to be staged");
    const Node* at = index->src(2);
    for (const auto& [range, step] : steps)
      if (stride(at, range) != step) refuse("a row is not contiguous: it has to be staged");
    const std::int64_t between = stride(at, row), rows = size(row);
    std::vector<UOp> numbers;
    for (std::int64_t i = 0; i < rows * columns; ++i)
      numbers.push_back(const_int(i / columns * between + i % columns, at->dtype()));
    Substitution first;
    if (row != nullptr) first.emplace(row, const_int(0, row->dtype()));
    for (const auto& [range, step] : steps) first.emplace(range, const_int(0, range->dtype()));
    const UOp base = simplify(substitute(UOp(at), first));
    const UOp places = splat(base, lanes(rows * columns)) + make(Op::Stack, numbers);
    return place_in(UOp(index->src(0)), {places});
  }

  static UOp fragment(const Node* load, const Node* row, const Steps& steps, std::int64_t columns) {
    if (load->op() != Op::Load) refuse("its factors are not reads");
    return make(Op::Load, {place(load->src(0), row, steps, columns)});
  }

  const Node *end_, *store_, *sum_, *a_ = nullptr, *b_ = nullptr;
  MmaLoops loops_{};
  MmaShape shape_;
};

UOp matrix_instruction(const Match& m) {
  const auto* target = m.context<Target>();
  if (target == nullptr || loops_of_mma(m.root()).empty()) return {};
  return Product(m.root(), target->mma).lowered();
}

}  // namespace

std::vector<UOp> fragments(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"fragments", {rule(node(Op::End), matrix_instruction)}};
  return rewrite_once(roots, rules, options);
}

}  // namespace weft
