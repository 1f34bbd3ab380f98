#include "partition.h"

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/cost/places.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>

#include "kernel_limits.h"
#include "loops/step_loop.h"
#include "plan_steps.h"

namespace weft {
namespace {

constexpr OpSet passing{Op::Detach, Op::Remat};  // no effect on values

// The most elements of a factor that is materialised for a matrix instruction.
constexpr double most_multiplied = 4 << 20;

bool is_view(const Node* node) {
  return info(node->op()).cls == OpClass::Movement || passing.contains(node->op());
}

bool is_computed(const Node* node) {
  return is_elementwise(node->op()) || node->op() == Op::Reduce || node->op() == Op::Load;
}

const Node* viewed(const Node* node) {
  while (is_view(node)) node = node->src(0);
  return node;
}

// Returns whether the node is a leaf without memory, such as a constant.
bool is_leaf(const Node* node) {
  return info(node->op()).cls == OpClass::Leaf && node->op() != Op::Buffer;
}

// Returns the source that has the same elements in the same order.
const Node* reshaped(const Node* node) {
  while (node->op() == Op::Reshape || node->op() == Op::Contiguous || passing.contains(node->op()))
    node = node->src(0);
  return node;
}

// Counts the parts of a concat whose parts are all reductions or computed elementwise from
// reductions. Other values, and concats of too many parts, count 0. Each part can be stored at its
// place in the result (layout/concat_elimination.h) by a kernel that is needed anyway.
class ConcatReads {
 public:
  int operator()(const Node* node) {
    if (node->op() != Op::Where || !is_leaf(viewed(node->src(0)))) return 0;
    if (const int* known = parts_.find(node)) return *known;
    const int front = parts_below(node->src(1)), back = parts_below(node->src(2));
    const bool counts = front > 0 && back > 0 && front + back <= most_parts;
    parts_.set(node, counts ? front + back : 0);
    return *parts_.find(node);
  }

  // Looks through padding and views, down to a concat or to the values that a part is computed
  // from.
  static const Node* source_of(const Node* part) {
    while (OpSet{Op::Pad, Op::Reshape, Op::Permute, Op::Detach}.contains(part->op()))
      part = part->src(0);
    return part;
  }

 private:
  static constexpr int most_parts = 16, most_depth = 16;

  int parts_below(const Node* part) {
    const int parts = (*this)(source_of(part));
    return parts > 0 ? parts : static_cast<int>(is_of_sum(part, 0));
  }

  bool is_of_sum(const Node* value, int depth) {
    value = source_of(value);
    if (value->op() == Op::Reduce) return true;
    if (!is_elementwise(value->op()) || depth > most_depth) return false;
    if (const bool* known = of_sums_.find(value)) return *known;
    const bool found = std::ranges::any_of(
        value->src(), [&](auto source) { return is_of_sum(source, depth + 1); });
    of_sums_.set(value, found);
    return found;
  }

  NodeMap<int> parts_;
  NodeMap<bool> of_sums_;
};

class Partitioner {
 public:
  Partitioner(const std::vector<Root>& roots, const Target& target)
      : roots_(roots), target_(target) {
    std::vector<const Node*> all;
    for (const Root& root : roots) all.push_back(root.tensor.node());
    nodes_ = without_steps(all);
  }

  Partition run() {
    collect_user_info();
    for (const Node* node : nodes_) visit(node);
    waits_.clear();
    for (const Root& root : roots_) {
      UOp value = visited(root.tensor.node()).value;
      if (is_leaf(viewed(value.node()))) value = apart(root.tensor.node(), value, root.device);
      result_.roots.push_back(value);
    }
    return std::move(result_);
  }

 private:
  // Returns all nodes but those in the bodies of step loops, which are planned separately.
  static std::vector<const Node*> without_steps(const std::vector<const Node*>& roots) {
    std::vector<const Node*> all = toposort(roots);
    if (std::ranges::none_of(all, [](auto node) { return node->op() == Op::Call; })) return all;
    NodeMap<bool> is_outside;
    for (const Node* node : nodes_below(roots, [](const Node* user) {
           return user->op() == Op::Call ? user->src().subspan(1) : user->src();
         }))
      is_outside.set(node, true);
    std::erase_if(all, [&](const Node* node) { return !is_outside.contains(node); });
    return all;
  }

