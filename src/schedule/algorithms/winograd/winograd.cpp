#include "winograd.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/symbolic.h>

#include "convolution.h"
#include "graph/compose.h"
#include "spatial_blocking.h"
#include "tile_transforms.h"
#include "transforms.h"

namespace weft {
namespace {

constexpr std::int64_t least_row = 16;  // of channels: a cache line
constexpr Tile tiles[] = {{3, 2}, {3, 4}, {5, 2}};

using Times = std::vector<UOp> (*)(const Matrix&, const std::vector<UOp>&, bool);

class WinogradForm {
 public:
  WinogradForm(const UOp& kernel, const Convolution& of, const Tile& tile,
               WinogradTransform transform, const SpatialBlocks& bands, bool fuses)
      : maker_(kernel),
        of_(of),
        tile_(tile),
        blocks_(bands),
        fuses_(fuses),
        products_(tile.outputs + tile.taps - 1),
        transform_(std::move(transform)),
        block_(bands.loop == nullptr ? const_int(0) : Variable("band", 0, bands.count - 1)),
        channels_(of.channels()) {
    for (const Node* loop : of.loops()) {
      if (changes_with(of.input, loop)) input_loops_.push_back(loop);
      if (changes_with(of.filter, loop)) filter_loops_.push_back(loop);
    }
    for (Ranges* loops : {&input_loops_, &filter_loops_})
      loops->insert(loops->end(), channels_.begin(), channels_.end());
  }

  KernelForm made() {
    const Node* filter = of_.filter->src(0)->src(0);
    const bool is_constant = filter->arg<ParamArg>().access == Access::Constant;
    add_memory(Filters, filter_loops_, is_constant ? Space::Constant : Space::Global);
    add_memory(Inputs, input_loops_);
    add_memory(Products, of_.loops());
    maker_.add(filters(), is_constant);
    maker_.set_iterations(blocks_.count);
    maker_.add_repeated(inputs());
    maker_.add_repeated(products());
    maker_.add_repeated(outputs());
    return maker_.made();
  }

 private:
  enum Memory : std::uint8_t { Filters, Inputs, Products };

  // Returns the iterations of a loop in one block.
  std::int64_t iterations(const Node* loop) const {
    return loop == blocks_.loop ? blocks_.iterations : iterations_of(loop, of_, tile_);
  }

  void add_memory(Memory memory, const Ranges& loops, Space space = Space::Global) {
    const std::vector<UOp> products(of_.axes.size(), const_int(products_));
    const auto size = [&](const Node* loop) { return const_int(iterations(loop)); };
    const DType dtype = memory == Products ? of_.sum->dtype() : factor_dtype();
    maker_.add_memory(dtype, dimensions(memory, products, loops, size), space);
  }

  DType factor_dtype() const { return of_.sum->dtype().is_int() ? dtypes::i16 : dtypes::f32; }

  // Returns the dimensions of a memory, given those for products and for loops. Filters are a
  // matrix for each product. Other memory with many channels innermost keeps all products of a tile
  // together, a row of channels each: separate planes would map to few cache sets.
  std::vector<UOp> dimensions(Memory memory, const std::vector<UOp>& products, const Ranges& loops,
                              const std::function<UOp(const Node*)>& of_loop) const {
    std::vector<UOp> tiles, rows;
    const bool is_by_tile = memory != Filters && is_of_channels(loops.back()) && has_long_rows();
    for (const Node* loop : loops)
      (is_by_tile && !is_of_channels(loop) ? tiles : rows).push_back(of_loop(loop));
    tiles.insert(tiles.end(), products.begin(), products.end());
    tiles.insert(tiles.end(), rows.begin(), rows.end());
    return tiles;
  }

  bool has_long_rows() const {
    const auto is_long = [&](const Ranges& loops) {
      std::int64_t channels = 1;
      for (const Node* loop : loops) channels *= is_of_channels(loop) ? iterations(loop) : 1;
      return channels >= least_row;
    };
    return is_long(input_loops_) && is_long(of_.loops());
  }

  // Returns whether the loop is over input or output channels.
  bool is_of_channels(const Node* loop) const { return changes_with(of_.filter, loop); }

  // Maps loops of the kernel to new ones of a part.
  Substitution fresh(const Ranges& loops, LoopKind kind = LoopKind::Loop) const {
    Substitution result;
    for (const Node* loop : loops)
      result.emplace(loop, range(iterations(loop), fresh_id().value, kind));
    return result;
  }

