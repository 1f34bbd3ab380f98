// From a tensor to machine code, stage by stage. What an environment variable shows of any program is shown
// here by calls: DEBUG=2 the kernels, DEBUG=3 their source, DEBUG=4 the graph after every pass, BEAM=2 a search.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <sstream>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>

#include "lesson.h"

using namespace weft;

std::size_t size_of(const UOp& graph) { return toposort(graph.node()).size(); }

std::string printed(std::string_view name, const UOp& graph) {
  const Node* root = graph.node();
  return print_graph(name, NodeList(&root, 1), {.renumber = true});
}

// --- 1. The schedule ------------------------------------------------------------------------------------

void show_schedule() {
  section("1. Tensors are cut into kernels");
  const Tensor x = Tensor::empty({64, 128}), w = Tensor::empty({128, 32}), b = Tensor::empty({32});
  const Tensor y = (x.matmul(w) + b).relu();
  for (const ScheduleItem& item : y.schedule()) std::cout << item.str() << "\n";
  check("a product, a sum and a relu are one kernel", y.schedule().size() == 1);
}

// --- 2. The graph ---------------------------------------------------------------------------------------

void show_graph(const Tensor& y) {
  section("2. A tensor is a graph of UOps");
  std::cout << printed("tensor", y.uop());
  std::cout << "\nand a kernel is one too, with loops (RANGE) and memory (PARAM, LOAD, STORE):\n\n"
            << printed("kernel", y.schedule()[0].kernel);
}

// --- 3. Rewrites ----------------------------------------------------------------------------------------

// Told of every rule that is applied.
struct Counter : RewriteTrace {
  std::map<std::string, int, std::less<>> rules;
  void applied(std::string_view, const Rule& rule, const Node*, const Node*) override {
    ++rules[rule.str()];
  }
};

void show_rewrites() {
  section("3. Rules rewrite it: index arithmetic");
  const UOp i = weft::range(64, 0), j = weft::range(4, 1);
  const UOp written = (i * 4 + j) / 4 * 8 + (i * 4 + j) % 4 + i * 0;
  Counter counter;
  const UOp found = simplify({written}, {.trace = &counter})[0];
  std::cout << expression_text(written.node()) << "\n  is " << expression_text(found.node())
            << ", by\n";
  for (const auto& [rule, times] : counter.rules)
    std::cout << "  " << times << " x " << rule << "\n";
  check("fewer nodes", size_of(found) < size_of(written));
  check("neither division nor remainder is left",
        std::ranges::none_of(toposort(found.node()), [](const Node* node) {
          return node->op() == Op::FloorDiv || node->op() == Op::FloorMod;
        }));
}

// --- 4. The passes --------------------------------------------------------------------------------------

UOp lower(UOp kernel, Device& device) {
  section("4. Passes make a program of a kernel, for " + std::string(device.name()));
  int changes = 0;
  for (const Pass& pass : all_passes()) {
    const UOp before = kernel;
    kernel = run_pass(pass, {kernel}, {.target = device.target()})[0];
    const bool is_same = kernel.is(before);
    changes += is_same ? 0 : 1;
    std::printf("%-10s %4zu -> %4zu nodes   %s%s\n", std::string(pass.name).c_str(),
                size_of(before), size_of(kernel), std::string(pass.meaning).c_str(),
                is_same ? " (unchanged)" : "");
  }
  check("at least four passes changed it", changes >= 4);
  return kernel;
}

// --- 5. How many kernels ----------------------------------------------------------------------------------

void count_kernels() {
  section("5. How many kernels");
  const Tensor x = Tensor::empty({64, 256}), w = Tensor::empty({256, 256});
  const Tensor image = Tensor::empty({2, 16, 32, 32}), filter = Tensor::empty({16, 16, 3, 3});
  struct Program {
    const char* name;
    Tensor value;
    std::size_t most;
  };
  const Program programs[] = {
      {"elementwise chain", ((x + 1) * 2).exp().sqrt(), 1},
      {"sum of a product", (x * x).sum(1), 1},
      {"softmax", x.softmax(), 1},
      {"layernorm", x.layernorm(), 1},
      {"matmul, gelu", x.matmul(w).gelu(), 1},
      {"two layers", x.matmul(w).relu().matmul(w), 2},
      {"attention", x.scaled_dot_product_attention(x, x), 3},
      {"conv, relu, pool", image.conv2d(filter, {}, 1, 1, 1, 1).relu().max_pool2d(), 2},
  };
  for (const auto& [name, value, most] : programs) {
    const std::size_t count = value.schedule().size();
    std::printf("%-18s %5zu nodes  %zu kernel%s\n", name, size_of(value.uop()), count,
                count == 1 ? "" : "s");
    if (count > most) check(name, false);
  }
}

