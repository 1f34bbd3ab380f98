// Small runs of what the library does, each of which checks its values.
#pragma once

#include <span>
#include <string>

namespace weft {

struct SmallRun {
  const char* name;
  int processes;  // that try it
  // What it computes depends on the number, so that another number is another graph. It throws std::logic_error where a
  // value is wrong. Files go to the folder.
  void (*run)(int number, const std::string& folder);
};
std::span<const SmallRun> small_runs();

}  // namespace weft
