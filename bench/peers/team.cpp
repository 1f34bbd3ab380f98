#include "team.h"

#include <sched.h>

namespace weft::bench {
namespace {

void pin_to_core(int number) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || number-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

}  // namespace

Team::Team(int threads) : size_(threads), start_(threads), end_(threads) {
  for (int number = 1; number < threads; ++number)
    threads_.emplace_back([this, number] {
      pin_to_core(number);
      while (true) {
        start_.arrive_and_wait();
        if (what_ == nullptr) return;
        (*what_)(number);
        end_.arrive_and_wait();
      }
    });
  pin_to_core(0);
}

Team::~Team() {
  what_ = nullptr;
  start_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(const std::function<void(int)>& what) {
  what_ = &what;
  start_.arrive_and_wait();
  what(0);
  end_.arrive_and_wait();
}

}  // namespace weft::bench
