// What the tests and the command share.
#pragma once

#include <string>

#include "generate.h"

namespace nets {

inline constexpr std::uint64_t programs_in_checksum = 100;

inline Program program_of(std::uint64_t seed) { return random_program(seed); }

// Where the program of the seed differs under the settings that hold, shrunk, as text; empty: nowhere. What kills the process
// names its seed first.
std::string report_of(std::uint64_t seed);

// How a gradient depends on what has been read before; empty: not at all, or the program is none for that.
std::string reading_report_of(std::uint64_t seed);

// Of so many programs from the seed.
std::uint64_t checksum_from(std::uint64_t seed);

}  // namespace nets
