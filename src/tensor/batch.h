// What is computed together when values are asked for.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/realize.h>
#include <weft/tensor.h>

namespace weft {

class Storage;

// Tensors that are wanted, and what has to run with them because they assign to memory:
//   - Each assignment on the way, asked for by itself: its node then knows that it ran, and it does not
//     run again for another tensor.
//   - Tensors that are made of what is overwritten, and not computed yet: it is their last chance.
// Both need walks: what counts is what hangs on the nodes, and where the way ends.
class Batch {
 public:
  explicit Batch(const std::vector<Operand>& values);
  // What is made of memory that somebody else is about to overwrite; `followers` get the new values.
  static Batch before_overwriting(const std::vector<std::shared_ptr<Buffer>>& memory,
                                  const std::vector<std::shared_ptr<Storage>>& followers);
  // The nodes know then where they are.
  void run() const;
  std::vector<ScheduleItem> schedule() const;
  RunCost cost() const;

 private:
  Batch() = default;
  void want(const UOp& tensor, Symbol device);
  void add_assignments(const Node* root);
  void add_all_readers();
  void add_readers();
  bool reads_overwritten(const Node* root);
  bool is_overwritten(const UOp& view) const;

  std::vector<Wanted> wanted_;
  std::vector<Operand>
      before_;  // readers that were there before a function is captured: no part of later calls
  std::unordered_set<const Node*> asked_;  // the nodes of those
  std::unordered_set<const Node*> seen_;   // and all that they are made of
  std::unordered_set<const Buffer*> overwritten_;
  // Versions that are assigned to once more, and the BUFFER or MULTI they are in.
  std::unordered_map<const Node*, const Node*> superseded_;
  std::unordered_set<const Node*> clean_;  // what reads nothing of that kind
  std::vector<UOp> looked_at_;             // keeps those nodes: their storages may go
  std::vector<std::shared_ptr<Storage>> readers_;
  std::unordered_set<const Storage*> followers_;
};

}  // namespace weft
