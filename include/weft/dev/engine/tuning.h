// The schedules that searches found fastest, and how far they are: kept in one file of the folder of the disk cache, which
// processes share. Losing it costs only time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

struct Tuning {
  std::string kernel = {};  // the hash of its structure
  std::string device = {};  // with all that compiling for it depends on, and the number of threads
  std::string schedule = {};
  std::int64_t width = 0;  // BEAM of the search
  double seconds = 0;      // of one run
  double default_seconds = 0;
  // Of a search that has not come to its end: another goes on from there.
  bool is_done = true;
  double spent = 0;        // seconds so far
  std::string tried = {};  // hashes of the schedules that need not be measured again
};

bool has_tunings();  // cheap: whether there is anything to find
std::optional<Tuning> find_tuning(const std::string& kernel, const std::string& device);
void keep_tuning(const Tuning& tuning);

// All of them as text, a line for each, to go with a model to other machines.
std::string export_tunings();
// Keeps those of such a text, and says how many it has. What is no such line is left out.
std::size_t import_tunings(std::string_view text);

}  // namespace weft
