// What each point computes, as loops over memory: what it reads, how often, and how much it computes.
#pragma once

#include <optional>
#include <vector>

#include "partition.h"

namespace weft {

// A read of a placeholder inside a body.
struct ReadAccess {
  const Node* index;               // the INDEX
  std::vector<std::size_t> own;    // the body's own loops that it changes with, by position
  std::vector<std::size_t> used;   // those of them that are in its indices
  std::vector<const Node*> inner;  // the reduce ranges around it, outermost first
  std::optional<Op> summed = {};   // by a reduction of nothing else
};

// Operations on data for each element that change with the same loops.
struct Operations {
  std::vector<std::size_t> own;  // those loops of the body, by position
  double count = 0;
  double effort = 0;  // the same, of which some take as long as several
};

// A scan (rules/scan.h), counted as a loop that carries it runs it.
struct Scanned {
  std::size_t own;  // the body's own loop that does, by position
  bool rises;
  double iterations;  // how much more it takes where no loop does
};

struct IterationDomain {
  std::vector<UOp> loops;  // one for each dimension of what is computed; 0 where it has size 1
  UOp value;               // the element at those
  UOp place;               // the INDEX of an assignment's; null for others
  // The ranges of the reduction that the body is, or is made of alone; empty where there are others.
  std::vector<const Node*> reduction;
  std::vector<ReadAccess> accesses;
  std::vector<Operations> operations;
  std::vector<Scanned> scanned;
  int size = 0;  // nodes: what code generation works on

  // Whether its numbers are decoded of bytes.
  bool decodes() const;
};

// Of each point, in order.
std::vector<IterationDomain> domains(const Partition& partition);
// The same, where those of another partition are known: what is in both is not opened again.
std::vector<IterationDomain> domains(const Partition& partition, const Partition& other,
                                     const std::vector<IterationDomain>& known);

// How memory of another dtype is read, which counts as no operation.
bool is_converted_read(const Node* node);

// Symbolic sizes count at their most.
double iterations(const Node* range);

}  // namespace weft
