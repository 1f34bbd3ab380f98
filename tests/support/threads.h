// The same work in several threads at once.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace weft {

// Runs f(thread) in all threads, starting together.
template <class F>
void in_threads(int threads, F f) {
  std::atomic<int> ready{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      f(i);
    });
  for (std::thread& thread : running) thread.join();
}

}  // namespace weft
