// MMA: computes a sum of products in two output loops by a matrix instruction, into memory of the
// kernel. What uses the sum reads it from there.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/device/mma.h>

#include "fills.h"
#include "kernel_loops.h"
#include "tensorise.h"

namespace weft {

const Node* converted_read(const Node* value) {
  const bool is_one = value->op() == Op::Cast && value->src(0)->op() == Op::Load;
  return is_one ? value->src(0) : nullptr;
}

namespace {

bool fits(const Node* product, std::size_t first, const MmaShape& shape, const Node* row,
          const Node* column) {
  const Node *a = converted_read(product->src(first)), *b = converted_read(product->src(1 - first));
  return a != nullptr && b != nullptr && shape.takes(a->dtype(), b->dtype()) &&
         changes_with(a, row) && !changes_with(a, column) && changes_with(b, column) &&
         !changes_with(b, row);
}

// Returns the factor in the operand type of the instruction. A narrower read along the rows is
// widened first, which requires a STAGE of the widened value.
UOp widened(const Node* factor, const MmaShape& shape, const Node* row) {
  const Node* read = factor->src(0);
  return changes_with(read, row) && shape.widens(read->dtype())
             ? cast(cast(UOp(read), shape.a), shape.c)
             : UOp(factor);
}

// Returns the operand of the sum without the WHERE for padded iterations. In those both factors are
// 0, and so is their product.
const Node* summed_by(const Node* sum) {
  const Node* value = sum->src(0);
  const bool is_padded =
      value->op() == Op::Where && value->src(2) == identity_of(Op::Add, value->dtype()).node();
  return is_padded ? value->src(1) : value;
}

}  // namespace

bool is_product_for(const Node* sum, const MmaShape& shape, const Node* row, const Node* column) {
  if (sum->op() != Op::Reduce || sum->arg<ReduceArg>().op != Op::Add || sum->dtype() != shape.c)
    return false;
  const Node* product = summed_by(sum);
  return product->op() == Op::Mul &&
         (fits(product, 0, shape, row, column) || fits(product, 1, shape, row, column));
}

void KernelLoops::mma(const Action& action) {
  const MmaShape* shape = find_mma(action.at);
  if (shape == nullptr) refuse(action, fmt::format("there is no instruction '{}'", action.at));
  const UOp row(loop(action.loops[0])), column(loop(action.loops[1]));
  check_sizes(action, std::vector{row.node(), column.node(), loop(action.name)});
  const std::int64_t iterations = row->src(0)->lo();
  const std::int64_t rows = action.count > 0 ? action.count : shape->rows_for(iterations);
  const std::int64_t depth = shape->depth_for(loop(action.name)->src(0)->lo());
  const std::int64_t fewest =
      std::min<std::int64_t>(shape->rows, action.count > 0 ? 2 : MmaShape::fewest_rows);
  if (rows < fewest || rows > shape->rows || iterations % rows != 0 || depth == 0)
    refuse(action, "its loops do not fill tiles evenly");
  const std::int64_t down = iterations / rows, across = column->src(0)->lo() / shape->columns;
  if (shape->rows > 1 && down * across + std::min(down, across) >= shape->registers)
    refuse(action, "its blocks need more tile registers than there are");
  const Node* sum = closer_of(loop(action.name));
  if (!is_product_for(sum, *shape, row.node(), column.node()))
    refuse(action,
           "it is not a sum of products of two reads, one along each loop, of the instruction's "
           "types");
  std::vector<UOp> factors;
  for (const Node* factor : summed_by(sum)->src())
    factors.push_back(widened(factor, *shape, row.node()));
  replace(sum, with_first_source(UOp(sum), with_sources(UOp(summed_by(sum)), factors)));
  sum = closer_of(loop(action.name));
  std::vector<std::string> names;
  for (const UOp& own : batch_sum(sum, std::vector{row.node(), column.node()}))
    names.push_back(name_of(own.node()));
  const auto cut = [&](const std::string& name, std::int64_t count) {
    tile({.type = Action::Tile, .name = name, .count = count});
    return order_[position(name) + 1];
  };
  // A tile dimension of size 1 has no loop.
  const std::int64_t sizes[] = {rows, shape->columns};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (sizes[i] > 1) set_kind(cut(names[i], sizes[i]), LoopKind::Mma);
    set_kind(names[i], LoopKind::Upcast);
  }
  std::string inner = cut(action.name, depth);
  if (depth > shape->group) {
    const std::string group = cut(inner, shape->group);
    set_kind(inner, LoopKind::Mma);
    inner = group;
  }
  set_kind(inner, LoopKind::Mma);
}

}  // namespace weft
