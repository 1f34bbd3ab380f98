#include <fmt/core.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/render/render.h>
#include <weft/dev/validate/bounds.h>
#include <weft/weft.h>

#include "commands.h"

namespace weft::cli {
namespace {

// A machine to compile for that is the same everywhere: registers of 8 floats.
Target example_target() {
  Target target;
  target.lowered = true;
  target.ops = rendered_ops();
  target.kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64};
  target.vector_bytes = 32;
  return target;
}

std::string text_of(std::string_view name, const UOp& root) {
  const Node* node = root.node();
  return print_graph(name, NodeList(&node, 1), {.renumber = true});
}

// A schedule that is short to read: a row of the image in a register, for two channels
// at once.
constexpr const char* example_schedule = "tile r0 2; order r0 r1 r0.1 r2; upcast r0.1; vector r2";

UOp lowered_by_every_pass(UOp kernel) {
  for (const Pass& pass : all_passes()) {
    const UOp before = kernel;
    kernel = run_pass(pass, {kernel}, {.target = example_target()})[0];
    fmt::print("== after {}: {}\n\n{}\n", pass.name, pass.meaning,
               kernel.is(before) ? "(unchanged)\n" : text_of("kernel", kernel));
  }
  return kernel;
}

void print_proofs(const UOp& kernel) {
  const Node* root = kernel.node();
  int proved = 0, all = 0;
  for (const IndexProof& proof : prove_indices(NodeList(&root, 1), 10000)) {
    ++all;
    if (proof.proof.verdict == Verdict::Proved) ++proved;
  }
  fmt::print("{} of {} indices are proved to lie inside their buffers.\n\n", proved, all);
}

}  // namespace

// A small convolution and what follows it, all the way.
void run_demo() {
  const Tensor image = Tensor::empty({1, 4, 8, 8}), weights = Tensor::empty({6, 4, 3, 3});
  const Tensor result = image.conv2d(weights, {}, 1, 1, 1, 1).relu();
  fmt::print("== a tensor: image.conv2d(weights, padding 1).relu()\n\n{}\n",
             text_of("tensor", result.uop()));

  const std::vector<ScheduleItem> items = result.schedule();
  fmt::print("== its schedule\n\n");
  for (const ScheduleItem& item : items)
    fmt::print("{}: {} flops, {} bytes\n", item.name, item.work.flops, item.work.bytes);
  fmt::print("\n== the kernel\n\n{}\n", text_of("kernel", items[0].kernel));

  Arena arena;
  const InternerScope scope(arena);
  const Node* scheduled = items[0].kernel.node();
  const UOp kernel = import_graph(NodeList(&scheduled, 1), shared_graph(), arena)[0];
  print_proofs(kernel);
  const UOp program = lowered_by_every_pass(with_schedule(kernel, example_schedule));
  fmt::print("== as LLVM IR\n\n{}\n", render_llvm(program.node(), 1 << 20));
  Target scalars = example_target();
  scalars.vector_bytes = 0;
  fmt::print("== as C, for a machine without vectors\n\n{}",
             render_c(run_pipeline({kernel}, {.target = scalars})[0].node(), 1 << 20));
}

}  // namespace weft::cli
