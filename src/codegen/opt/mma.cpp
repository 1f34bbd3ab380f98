// MMA: a sum of products in two loops of the output, computed by an instruction that multiplies matrices, into memory of
// the kernel's own. What follows the sum reads that.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/device/mma.h>

#include "kernel_loops.h"
#include "mma.h"

namespace weft {
namespace {

// A read of the dtype, which is converted.
const Node* factor_of(const Node* value, DType from) {
  if (value->op() != Op::Cast) return nullptr;
  const Node* read = value->src(0);
  return read->op() == Op::Load && read->dtype() == from ? read : nullptr;
}

bool fits(const Node* product, std::size_t first, const MmaShape& shape, const Node* row,
          const Node* column) {
  const Node *a = factor_of(product->src(first), shape.a),
             *b = factor_of(product->src(1 - first), shape.b);
  return a != nullptr && b != nullptr && changes_with(a, row) && !changes_with(a, column) &&
         changes_with(b, column) && !changes_with(b, row);
}

// What is summed. In trips that padding adds it is nothing, and both factors are.
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
  for (const Node* range : {row.node(), column.node(), loop(action.name)})
    if (!range->src(0)->is_const()) refuse(action, "a size is not known before it runs");
  const std::int64_t trips = row->src(0)->lo();
  const std::int64_t rows = action.count > 0 ? action.count : shape->rows_for(trips);
  const std::int64_t depth = shape->depth_for(loop(action.name)->src(0)->lo());
  const std::int64_t fewest =
      std::min<std::int64_t>(shape->rows, action.count > 0 ? 2 : MmaShape::fewest_rows);
  if (rows < fewest || rows > shape->rows || trips % rows != 0 || depth == 0)
    refuse(action, "its loops fill no tiles evenly");
  const std::int64_t down = trips / rows, across = column->src(0)->lo() / shape->columns;
  if (shape->rows > 1 && down * across + std::min(down, across) >= shape->registers)
    refuse(action, "its blocks have more tiles than there are");
  const Node* sum = closer_of(loop(action.name));
  if (!is_product_for(sum, *shape, row.node(), column.node()))
    refuse(action, "it sums no products of what these loops read");
  if (const Node* product = summed_by(sum); product != sum->src(0)) {
    std::vector<UOp> src = list_of(sum->src());
    src[0] = UOp(product);
    replace(sum, with_sources(UOp(sum), src));
    sum = closer_of(loop(action.name));
  }
  std::vector<std::string> names;
  for (const UOp& own : batch_sum(sum, {row, column})) names.push_back(name_of(own.node()));
  const auto cut = [&](const std::string& name, std::int64_t count) {
    tile({.type = Action::Tile, .name = name, .count = count});
    return order_[position(name) + 1];
  };
  // A loop of one trip is none.
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
