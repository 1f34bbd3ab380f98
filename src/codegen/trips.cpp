// Schedules are for one trip of a loop whose trips need each other, which stands around everything.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/repeated.h>

namespace weft {

std::vector<UOp> one_trip(const std::vector<UOp>& roots, const RewriteOptions&) {
  std::vector<UOp> results;
  for (const UOp& root : roots)
    results.push_back(loop_around(root.node()) != nullptr ? one_trip(root) : root);
  return results;
}

std::vector<UOp> in_order(const std::vector<UOp>& roots, const RewriteOptions&) {
  std::vector<UOp> results;
  for (const UOp& root : roots) results.push_back(root->op() == Op::Sink ? in_order(root) : root);
  return results;
}

std::vector<UOp> all_trips(const std::vector<UOp>& roots, const RewriteOptions&) {
  std::vector<UOp> results;
  for (const UOp& root : roots) results.push_back(root->op() == Op::Sink ? all_trips(root) : root);
  return results;
}

}  // namespace weft
