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

// A number that nodes built together have close together: ids of sources, values of constants.
std::uint32_t newest_of(NodeList src, ArgType arg_type, const void* arg) {
  std::uint32_t newest = 0;
  if (arg_type == ArgType::ConstArg)
    newest = static_cast<std::uint32_t>(static_cast<const ConstArg*>(arg)->bits);
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

bool Slots::insert(std::size_t start, std::uint32_t hash, const Node* node) {
  const auto address = reinterpret_cast<std::uint64_t>(node);
  if ((address & ~address_mask) != 0) internal_error("a node lies above 2^48");
  std::size_t i = start & (words_.size() - 1);
  for (std::size_t tries = block_; tries > 0; --tries, i = next(i)) {
    if (node_in(words_[i]) != nullptr) continue;
    taken_ += words_[i] == 0;
    words_[i] = address | tag_of(hash);
    return true;
  }
  return false;
}

bool Slots::erase(std::size_t start, const Node* node) {
  std::size_t i = start & (words_.size() - 1);
  for (std::size_t tries = block_; tries > 0 && words_[i] != 0; --tries, i = next(i)) {
    if (node_in(words_[i]) != node) continue;
    const bool is_last = words_[next(i)] == 0;
    words_[i] = is_last ? 0 : tombstone;
    taken_ -= is_last;
    return true;
  }
  return false;
}

void Slots::clear() {
  std::ranges::fill(words_, 0);
  taken_ = 0;
}

namespace {

std::vector<const Node*> nodes_in(const Slots& slots) {
  std::vector<const Node*> nodes;
  slots.for_each([&](const Node* node) { nodes.push_back(node); });
  return nodes;
}

// Twice what is more than half full; otherwise only the tombstones go.
std::size_t grown(const Slots& slots, std::size_t used) {
  return used * 2 > slots.capacity() ? slots.capacity() * 2 : slots.capacity();
}

}  // namespace

std::size_t NodeTable::home_of(const Node* node) const {
  return home(newest_of(node->src(), info(node->op()).arg, node->arg_bytes()));
}

void NodeTable::insert(const Node* node) {
  if ((std::max(used_, near_.taken()) + 1) * 4 > near_.capacity() * 3) rebuild();
  if ((far_.taken() + 1) * 4 > far_.capacity() * 3) rebuild_far();
  place(node);
  ++used_;
}

void NodeTable::place(const Node* node) {
  if (!near_.insert(home_of(node), node->key_, node) && !far_.insert(node->key_, node->key_, node))
    internal_error("the table of nodes is full");
}

void NodeTable::rebuild_far() {
  const std::vector<const Node*> nodes = nodes_in(far_);
  const std::size_t capacity = grown(far_, nodes.size());
  far_ = Slots(capacity, capacity);
  for (const Node* node : nodes) far_.insert(node->key_, node->key_, node);
}

// Blocks that have grown, or lost their tombstones, may have room for what is elsewhere.
void NodeTable::rebuild() {
  std::vector<const Node*> nodes = nodes_in(near_);
  const std::vector<const Node*> elsewhere = nodes_in(far_);
  nodes.insert(nodes.end(), elsewhere.begin(), elsewhere.end());
  near_ = Slots(grown(near_, nodes.size()), block);
  far_.clear();
  for (const Node* node : nodes) place(node);
}

void NodeTable::erase(const Node* node) {
  if (!near_.erase(home_of(node), node)) far_.erase(node->key_, node);
  --used_;
}

void NodeTable::clear() {
  // A table that one large graph has grown must not slow down a thousand small ones.
  for (Slots* slots : {&near_, &far_}) {
    const std::size_t capacity = slots->capacity();
    if (capacity > smallest && capacity > used_ * 16)
      *slots = Slots(capacity / 2, slots == &near_ ? block : capacity / 2);
    else
      slots->clear();
  }
  used_ = 0;
}

}  // namespace weft
