#include "winograd.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <weft/dev/ir/below.h>
#include <weft/dev/rules/symbolic.h>

#include "convolution.h"
#include "spatial_blocking.h"
#include "tile_transforms.h"
#include "transforms.h"

namespace weft {
namespace {

constexpr std::int64_t least_row = 16;  // of channels: a cache line
constexpr Tile tiles[] = {{3, 2}, {3, 4}, {5, 2}};

// Returns the values at all places of a tile, the first axis outermost.
std::vector<UOp> along_axes(std::size_t axes, std::size_t count,
                            const std::function<UOp(const std::vector<std::int64_t>&)>& value) {
  std::vector<UOp> result;
  std::vector<std::int64_t> at(axes);
  for (;;) {
    result.push_back(value(at));
    std::size_t axis = axes;
    while (axis > 0 && ++at[axis - 1] == static_cast<std::int64_t>(count)) at[--axis] = 0;
    if (axis == 0) return result;
  }
}

using Times = std::vector<UOp> (*)(const Matrix&, const std::vector<UOp>&, bool);

// Applies the matrix along each of one or two axes.
std::vector<UOp> transformed(const Matrix& matrix, std::vector<UOp> values, std::size_t axes,
                             Times multiply, bool fuses) {
  if (axes == 1) return multiply(matrix, values, fuses);
  const std::size_t in = matrix[0].size(), out = matrix.size();
  std::vector<std::vector<UOp>> columns;
  for (std::size_t column = 0; column < in; ++column) {
    std::vector<UOp> each;
    for (std::size_t row = 0; row < in; ++row) each.push_back(values[row * in + column]);
    columns.push_back(multiply(matrix, each, fuses));
  }
  std::vector<UOp> result;
  for (std::size_t row = 0; row < out; ++row) {
    std::vector<UOp> each;
    for (const std::vector<UOp>& column : columns) each.push_back(column[row]);
    for (UOp& value : multiply(matrix, each, fuses)) result.push_back(std::move(value));
  }
  return result;
}

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
  }

  KernelForm made() {
    const bool is_constant = param_of(of_.filter)->arg<ParamArg>().access == Access::Constant;
    add_memory(Filters, loops_of_filter(), is_constant ? Space::Constant : Space::Global);
    add_memory(Inputs, loops_of_input());
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

  static const Node* param_of(const Node* load) { return load->src(0)->src(0); }

  Ranges loops_of_filter() const { return joined(filter_loops_); }
  Ranges loops_of_input() const { return joined(input_loops_); }
  Ranges joined(Ranges loops) const {
    loops.insert(loops.end(), channels_.begin(), channels_.end());
    return loops;
  }

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
    return is_long(loops_of_input()) && is_long(of_.loops());
  }

  // Returns whether the loop is over input or output channels.
  bool is_of_channels(const Node* loop) const { return changes_with(of_.filter, loop); }

  UOp param(Memory memory, Access access) const { return maker_.param(memory, access); }

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

  UOp place(Memory memory, Access access, const std::vector<UOp>& products, const Ranges& loops,
            const Substitution& own) const {
    std::vector<UOp> src{param(memory, access), const_bool(true)};
    for (UOp& at :
         dimensions(memory, products, loops, [&](const Node* loop) { return own.at(loop); }))
      src.push_back(std::move(at));
    return make(Op::Index, src);
  }

  static std::vector<UOp> numbers(const std::vector<std::int64_t>& at) {
    std::vector<UOp> result;
    for (const std::int64_t number : at) result.push_back(const_int(number));
    return result;
  }

  UOp sink(const UOp& effect, const Ranges& loops, const Substitution& own,
           std::string_view suffix) const {
    std::vector<UOp> iterations;
    for (const Node* loop : loops) iterations.push_back(own.at(loop));
    return maker_.kernel(effect, iterations, suffix);
  }

  // Returns a kernel that stores the value of each product.
  UOp stored(Memory memory, const Ranges& loops, const Substitution& own,
             const std::vector<UOp>& values, std::string_view suffix) const {
    std::vector<UOp> stores;
    std::size_t next = 0;
    along_axes(of_.axes.size(), static_cast<std::size_t>(products_), [&](const auto& at) {
      stores.push_back(make(Op::Store,
                            {place(memory, Access::Write, numbers(at), loops, own), values[next++]},
                            {}, StoreArg{}));
      return stores.back();
    });
    return sink(tuple(stores), loops, own, suffix);
  }

  UOp filters() const {
    const Substitution own = fresh(loops_of_filter());
    const auto values =
        along_axes(of_.axes.size(), static_cast<std::size_t>(tile_.taps), [&](const auto& at) {
          Substitution by = own;
          for (std::size_t a = 0; a < at.size(); ++a) by.emplace(of_.axes[a].tap, const_int(at[a]));
          return simplify(cast(substitute(UOp(of_.filter), by), factor_dtype()));
        });
    return stored(Filters, loops_of_filter(), own,
                  transformed(transform_.filter, values, of_.axes.size(), times, fuses_),
                  "filters");
  }

