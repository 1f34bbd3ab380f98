// The schedules that searches found fastest, and how far they are: kept in one file of the folder of the disk cache, which
// processes share. Losing it costs only time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <weft/dev/ir/uop.h>

namespace weft {

class Device;

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

// The schedule by which the kernel is compiled where it is kept; empty where the cost model chooses. Under BEAM=n a search may find it now.
std::string kept_schedule(const UOp& kernel, Device& device);

struct SearchProgress {
  std::uint64_t timed = 0;  // schedules
  double seconds = 0;       // since it began
  double fastest = 0;       // seconds of one run
};
struct TuneOptions {
  std::int64_t width = 8;            // as BEAM
  double seconds = 5;                // besides what earlier searches took
  std::function<bool()> stops = {};  // asked again and again: the search ends with what it has
  std::function<void(const SearchProgress&)> tell = {};
};
// Searches, or goes on with a search that has not come to its end, and keeps what it finds. Nothing where there is
// no choice, or where not even the model's choice runs.
std::optional<Tuning> tune(const UOp& kernel, Device& device, const TuneOptions& options);
// From now on graphs are planned anew: a plan that was made before keeps to the schedules that it found.
void forget_plans();
std::size_t count_plans();  // that were made so far, by all threads

std::size_t count_tunings();
void clear_tunings();

// All of them as text, a line for each, to go with a model to other machines.
std::string export_tunings();
// Keeps those of such a text, and says how many it has. What is no such line is left out.
std::size_t import_tunings(std::string_view text);

}  // namespace weft
