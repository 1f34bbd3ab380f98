#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <weft/error.h>

#include "node_table.h"

namespace weft {

struct Arena::Chunk {
  std::unique_ptr<std::byte[]> memory;
  std::size_t size;
};

namespace {
constexpr std::size_t first_chunk = std::size_t{64} << 10, largest_chunk = std::size_t{4} << 20;
}

Arena::Arena() : Interner(false), table_(std::make_unique<NodeTable>()) {}
Arena::~Arena() = default;

std::byte* Arena::allocate(std::size_t bytes) {
  while (static_cast<std::size_t>(end_ - next_) < bytes) {
    const std::size_t next = next_ != nullptr ? chunk_ + 1 : chunk_;
    if (next == chunks_.size()) {
      const std::size_t doubled =
          chunks_.empty() ? first_chunk : std::min(chunks_.back().size * 2, largest_chunk);
      const std::size_t size = std::max(doubled, bytes);
      chunks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[size]), size});
    }
    chunk_ = next;
    next_ = chunks_[chunk_].memory.get();
    end_ = next_ + chunks_[chunk_].size;
  }
  return std::exchange(next_, next_ + bytes);
}

const Node* Arena::intern(const NodeFields& fields) {
  const NodeKey key(fields);
  if (const Node* found = table_->find(key, [](const Node*) { return true; })) return found;
  for (const Node* source : fields.src)
    if (!owns(source))
      internal_error(fmt::format("a source of {} is from another interner", info(fields.op).name));
  Node* node = Analysis::construct(allocate(Analysis::node_bytes(fields.src.size(), key.arg_type)),
                                   key, *this);
  node->id_ = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  table_->insert(node);
  return node;
}

std::size_t Arena::bytes() const {
  std::size_t total = table_->bytes() + nodes_.capacity() * sizeof(Node*);
  for (std::size_t i = 0; i < chunk_; ++i) total += chunks_[i].size;
  if (next_ != nullptr) total += static_cast<std::size_t>(next_ - chunks_[chunk_].memory.get());
  return total;
}

void Arena::reset() {
  table_->clear();
  chunk_ = 0;
  next_ = chunks_.empty() ? nullptr : chunks_[0].memory.get();
  end_ = chunks_.empty() ? nullptr : next_ + chunks_[0].size;
  nodes_.clear();
  forget_all_notes();
}

}  // namespace weft