  // Maps the loop within a block to the iterations of all blocks.
  Substitution with_all(const Substitution& own) const {
    Substitution result = own;
    if (const auto banded = own.find(blocks_.loop); banded != own.end())
      result[blocks_.loop] = block_ * blocks_.iterations + banded->second;
    return result;
  }

  // Returns the place of a product in a memory, in these iterations.
  std::vector<UOp> place(Memory memory, const std::vector<UOp>& products, const Ranges& loops,
                         const Substitution& own) const {
    return dimensions(memory, products, loops, [&](const Node* loop) { return own.at(loop); });
  }

  static std::vector<UOp> iterations_in(const Ranges& loops, const Substitution& own) {
    std::vector<UOp> iterations;
    for (const Node* loop : loops) iterations.push_back(own.at(loop));
    return iterations;
  }

  // Returns the values at all places of a tile, the first axis outermost.
  std::vector<UOp> along_axes(
      std::int64_t count, const std::function<UOp(const std::vector<std::int64_t>&)>& value) const {
    std::vector<UOp> result;
    for_each_index(std::vector<View::Extent>(of_.axes.size(), {0, count}), [&](const auto& at) {
      result.push_back(value(at));
      return true;
    });
    return result;
  }

  // Applies the matrix along each axis. The outermost axis of the values becomes the innermost one
  // each time, so that they are in order again after the last.
  std::vector<UOp> transformed(const Matrix& matrix, std::vector<UOp> values,
                               Times multiply = times) const {
    for (std::size_t axis = 0; axis < of_.axes.size(); ++axis) {
      const std::size_t size = matrix[0].size(), others = values.size() / size;
      std::vector<UOp> result;
      for (std::size_t other = 0; other < others; ++other) {
        std::vector<UOp> each;
        for (std::size_t i = 0; i < size; ++i) each.push_back(values[i * others + other]);
        for (UOp& value : multiply(matrix, each, fuses_)) result.push_back(std::move(value));
      }
      values = std::move(result);
    }
    return values;
  }

  // Returns a kernel that stores the value of each product.
  UOp stored(Memory memory, const Ranges& loops, const Substitution& own,
             const std::vector<UOp>& values, std::string_view suffix) const {
    std::size_t next = 0;
    const std::vector<UOp> stores = along_axes(products_, [&](const auto& at) {
      return maker_.store(memory, place(memory, constant_sizes(at), loops, own), values[next++]);
    });
    return maker_.kernel(stores, iterations_in(loops, own), suffix);
  }

  UOp filters() const {
    const Substitution own = fresh(filter_loops_);
    const auto values = along_axes(tile_.taps, [&](const auto& at) {
      Substitution by = own;
      for (std::size_t a = 0; a < at.size(); ++a) by.emplace(of_.axes[a].tap, const_int(at[a]));
      return simplify(cast(substitute(UOp(of_.filter), by), factor_dtype()));
    });
    return stored(Filters, filter_loops_, own, transformed(transform_.filter, values), "filters");
  }

  // Returns the mask of places up to `beyond` past the last output, which the last tiles may
  // exceed.
  UOp in_bounds(const Axis& axis, const UOp& at, std::int64_t beyond) const {
    const std::int64_t tiles =
        iterations(axis.out) * (axis.out == blocks_.loop ? blocks_.count : 1);
    return tiles * tile_.outputs == axis.outputs() ? const_bool(true)
                                                   : at < axis.outputs() + beyond;
  }

  static UOp masked(const UOp& index, const UOp& valid) {
    std::vector<UOp> src(index->src().begin(), index->src().end());
    src[1] = src[1] & valid;
    return make(Op::Index, src);
  }

  UOp inputs() const {
    const Substitution own = fresh(input_loops_);
    const auto values = along_axes(products_, [&](const auto& at) {
      Substitution by = with_all(own);
      UOp valid = const_bool(true);
      for (std::size_t a = 0; a < at.size(); ++a) {
        const Axis& axis = of_.axes[a];
        const UOp first = by.at(axis.out) * tile_.outputs;
        by[axis.out] = first;
        by.emplace(axis.tap, const_int(at[a]));
        valid = valid & in_bounds(axis, first + at[a], tile_.taps - 1);
      }
      const UOp read = substitute(UOp(of_.input), by);
      const UOp masked_read = substitute(read, {{read->src(0), masked(read.src(0), valid)}});
      return simplify(cast(masked_read, factor_dtype()));
    });
    return stored(Inputs, input_loops_, own, transformed(transform_.input, values), "inputs");
  }

