// What BUFFERs have to do with each other once the graphs that made them are gone: gradients go on to what a BUFFER was
// computed from as long as that is known, and are refused where they would be wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/graph.h>

namespace weft {

// The BUFFER's memory will be written, and its values gone: no graph can read them from then on. Made before that, since
// there may be no memory to note it with afterwards.
class Loss {
 public:
  explicit Loss(UOp buffer);
  void happen() const noexcept;

 private:
  UOp buffer_;
  std::shared_ptr<struct Lost> lost_;
};

// At once.
void lose_memory(const Node* buffer);

// The BUFFERs below the view hold what the graph computes. They know so from now on, but keep no other memory for it.
void note_computation(const UOp& view, const UOp& graph);

// What a chain of RESHAPEs is of.
const Node* without_reshapes(const Node* view);

// What a view is of: a BUFFER, what was assigned to one, or what is computed. A DETACH has the memory of its source.
const Node* version_below(const Node* view);

// Whether it has the elements of a DETACH: memory of both may be the same.
bool is_detached(const Node* node);

// RESHAPEs of RESHAPEs as one: what was read is written in other RESHAPEs than what was not.
UOp with_single_reshapes(const UOp& root);

using NodeSet = std::unordered_set<const Node*>;

// Some BUFFERs, and what another has to do with them.
class Lineage {
 public:
  // What is called `number` here lies in the BUFFER; `whole` stands for all that is there.
  void add(const Node* buffer, std::size_t number, const Node* whole);
  // What is looked for as how it is computed, from BUFFERs.
  void add_sources(const Node* expression);
  // Which has, or had, the same memory.
  std::optional<std::size_t> shares(const Node* buffer) const;
  // Which it was computed from, directly or not.
  std::optional<std::size_t> stems_from(const Node* buffer) const;
  // Whether how it was computed may contain one.
  bool may_contain_one(const Node* buffer) const;
  // Replaces BUFFERs of the graphs that stem from these by what computed them, where all that they were computed from is
  // still there, and what one of these was computed by after that by this one. Nothing below the ends.
  void recall(const std::vector<UOp>& graphs, const NodeSet& ends);
  std::vector<UOp> recalled() const;
  // Which a graph contains together with what is gone.
  std::optional<std::size_t> forgotten() const { return forgotten_; }

 private:
  using Memory = std::weak_ptr<const Buffer>;
  template <class T>
  using PerMemory = std::map<Memory, T, std::owner_less<Memory>>;
  using Choice = std::function<bool(const Node* buffer)>;
  struct Known {
    const Node *buffer, *whole;
    std::size_t number;
  };
  // What a computation read: memory that still has those values, or none.
  UOp present(const std::shared_ptr<Buffer>& memory, const UOp& source);
  UOp absent(const Memory& memory, std::uint64_t overwritten, const UOp& source);
  UOp computation_of(const Node* buffer, bool with_absent);
  bool contains_one(const Node* buffer) const;
  UOp traced_back(UOp graph, const NodeSet& ends, const Choice& is_wanted, bool with_absent);
  void find(const Known& known, const NodeSet& ends);

  PerMemory<Known> known_;
  PerMemory<const Node*> sources_;
  PerMemory<UOp> present_;
  PerMemory<std::map<std::uint64_t, UOp>> past_;  // by how often the memory had been overwritten
  NodeSet absent_;
  UOp graph_;  // a TUPLE of those
  std::optional<std::size_t> forgotten_;
};

// The nodes that a gradient of the loss may reach: none below a DETACH, nor below these ends.
std::vector<const Node*> gradient_paths(const Node* loss, const NodeSet& ends = {});

}  // namespace weft