  // Returns the mask of places up to `beyond` past the last output, which the last tiles may
  // exceed.
  UOp in_bounds(const Axis& axis, const UOp& at, std::int64_t beyond) const {
    const std::int64_t tiles =
        iterations(axis.out) * (axis.out == blocks_.loop ? blocks_.count : 1);
    return tiles * tile_.outputs == axis.outputs() ? const_bool(true)
                                                   : at < axis.outputs() + beyond;
  }

  static UOp with_validity(const UOp& load, const UOp& valid) {
    std::vector<UOp> index, src;
    for (const Node* source : load.src(0)->src()) index.emplace_back(source);
    for (const Node* source : load->src()) src.emplace_back(source);
    index[1] = index[1] & valid;
    src[0] = make(Op::Index, index);
    return make(Op::Load, src);
  }

  UOp inputs() const {
    const Substitution own = fresh(loops_of_input());
    const auto values =
        along_axes(of_.axes.size(), static_cast<std::size_t>(products_), [&](const auto& at) {
          Substitution by = with_all(own);
          UOp valid = const_bool(true);
          for (std::size_t a = 0; a < at.size(); ++a) {
            const Axis& axis = of_.axes[a];
            const UOp first = by.at(axis.out) * tile_.outputs;
            by[axis.out] = first;
            by.emplace(axis.tap, const_int(at[a]));
            valid = valid & in_bounds(axis, first + at[a], tile_.taps - 1);
          }
          const UOp read = with_validity(substitute(UOp(of_.input), by), valid);
          return simplify(cast(read, factor_dtype()));
        });
    return stored(Inputs, loops_of_input(), own,
                  transformed(transform_.input, values, of_.axes.size(), times, fuses_), "inputs");
  }

  UOp products() const {
    const Ranges loops = of_.loops();
    Substitution own = fresh(loops);
    std::vector<UOp> number, sum{UOp()};
    for (std::size_t a = 0; a < of_.axes.size(); ++a)
      number.push_back(range(products_, fresh_id().value));
    for (const auto& [loop, with] : fresh(channels_, LoopKind::Reduce)) own.emplace(loop, with);
    for (const Node* channel : channels_) sum.push_back(own.at(channel));
    const auto read = [&](Memory memory, const Ranges& of) {
      return cast(make(Op::Load, {place(memory, Access::Read, number, of, own)}), of_.sum->dtype());
    };
    sum[0] = read(Inputs, loops_of_input()) * read(Filters, loops_of_filter());
    const UOp value = sum.size() == 1 ? sum[0] : make(Op::Reduce, sum, {}, ReduceArg{Op::Add, {}});
    const UOp store = make(Op::Store, {place(Products, Access::Write, number, loops, own), value},
                           {}, StoreArg{});
    std::vector<UOp> iterations = number;
    for (const Node* loop : loops) iterations.push_back(own.at(loop));
    return maker_.kernel(store, iterations, "products");
  }

  UOp outputs() const {
    const Ranges loops = of_.loops();
    const Substitution own = fresh(loops);
    const auto products =
        along_axes(of_.axes.size(), static_cast<std::size_t>(products_), [&](const auto& at) {
          return make(Op::Load, {place(Products, Access::Read, numbers(at), loops, own)});
        });
    const std::vector<UOp> sums =
        transformed(transform_.result, products, of_.axes.size(), times_result, fuses_);
    std::vector<UOp> stores;
    std::size_t next = 0;
    along_axes(of_.axes.size(), static_cast<std::size_t>(tile_.outputs), [&](const auto& at) {
      Substitution by = with_all(own);
      UOp valid = const_bool(true);
      for (std::size_t a = 0; a < at.size(); ++a) {
        const UOp place = by.at(of_.axes[a].out) * tile_.outputs + at[a];
        by[of_.axes[a].out] = place;
        valid = valid & in_bounds(of_.axes[a], place, 0);
      }
      by.emplace(of_.sum, without_scale(sums[next++]));
      stores.push_back(guarded(substitute(UOp(of_.store), by), valid));
      return stores.back();
    });
    return sink(tuple(simplify(stores)), loops, own, "outputs");
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
    const std::int32_t products = param(Products, Access::Read)->arg<ParamArg>().slot;
    for (const Node* node : toposort(store.node())) {
      if (node->op() != Op::Index || node->src(0)->op() != Op::Param) continue;
      if (node->src(0)->arg<ParamArg>().slot == products) continue;
      std::vector<UOp> src;
      for (const Node* source : node->src()) src.push_back(substitute(UOp(source), by));
      src[1] = src[1] & valid;
      by.emplace(node, make(Op::Index, src));
    }
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
