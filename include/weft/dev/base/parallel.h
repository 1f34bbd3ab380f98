// Work on several cores: one pool of threads for the whole process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace weft {

// How many threads a call of this thread runs on, itself among them: what WEFT_THREADS says, else
// the cores that this process may run on.
int thread_count();

// One call for all indices, whatever the function.
struct ParallelFunction {
  void (*call)(void* function, std::int64_t index);
  void* function;
};
void parallel(std::int64_t count, ParallelFunction function);

// Runs f(index) for every index in [0, count), on this thread and on those of the pool that are free,
// and returns when all have run. Which thread runs which index is open; each takes the next one. f does
// not throw. May be called from any number of threads at once, and from f, whose calls run by
// themselves.
template <class F>
void parallel(std::int64_t count, F&& f) {
  using Function = std::remove_reference_t<F>;
  static_assert(std::is_invocable_v<Function&, std::int64_t>);
  const auto call = [](void* function, std::int64_t index) noexcept {
    (*static_cast<Function*>(function))(index);
  };
  parallel(count,
           ParallelFunction{call, const_cast<void*>(static_cast<const void*>(std::addressof(f)))});
}

// The same for work that reads settings, which are this thread's, and may throw: what the first of
// the indices that threw has thrown is thrown here, once all have run.
void parallel_tasks(std::int64_t count, const std::function<void(std::int64_t)>& task);

}  // namespace weft
