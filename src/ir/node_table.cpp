#include "node_table.h"

#include <algorithm>

#include <weft/dev/base/hash.h>
#include <weft/error.h>

namespace weft {
namespace {

std::uint64_t identity_hash(const NodeFields& fields, ArgType arg_type) {
  std::uint64_t h =
      hash_mix(static_cast<std::uint64_t>(fields.op) << 8 | fields.src.size(),
               static_cast<std::uint64_t>(fields.dtype.kind()) << 32 | fields.dtype.lanes());
  for (const Node* source : fields.src) h = hash_mix(h, reinterpret_cast<std::uintptr_t>(source));
  if (arg_type != ArgType::NoArg) h = hash_mix(h, arg_hash(arg_type, fields.arg, true));
  return h ^ (h >> 32);
}

}  // namespace

NodeKey::NodeKey(const NodeFields& f)
    : fields(f), arg_type(info(f.op).arg), hash(identity_hash(f, arg_type)) {}

bool NodeKey::matches(const Node& node) const {
  return node.op() == fields.op && node.dtype() == fields.dtype &&
         std::ranges::equal(node.src(), fields.src) &&
         (arg_type == ArgType::NoArg || arg_equal(arg_type, node.arg_bytes(), fields.arg));
}

void NodeTable::place(const Node* node) {
  const auto address = reinterpret_cast<std::uint64_t>(node);
  if ((address & ~address_mask) != 0) internal_error("a node lies above 2^48");
  std::size_t i = node->key_ & mask_;
  while ((slots_[i] & address_mask) != 0) i = (i + 1) & mask_;
  if (slots_[i] == tombstone) --erased_;
  slots_[i] = address | tag_of(node->key_);
}

// Doubles the table, or only clears it of tombstones where they are what fills it.
void NodeTable::rebuild() {
  std::vector<std::uint64_t> old(used_ * 2 > slots_.size() ? slots_.size() * 2 : slots_.size());
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  erased_ = 0;
  for (std::uint64_t slot : old)
    if ((slot & address_mask) != 0) place(reinterpret_cast<const Node*>(slot & address_mask));
}

void NodeTable::erase(const Node* node) {
  std::size_t i = node->key_ & mask_;
  while (node_at(i) != node) i = (i + 1) & mask_;
  const bool last = slots_[(i + 1) & mask_] == 0;
  slots_[i] = last ? 0 : tombstone;
  erased_ += !last;
  --used_;
}

void NodeTable::clear() {
  // A table that one large graph has grown must not slow down a thousand small ones.
  if (slots_.size() > 1024 && slots_.size() > used_ * 16) slots_.resize(slots_.size() / 2);
  mask_ = slots_.size() - 1;
  std::ranges::fill(slots_, 0);
  used_ = erased_ = 0;
}

}  // namespace weft
