#include "mma_kernel.h"

#include <algorithm>
#include <utility>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/codegen/strides.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>

#include "schedule/actions/stores.h"
#include "schedule/actions/tensorise.h"

namespace weft {
namespace {

std::int64_t size_of(const Node* range) {
  return range->src(0)->is_const() ? range->src(0)->lo() : 0;
}

std::int64_t padded(const Node* range, std::int64_t tile) {
  return (size_of(range) + tile - 1) / tile * tile;
}

// Returns the tiling with full tiles, and with smaller tiles that divide the loops evenly. Tiles
// with too few rows are left out.
std::vector<MmaTiling> ways_to_cut(MmaTiling tiling) {
  const MmaShape whole = tiling.shape;
  std::vector<MmaTiling> found;
  for (const std::int64_t most : {whole.rows, whole.rows - 1})
    for (const bool is_deep : {true, false}) {
      tiling.shape = whole;
      if (most < whole.rows) {
        tiling.shape.rows = most;  // the limit of rows_for()
        tiling.shape.rows = tiling.shape.rows_for(size_of(tiling.row_range));
      }
      if (!is_deep) tiling.shape.depth = whole.depth_for(size_of(tiling.depth_range));
      const bool is_other =
          (is_deep || (tiling.shape.depth > 0 && tiling.shape.depth < whole.depth)) &&
          tiling.shape.rows >= std::min(whole.rows, MmaShape::fewest_rows);
      if (!is_other) continue;
      tiling.block =
          block_for(tiling.shape, size_of(tiling.row_range), size_of(tiling.column_range));
      found.push_back(tiling);
    }
  return found;
}

bool is_among(NodeList ranges, const Node* range) {
  return std::ranges::find(ranges, range) != ranges.end();
}

}  // namespace

bool can_prepack(const Node* load) {
  const Node* storage = storage_of(load->src(0)->src(0));
  return storage->op() == Op::Param && storage->arg<ParamArg>().access == Access::Constant &&
         is_same_in_each_run(load->src(0));
}

std::int64_t stride_of(const Node* access, const Node* range) {
  const Node *place = access->src(0), *storage = storage_of(place->src(0));
  std::int64_t stride = 0, apart = 1;
  for (std::size_t i = place->size(); i-- > 2;) {
    const Node* size = storage->dims()[i - 2];
    if (place->src(i) == range)
      stride += apart;
    else if (changes_with(place->src(i), range))
      return 0;
    if (!size->is_const()) return stride;
    apart *= size->lo();
  }
  return stride;
}

std::int64_t stride_in_parts(const Node* access, const Node* range, std::int64_t part) {
  if (const std::int64_t stride = stride_of(access, range); stride != 0) return stride;
  const Node *place = access->src(0), *storage = storage_of(place->src(0));
  const UOp outer = range_like(range, size_of(range) / part), inner = range_like(range, part);
  UOp at = const_int(0);
  std::int64_t apart = 1;
  for (std::size_t i = place->size(); i-- > 2;) {
    at = at + UOp(place->src(i)) * apart;
    const Node* size = storage->dims()[i - 2];
    if (!size->is_const()) break;
    apart *= size->lo();
  }
  const UOp flat = simplify(substitute(at, {{range, outer * part + inner}}));
  return Strides(slice_of(flat.node(), inner.node()), inner.node()).of(flat.node()).value_or(0);
}

std::int64_t first_step(const Node* access, const Node* range) {
  const Node* place = access->src(0);
  std::int64_t step = 0, apart = 1;
  for (std::size_t i = place->size(); i-- > 2;) {
    const auto in_iteration = [&](std::int64_t iteration) {
      return substitute(UOp(place->src(i)), {{range, const_int(iteration, range->dtype())}});
    };
    const UOp moved = simplify(in_iteration(1) - in_iteration(0));
    const Node* size = storage_of(place->src(0))->dims()[i - 2];
    if (!moved->is_const()) return 0;
    step += moved->lo() * apart;
    if (!size->is_const()) return i == 2 ? step : 0;
    apart *= size->lo();
  }
  return step;
}

MmaKernel::MmaKernel(KernelLoops loops, const Target& target)
    : target_(target), loops_(std::move(loops)), end_(loops_.kernel()->src(0)) {
  std::vector<const Node*> sums;
  for (const Node* node : toposort(loops_.kernel().node()))
    if (node->op() == Op::Reduce) sums.push_back(node);
  if (sums.size() == 1 && sums[0]->src(0)->op() == Op::Mul) sum_ = sums[0];
}

std::vector<MmaTiling> MmaKernel::tilings() const {
  std::vector<MmaTiling> found;
  const std::vector<NamedLoop> names = loops_.names();
  for (const MmaShape& shape : target_.mma)
    for (const NamedLoop& row : names)
      for (const NamedLoop& column : names)
        for (const NamedLoop& depth : names) {
          MmaTiling tiling{shape,     row.name,     column.name, depth.name,
                           row.range, column.range, depth.range};
          if (!is_possible(tiling)) continue;
          tiling.a = factor(row.range);
          tiling.b = factor(column.range);
          if (tiling.a.load == nullptr || tiling.b.load == nullptr) continue;
          const std::vector<MmaTiling> cut = ways_to_cut(std::move(tiling));
          found.insert(found.end(), cut.begin(), cut.end());
        }
  return found;
}

bool MmaKernel::is_possible(const MmaTiling& tiling) const {
  const NodeList outer = end_->src().subspan(1), inner = sum_->src().subspan(1);
  return is_among(outer, tiling.row_range) && is_among(outer, tiling.column_range) &&
         is_among(inner, tiling.depth_range) && tiling.row_range != tiling.column_range &&
         size_of(tiling.row_range) > 0 && size_of(tiling.column_range) > 0 &&
         size_of(tiling.depth_range) > 0 &&
         is_product_for(sum_, tiling.shape, tiling.row_range, tiling.column_range);
}

MmaFactor MmaKernel::factor(const Node* changing) const {
  for (const auto& [name, load] : loops_.reads())
    if (changes_with(load, changing) && depends_on(sum_->src(0), load)) return {name, load};
  return {};
}

std::vector<MmaFactor> MmaKernel::epilogue_reads(const MmaTiling& tiling) const {
  std::vector<MmaFactor> found;
  for (const auto& [name, load] : loops_.reads())
    if (!depends_on(sum_->src(0), load) && changes_with(load, tiling.row_range) &&
        stride_of(load, tiling.column_range) == 1)
      found.push_back({name, load});
  return found;
}

const Node* MmaKernel::range_of(const std::string& name) const {
  for (const NamedLoop& loop : loops_.names())
    if (loop.name == name) return loop.range;
  return nullptr;
}

std::int64_t MmaKernel::padded_size(const MmaTiling& tiling, const Node* range) {
  if (range == tiling.row_range)
    return padded(range, tiling.block.rows * (tiling.groups_rows ? tiling.blocks_in_group : 1));
  if (range == tiling.column_range) return padded(range, tiling.block.columns);
  return range == tiling.depth_range ? padded(range, tiling.shape.depth) : size_of(range);
}

double MmaKernel::iterations_of(const MmaTiling& tiling, const std::string& name) const {
  const Node* range = range_of(name);
  if (range == nullptr) return 1;
  const std::int64_t tile = range == tiling.row_range      ? tiling.block.rows
                            : range == tiling.column_range ? tiling.block.columns
                                                           : 1;
  const std::int64_t iterations = padded_size(tiling, range) / tile;
  return static_cast<double>(iterations);
}

double MmaKernel::iterations(const MmaTiling& tiling) const {
  double count = 1;
  for (const NodeList ranges : {end_->src().subspan(1), sum_->src().subspan(1)})
    for (const Node* range : ranges) count *= static_cast<double>(padded_size(tiling, range));
  return count;
}

double MmaKernel::blocks(const MmaTiling& tiling) const {
  double count = 1;
  for (const NamedLoop& loop : loops_.names())
    if (is_among(end_->src().subspan(1), loop.range)) count *= iterations_of(tiling, loop.name);
  return count;
}

double MmaKernel::elements_of(const Node* load, const MmaTiling& tiling) const {
  const bool is_column = changes_with(load, tiling.column_range);
  auto count = static_cast<double>(is_column ? tiling.block.columns : tiling.block.rows);
  for (const Node* range : sum_->src().subspan(1))
    if (changes_with(load, range)) count *= static_cast<double>(padded_size(tiling, range));
  return count;
}

bool MmaKernel::shifts_last_block(const MmaTiling& tiling) const {
  const bool is_in_group = tiling.groups_rows && tiling.blocks_in_group > 1;
  return !is_in_group && size_of(tiling.row_range) >= tiling.block.rows && may_store_twice(end_);
}

std::vector<std::string> MmaKernel::output_loops(const MmaTiling& tiling) const {
  std::vector<std::string> order, inside;
  for (const NamedLoop& loop : loops_.names()) {
    if (!is_among(end_->src().subspan(1), loop.range) || loop.range == tiling.row_range ||
        loop.range == tiling.column_range)
      continue;
    const bool is_around = target_.machine.workers() > 1 || changes_with(tiling.b.load, loop.range);
    (is_around ? order : inside).push_back(loop.name);
  }
  if (tiling.groups_rows) {
    order.insert(order.end(), inside.begin(), inside.end());
    order.insert(order.end(), {tiling.row, tiling.column, tiling.row + ".1", tiling.rows_of_block(),
                               tiling.columns_of_block()});
    return order;
  }
  const bool are_rows_shared =
      target_.machine.workers() > 1 && order.empty() && can_prepack(tiling.b.load);
  if (are_rows_shared) order.push_back(tiling.row);
  order.push_back(tiling.column);
  order.insert(order.end(), inside.begin(), inside.end());
  if (!are_rows_shared) order.push_back(tiling.row);
  order.insert(order.end(),
               {tiling.column + ".1", tiling.rows_of_block(), tiling.columns_of_block()});
  return order;
}

std::vector<std::string> MmaKernel::sum_loops(const MmaTiling& tiling) const {
  std::vector<std::string> names;
  for (const NamedLoop& loop : loops_.names())
    if (is_among(sum_->src().subspan(1), loop.range) && loop.name != tiling.depth)
      names.push_back(loop.name);
  names.push_back(tiling.depth);
  return names;
}

}  // namespace weft
