// The text form of the IR: one node per line, numbered in order, and it parses back.
//
//   graph example {
//     %0 = const 64 : index
//     %1 = range %0 {id = 0, kind = loop} : index
//     %2 = const 3 : index
//     %3 = mul %1, %2 : index
//     return %3
//   }
//
// A file holds any number of graphs; `//` starts a comment. A graph returns one node or more. Its
// name stands in quotes where it is not made of letters, digits, _ and dots.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct Graph {
  std::string name;
  std::vector<UOp> roots;
};

// With `renumber`, unique ids count from 0 in order of appearance, so that equal structures give
// equal text; without it they stand as they are and the text parses back to the same nodes.
struct PrintOptions {
  bool renumber = false;
};
std::string print_graph(const Graph& graph, const PrintOptions& options = {});
std::string print_graph(std::string_view name, NodeList roots, const PrintOptions& options = {});

// Builds the graphs in Interner::current(). Throws Error with "line:column: what is wrong".
std::vector<Graph> parse_graphs(std::string_view text);
UOp parse_node(std::string_view text);  // of one graph with one root

// A scalar expression as a person writes it: "r0*64 + r1//2", for messages and reading.
std::string expression_text(const Node* node);
std::string sizes_text(NodeList sizes);  // "(2, 3)"

// How it writes an op between two operands; null for those it writes as calls.
struct Infix {
  Op op;
  std::string_view symbol;  // with its blanks
  int level;                // binds tighter the higher it is
};
const Infix* infix_of(Op op);

}  // namespace weft
