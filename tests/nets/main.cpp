// weft_nets: the tests, or by hand
//
//   weft_nets --run SEED COUNT      runs programs; each that fails is shrunk and printed as C++
//   weft_nets --readings SEED COUNT   reads some values before it asks for the gradient of others
//   weft_nets --show SEED           prints a program as C++
//   weft_nets --print SEED COUNT    prints programs and the oracle's values, for check_oracle.py
//   weft_nets --checksums SEED COUNT   of the oracle's values, one for 100 programs
//
// DEV, NOOPT, ALGEBRA, SKIP and other settings say how programs are run.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "calls.h"
#include "nets.h"

namespace {

using namespace nets;

int run(std::uint64_t seed, std::uint64_t count, std::string (&report_of)(std::uint64_t)) {
  std::uint64_t faults = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string report = report_of(seed + i);
    if (report.empty()) continue;
    ++faults;
    fmt::print("{}\n", report);
    std::fflush(stdout);
  }
  fmt::print("{} programs from seed {}, {} differ\n", count, seed, faults);
  return faults == 0 ? 0 : 1;
}

int command(int argc, char** argv) {
  const std::string_view mode = argv[1];
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  if (mode == "--run") return run(seed, count, report_of);
  if (mode == "--readings") return run(seed, count, reading_report_of);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (mode == "--show") fmt::print("{}\n", cpp_of(program_of(seed + i)));
    if (mode == "--print") fmt::print("{}", lines_of(program_of(seed + i)));
    if (mode == "--checksums" && i % programs_in_checksum == 0)
      fmt::print("{} {:016x}\n", seed + i, checksum_from(seed + i));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strncmp(argv[1], "--gtest", 7) != 0) return command(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