  UOp products() const {
    const Ranges loops = of_.loops();
    Substitution own = fresh(loops);
    std::vector<UOp> number;
    for (std::size_t a = 0; a < of_.axes.size(); ++a)
      number.push_back(range(products_, fresh_id().value));
    own.merge(fresh(channels_, LoopKind::Reduce));
    const auto read = [&](Memory memory, const Ranges& of) {
      return cast(maker_.load(memory, place(memory, number, of, own)), of_.sum->dtype());
    };
    std::vector<UOp> sum = iterations_in(channels_, own);
    sum.insert(sum.begin(), read(Inputs, input_loops_) * read(Filters, filter_loops_));
    const UOp value = make(Op::Reduce, sum, {}, ReduceArg{Op::Add, {}});
    const UOp store = maker_.store(Products, place(Products, number, loops, own), value);
    const std::vector<UOp> others = iterations_in(loops, own);
    number.insert(number.end(), others.begin(), others.end());
    return maker_.kernel({store}, number, "products");
  }

  UOp outputs() const {
    const Ranges loops = of_.loops();
    const Substitution own = fresh(loops);
    const auto products = along_axes(products_, [&](const auto& at) {
      return maker_.load(Products, place(Products, constant_sizes(at), loops, own));
    });
    const std::vector<UOp> sums = transformed(transform_.result, products, times_result);
    std::size_t next = 0;
    const std::vector<UOp> stores = along_axes(tile_.outputs, [&](const auto& at) {
      Substitution by = with_all(own);
      UOp valid = const_bool(true);
      for (std::size_t a = 0; a < at.size(); ++a) {
        const UOp place = by.at(of_.axes[a].out) * tile_.outputs + at[a];
        by[of_.axes[a].out] = place;
        valid = valid & in_bounds(of_.axes[a], place, 0);
      }
      by.emplace(of_.sum, without_scale(sums[next++]));
      return guarded(substitute(UOp(of_.store), by), valid);
    });
    return maker_.kernel(simplify(stores), iterations_in(loops, own), "outputs");
  }

  UOp without_scale(const UOp& sum) const {
    std::int64_t scale = 1;
    for (std::size_t a = 0; a < of_.axes.size(); ++a) scale *= transform_.scale;
    return scale == 1 ? sum : sum / scale;
  }

  // Masks the store, and all reads except those of products, which exist for whole tiles.
  UOp guarded(const UOp& store, const UOp& valid) const {
    if (valid->is_const_int(1)) return store;
    Substitution by;
    const UOp products = maker_.param(Products, Access::Read);
    for (const Node* node : toposort(store.node()))
      if (node->op() == Op::Index && node->src(0)->op() == Op::Param &&
          node->src(0) != products.node())
        by.emplace(node, masked(substitute(UOp(node), by), valid));
    return substitute(store, by);
  }

  FormMaker maker_;
  const Convolution& of_;
  Tile tile_;
  SpatialBlocks blocks_;
  bool fuses_;
  std::int64_t products_;
  WinogradTransform transform_;
  UOp block_;
  Ranges channels_, input_loops_, filter_loops_;
};

}  // namespace

std::vector<KernelForm> winograd_forms(const UOp& kernel, const FormLimits& limits) {
  std::vector<KernelForm> forms;
  const auto convolution = convolution_in(kernel);
  if (!convolution || convolution->channels().empty()) return forms;
  const std::vector<Axis>& axes = convolution->axes;
  for (const Tile& tile : tiles) {
    const auto fits = [&](const Axis& axis) {
      return axis.taps() == tile.taps && axis.outputs() >= tile.outputs;
    };
    if (tile.outputs > limits.outputs || !std::ranges::all_of(axes, fits)) continue;
    auto transform = matrices_of(*convolution, tile, limits);
    if (!transform) continue;
    const SpatialBlocks bands =
        spatial_blocks_of(*convolution, tile, limits.block_bytes, limits.threads);
    const bool fuses = limits.fuses && convolution->sum->dtype().is_float();
    forms.push_back(
        WinogradForm(kernel, *convolution, tile, *std::move(transform), bands, fuses).made());
  }
  return forms;
}

}  // namespace weft
