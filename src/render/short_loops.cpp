#include "short_loops.h"

#include <algorithm>

namespace weft {
namespace {

// A convolution's window of 3 x 3 around a tile of registers has some 600 statements, half of them loads and
// stores of registers.
constexpr double most_statements = 800;
// What is longer takes longer to compile; loops that begin less often never make up for it.
constexpr double least_begins = 256;

bool is_statement(const Node* node) {
  return !OpSet{Op::Const, Op::Index, Op::After, Op::Tuple, Op::Sink}.contains(node->op());
}

// A loop around a place.
struct Around {
  double begins = 1, iterations = 1;
  double statements = 0;  // of an iteration, all iterations of short loops in it counted
};

}  // namespace

std::set<const Node*> short_loops(const std::vector<const Node*>& program,
                                  const NodeMap<bool>& needed) {
  std::set<const Node*> found;
  std::vector<Around> around{{}};
  const auto open = [&](const Node* range) {
    const Around& outer = around.back();
    const auto iterations =
        static_cast<double>(std::max<std::int64_t>(range->src(0)->bounds().hi, 1));
    around.push_back({.begins = outer.begins * outer.iterations, .iterations = iterations});
  };
  // None is short around one that is not: that counts as more than there may be.
  const auto close = [&](const Node* range) {
    const Around loop = around.back();
    around.pop_back();
    const double statements = loop.statements * loop.iterations;
    const bool is_short = range->src(0)->is_const() && loop.begins >= least_begins &&
                          statements <= most_statements && range->src(0)->lo() > 0;
    if (is_short) found.insert(range);
    around.back().statements += is_short ? statements : most_statements + 1;
  };
  for (const Node* node : program) {
    if (!needed.contains(node)) continue;
    if (is_statement(node)) ++around.back().statements;
    if (node->op() == Op::Range) open(node);
    if (node->op() != Op::End) continue;
    for (std::size_t i = node->size(); i-- > 1;) close(node->src(i));
  }
  return found;
}

}  // namespace weft
