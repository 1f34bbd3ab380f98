// Where the statements of a program stand: what they need of each other, and whether a text may stand where it is used.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Of a place. One condition for all lanes is no vector; of elements in a row there is the first, null where that is the
// memory's.
const Node* condition_of(const Node* index);
const Node* first_of(const Node* index);

// What a statement for the node needs: a place's sources are its reader's.
std::vector<const Node*> needed_by(const Node* node);

class CPlaces {
 public:
  explicit CPlaces(const std::vector<const Node*>& program);

  bool is_used(const Node* node) const { return places_.find(node)->uses > 0; }
  // What reads memory may only move, into the one statement that uses it, where nothing is stored between.
  bool may_move(const Node* node, bool reads_memory) const;

 private:
  // The loop body, and the stores and loops before it.
  struct Place {
    std::uint32_t body = 0, epoch = 0;
    std::uint32_t uses = 0;
    const Node* user = nullptr;
  };

  void stand(const std::vector<const Node*>& program);

  NodeMap<Place> places_;
};

}  // namespace weft
