#include "analysis.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/core.h>
#include <weft/dev/base/hash.h>
#include <weft/error.h>

namespace weft {
namespace {

std::uint64_t structural_hash_of(const NodeKey& key) {
  const NodeFields& f = key.fields;
  std::uint64_t h = hash_mix(static_cast<std::uint64_t>(f.op) << 8 | f.src.size(),
                             static_cast<std::uint64_t>(f.dtype.kind()) << 32 | f.dtype.lanes());
  if (f.dtype.kind() == Kind::Fragment) h = hash_mix(h, hash_text(f.dtype.fragment_name()));
  for (const Node* source : f.src) h = hash_mix(h, source->hash());
  if (key.arg_type != ArgType::NoArg) h = hash_mix(h, arg_hash(key.arg_type, f.arg, false));
  return h;
}

bool range_before(const Node* a, const Node* b) {
  const std::uint64_t x = a->arg<RangeArg>().id.value, y = b->arg<RangeArg>().id.value;
  return x != y ? x < y : a->id() < b->id();
}

// A TUPLE of ranges in increasing order is itself a range set: the set it changes with.
bool is_range_set(const NodeFields& fields) {
  if (fields.op != Op::Tuple || fields.src.size() < 2) return false;
  for (std::size_t i = 0; i < fields.src.size(); ++i) {
    if (fields.src[i]->op() != Op::Range) return false;
    if (i > 0 && !range_before(fields.src[i - 1], fields.src[i])) return false;
  }
  return true;
}

int chain_of(const NodeFields& fields) {
  if (!has(fields.op, OpFlag::Associates)) return 0;
  const Node* left = fields.src[0];
  return left->op() == fields.op ? std::min(left->chain() + 1, 255) : 1;
}

class RangeUnion {
 public:
  explicit RangeUnion(Interner& interner) : interner_(interner) {}

  void add(NodeList ranges) {
    if (ranges.empty() || ranges.data() == last_) return;
    last_ = ranges.data();
    list_.insert(list_.end(), ranges.begin(), ranges.end());
  }
  void remove(const Node* range) { std::erase(list_, range); }

  // The set as a node: null, the one RANGE, or a TUPLE.
  const Node* finish(bool& interned) {
    std::ranges::sort(list_, range_before);
    list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
    if (list_.size() < 2) return list_.empty() ? nullptr : list_[0];
    interned = true;
    return interner_.intern({Op::Tuple, dtypes::void_, list_});
  }

 private:
  Interner& interner_;
  const Node* const* last_ = nullptr;
  std::vector<const Node*> list_;
};

// A part that a node is to own: it is given back where the node does not come about.
class NewPart {
 public:
  NewPart(Interner& interner, const Node* part) : interner_(interner), part_(part) {}
  ~NewPart() {
    if (part_ != nullptr && interner_.counted()) interner_.release(part_);
  }
  NewPart(const NewPart&) = delete;
  NewPart& operator=(const NewPart&) = delete;
  const Node* get() const { return part_; }
  void release() { part_ = nullptr; }

 private:
  Interner& interner_;
  const Node* part_;
};

// The set that all sources share, where one does for all: the common case, without a new node.
// Returns false where the sources differ.
bool common_ranges(const NodeFields& fields, const Node*& set,
                   const Node* (*ranges_of)(const Node*)) {
  set = nullptr;
  for (const Node* source : fields.src) {
    const Node* ranges = ranges_of(source);
    if (ranges == nullptr || ranges == set) continue;
    if (set != nullptr) return false;
    set = ranges;
  }
  return true;
}

}  // namespace

std::size_t Analysis::node_bytes(std::size_t sources, ArgType arg_type) {
  const std::size_t bytes = sizeof(Node) + sources * sizeof(Node*) + arg_size(arg_type);
  return (bytes + alignof(Node) - 1) / alignof(Node) * alignof(Node);
}

Node* Analysis::construct(void* memory, const NodeKey& key, Interner& interner) {
  const NodeFields& f = key.fields;
  const bool counted = interner.counted();
  const auto keep = [&](const Node* part) {
    if (counted && part != nullptr) part->count_.fetch_add(1, std::memory_order_relaxed);
    return part;
  };

  // First what may throw.
  if (!info(f.op).arity.admits(f.src.size()))
    internal_error(fmt::format("{} with {} sources", info(f.op).name, f.src.size()));
  NewPart shape(interner, compute_shape(f, interner));
  Node* node = new (memory) Node;
  node->op_ = f.op;
  node->dtype_ = f.dtype;
  node->size_ = static_cast<std::uint32_t>(f.src.size());
  node->key_ = static_cast<std::uint32_t>(key.hash);
  node->hash_ = structural_hash_of(key);
  node->count_.store(1, std::memory_order_relaxed);
  node->notes_.store(0, std::memory_order_relaxed);
  node->flags_ = 0;
  node->chain_ = static_cast<std::uint8_t>(chain_of(f));
  node->shape_ = shape.get();
  std::ranges::copy(f.src, const_cast<const Node**>(node->sources()));
  if (key.arg_type != ArgType::NoArg)
    std::memcpy(const_cast<void*>(node->arg_bytes()), f.arg, arg_size(key.arg_type));

  node->lo_ = node->hi_ = 0;
  if (has_bounds(f.dtype)) {
    const BoundsResult bounds = compute_bounds(f);
    node->lo_ = static_cast<std::int64_t>(bounds.interval.lo);
    node->hi_ = static_cast<std::int64_t>(bounds.interval.hi);
    if (bounds.exact) node->flags_ |= Node::Exact;
  }

  if (f.op == Op::Range || is_range_set(f)) {
    node->ranges_ = node;
  } else if (const Node * set; !has(f.op, OpFlag::Closes) &&
                               common_ranges(f, set, [](const Node* n) { return n->ranges_; })) {
    node->ranges_ = keep(set);
  } else {
    RangeUnion ranges(interner);
    for (const Node* source : f.src) ranges.add(source->ranges());
    if (has(f.op, OpFlag::Closes))
      for (const Node* source : f.src.subspan(1)) ranges.remove(source);
    bool interned = false;
    node->ranges_ = ranges.finish(interned);
    if (!interned) keep(node->ranges_);
  }
  shape.release();
  return node;
}

Interval Node::bounds() const {
  if (dtype_.kind() == Kind::U64)
    return {static_cast<std::uint64_t>(lo_), static_cast<std::uint64_t>(hi_)};
  return {lo_, hi_};
}

}  // namespace weft
