// Threads that do the same at once, each on a core of its own.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace weft::bench {

class Team {
 public:
  // On the first cores that the process may run on.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }
  // what(0) to what(size - 1), and waits for all.
  void run(const std::function<void(int)>& what);

 private:
  int size_;
  std::barrier<> start_, end_;
  const std::function<void(int)>* what_ = nullptr;  // null: the threads end
  std::vector<std::thread> threads_;
};

}  // namespace weft::bench
