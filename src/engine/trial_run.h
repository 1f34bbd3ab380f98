// Running what may hang or crash: in a child of the process.
#pragma once

#include <functional>

namespace weft {

enum class TrialEnd { Done, TimedOut, Crashed };

// What becomes of `f` in a child, which has the memory of this process as it is now and keeps to itself
// what it writes. It is ended after `seconds`.
TrialEnd run_in_child(const std::function<void()>& f, double seconds);

}  // namespace weft
