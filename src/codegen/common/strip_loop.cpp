// A sequential loop around a whole kernel (repeated.h) is stripped, so that one iteration is
// scheduled, and restored afterwards.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/repeated.h>

namespace weft {

std::vector<UOp> strip_loop(const std::vector<UOp>& roots, const RewriteOptions&) {
  std::vector<UOp> results;
  for (const UOp& root : roots)
    results.push_back(loop_around(root.node()) != nullptr ? strip_loop(root) : root);
  return results;
}

std::vector<UOp> in_order(const std::vector<UOp>& roots, const RewriteOptions&) {
  std::vector<UOp> results;
  for (const UOp& root : roots) results.push_back(root->op() == Op::Sink ? in_order(root) : root);
  return results;
}

std::vector<UOp> restore_loop(const std::vector<UOp>& roots, const RewriteOptions&) {
  std::vector<UOp> results;
  for (const UOp& root : roots)
    results.push_back(root->op() == Op::Sink ? restore_loop(root) : root);
  return results;
}

}  // namespace weft
