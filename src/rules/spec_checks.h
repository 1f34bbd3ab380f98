// The checks of the spec: predicates, each about one node and what surrounds it.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/spec.h>

namespace weft {

// What the checks ask about the graph around a node.
class Surroundings {
 public:
  // The nodes are those of the graph, sources before users.
  Surroundings(NodeList roots, NodeList nodes);

  bool is_root(const Node* node) const { return roots_.contains(node); }
  bool has_one_root() const { return root_count_ == 1; }
  // Whether the node runs for what it does, alone or as a list of such.
  bool has_effect(const Node* node) const { return effects_.contains(node); }
  bool have_effects(NodeList nodes) const;
  // How many nodes close the RANGE or IF.
  int closed(const Node* node) const;
  // False where an earlier node of the op has its id; for PARAM and SPECIAL, its slot or axis.
  bool is_first_of_its_name(const Node* node) const;

 private:
  using Name = std::tuple<Op, std::uint64_t, std::int32_t>;
  static std::optional<Name> name_of(const Node* node);
  bool does_something(const Node* node) const;
  void count_closer(NodeList closed);

  NodeMap<bool> roots_, effects_;
  NodeMap<int> closed_;
  std::map<Name, const Node*> first_;
  std::size_t root_count_;
};

class Check {
 public:
  using OfNode = bool (*)(const Node*);
  using OfGraph = bool (*)(const Node*, const Surroundings&);
  Check(Level level, const OpSet& ops, OfNode holds, std::string_view complaint)
      : level_(level), ops_(ops), complaint_(complaint), of_node_(holds) {}
  Check(Level level, const OpSet& ops, OfGraph holds, std::string_view complaint)
      : level_(level), ops_(ops), complaint_(complaint), of_graph_(holds) {}

  // A program is a kernel that is closer to the machine. Some checks are of nodes as they are before.
  Check not_of_programs() const {
    Check result = *this;
    result.is_of_programs_ = false;
    return result;
  }
  bool is_part_of(Level level) const {
    return level_ == Level::Any || level_ == level ||
           (level_ == Level::Kernel && level == Level::Program && is_of_programs_);
  }
  bool concerns(Op op) const { return ops_.contains(op); }
  bool holds(const Node* node, const Surroundings& around) const {
    return of_node_ != nullptr ? of_node_(node) : of_graph_(node, around);
  }
  std::string_view complaint() const { return complaint_; }

 private:
  Level level_;
  bool is_of_programs_ = true;
  OpSet ops_;
  std::string_view complaint_;
  OfNode of_node_ = nullptr;
  OfGraph of_graph_ = nullptr;
};

// They take for granted that nodes have the operand counts and dtypes that ops.def says.
const std::vector<Check>& spec_checks();

}  // namespace weft
