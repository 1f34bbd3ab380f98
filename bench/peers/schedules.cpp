#include "schedules.h"

#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/graph.h>

#include "../../src/engine/search.h"

namespace weft::bench {
namespace {

std::string schedule_of_item(const ScheduleItem& item) {
  Device& device = find_device(item.device);
  const PassOptions passing{.target = device.target()};
  if (std::string found = found_schedule({item.kernel, &device}, passing.extra); !found.empty())
    return found;
  Arena arena;
  const InternerScope scope(arena);
  const UOp kernel = import_graph(nodes_of({&item.kernel, 1}), shared_graph(), arena)[0];
  const UOp ready = ready_to_schedule(run_pipeline_until("optimise", {kernel}, passing)[0]);
  return to_string(schedule_of(ready.node(), passing.target));
}

}  // namespace

std::vector<std::string> schedules_of(const Tensor& result) {
  std::vector<std::string> texts;
  for (const ScheduleItem& item : result.schedule())
    if (!item.kernel.is_null()) texts.push_back(schedule_of_item(item));
  return texts;
}

}  // namespace weft::bench