  // The work of a node and of everything below it, up to partition points.
  struct Work {
    int ops = 0;
    int code = 0;          // the same after expanding ops without an instruction
    bool is_short = true;  // each op takes one instruction
    bool reads_memory = false;

    void add(const Work& other) {
      ops += other.ops;
      code += other.code;
      is_short = is_short && other.is_short;
      reads_memory = reads_memory || other.reads_memory;
    }
  };

  static Work own_work(const Node* node) {
    if (!is_computed(node)) return {};
    return {.ops = 1,
            .code = code_size(node),
            .is_short = is_one_instruction(node->op()),
            .reads_memory = !is_elementwise(node->op())};
  }

  // What is known about a node from its users, before it is visited.
  struct UserInfo {
    int uses = 0;           // by computing users, looking through views; 2 means several
    bool repeated = false;  // by an EXPAND
    bool must_materialise = false;
    bool is_summed = false;      // by a REDUCE
    bool is_multiplied = false;  // in such a sum of products, as by a matrix instruction
    bool is_written = false;     // by an AFTER
    bool is_joined = false;      // as a part of a concat
    Symbol device = {};
    std::optional<Origin> origin = {};
  };

  UserInfo ahead(const Node* node) const {
    const UserInfo* found = ahead_.find(node);
    return found != nullptr ? *found : UserInfo{};
  }

  // Sets something that is known about the node.
  template <class T>
  void note(const Node* node, T UserInfo::* what, const T& value) {
    UserInfo known = ahead(node);
    known.*what = value;
    ahead_.set(node, known);
  }

  void collect_user_info() {
    for (const Root& root : roots_) {
      note(root.tensor.node(), &UserInfo::device, root.device);
      const Node* base = reshaped(root.tensor.node());
      // A root that is a constant gets its point last (run()). Other users of the constant must not
      // read it from memory.
      if (viewed(base)->op() == Op::After || info(viewed(base)->op()).cls == OpClass::Leaf)
        continue;
      note(base, &UserInfo::must_materialise, true);
      note(base, &UserInfo::device, root.device);
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) propagate_to_sources(*node);
  }

  void propagate_to_sources(const Node* user) {
    const UserInfo known = ahead(user);
    const auto origin = origin_of(user);
    if (user->op() == Op::After) note(user->src(0), &UserInfo::is_written, true);
    if (OpSet{Op::Remat, Op::Call}.contains(user->op()))
      for (const Node* source : user->src().subspan(1)) want_memory(source);
    // The reader of a factor widens it: if the factor is materialised, then in its narrow type.
    const bool passes_on = is_view(user) || (is_factor(user) && is_computed(user->src(0)));
    const bool sees_through = passes_on || user->op() == Op::Index;
    for (const Node* source : is_view(user) ? user->src().first(1) : user->src()) {
      UserInfo next = ahead(source);
      next.uses = std::min(2, next.uses + (sees_through ? known.uses : 1));
      next.repeated |= user->op() == Op::Expand || (passes_on && known.repeated);
      next.is_summed |= (user->op() == Op::Reduce && user->arg<ReduceArg>().op == Op::Add) ||
                        (is_view(user) && known.is_summed);
      next.is_multiplied |=
          (known.is_summed && is_product(user, source)) || (passes_on && known.is_multiplied);
      if (next.device == Symbol()) next.device = known.device;
      if (!next.origin) next.origin = origin;
      ahead_.set(source, next);
    }
    if (joins_(user) == 0) return;
    for (const Node* part : user->src().subspan(1))
      note(ConcatReads::source_of(part), &UserInfo::is_joined, true);
  }

  // Materialises a value that a REMAT waits for or a CALL takes.
  void want_memory(const Node* node) {
    while (is_view(node) || node->op() == Op::Contiguous) node = node->src(0);
    if (is_computed(node)) note(node, &UserInfo::must_materialise, true);
  }

  // A node that a rewrite rule created has the origin of its user.
  std::optional<Origin> origin_of(const Node* node) const {
    return node->has_origin() ? Interner::current().origin(node) : ahead(node).origin;
  }

  // What a node has become. The point that computes a value without a point has to wait for what
  // the value waits for.
  struct Visited {
    UOp value;
    Work work;
    Symbol device;
    std::vector<UOp> waits;
  };

  const Visited& visited(const Node* node) const { return visited_[*place_.find(node)]; }

