#include "call_list.h"

#include <unordered_map>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "../../src/engine/search.h"

namespace weft::bench {
namespace {

// Of the schedule's buffers those that last have memory; what lives between two kernels gets some.
class Memory {
 public:
  std::shared_ptr<Buffer> of(const UOp& buffer, const std::string& device) {
    auto& memory = known_[buffer.node()];
    if (memory == nullptr) memory = shared_graph().attached<Buffer>(buffer.node());
    if (memory == nullptr)
      memory =
          std::make_shared<Buffer>(find_device(device), bytes_of(buffer->dtype(), buffer->dims()));
    return memory;
  }

 private:
  std::unordered_map<const Node*, std::shared_ptr<Buffer>> known_;
};

}  // namespace

CallList::CallList(const Tensor& result) : items_(result.schedule()) {
  std::vector<KernelFor> kernels;
  for (const ScheduleItem& item : items_) {
    if (item.kernel.is_null()) user_error("a copy between devices is no part of a call list");
    kernels.push_back({item.kernel, &find_device(item.device)});
  }
  const auto loaded = load_kernels(kernels, extra_rules());
  Memory memory;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Call call{loaded[i], {}};
    for (const UOp& buffer : items_[i].buffers) {
      buffers_.push_back(memory.of(buffer, items_[i].device));
      call.arguments.push_back(buffers_.back()->argument());
    }
    calls_.push_back(std::move(call));
    last_ = memory.of(items_[i].buffers[0], items_[i].device);
  }
}

void CallList::run() {
  for (const Call& call : calls_) call.kernel->program->run(call.arguments, {});
}

std::vector<std::string> CallList::schedules() const {
  std::vector<std::string> texts;
  for (const ScheduleItem& item : items_) {
    Device& device = find_device(item.device);
    const PassOptions passing{.target = device.target()};
    texts.push_back(found_schedule({item.kernel, &device}, passing.extra));
    if (!texts.back().empty()) continue;
    Arena arena;
    const InternerScope scope(arena);
    const UOp kernel = import_graph(nodes_of({&item.kernel, 1}), shared_graph(), arena)[0];
    const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {kernel}, passing)[0]);
    texts.back() = to_string(schedule_of(ready.node(), passing.target));
  }
  return texts;
}

std::vector<float> CallList::result() const {
  std::vector<float> values(last_->bytes() / sizeof(float));
  last_->copy_out(std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace weft::bench