// --- 6. The source --------------------------------------------------------------------------------------

void show_source(const UOp& kernel) {
  section("6. The program as text: C, and what LLVM gets");
  Device& clang = find_device("CPU:CLANG");
  const UOp plain = run_pipeline(
      {kernel},
      {.target = {.lowered = true, .ops = clang.target().ops, .kinds = clang.target().kinds}})[0];
  const std::string c = clang.render(plain.node());
  std::cout << c;
  check("C has a loop for each range", c.find("for (") != std::string::npos);
  Device& llvm = find_device("CPU:LLVM");
  const std::string ir = llvm.render(run_pipeline({kernel}, {.target = llvm.target()})[0].node());
  std::cout << "\nLLVM IR, with vectors: " << std::ranges::count(ir, '\n') << " lines, such as\n";
  std::istringstream lines(ir);
  int shown = 0;
  for (std::string line; std::getline(lines, line) && shown < 4;)
    if (line.find("> %") != std::string::npos && line.size() < 90) {
      std::cout << line << "\n";
      ++shown;
    }
}

// --- 7. The search --------------------------------------------------------------------------------------

// The fastest of five runs, after one that compiles.
double gflops_of_product(std::int64_t n) {
  const Tensor a = Tensor::rand({n, n}).realize(), b = Tensor::rand({n, n}).realize();
  double best = 0;
  for (int run = -1; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    a.matmul(b).realize();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    const auto size = static_cast<double>(n);
    if (run >= 0) best = std::max(best, 2 * size * size * size / time.count() / 1e9);
  }
  return best;
}

// What a search has kept: the last field of a kernel's line.
std::string kept_schedule() {
  const std::string lines = export_tunings();
  const std::size_t from = lines.rfind('\t');
  return from == std::string::npos ? "" : lines.substr(from + 1, lines.rfind('\n') - from - 1);
}

void search(std::int64_t n, std::int64_t budget) {
  const std::string size = std::to_string(n);
  section("7. BEAM measures schedules: a product of " + size + " x " + size);
  // Nothing is kept on the disk, so that every search here is one.
  const Context context{{"CACHE_DIR", "none"}, {"BEAM_BUDGET", budget}};
  std::printf("BEAM  GFLOP/s  schedule\n");
  std::map<int, double> speeds;
  for (const int beam : {0, 2, 4}) {
    const Context width{{"BEAM", beam}};
    speeds[beam] = gflops_of_product(n);
    std::printf("%4d %8.1f  %s\n", beam, speeds[beam],
                beam == 0 ? "what the cost model chose" : kept_schedule().c_str());
  }
  std::printf("\nBEAM=4 is %.2f times as fast as none\n", speeds[4] / speeds[0]);
  check("a search has kept a schedule", !kept_schedule().empty());
}

int main(int argc, char** argv) try {
  std::int64_t size = 512, budget = 5;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    std::int64_t& option = name == "--size" ? size : budget;
    if ((name != "--size" && name != "--budget") || (option = std::atoll(value.c_str())) < 1) {
      std::cout << "05_compiler [--size N] [--budget SECONDS]\n"
                   "  --size    of the matrices that section 7 multiplies (512)\n"
                   "  --budget  what each of its two searches may take (5)\n";
      return name == "--help" ? 0 : 1;
    }
  }
  const Tensor y = (Tensor::empty({64, 32}) * 2 + 1).sum(0);
  show_schedule();
  show_graph(y);
  show_rewrites();
  const UOp kernel = y.schedule()[0].kernel;
  const UOp program = lower(kernel, find_device(default_device()));
  std::cout << "\nThe result:\n\n" << printed("program", program);
  count_kernels();
  show_source(kernel);
  search(size, budget);
} catch (const std::exception& error) {
  return failed(error);
}
