// Included before every mutated source. MUTANT=n: the condition with that number is left out. MUTANTS_FIRED=FILE: the
// numbers of those that made a difference are added to the file at the end of the process.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace weft_mutants {

inline int in_force() {
  static const int number = [] {
    const char* text = std::getenv("MUTANT");
    return text == nullptr ? -1 : std::atoi(text);
  }();
  return number;
}

constexpr int most = 20'000;  // as in run.py

struct Fired {
  std::atomic<bool> numbers[most] = {};
  void set(int number) { numbers[number].store(true, std::memory_order_relaxed); }
  ~Fired() {
    const char* path = std::getenv("MUTANTS_FIRED");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    for (int i = 0; i < most; ++i)
      if (numbers[i]) std::fprintf(file, "%d\n", i);
    std::fclose(file);
  }
};
inline Fired fired;

inline bool guard(int number) {
  fired.set(number);
  return in_force() == number;
}
inline bool reason(int number, bool holds) {
  if (holds) fired.set(number);
  return holds && in_force() != number;
}
inline bool test(int number, bool holds) {
  if (!holds) fired.set(number);
  return holds || in_force() == number;
}

}  // namespace weft_mutants
