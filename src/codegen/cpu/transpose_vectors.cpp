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

  std::size_t width() const { return loads.size(); }
  std::size_t lanes() const { return dtype.lanes(); }
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
    for (const auto& group : groups_) cut(group);
  }

  const std::vector<Block>& all() const { return blocks_; }
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
    auto found = std::ranges::find(keys_, key);
    if (found == keys_.end()) {
      groups_.emplace_back();
      found = keys_.insert(found, key);
    }
    groups_[static_cast<std::size_t>(found - keys_.begin())].emplace(line->offset, load);
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
      if (run.size() > 1) add(run);
      std::advance(first, run.size());
    }
  }

  void add(const std::vector<const Node*>& run) {
    if (const auto line = strided_line(run[0])) blocks_.push_back(block_of(run, *line));
  }

  NodeMap<bool> ordered_;  // loads that must precede a store; they stay as they are
  std::vector<Key> keys_;
  std::vector<Group> groups_;
  std::vector<Block> blocks_;
};

class TransposeVectors {
 public:
  explicit TransposeVectors(NodeList roots) : blocks_(toposort(roots)) {
    for (std::size_t i = 0; i < blocks_.all().size(); ++i)
      for (const Node* load : blocks_.all()[i].loads) block_.set(load, static_cast<int>(i));
    for (const Node* node : toposort(roots)) rebuild(node);
  }

  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  void rebuild(const Node* node) {
    if (made_.contains(node)) return;
    if (const int* block = block_.find(node))
      return read(blocks_.all()[static_cast<std::size_t>(*block)]);
    if (const auto line = strided_line(node); line && !blocks_.is_ordered(node))
      return made_.set(node, lane_by_lane(block_of({node}, *line)).node());
    std::vector<UOp> src;
    for (const Node* source : node->src()) src.push_back((*this)[source]);
    made_.set(node, with_sources(UOp(node), src).node());
  }

  void read(const Block& block) {
    std::vector<UOp> rows;
    for (std::size_t lane = 0; lane < block.lanes(); ++lane) rows.push_back(row(block, lane));
    const std::vector<UOp> columns = turned(rows);
    for (std::size_t i = 0; i < columns.size(); ++i) made_.set(block.loads[i], columns[i].node());
  }

  UOp lane_by_lane(const Block& alone) const {
    std::vector<UOp> lanes;
    for (std::size_t lane = 0; lane < alone.lanes(); ++lane) lanes.push_back(row(alone, lane));
    return make(Op::Stack, lanes);
  }

  UOp row(const Block& block, std::size_t lane) const {
    const DType dtype = block.loads[0]->src(0)->src(2)->dtype().scalar();
    const std::int64_t offset =
        block.line.offset + block.line.stride * static_cast<std::int64_t>(lane);
    UOp first = const_int(offset, dtype);
    if (block.line.base != nullptr) {
      first = (*this)[block.line.base];
      if (offset != 0) first = first + offset;
    }
    const UOp at = block.width() > 1 ? from(first, block.width()) : first;
    return make(Op::Load, {make(Op::Index, {(*this)[block.memory], (*this)[block.valid], at})});
  }

  static UOp from(const UOp& first, std::size_t count) {
    const DType dtype = first->dtype();
    std::vector<UOp> numbers;
    for (std::size_t i = 0; i < count; ++i)
      numbers.push_back(const_int(static_cast<std::int64_t>(i), dtype));
    const UOp at = make(Op::Stack, numbers);
    if (first->is_const_int(0)) return at;
    return make(Op::Splat, {first}, dtype.vec(static_cast<std::uint32_t>(count))) + at;
  }

  Blocks blocks_;
  NodeMap<int> block_;
  NodeMap<const Node*> made_;
};

}  // namespace

std::vector<UOp> transpose_vectors(const std::vector<UOp>& roots, const RewriteOptions&) {
  const auto is_strided = [](const Node* node) { return strided_line(node).has_value(); };
  const bool has_one = std::ranges::any_of(toposort(nodes_of(roots)), is_strided);
  return has_one ? traversed<TransposeVectors>(roots) : roots;
}

}  // namespace weft