  void visit(const Node* node) {
    Symbol device = node->op() == Op::Buffer ? node->arg<BufferArg>().device : Symbol();
    Work work = own_work(node);
    std::vector<UOp> src;
    waits_.clear();
    for (const Node* source : node->op() == Op::Call ? node->src().subspan(1) : node->src()) {
      const Visited& made = visited(source);
      src.push_back(made.value);
      work.add(made.work);
      if (device == Symbol()) device = made.device;
      for (const UOp& placeholder : made.waits) wait_for(placeholder.node());
    }
    const std::size_t known = result_.points.size();
    UOp value;
    switch (node->op()) {
      case Op::Detach: value = src[0]; break;
      case Op::Remat:
        for (std::size_t i = 1; i < src.size(); ++i) wait_for(viewed(src[i].node()));
        value = src[0];
        break;
      case Op::Contiguous: value = in_own_memory(node, src[0], device_for(node, device)); break;
      case Op::Copy:
        device = node->arg<DeviceArg>().device;
        value = copied(node, src[0], device);
        break;
      case Op::After:
        value = is_of_steps(node) ? made_by_steps(node, src[0]) : assigned(node, src);
        break;
      case Op::Call: value = called(node, src, device); break;
      case Op::GetTuple:
        value = src[0]->op() == Op::Tuple
                    ? src[0].src(static_cast<std::size_t>(node->arg<PositionArg>().at))
                    : with_sources(UOp(node), src);
        break;
      default:
        value = with_sources(UOp(node), src);
        if (is_partition_point(node, work) && !is_index_value(node, work)) {
          value = add({.value = value,
                       .must_materialise = ahead(node).must_materialise || is_multiplied(node) ||
                                           joins_(node) > 0 || work.code > most_ops,
                       .device = device_for(node, device),
                       .origin = origin_of(node)});
        }
    }
    if (value->op() == Op::Buffer) work = {.reads_memory = true};
    const bool is_new =
        result_.points.size() > known && value.is(result_.points.back().placeholder);
    place_.set(node, static_cast<std::uint32_t>(visited_.size()));
    visited_.push_back({value, work, device, is_new ? std::vector<UOp>{} : waits_});
  }

  void wait_for(const Node* placeholder) {
    if (placeholder->op() != Op::Buffer) return;
    const auto point = result_.point_of(placeholder);
    if (!point || !result_.points[*point].must_materialise) return;
    if (std::ranges::find(waits_, placeholder, &UOp::node) == waits_.end())
      waits_.emplace_back(placeholder);
  }

  // Returns whether the value has other users.
  bool is_shared(const Node* node) const {
    while (passing.contains(node->op())) node = node->src(0);
    return ahead(node).uses > 1 || ahead(reshaped(node)).must_materialise;
  }

  Symbol device_for(const Node* node, Symbol found) const {
    return found == Symbol() ? ahead(node).device : found;
  }

  // Returns whether it may pay to materialise the value: a reduction, a value that several users or
  // an EXPAND need, or one with too much code for one kernel.
  bool is_partition_point(const Node* node, const Work& work) const {
    const UserInfo known = ahead(node);
    if (node->op() == Op::Buffer) return false;
    if (known.must_materialise || is_multiplied(node)) return true;
    if (!is_computed(node) || node->dtype().is_weak() || work.ops == 0) return false;
    if (node->op() == Op::Reduce || work.code > most_ops) return true;
    if (joins_(node) > 0 && !known.is_joined) return true;
    if (work.ops == 1 && (is_factor(node) || is_byte_widened(node))) return false;
    return node->shape() != nullptr && (known.uses > 1 || known.repeated);
  }

  // Returns whether recomputing the value is faster than reading it from a buffer, because it takes
  // few ops and reads no memory.
  bool is_index_value(const Node* node, const Work& work) const {
    constexpr int few_ops = 4;
    const int most = work.is_short ? most_recomputed_ops : few_ops;
    return !work.reads_memory && work.ops <= most && !ahead(node).must_materialise;
  }

  // Returns whether the node widens one-byte integers. Reading bytes and widening them is faster
  // than reading a wide buffer.
  static bool is_byte_widened(const Node* node) {
    const auto is_whole = [](DType dtype) { return dtype.is_int() && !dtype.is_weak(); };
    return node->op() == Op::Cast && is_whole(node->dtype()) && is_whole(node->src(0)->dtype()) &&
           node->src(0)->dtype().bytes() == 1;
  }

