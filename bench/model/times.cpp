#include "times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "../../src/engine/programs.h"
#include "../../src/engine/timing.h"
#include "statistics.h"

namespace weft::bench {
namespace {

constexpr int most_calls = 31, fewest_calls = 5;
constexpr double most_seconds = 1;  // for the calls of a program, once as few have been made

using Clock = std::chrono::steady_clock;

UOp in_its_program(const CorpusKernel& kernel) {
  return among_constants(kernel.kernel, *kernel.device, kernel.constant_bytes);
}

// A program with memory of its own, all zero.
class ProgramRun {
 public:
  explicit ProgramRun(const CorpusProgram& program) {
    std::vector<KernelFor> wanted;
    for (const ScheduleItem& item : program.items) {
      Device& device = find_device(item.device);
      wanted.push_back({among_constants(item.kernel, device, program.constant_bytes), &device});
    }
    const auto loaded = load_kernels(wanted, extra_rules());
    for (std::size_t i = 0; i < wanted.size(); ++i) add(program.items[i], wanted[i], loaded[i]);
  }

  // Seconds of each item.
  std::vector<double> call() {
    std::vector<double> seconds;
    for (Call& each : calls_) {
      const Clock::time_point start = Clock::now();
      each.kernel->program->run(each.arguments, each.values);
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
  }

 private:
  struct Call {
    std::shared_ptr<LoadedKernel> kernel;
    std::vector<Argument> arguments;
    std::vector<std::int64_t> values;
  };

  void add(const ScheduleItem& item, const KernelFor& wanted,
           const std::shared_ptr<LoadedKernel>& loaded) {
    const Signature signature = signature_of(wanted.kernel.node());
    std::vector<Buffer*> memory;
    for (std::size_t i = 0; i < signature.params.size(); ++i) {
      const Node* param = signature.params[i];
      const std::size_t bytes = param == nullptr ? 1 : bytes_of(param->dtype(), param->dims());
      memory.push_back(&memory_for(item.buffers.at(i).node(), bytes, *wanted.device));
    }
    Call call{loaded, arguments_for(*loaded, memory), {}};
    for (const std::size_t variable : loaded->variables)
      call.values.push_back(signature.variables.at(variable)->hi());
    calls_.push_back(std::move(call));
  }

  Buffer& memory_for(const Node* buffer, std::size_t bytes, Device& device) {
    std::shared_ptr<Buffer>& own = buffers_[buffer];
    if (own == nullptr || own->bytes() < bytes) {
      if (own != nullptr) retired_.push_back(own);
      own = std::make_shared<Buffer>(device, bytes);
      own->copy_in(std::vector<std::byte>(bytes));
    }
    return *own;
  }

  std::map<const Node*, std::shared_ptr<Buffer>> buffers_;
  std::vector<std::shared_ptr<Buffer>> retired_;  // views of them that are larger came later
  std::vector<Call> calls_;
};

std::string reads_text(const Node* kernel) {
  std::vector<std::string> reads;
  for (const auto& [name, load] : reads_of_kernel(kernel)) {
    const Node* storage = storage_of(load->src(0)->src(0));
    std::vector<std::int64_t> sizes;
    for (const Node* size : storage->dims()) sizes.push_back(size->hi());
    reads.push_back(fmt::format("{} {}", name, fmt::join(sizes, "x")));
  }
  return fmt::format("{}", fmt::join(reads, ", "));
}

}  // namespace

double Times::error() const { return std::log(measured / expected.value()); }

std::optional<double> expected_seconds_of(const CorpusKernel& kernel) {
  const Symbol device{std::string(kernel.device->name())};
  return expected_seconds(extra_rules(), kernel.constant_bytes)(kernel.kernel, device);
}

std::vector<double> seconds_of_items(const CorpusProgram& program) {
  ProgramRun run(program);
  run.call();
  const Clock::time_point start = Clock::now();
  std::vector<std::vector<double>> seconds(program.items.size());
  for (int call = 0; call < most_calls; ++call) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (call >= fewest_calls && spent.count() > most_seconds) break;
    const std::vector<double> now = run.call();
    for (std::size_t i = 0; i < now.size(); ++i) seconds[i].push_back(now[i]);
  }
  std::vector<double> medians;
  for (const std::vector<double>& each : seconds) medians.push_back(quantile(each, 0.5));
  return medians;
}

std::optional<Found> searched(const CorpusKernel& kernel, std::int64_t width, double seconds) {
  const auto found =
      tune(in_its_program(kernel), *kernel.device, {.width = width, .seconds = seconds});
  if (!found) return std::nullopt;
  return Found{found->default_seconds, std::min(found->seconds, found->default_seconds),
               found->schedule};
}

std::string text_of(const CorpusKernel& kernel) {
  Arena arena;
  const UOp from = in_its_program(kernel);
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&from, 1}), shared_graph(), arena)[0];
  const PassOptions passing{.target = kernel.device->target()};
  const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {own}, passing)[0]);
  std::vector<std::string> loops;
  for (const auto& [name, range] : loops_of_kernel(ready.node()))
    loops.push_back(fmt::format("{} {}", name, range->src(0)->hi()));
  return fmt::format("loops {}; reads {}; {}", fmt::join(loops, ", "), reads_text(ready.node()),
                     to_string(schedule_of(ready.node(), passing.target)));
}

}  // namespace weft::bench
