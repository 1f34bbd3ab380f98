// The subcommands. They know nothing of the command line: main.cpp fills in their options.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace weft::cli {

// IR text in, passes, IR text out.
struct OptOptions {
  std::vector<std::string> passes;  // empty: the whole pipeline
  std::string device;               // whose passes; empty: one that takes kernels as scheduled
  std::string file = "-";
  bool trace = false, renumber = false, validate = false, check_loops = false;
};
void run_opt(const OptOptions& options);

// Kernels as text in; how each is scheduled, and its source, out.
struct KernelsOptions {
  std::string schedule;  // empty: the kernel's own, else the model's choice
  std::string device;    // empty: the default device
  std::string file = "-";
};
void run_kernels(const KernelsOptions& options);

// One expression followed through every pass.
void run_demo();

// What there is, by kind.
struct Listing {
  const char* name;
  const char* what;
  void (*print)();
};
std::span<const Listing> listings();

}  // namespace weft::cli
