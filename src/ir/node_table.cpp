#include "node_table.h"

#include <algorithm>
#include <cstring>

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

// What nodes that are built together have close together: ids of sources, values of constants,
// ids in args.
std::uint32_t newest_of(NodeList src, ArgType arg_type, const void* arg) {
  std::uint32_t newest = 0;
  if (src.empty()) std::memcpy(&newest, arg, std::min(sizeof newest, arg_size(arg_type)));
  for (const Node* source : src) newest = std::max(newest, source->id());
  return newest;
}

}  // namespace

NodeKey::NodeKey(const NodeFields& f)
    : fields(f),
      arg_type(info(f.op).arg),
      hash(identity_hash(f, arg_type)),
      newest(newest_of(f.src, arg_type, f.arg)) {}

bool NodeKey::matches(const Node& node) const {
  return node.op() == fields.op && node.dtype() == fields.dtype &&
         std::ranges::equal(node.src(), fields.src) &&
         (arg_type == ArgType::NoArg || arg_equal(arg_type, node.arg_bytes(), fields.arg));
}

Probe NodeTable::probe(const Node* node) const {
  const std::uint32_t newest = newest_of(node->src(), info(node->op()).arg, node->arg_bytes());
  return {newest >> id_shift_, node->key_, mask_};
}

void NodeTable::place(const Node* node) {
  const auto address = reinterpret_cast<std::uint64_t>(node);
  if ((address & ~address_mask) != 0) internal_error("a node lies above 2^48");
  Probe p = probe(node);
  while (node_in(slots_[p.at()]) != nullptr) p.next();
  if (slots_[p.at()] == tombstone) --erased_;
  slots_[p.at()] = address | tag_of(node->key_);
}

// Doubles the table, or only clears it of tombstones where they are what fills it.
void NodeTable::rebuild() {
  std::vector<std::uint64_t> old(used_ * 2 > slots_.size() ? slots_.size() * 2 : slots_.size());
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  erased_ = 0;
  for (std::uint64_t slot : old)
    if (const Node* node = node_in(slot)) place(node);
}

void NodeTable::erase(const Node* node) {
  Probe p = probe(node);
  while (node_in(slots_[p.at()]) != node) p.next();
  // A probe leads on to the next slot, or from the last of a block to its first.
  const std::size_t i = p.at(), next = (i + 1) & mask_;
  const bool leads_on =
      slots_[next] != 0 || (next % Probe::block == 0 && slots_[i - (Probe::block - 1)] != 0);
  slots_[i] = leads_on ? tombstone : 0;
  erased_ += leads_on;
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
