// Random user programs beside the oracle. NETS_SEED and NETS_COUNT say which; WEFT_TURN, that each run of CI has others.

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/settings.h>

#include "calls.h"
#include "nets.h"

namespace nets {
namespace {

std::uint64_t number_in(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::uint64_t parts = 8;

class Nets : public testing::TestWithParam<std::uint64_t> {};

// Where no device is asked for, most programs run on the interpreter, which compiles nothing. Every
// second one is transformed as if it were large.
TEST_P(Nets, AgreeWithTheOracle) {
  const std::uint64_t count = number_in("NETS_COUNT", 2000) / parts;
  const std::uint64_t turn = number_in("WEFT_TURN", 0);
  const std::uint64_t first = number_in("NETS_SEED", 1 + turn * count * parts) + GetParam() * count;
  fmt::print("NETS_SEED={} NETS_COUNT={}\n", first, count);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const char* chosen = std::getenv("DEV");
    const weft::Context context{{"DEV", chosen != nullptr ? chosen
                                        : seed % 8 == 0   ? "CPU"
                                                          : "INTERP"},
                                {"SIZE_LIMITS", seed / 8 % 2 == 0 ? 0 : 1}};
    const std::string report = report_of(seed);
    if (!report.empty()) ADD_FAILURE() << report;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, Nets, testing::Range<std::uint64_t>(0, parts));

// Programs that stay: a few in ten thousand do depend on it, where what was read contains writes.
TEST(NetsOfReadings, GradientsStay) {
  const weft::Context context{{"DEV", "INTERP"}};
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) EXPECT_EQ(reading_report_of(seed), "");
}

// A pass that changes what a kernel computes is named, also where another hides it.
TEST(NetsOfEachPass, AgreeWithTheInterpreter) {
  const std::uint64_t first = number_in("NETS_SEED", 1 + number_in("WEFT_TURN", 0) * 2000);
  const weft::Context context{{"DEV", "CPU"}, {"VALIDATE", 2}};
  fmt::print("NETS_SEED={}\n", first);
  for (std::uint64_t seed = first; seed < first + 40; ++seed) EXPECT_EQ(report_of(seed), "");
}

// The oracle gives what it gave when check_oracle.py compared it with NumPy last. Where programs or the
// oracle change on purpose: weft_nets --checksums 1 10000 > tests/nets/checksums.txt, and run that again.
TEST(Oracle, GivesWhatItGave) {
  std::ifstream file(WEFT_NETS_CHECKSUMS);
  std::uint64_t seed = 0, lines = 0;
  std::string sum;
  while (file >> seed >> sum) {
    EXPECT_EQ(fmt::format("{:016x}", checksum_from(seed)), sum) << seed;
    ++lines;
  }
  EXPECT_EQ(lines, 100u);
}

}  // namespace
}  // namespace nets