  // Returns whether the cast widens a factor that a matrix instruction takes in its narrow type.
  bool is_factor(const Node* node) const {
    return node->op() == Op::Cast && std::ranges::any_of(target_.mma, [&](const MmaShape& shape) {
             const DType from = node->src(0)->dtype();
             return (from == shape.a || from == shape.b) && node->dtype() == shape.c;
           });
  }

  // Returns whether a matrix instruction takes the value as a factor. It reads its factors from
  // memory.
  bool is_multiplied(const Node* node) const {
    const DType dtype = node->dtype();
    const auto takes = [&](const MmaShape& shape) { return dtype == shape.a || dtype == shape.b; };
    return ahead(node).is_multiplied && is_computed(node) &&
           std::ranges::any_of(target_.mma, takes);
  }

  // Returns whether the product justifies materialising the factor: it multiplies integers or by a
  // constant, or the factor is small. Other products of two variable factors belong in one kernel:
  // attention weights take memory quadratic in the number of tokens.
  static bool is_product(const Node* user, const Node* factor) {
    if (user->op() != Op::Mul) return false;
    return user->dtype().is_int() || is_kept(user->src(user->src(0) == factor ? 1 : 0)) ||
           (user->src(0) != user->src(1) && is_little(factor));
  }

  static bool is_kept(const Node* value) {
    while (is_view(value) || value->op() == Op::Cast) value = value->src(0);
    return value->op() == Op::Buffer && value->arg<BufferArg>().space == Space::Constant;
  }

  static bool is_little(const Node* value) {
    value = viewed(value);
    return value->op() == Op::Cast && value->shape() != nullptr &&
           elements(value->dims()) <= most_multiplied;
  }

  UOp add(PartitionPoint piece) {
    BufferArg arg;
    arg.id = fresh_id();
    arg.device = piece.device;
    const UOp& like = piece.before.is_null() ? piece.value : piece.before;
    piece.placeholder = make(Op::Buffer, sizes_of(like), like->dtype(), arg);
    piece.waits = waits_;
    result_.by_id.emplace(arg.id.value, result_.points.size());
    result_.points.push_back(std::move(piece));
    return result_.points.back().placeholder;
  }

  // Materialises the value that the node has become and returns its placeholder.
  UOp in_memory(const Node* node, const UOp& value, Symbol device) {
    if (value->op() != Op::Buffer) return apart(node, value, device);
    if (const auto point = result_.point_of(value.node()))
      result_.points[*point].must_materialise = true;
    return value;
  }

  // Materialises the value in memory of its own. The program's memory may be assigned to later, and
  // memory that an assignment writes must have no other users.
  UOp in_own_memory(const Node* node, const UOp& value, Symbol device) {
    if (result_.is_program_memory(value) || (ahead(node).is_written && is_shared(node->src(0))))
      return apart(node, value, device);
    return in_memory(node, value, device);
  }

  UOp copied(const Node* copy, const UOp& value, Symbol to) {
    const Symbol from = visited(copy->src(0)).device;
    // A value that no device holds can be computed anywhere.
    if (from == to || from == Symbol()) return value;
    const auto region = region_of(value.node());
    if (region) in_memory(copy->src(0), UOp(region->buffer), from);
    return add({.value = region ? value : in_memory(copy->src(0), value, from),
                .must_materialise = true,
                .is_copy = true,
                .device = to,
                .origin = origin_of(copy)});
  }

  UOp assigned(const Node* after, const std::vector<UOp>& src) {
    UOp placeholder = src[0];
    for (std::size_t i = 1; i < src.size(); ++i) {
      const UOp& store = src[i];
      if (store->op() != Op::Store)
        user_error(fmt::format("a tensor cannot come after {}", expression_text(after)));
      const Symbol device = visited(after->src(0)).device;
      placeholder = in_memory(after->src(0), placeholder, device);
      const UOp place =
          with_indices_materialised(after->src(i)->src(0), store.src(0), placeholder, device);
      UOp value = store.src(1);
      const Node* stored = after->src(i)->src(1);
      if (!is_safe_in_place(value.node(), place.node(), placeholder.node()))
        value = apart(stored, value, device);
      placeholder =
          add({.value = value,
               .must_materialise = true,
               .device = placeholder->arg<BufferArg>().device,
               .origin = origin_of(viewed(value.node())->op() == Op::Buffer ? after : stored),
               .before = placeholder,
               .place = place,
               .store = store->arg<StoreArg>()});
    }
    return placeholder;
  }

  static bool is_of_steps(const Node* after) {
    return after->size() > 1 && after->src(1)->op() == Op::Call;
  }

