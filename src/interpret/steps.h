// A kernel as a list of steps, so that one worker may wait at any of them while others go on.
#pragma once

#include "nest.h"

namespace weft::interp {

struct Step {
  enum Type : std::uint8_t { Run, Open, Close };

  Type type;
  const Node* node;                                 // a closer, of OPEN and CLOSE
  std::uint32_t other = 0;                          // of an OPEN its CLOSE, and the other way round
  const Node* range = nullptr;                      // of OPEN and CLOSE; null where they run once
  bool is_outermost = false, is_innermost = false;  // of the closer's loops
};

class Steps {
 public:
  explicit Steps(const Node* kernel);

  const Node* kernel() const { return kernel_; }
  const std::vector<Step>& list() const { return list_; }
  std::size_t lanes() const { return lanes_; }        // of all values
  std::size_t storages() const { return storages_; }  // PARAMs, BUFFERs and STAGEs

  // Where the lanes of a value begin; of a REDUCE of a list, those of all of it.
  std::size_t value_of(const Node* node) const { return *value_.find(node); }
  std::size_t storage_of(const Node* node) const { return *storage_.find(node); }

 private:
  void add(const Nests& nests, const Nest& nest);
  void add_loop(const Nests& nests, const Nest& nest);

  const Node* kernel_;
  std::vector<Step> list_;
  NodeMap<std::uint32_t> value_, storage_;
  std::size_t lanes_ = 0, storages_ = 0;
};

// What a REDUCE combines, or a GETTUPLE chooses from: source 0, or the members of that list.
NodeList members_of(const Node* user);

std::size_t lanes_of(NodeList nodes);
std::size_t lanes_of(const Node* node);

}  // namespace weft::interp
