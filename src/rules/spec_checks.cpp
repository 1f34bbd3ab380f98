// The checks: for each thing that can be wrong, the ops it concerns and what to say.

#include "spec_checks.h"

#include <algorithm>
#include <set>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/multi.h>

namespace weft {
namespace {

using enum Op;
using Around = const Surroundings&;

constexpr OpSet closers{End, Reduce, Stage};
constexpr OpSet reductions{Reduce, AllReduce};
constexpr OpSet combining{Add, Mul, Max};
// What has memory of its own, so that places in it can be named.
constexpr OpSet storages{Buffer, Param, Stage,      Call,      Custom, Copy,
                         Shard,  Multi, Contiguous, AllReduce, Remat};
// REMAT and CALL have ids too, but only to keep equal nodes apart: different ones may share one.
constexpr OpSet identified{Variable, Counter, Range, Buffer, Stage};
// What takes a place in memory as such, wherever it stands among the sources.
constexpr OpSet place_takers{AsyncCopy, Custom, Sink, Tuple};

NodeList rest(const Node* node, std::size_t from) { return node->src().subspan(from); }

bool is_int(const Node* node) { return node->dtype().is_int(); }
bool is_bool(const Node* node) { return node->dtype().is_bool(); }
bool is_number(const Node* node) { return node->dtype().bits() > 0; }
bool is_scalar(const Node* node) { return node->dtype().lanes() == 1; }
bool is_scalar_int(const Node* node) { return is_int(node) && is_scalar(node); }
bool is_scalar_bool(const Node* node) { return is_bool(node) && is_scalar(node); }
bool is_fragment(const Node* node) { return node->dtype().kind() == Kind::Fragment; }

template <class Predicate>
bool all(NodeList nodes, Predicate holds) {
  return std::ranges::all_of(nodes, holds);
}

// Calls do not say what they return, nor do lists.
std::optional<std::size_t> rank_of(const Node* place) {
  const Node* storage = storage_of(place);
  if (OpSet{Call, Custom}.contains(storage->op()) || storage->dtype().is_void())
    return std::nullopt;
  return storage->dims().size();
}

// Whether the INDEX names a place of a PARAM with just this access.
bool is_param_with(Access access, const Node* index) {
  if (index->op() != Index) return false;
  const Node* storage = storage_of(index->src(0));
  return storage->op() == Param && storage->arg<ParamArg>().access == access;
}

bool is_canonical(const Node* node) {
  const Bits bits = node->arg<ConstArg>().bits;
  return is_number(node) && bits == canonical_bits(bits, node->dtype());
}

bool holds_its_bounds(const Node* node) {
  const auto& arg = node->arg<VariableArg>();
  if (!is_scalar_int(node) || arg.lo > arg.hi) return false;
  const Interval all = dtype_interval(node->dtype());
  return all.contains(arg.lo) && all.contains(arg.hi);
}

bool keeps_lanes(const Node* node) {
  return all(node->src(), [&](auto s) { return s->dtype().lanes() == node->dtype().lanes(); });
}

// A STAGE keeps its dimension where a loop of one iteration has become 0.
bool closes_ranges_once(const Node* node) {
  std::set<const Node*> seen;
  return all(rest(node, 1), [&](auto s) {
    const bool is_single = node->op() == Stage && is_scalar_int(s) && s->is_const_int(0);
    return is_single || (s->op() == Range && seen.insert(s).second);
  });
}

// A loop may have fewer iterations in some iterations of those around it.
bool stands_in_loops_of_sizes(const Node* node) {
  const NodeList around = node->ranges();
  return all(rest(node, 1), [&](auto s) {
    return s->op() != Range || all(s->src(0)->ranges(), [&](auto range) {
             return std::ranges::find(around, range) != around.end();
           });
  });
}

bool is_one_permutation(const Node* stage) {
  std::vector<std::int64_t> layout = stage->arg<StageArg>().layout.get();
  if (layout.empty()) return true;
  std::ranges::sort(layout);
  for (std::size_t i = 0; i < layout.size(); ++i)
    if (layout[i] != static_cast<std::int64_t>(i)) return false;
  return layout.size() == stage->size() - 1;
}

bool is_well_placed(const Node* buffer) {
  const auto& arg = buffer->arg<BufferArg>();
  return arg.swizzle >= 0 && arg.align >= 0 && (arg.align & (arg.align - 1)) == 0;
}

bool indexes_storage(const Node* index) {
  return storages.contains(storage_of(index->src(0))->op());
}
constexpr std::string_view not_storage = "source 0 is not a buffer, param, stage or other storage";

bool indexes_every_dimension(const Node* index) {
  const auto rank = rank_of(index->src(0));
  return all(rest(index, 2), is_int) && (!rank || *rank == index->size() - 2);
}

// An INDEX has its buffer's dtype and would pass for a value.
bool loads_what_it_uses(const Node* node) {
  if (place_takers.contains(node->op())) return true;
  const bool takes_first = OpSet{Load, Store, Prefetch}.contains(node->op());
  return all(rest(node, takes_first ? 1 : 0), [](auto s) { return s->op() != Index; });
}

// So would the buffer itself; in the tensor graph it does.
bool indexes_what_it_loads(const Node* node) {
  if (place_takers.contains(node->op())) return true;
  const bool takes_first = OpSet{Index, After, GetTuple}.contains(node->op());
  return all(rest(node, takes_first ? 1 : 0),
             [](auto s) { return !OpSet{Buffer, Param, Stage}.contains(storage_of(s)->op()); });
}

// An effect may be a loop or a barrier with the LOAD inside.
bool has_readers_last(const Node* store, Around around) {
  return all(rest(store, 2), [&](auto s) { return s->op() == Load || around.has_effect(s); });
}

// A RANGE stands for the beginning of its iteration.
bool are_effects_or_iterations(NodeList nodes, Around around) {
  return all(nodes, [&](auto s) { return s->op() == Range || around.has_effect(s); });
}
bool comes_after_effects(const Node* after, Around around) {
  return are_effects_or_iterations(rest(after, 1), around);
}

// What differs from worker to worker.
bool is_equal_for_all(const Node* value) {
  return std::ranges::none_of(toposort(value),
                              [](auto node) { return OpSet{Special, Load}.contains(node->op()); });
}

// Each worker comes to a barrier, and as often as the others.
bool is_met_by_all(const Node* barrier) {
  return all(barrier->ranges(), [](auto range) { return is_equal_for_all(range->src(0)); });
}
bool holds_no_barrier(const Node* end_if) {
  const Node* condition = end_if->src(0);
  return is_equal_for_all(condition) ||
         std::ranges::none_of(toposort(rest(end_if, 1)), [&](auto node) {
           return node->op() == Barrier && depends_on(node, condition);
         });
}

// In the tensor graph a whole view is stored into at once.
bool stores_into_memory(const Node* store) {
  const Node* place = store->src(0);
  if (place->op() == Index) return true;
  while (info(place->op()).cls == OpClass::Movement || place->op() == Detach) place = place->src(0);
  return storages.contains(storage_of(place)->op());
}

bool is_in_registers(const Node* node) {
  return node->op() == Stage && node->arg<StageArg>().space == Space::Register;
}

// The index along an axis, say: what changes with nothing but the ranges it closes.
bool is_a_function_of_its_ranges(const Node* stage) {
  return is_in_registers(stage) && stage->ranges().empty();
}

bool is_async_copy(const Node* node) { return node->op() == AsyncCopy; }

bool copies_place_to_place(const Node* copy) {
  return all(copy->src(),
             [&](auto s) { return s->op() == Index && s->dtype() == copy->src(0)->dtype(); });
}

bool is_lane(std::int32_t at, const Node* vector) {
  return at >= 0 && static_cast<std::uint32_t>(at) < vector->dtype().lanes();
}

bool splits_an_axis(const Node* node) {
  const std::int32_t axis = node->arg<ShardArg>().axis;
  return axis >= -1 && axis < std::ssize(node->dims());
}

bool has_repeated(const std::vector<Symbol>& devices) {
  for (auto device = devices.begin(); device != devices.end(); ++device)
    if (std::find(device + 1, devices.end(), *device) != devices.end()) return true;
  return false;
}

// What hands a tuple through keeps its members as they are.
bool is_member(const Node* get) {
  static const OpSet keeping{Reduce, Stage, Call, After, Copy, Contiguous, Detach, Remat};
  const std::int32_t at = get->arg<PositionArg>().at;
  const Node* list = get->src(0);
  while (keeping.contains(list->op())) list = list->src(0);
  if (list->op() != Tuple) return at >= 0 && OpSet{Custom, Sink}.contains(list->op());
  if (at < 0 || static_cast<std::size_t>(at) >= list->size()) return false;
  const Node* member = list->src(static_cast<std::size_t>(at));
  return member->dtype() == get->dtype() && member->op() != Index;
}

bool may_hold(const Node* variable, const Node* value) {
  const Interval room = variable->bounds(), values = value->bounds();
  return variable->op() == Variable && is_scalar_int(value) && values.lo <= room.hi &&
         room.lo <= values.hi;
}

// Whether loops that fill memory read no more of it than the element that they store: others may be new by then.
bool reads_what_it_stores(const Node* end) {
  const Node* store = end->src(0);
  if (store->op() != Store || store->size() != 2 || store->src(0)->op() != Index) return true;
  const Node *place = store->src(0), *memory = storage_of(place->src(0));
  // Of what has lanes, rows may be read and turned.
  if (memory->op() != Buffer || !is_scalar(store->src(1))) return true;
  const auto is_ready_before = [&](const Node* node) {
    return all(node->ranges(), [&](auto loop) { return changes_with(end, loop); });
  };
  const auto beside = nodes_below({store->src(1)}, [](const Node* node) {
    return node->op() == After ? NodeList{} : node->src();
  });
  return all(beside, [&](const Node* node) {
    return node->op() != Index || storage_of(node->src(0)) != memory || is_ready_before(node) ||
           std::ranges::equal(rest(node, 2), rest(place, 2));
  });
}

bool never(const Node*) { return false; }

std::vector<Check> all_checks() {
  const OpSet every_op = OpSet::where([](Op) { return true; });
  const OpSet elementwise = OpSet::where(is_elementwise);
  // What lies in memory, or is handed on by what has to know how wide it is. The dtype of an INDEX,
  // LOAD or STORE is its storage's.
  const OpSet sized = OpSet::where(
      [](Op op) { return storages.contains(op) || OpSet{Counter, Detach, Shuffle}.contains(op); });
  const OpSet movement = OpSet::where([](Op op) { return info(op).cls == OpClass::Movement; });
  // clang-format off
  return {
    // Values.
    {Level::Any, {Const}, is_canonical, "the bits are not a value of the dtype"},
    {Level::Any, {Variable}, holds_its_bounds,
     "not a scalar integer with lo <= hi inside its dtype"},
    {Level::Any, {Counter}, is_scalar_int, "not a scalar integer"},
    {Level::Any, elementwise, [](auto n) { return is_number(n) && all(n->src(), is_number); },
     "an operand or the result is not a number"},
    {Level::Any, elementwise, keeps_lanes, "the operands and the result differ in lanes"},
    {Level::Any, {Bitcast}, [](auto n) { return n->dtype().bits() == n->src(0)->dtype().bits(); },
     "the widths differ"},
    {Level::Any, {Bitcast},
     [](auto n) { return !n->dtype().is_index() && !n->src(0)->dtype().is_index(); },
     "dtype index has no bits: cast it to an integer first"},

    // Loops.
    {Level::Any, {Range, Special}, [](auto n) { return is_scalar_int(n->src(0)); },
     "the size is not a scalar integer"},
    {Level::Any, {Special}, [](auto n) { return n->src(0)->ranges().empty(); },
     "the size changes with a range"},
    {Level::Any, {Special}, [](const Node* n) { return n->arg<SpecialArg>().axis >= 0; },
     "the axis is negative"},
    {Level::Any, closers, closes_ranges_once,
     "what it closes are not RANGEs, each once"},
    {Level::Any, closers, stands_in_loops_of_sizes,
     "a size changes with a loop that is not around it"},
    {Level::Any, {End}, [](auto n, Around a) { return a.has_effect(n->src(0)); },
     "what it repeats has no effect"},
    {Level::Any, reductions,
     [](auto n) { return !n->dtype().is_void() || n->src(0)->op() == Tuple; },
     "reduces neither values nor a tuple of them"},
    {Level::Any, reductions,
     [](const Node* n) { return combining.contains(n->arg<ReduceArg>().op); },
     "combines by an op other than add, mul and max"},
    {Level::Any, {Reduce},
     [](const Node* n) { return n->arg<ReduceArg>().axes.empty() == (n->size() > 1); },
     "reduces over both axes and ranges, or over neither"},
    {Level::Any, identified, [](auto n, Around a) { return a.is_first_of_its_name(n); },
     "another node of this op has the same id"},

    // Memory.
    {Level::Any, {Buffer, Param}, [](auto n) { return !n->dtype().is_void(); }, "holds nothing"},
    {Level::Any, {Buffer, Param}, [](auto n) { return n->ranges().empty(); },
     "a dimension changes with a range"},
    {Level::Any, {Buffer}, is_well_placed,
     "the alignment is not a power of two, or the swizzle is negative"},
    {Level::Any, {Param}, [](const Node* n) { return n->arg<ParamArg>().slot >= 0; },
     "the slot is negative"},
    {Level::Any, {Stage}, is_one_permutation, "the layout is not a permutation of the ranges"},
    {Level::Any, {Index}, [](auto n) { return is_bool(n->src(1)); },
     "the validity is not a bool"},
    {Level::Any, {Index}, indexes_every_dimension, "not one integer for each dimension"},
    {Level::Any, every_op, loads_what_it_uses,
     "a source is a place (INDEX) where a value should be"},
    {Level::Any, {Load, Prefetch}, [](auto n) { return n->src(0)->op() == Index; },
     "source 0 is not an INDEX"},
    {Level::Any, {Store}, stores_into_memory, "source 0 is neither an INDEX nor a view of memory"},
    {Level::Any, {Load}, [](auto n) { return !is_param_with(Access::Write, n->src(0)); },
     "reads a param that may only be written"},
    {Level::Any, {Load},
     [](auto n) { return n->size() == 1 || (n->size() == 2 && n->src(1)->dtype() == n->dtype()); },
     "what stands for invalid places is not one value of the dtype"},
    {Level::Any, {Store},
     [](auto n) {
       return !is_param_with(Access::Read, n->src(0)) && !is_param_with(Access::Constant, n->src(0));
     },
     "writes a param that may only be read"},
    {Level::Any, {Store}, [](auto n) { return n->src(1)->dtype() == n->src(0)->dtype(); },
     "the value is not of the buffer's dtype"},
    {Level::Any, {Store}, [](const Node* n) { return combining.contains(n->arg<StoreArg>().op); },
     "combines by an op other than add, mul and max"},
    {Level::Any, {Store}, has_readers_last, "an earlier reader is neither a LOAD nor an effect"},
    {Level::Any, {After}, comes_after_effects, "what it comes after has no effect"},
    {Level::Any, {AsyncCopy}, copies_place_to_place, "the sources are not INDEXes of one dtype"},
    {Level::Any, {Wait}, [](auto n) { return all(n->src(), is_async_copy); },
     "waits for what is not an ASYNC_COPY"},
    {Level::Any, {Wait}, [](const Node* n) { return n->arg<PositionArg>().at >= 0; },
     "waits for a negative number"},

    // Control.
    {Level::Any, {Barrier}, [](auto n, Around a) { return are_effects_or_iterations(n->src(), a); },
     "what it waits for has no effect"},
    {Level::Any, {If}, [](auto n) { return is_scalar_bool(n->src(0)); },
     "the condition is not a scalar bool"},
    {Level::Any, {EndIf}, [](auto n) { return n->src(0)->op() == If; }, "source 0 is not an IF"},

    {Level::Any, {Barrier}, is_met_by_all, "a loop around it differs from worker to worker"},
    {Level::Any, {EndIf}, holds_no_barrier, "a barrier under a condition that not all workers share"},

    // The tensor graph around them.
    {Level::Any, sized, [](auto n) { return !n->dtype().is_index() || is_in_registers(n); },
     "dtype index has no width in memory: cast it to an integer first"},
    {Level::Any, {GetTuple}, is_member, "there is no value of this dtype at the position"},
    {Level::Any, {GetTuple},
     [](auto n) { return !n->dtype().is_index() || n->src(0)->op() == Tuple; },
     "dtype index has no width in a list that is handed on: cast it to an integer first"},
    {Level::Any, {Bind}, [](auto n) { return may_hold(n->src(0), n->src(1)); },
     "does not bind a variable to an integer inside its bounds"},
    {Level::Any, {Shard, Multi}, [](const Node* n) { return splits_an_axis(n); },
     "the axis is outside the shape"},
    {Level::Any, {Shard, Multi}, [](const Node* n) { return !has_repeated(devices_of(n)); },
     "a device has two parts"},
    {Level::Any, {Multi}, [](const Node* n) { return devices_of(n).size() == n->size(); },
     "not a part for each device"},
    {Level::Any, {Multi}, [](const Node* n) {
       return all(n->src(), [n](const Node* part) { return part->dtype() == n->dtype(); });
     }, "the parts differ in dtype"},

    // Vectors, lanes and fragments.
    {Level::Any, {Splat}, [](auto n) { return n->src(0)->dtype() == n->dtype().scalar(); },
     "does not repeat a scalar of its own dtype"},
    {Level::Any, {Lane}, [](const Node* n) { return is_lane(n->arg<PositionArg>().at, n->src(0)); },
     "the vector has no such lane"},
    {Level::Any, {Splat, Lane, Shuffle}, is_number, "the lanes are not numbers"},
    {Level::Any, {Shuffle}, [](auto n) { return is_scalar_int(n->src(1)); },
     "the lane is not a scalar integer"},
    {Level::Any, {Mma},
     [](auto n) {
       return (is_fragment(n) && all(n->src(), is_fragment)) ||
              (!is_scalar(n) && std::ranges::none_of(n->src(), is_scalar));
     },
     "a source or the result is neither a fragment nor a vector"},
    {Level::Any, {Mma}, [](auto n) { return n->src(2)->dtype() == n->dtype(); },
     "what it adds to is of another dtype"},

    // What a level leaves out. (On the way from tensors to kernels, INDEX is an element of any.)
    {Level::Tensor, {Index}, indexes_storage, not_storage},
    {Level::Kernel, {Index}, indexes_storage, not_storage},
    {Level::Tensor, {Special, End, Barrier, If, EndIf, Prefetch, AsyncCopy, Wait}, never,
     "belongs to kernels"},
    {Level::Tensor, {Stage}, is_a_function_of_its_ranges,
     "only a function of its ranges, in registers, is no kernel's"},
    {Level::Tensor, {Range}, [](auto n, Around a) { return a.closed(n) == 1; },
     "not closed by exactly one END, REDUCE or STAGE"},
    {Level::Tensor, every_op, [](auto n) { return is_scalar(n) && !is_fragment(n); },
     "vectors and fragments belong to kernels"},
    {Level::Tensor, {Stack, Splat, Lane, Shuffle}, never,
     "vectors and fragments belong to kernels"},
    {Level::Kernel, {Store}, [](auto n) { return n->src(0)->op() == Index; },
     "source 0 is not an INDEX"},
    {Level::Kernel, movement, never, "in a kernel, movement is arithmetic on indices"},
    {Level::Kernel, {Copy, Shard, Multi, AllReduce, Contiguous, Detach, Remat, Bind, Call, Counter}, never,
     "belongs to the tensor graph"},
    {Level::Kernel, {Reduce}, [](const Node* n) { return n->arg<ReduceArg>().axes.empty(); },
     "a kernel reduces over ranges, not axes"},
    {Level::Program, {Reduce, Stage}, never, "should have been lowered"},
    {Level::Program, every_op, [](auto n) { return !n->dtype().is_weak(); },
     "the width of the dtype is still open"},

    // What makes a kernel one.
    {Level::Kernel, every_op, [](auto n, Around a) { return (n->op() == Sink) == a.is_root(n); },
     "a kernel is what lies below one SINK"},
    {Level::Kernel, {Sink}, [](auto, Around a) { return a.has_one_root(); }, "not the only root"},
    {Level::Kernel, {Sink}, [](auto n) { return n->ranges().empty(); }, "a range is still open"},
    {Level::Kernel, {Range}, [](auto n, Around a) { return a.closed(n) == 1; },
     "not closed by exactly one END, REDUCE or STAGE"},
    {Level::Kernel, {If}, [](auto n, Around a) { return a.closed(n) == 1; },
     "not ended by exactly one ENDIF"},
    {Level::Kernel, {Param, Special}, [](auto n, Around a) { return a.is_first_of_its_name(n); },
     "another node of this op has the same place"},
    Check(Level::Kernel, {End}, reads_what_it_stores,
          "its loops store into memory of which they read another element").not_of_programs(),
    {Level::Kernel, every_op, indexes_what_it_loads,
     "a source is a buffer where a value should be"},
  };
  // clang-format on
}

}  // namespace

const std::vector<Check>& spec_checks() {
  static const std::vector<Check> checks = all_checks();
  return checks;
}

}  // namespace weft