  // Plans a step loop. Its inputs are materialised, and its value is the TUPLE of them.
  UOp called(const Node* call, const std::vector<UOp>& given, Symbol device) {
    std::vector<UOp> placeholders;
    for (std::size_t i = 0; i < given.size(); ++i)
      placeholders.push_back(in_memory(call->src(i + 1), given[i], device));
    loops_.emplace(call, plan_step_loop(UOp(call->src(0)), placeholders, device, target_));
    return tuple(placeholders);
  }

  UOp made_by_steps(const Node* after, const UOp& memory) {
    const Node* call = after->src(1);
    return add({.value = visited(call).value,
                .must_materialise = true,
                .device = memory->arg<BufferArg>().device,
                .origin = origin_of(after),
                .before = memory,
                .loop = loops_.at(call)});
  }

  // Materialises the value in a new buffer, which no assignment overwrites.
  UOp apart(const Node* node, const UOp& value, Symbol device) {
    return add(
        {.value = value, .must_materialise = true, .device = device, .origin = origin_of(node)});
  }

  // Materialises the indices of a store that depend on the memory it overwrites. They must not
  // change while it is written.
  UOp with_indices_materialised(const Node* node, const UOp& place, const UOp& overwritten,
                                Symbol device) {
    if (place->op() != Op::Index) return place;
    std::vector<UOp> src{place.src(0)};
    for (std::size_t i = 1; i < place->size(); ++i) {
      const UOp source = place.src(i);
      src.push_back(depends_on(source.node(), overwritten.node())
                        ? apart(node->src(i), source, device)
                        : source);
    }
    return with_sources(place, src);
  }

  // Returns whether the value can be stored element by element: of the overwritten memory, an
  // element may depend only on the element that it replaces.
  static bool is_safe_in_place(const Node* value, const Node* place, const Node* overwritten) {
    const auto is_replaced = [&](const Node* node) {
      return node == place && node->op() != Op::Index;
    };
    const auto operands = [&](const Node* node) {
      return is_elementwise(node->op()) && !is_replaced(node) ? node->src() : NodeList{};
    };
    return std::ranges::none_of(nodes_below({value}, operands), [&](const Node* node) {
      return !is_elementwise(node->op()) && !is_replaced(node) && depends_on(node, overwritten);
    });
  }

  mutable ConcatReads joins_;  // caches its results
  const std::vector<Root>& roots_;
  const Target& target_;
  std::vector<const Node*> nodes_;
  NodeMap<UserInfo> ahead_;
  std::vector<Visited> visited_;
  NodeMap<std::uint32_t> place_;                                            // index into visited_
  std::vector<UOp> waits_;                                                  // of the visited node
  std::unordered_map<const Node*, std::shared_ptr<const StepLoop>> loops_;  // by CALL
  Partition result_;
};

}  // namespace

Region copied_from(const PartitionPoint& copy) {
  const auto region = region_of(copy.value.node());
  if (!region) internal_error("a copy of bytes that do not lie together");
  return *region;
}

std::vector<const Node*> placeholders_of(const std::vector<const Node*>& values) {
  std::vector<const Node*> placeholders = toposort(values);
  std::erase_if(placeholders, [](const Node* node) { return node->op() != Op::Buffer; });
  return placeholders;
}

std::vector<const Node*> placeholders_of(const PartitionPoint& point) {
  std::vector<const Node*> values{point.value.node()};
  if (!point.place.is_null()) values.push_back(point.place.node());
  return placeholders_of(values);
}

double elements(NodeList dims) {
  double count = 1;
  for (const Node* size : dims) count *= static_cast<double>(std::max<Wide>(0, size->bounds().hi));
  return count;
}

std::size_t new_bytes(const PartitionPoint& point) {
  if (!point.before.is_null()) return 0;
  return static_cast<std::size_t>(memory_bytes(point.placeholder));
}

std::vector<bool> outlives_run(const Partition& partition) {
  std::vector<bool> outlives(partition.points.size());
  for (const Node* placeholder : placeholders_of(nodes_of(partition.roots)))
    if (const auto point = partition.point_of(placeholder)) outlives[*point] = true;
  return outlives;
}

Partition partition_graph(const std::vector<Root>& roots, const Target& target) {
  Partition partition = Partitioner(roots, target).run();
  add_write_after_read_copies(partition);
  return partition;
}

}  // namespace weft
