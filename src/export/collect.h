// Recorded calls as routines of a library.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/dev/tensor/recorded.h>

#include "library.h"

namespace weft::exported {

// A kernel's code, under a name.
using RenderFunction = std::function<Function(const Node* program, const std::string& name)>;

// What the routines of a library have in common: kernels, weights, and memory that lasts.
class Collection {
 public:
  // All that will be added: what one of them assigns to is no constant of the others.
  Collection(const std::vector<const Recorded*>& all, RenderFunction render, Library& library);

  // `sizes` are those that calls say; the ports are the arguments, then the results.
  Routine routine(const Recorded& recorded, const std::vector<Size>& sizes);
  // Behind all weights, when all routines are there.
  void keep_state();

  const Place* state_of(const Buffer& memory) const;
  Place weights(Buffer& buffer);
  std::size_t function_of(const CallList& list, std::size_t call);

 private:
  const RenderFunction render_;
  Library& library_;
  std::map<const Buffer*, Place> weights_, state_;
  std::string state_bytes_;  // what it begins with
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> functions_;
};

}  // namespace weft::exported
