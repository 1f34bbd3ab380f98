// BATCH: a TILE where what each inner iteration fills is filled for all of them at once, before the
// first one.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/dev/ir/memory.h>

#include "batch.h"
#include "fill_in_place.h"
#include "fills.h"
#include "kernel_loops.h"
#include "stores.h"

namespace weft {
namespace {

constexpr std::int64_t sizes_of_batches[] = {12, 16, 24, 32, 48, 96, 192};
constexpr std::int64_t least_batch = 4;  // a shorter loop than sizes_of_batches[0] is one batch
constexpr double bytes_of_way = 1024;    // of a cache, or a divisor of that
constexpr int bytes_of_line = 64;

// Whether the node is a BUFFER once a single STORE, with or without loops, has filled it, rather
// than memory that a loop carries.
bool is_filled(const Node* node) {
  return only_store_into(node) != nullptr && node->src(0)->op() == Op::Buffer;
}

// Whether some filled buffer depends on the range.
bool fills_memory(const Node* kernel, const Node* range) {
  return std::ranges::any_of(toposort(kernel), [&](const Node* node) {
    return is_filled(node) && changes_with(node, range);
  });
}

// Returns a REDUCE in the body of the loop that does not depend on all loops of the closer, so that
// several of their iterations can share it; null if there is none. Reductions of memory that is
// filled inside these loops stay in place.
const Node* sum_in_iterations(const Node* closer, const Node* range) {
  const NodeList own = closer->src().subspan(1);
  const auto below = nodes_below({closer->src(0)}, [](const Node* node) {
    return node->op() == Op::After ? node->src().first(1) : node->src();
  });
  const auto is_filled_inside = [&](const Node* part) {
    return is_filled(part) && changes_with_one_of(part, own);
  };
  for (const Node* node : toposort(closer))
    if (node->op() == Op::Reduce && changes_with(node, range) && has_node(below, node) &&
        !changes_with_each_of(node, own) && std::ranges::none_of(toposort(node), is_filled_inside))
      return node;
  return nullptr;
}

// Returns the dimensions of a batch: the iterations, then those of `buffer`. Rows are one cache
// line longer if successive iterations would otherwise map to few cache sets.
std::vector<UOp> batch_dims(const Node* iterations, const Node* buffer) {
  std::vector<UOp> sizes = list_of(buffer->dims());
  sizes.emplace(sizes.begin(), iterations);
  const auto is_row = [](const UOp& size) { return size->lo() > 1; };
  const auto row = std::find_if(sizes.rbegin(), sizes.rend(), is_row);
  if (row != sizes.rend() && std::fmod(bytes_of_memory(buffer), bytes_of_way) == 0)
    *row = const_int((*row)->lo() + bytes_of_line / buffer->dtype().bytes());
  return sizes;
}

// Whether a sum that depends on the loop reads data that is the same in all of its iterations.
bool shares_reads(const Node* sum, const Node* range) {
  const auto is_shared = [&](const Node* node) {
    return node->op() == Op::Load && !changes_with(node, range) &&
           changes_with_one_of(node, sum->src().subspan(1));
  };
  return sum->op() == Op::Reduce && changes_with(sum, range) &&
         std::ranges::any_of(toposort(sum->src(0)), is_shared);
}

}  // namespace

void KernelLoops::batch(const Action& action) {
  if (closer_of(loop(action.name))->op() != Op::End) refuse(action, "it is not an output loop");
  tile(action);
  std::string& inner = order_[position(action.name) + 1];
  const UOp batched = loops_.extract(inner).mapped();
  inner = free_name("b");  // all loops over a batch are named b0, b1 ...
  loops_.emplace(inner, batched);
  const Node* range = batched.node();
  for (const Node* node : toposort(kernel_.node())) {
    const bool is_memory = node->op() == Op::After && storage_of(node)->op() == Op::Buffer;
    const bool begins = is_memory && node->src(1)->op() == Op::Range;
    if (is_memory && changes_with(node, range) && !begins && !is_filled(node))
      refuse(action, "the loop carries memory from one iteration to the next");
    if (node->op() == Op::Reduce && node->dtype().is_void() && changes_with(node, range))
      refuse(action, "a reduction in its iterations reduces a tuple");
  }
  if (!fills_memory(kernel_.node(), range)) refuse(action, "no memory is filled in its iterations");
  std::vector<UOp> iterations{UOp(range)};
  while (const Node* node = filled_or_summed_in(range))
    iterations.push_back(node->op() == Op::Reduce ? batch_sum(node, std::vector{range})[0]
                                                  : batch_memory(node, range));
  for (const UOp& iteration : iterations) {
    const Node* closer = closer_of(iteration.node());
    while (const Node* sum = sum_in_iterations(closer, iteration.node())) {
      std::vector<const Node*> inside;
      for (const Node* other : closer->src().subspan(1))
        if (changes_with(sum, other) &&
            (iteration.node() == other || comes_before(iteration.node(), other)))
          inside.push_back(other);
      batch_sum(sum, inside);
      closer = closer_of(iteration.node());
    }
  }
  kernel_ = reuse_buffers(kernel_);
}

// Gives the buffer an outermost dimension for the iterations and fills it in a loop over them. The
// readers in each iteration index its own part. Returns the new loop.
UOp KernelLoops::batch_memory(const Node* ready, const Node* range) {
  const Node *buffer = ready->src(0), *fill = ready->src(1);
  const NodeList filling = fill->op() == Op::End ? fill->src().subspan(1) : NodeList{};
  const UOp own = weft::range(UOp(range->src(0)), fresh_id().value);
  const UOp store = substitute(UOp(only_store_into(ready)), {{range, own}});
  const UOp memory = make(Op::Buffer, batch_dims(range->src(0), buffer), buffer->dtype(),
                          BufferArg{fresh_id(), buffer->arg<BufferArg>().space});
  const UOp begin = with_list(Op::After, memory, loops_outside(ready, std::vector{range}));
  const auto place_of = [](const UOp& in, const UOp& iteration, const Node* index) {
    std::vector<UOp> src = list_of(index->src());
    src[0] = in;
    src.insert(src.begin() + 2, iteration);
    return make(Op::Index, src);
  };
  const UOp stored = with_first_source(store, place_of(begin, own, store->src(0)));
  std::vector<UOp> loops = list_of(filling);
  loops.insert(loops.begin(), own);
  const UOp now = make(Op::After, {memory, with_list(Op::End, stored, loops)});

  Substitution readers;
  for (const Node* node : toposort(kernel_.node()))
    if (node->op() == Op::Index && node->src(0) == ready)
      readers.emplace(node, place_of(now, UOp(range), node));
  add_loop(find_loop(filling.empty() ? nullptr : filling[0]), free_name("b"), own);
  kernel_ = substitute(kernel_, readers);
  return own;
}

// Returns the next filled buffer or REDUCE that depends on `range` and on no loop inside of it,
// sources before users. Returns null if there is none left.
const Node* KernelLoops::filled_or_summed_in(const Node* range) const {
  const auto is_outer = [&](const Node* other) {
    return other == range || comes_before(other, range);
  };
  for (const Node* node : toposort(kernel_.node())) {
    if (!changes_with(node, range) || !std::ranges::all_of(node->ranges(), is_outer)) continue;
    if (is_filled(node) || node->op() == Op::Reduce) return node;
  }
  return nullptr;
}

// Materialises the sum in scratch memory, with a dimension and a loop for each of the loops
// `inside`. Returns the new loops.
std::vector<UOp> KernelLoops::batch_sum(const Node* sum, NodeList inside) {
  const FilledMemory filled = computed_before(sum, inside);
  for (const UOp& own : filled.loops) add_loop(find_loop(sum->src(1)), free_name("b"), own);
  replace(sum, filled.read_at(list_of(inside)));
  return filled.loops;
}

namespace {

// Whether a batch of the loop may pay off: its size is constant, its iterations fill memory, and a
// sum reads the same data in all of them.
bool may_be_batch(const Node* kernel, const Node* range) {
  return range->src(0)->is_const() && fills_memory(kernel, range) &&
         std::ranges::any_of(toposort(kernel),
                             [&](auto node) { return shares_reads(node, range); });
}

// Returns the indices of those loops of the kernel's only END for which the test holds, outermost
// first. Returns none if the kernel has several effects.
template <class Test>
std::vector<std::size_t> output_loops_where(const Node* kernel, const Test& test) {
  std::vector<std::size_t> found;
  if (kernel->size() != 1 || kernel->src(0)->op() != Op::End) return found;
  const NodeList own = kernel->src(0)->src().subspan(1);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (test(own[i])) found.push_back(i);
  return found;
}

// Whether the sum depends on this loop of the kernel's END, but not on all of them.
bool is_sum_in_fewer_loops(const Node* sum, const Node* end, const Node* range) {
  return sum->op() == Op::Reduce && changes_with(sum, range) &&
         !changes_with_each_of(sum, end->src().subspan(1));
}

Action order_of(const std::vector<std::size_t>& loops) {
  Action order{.type = Action::Order, .name = {}};
  for (const std::size_t loop : loops) order.loops.push_back(fmt::format("r{}", loop));
  return order;
}

}  // namespace

Schedule order_filling_loops_outermost(const Node* kernel) {
  std::vector<std::size_t> order = output_loops_where(kernel, [&](const Node* range) {
    return fills_memory(kernel, range) ||
           std::ranges::any_of(toposort(kernel), [&](const Node* node) {
             return is_sum_in_fewer_loops(node, kernel->src(0), range);
           });
  });
  if (order.empty() || order.back() + 1 == order.size()) return {};
  for (std::size_t i = 0; i + 1 < kernel->src(0)->size(); ++i)
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  return {order_of(order)};
}

// Batches the innermost loop that qualifies. Loops inside of it that fill memory as well are moved
// outside.
std::vector<Schedule> batch_schedules(const Node* kernel) {
  std::vector<Schedule> found;
  std::vector<std::size_t> order =
      output_loops_where(kernel, [&](const Node* range) { return fills_memory(kernel, range); });
  const auto range_of = [&](std::size_t loop) { return kernel->src(0)->src(loop + 1); };
  const auto at = std::ranges::find_if(order.rbegin(), order.rend(), [&](auto loop) {
    return may_be_batch(kernel, range_of(loop));
  });
  if (at == order.rend()) return found;
  const Node* range = range_of(*at);
  const std::string name = fmt::format("r{}", *at);
  order.erase(order.begin(), at.base() - 1);
  std::ranges::rotate(order, order.begin() + 1);
  const std::int64_t iterations = range->src(0)->lo();
  std::vector<std::int64_t> counts(std::begin(sizes_of_batches), std::end(sizes_of_batches));
  if (iterations >= least_batch && iterations < counts[0]) counts = {iterations};
  for (const std::int64_t count : counts) {
    const bool is_whole = iterations % count == 0;
    if (count > iterations || (!is_whole && !may_store_twice(kernel->src(0)))) continue;
    found.emplace_back();
    if (order.size() > 1) found.back().push_back(order_of(order));
    found.back().push_back({.type = Action::Batch,
                            .name = name,
                            .count = count,
                            .tail = is_whole ? Tail::None : Tail::Shift});
  }
  return found;
}

}  // namespace weft
