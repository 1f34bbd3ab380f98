// What BUFFERs have to do with each other once the graphs that made them are gone: gradients go on to what a BUFFER was
// computed from as long as that is known, and are refused where they would be wrong.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/uop.h>

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

// Some BUFFERs, and what another has to do with them.
class Lineage {
 public:
  // A tensor that lies in the BUFFER, and what it is called here.
  void add(const Node* buffer, std::size_t number, const Node* tensor);
  // Which has, or had, the same memory.
  std::optional<std::size_t> shares(const Node* buffer) const;
  // Which it was computed from, directly or not.
  std::optional<std::size_t> stems_from(const Node* buffer) const;
  // The graph with BUFFERs that stem from these replaced by what computed them, where all that they were computed from is
  // still there. Nothing below the ends.
  UOp recalled(UOp graph, const std::unordered_set<const Node*>& ends) const;

 private:
  using Memory = std::weak_ptr<const Buffer>;
  struct Known {
    const Node *buffer, *whole;  // or the tensor, where that is all of the BUFFER
    std::size_t number;
  };
  UOp computation_of(const Node* buffer) const;

  std::map<Memory, Known, std::owner_less<Memory>> known_;
};

// The nodes that a gradient of the loss may reach: none below a DETACH, nor below these ends.
std::vector<const Node*> gradient_paths(const Node* loss,
                                        const std::unordered_set<const Node*>& ends = {});

}  // namespace weft
