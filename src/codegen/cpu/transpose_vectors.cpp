// Replaces strided vector loads. A single one loads its lanes one by one, since gather instructions
// are slower and many processors have none. Loads of neighbouring elements form a block, which is
// transposed: each lane's row of neighbours is loaded at once, the rows are joined to vectors, and
// log2(width) interleaving steps turn these into columns.
//
// This is a traversal and not a rewrite rule, since it looks for neighbours among all loads.

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/ir/graph.h>

#include "common/traversal.h"
#include "lanes.h"
#include "lines.h"

namespace weft {
namespace {

// Loads of neighbouring elements, with the same stride between lanes and under one condition.
struct Block {
  const Node *memory = nullptr, *valid = nullptr;
  StridedIndex line;  // of the first load
  DType dtype;
  std::vector<const Node*> loads;

  std::uint32_t width() const { return static_cast<std::uint32_t>(loads.size()); }
};

UOp joined(const UOp& a, const UOp& b) {
  std::vector<UOp> lanes;
  for (const UOp& vector : {a, b})
    for (std::uint32_t i = 0; i < vector->dtype().lanes(); ++i) lanes.push_back(lane(vector, i));
  return make(Op::Stack, lanes);
}

// Interleaves the first or the second half of each group of `part` lanes of `a` with that of `b`.
UOp interleaved(const UOp& a, const UOp& b, std::size_t part, bool is_second) {
  std::vector<UOp> lanes;
  for (std::size_t at = is_second ? part / 2 : 0; at < a->dtype().lanes(); at += part)
    for (std::size_t i = at; i < at + part / 2; ++i)
      for (const UOp& vector : {a, b}) lanes.push_back(lane(vector, static_cast<std::int64_t>(i)));
  return make(Op::Stack, lanes);
}

// Transposes a block: takes one row per lane, and returns one vector per element of a row.
std::vector<UOp> turned(std::vector<UOp> rows) {
  const std::size_t width = rows[0]->dtype().lanes();
  std::vector<UOp> vectors;
  for (std::size_t first = 0; first < width; ++first) {
    std::vector<UOp> parts;
    for (std::size_t row = first; row < rows.size(); row += width) parts.push_back(rows[row]);
    for (; parts.size() > 1; parts.resize(parts.size() / 2))
      for (std::size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = joined(parts[2 * i], parts[2 * i + 1]);
    vectors.push_back(parts[0]);
  }
  for (std::size_t done = 1; done < width; done *= 2) {
    std::vector<UOp> next;
    for (std::size_t i = 0; i < width / 2; ++i)
      for (bool is_second : {false, true})
        next.push_back(interleaved(vectors[i], vectors[i + width / 2], width, is_second));
    vectors = next;
  }
  return vectors;
}

// Returns the condition that all lanes of a load share; null if each lane has its own.
const Node* condition_of(const Node* place) {
  const Node* valid = place->src(1);
  if (valid->op() == Op::Splat) return valid->src(0);
  return valid->dtype().lanes() == 1 ? valid : nullptr;
}

// Returns the line of a strided load under one condition; nothing for other nodes. Bools are
// excluded, since they are bits in registers, which are neither joined nor interleaved.
std::optional<StridedIndex> strided_line(const Node* load) {
  if (load->op() != Op::Load || load->size() > 1 || load->dtype().is_bool()) return {};
  const Node* place = load->src(0);
  if (place->size() != 3 || place->src(0)->dtype().lanes() > 1 || condition_of(place) == nullptr)
    return {};
  const auto line = strided_index_of(place->src(2));
  return line && line->stride != 1 ? line : std::nullopt;
}

Block block_of(const std::vector<const Node*>& loads, const StridedIndex& line) {
  const Node* place = loads[0]->src(0);
  return {place->src(0), condition_of(place), line, loads[0]->dtype(), loads};
}

class Blocks {
 public:
  explicit Blocks(const std::vector<const Node*>& order) {
    for (const Node* node : order)
      if (node->op() == Op::Store)
        for (const Node* reader : node->src().subspan(2)) ordered_.set(reader, true);
    for (const Node* node : order)
      if (!ordered_.contains(node)) note(node);
    for (const auto& [key, group] : groups_) cut(group);
    for (const Block& block : blocks_)
      for (const Node* load : block.loads) block_.set(load, &block);
  }

  // Returns the block that a load belongs to; null for others.
  const Block* of(const Node* load) const {
    const Block* const* known = block_.find(load);
    return known != nullptr ? *known : nullptr;
  }
  bool is_ordered(const Node* load) const { return ordered_.contains(load); }

 private:
  using Group = std::map<std::int64_t, const Node*>;  // loads, by their offsets
  using Key = std::tuple<const Node*, const Node*, const Node*, std::int64_t, DType>;

  void note(const Node* load) {
    const auto line = strided_line(load);
    const DType dtype = load->dtype();
    if (!line || !std::has_single_bit(dtype.lanes())) return;
    const Node* place = load->src(0);
    const Key key{place->src(0), condition_of(place), line->base, line->stride, dtype};
    auto found = std::ranges::find(groups_, key, &std::pair<Key, Group>::first);
    if (found == groups_.end()) found = groups_.insert(found, {key, {}});
    found->second.emplace(line->offset, load);
  }

  void cut(const Group& group) {
    for (auto first = group.begin(); first != group.end();) {
      std::vector<const Node*> run;
      for (auto next = first; next != group.end(); ++next) {
        if (next->first != first->first + std::ssize(run)) break;
        run.push_back(next->second);
      }
      const DType dtype = first->second->dtype();
      const auto width = transpose_width(std::ssize(run), dtype.lanes(), dtype.scalar().bytes());
      run.resize(static_cast<std::size_t>(width));
      if (const auto line = strided_line(run[0]); line && run.size() > 1)
        blocks_.push_back(block_of(run, *line));
      std::advance(first, run.size());
    }
  }

  NodeMap<bool> ordered_;  // loads that must precede a store; they stay as they are
  std::vector<std::pair<Key, Group>> groups_;
  std::vector<Block> blocks_;
  NodeMap<const Block*> block_;  // by load
};

class TransposeVectors : public Rebuilt {
 public:
  explicit TransposeVectors(NodeList roots) : blocks_(toposort(roots)) {
    for (const Node* node : toposort(roots)) rebuild(node);
  }

 private:
  void rebuild(const Node* node) {
    if (contains(node)) return;
    if (const Block* block = blocks_.of(node)) return read(*block);
    if (const auto line = strided_line(node); line && !blocks_.is_ordered(node))
      return set(node, make(Op::Stack, rows(block_of({node}, *line))));
    set(node, with_new_sources(node));
  }

  void read(const Block& block) {
    const std::vector<UOp> columns = turned(rows(block));
    for (std::size_t i = 0; i < columns.size(); ++i) set(block.loads[i], columns[i]);
  }

  // Loads the row of each lane.
  std::vector<UOp> rows(const Block& block) const {
    const DType dtype = block.loads[0]->src(0)->src(2)->dtype().scalar();
    const UOp base = block.line.base != nullptr ? (*this)[block.line.base] : UOp();
    std::vector<UOp> rows;
    for (std::int64_t lane = 0; lane < block.dtype.lanes(); ++lane) {
      const UOp first = plus_offset(base, block.line.offset + block.line.stride * lane, dtype);
      const UOp at = block.width() > 1 ? short_lanes_from(first, block.width()) : first;
      rows.push_back(
          make(Op::Load, {make(Op::Index, {(*this)[block.memory], (*this)[block.valid], at})}));
    }
    return rows;
  }

  Blocks blocks_;
};

}  // namespace

std::vector<UOp> transpose_vectors(const std::vector<UOp>& roots, const RewriteOptions&) {
  const auto is_strided = [](const Node* node) { return strided_line(node).has_value(); };
  const bool has_one = std::ranges::any_of(toposort(nodes_of(roots)), is_strided);
  return has_one ? traversed<TransposeVectors>(roots) : roots;
}

}  // namespace weft
