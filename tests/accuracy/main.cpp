// How near the functions of Tensor are to the true values.
//
//   weft_accuracy promises.txt                       fails where an error exceeds what the file promises: a part of all
//                                                    functions in turn (WEFT_TURN), or all of them (WEFT_FULL=1)
//   weft_accuracy --table OUT.md OUT.json [NAME...]  measures these functions, or all
//
// SAMPLES=N measures about 2^N inputs of each function of f32.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "measure.h"

namespace weft::accuracy {
namespace {

const std::vector<DType> dtypes_measured{dtypes::f32, dtypes::f64, dtypes::f16, dtypes::bf16};

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::Operand: return "operand";
    case Unit::One: return "1";
    case Unit::Normal: return "normal";
    default: return "result";
  }
}

std::size_t samples_of(const Function& function, DType dtype, std::size_t log2) {
  const std::size_t shift = dtype == dtypes::f64 ? 2 : 0;
  return (std::size_t{1} << log2 >> shift) / static_cast<std::size_t>(function.cost);
}

std::size_t samples_wanted(std::size_t otherwise) {
  const char* text = std::getenv("SAMPLES");
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 10);
}

// An input as a call shows it.
std::string at(const Function& function, const Place& place) {
  return function.operands == 1
             ? fmt::format("{:.9g} = {:a}", place.x, place.x)
             : fmt::format("{:.9g}, {:.9g} = {:a}, {:a}", place.x, place.y, place.x, place.y);
}

std::string number(double error) {
  if (std::isinf(error)) return "inf";
  return error < 100 ? fmt::format("{:.3f}", error) : fmt::format("{:.3g}", error);
}

// --- What is promised ---------------------------------------------------------------------------

// Lines of: function, then a maximum for each dtype. What follows # is a comment.
std::map<std::string, std::vector<double>> read_promises(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path));
  std::map<std::string, std::vector<double>> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (!(words >> name)) continue;
    for (double most = 0; words >> most;) result[name].push_back(most);
    if (result[name].size() != dtypes_measured.size())
      throw std::runtime_error(
          fmt::format("{}: '{}' wants {} numbers", path, name, dtypes_measured.size()));
  }
  return result;
}

class Check {
 public:
  explicit Check(const std::string& path) : promises_(read_promises(path)) {}

  int run() {
    const char* text = std::getenv("WEFT_TURN");
    const std::uint64_t turn = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    const bool is_full = std::getenv("WEFT_FULL") != nullptr;
    constexpr std::uint64_t parts = 24;
    std::uint64_t at = 0;
    for (const Function& function : functions()) {
      if (!promises_.contains(std::string(function.name)))
        fail(fmt::format("{} has no promise", function.name));
      for (const DType dtype : dtypes_measured)
        if (is_full || at++ % parts == turn % parts)
          check(function, dtype, is_full ? 18 : 12, turn, is_full ? 1 : 16);
    }
    fmt::print("{} comparisons, {} failed\n", count_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void check(const Function& function, DType dtype, std::size_t log2, std::uint64_t seed,
             std::uint64_t parts) {
    const auto promise = promises_.find(std::string(function.name));
    if (promise == promises_.end()) return;
    const auto column = std::ranges::find(dtypes_measured, dtype) - dtypes_measured.begin();
    const double most = promise->second[static_cast<std::size_t>(column)];
    const std::size_t samples = samples_of(function, dtype, samples_wanted(log2));
    const Inputs inputs = inputs_for(function, dtype, samples, seed, parts);
    const std::vector<long double> exact = true_values(function, inputs);
    for (const Device& device : devices_) {
      ++count_;
      const Measured measured = measure(function, dtype, device, inputs, exact);
      const std::string what =
          fmt::format("{} of {} by {}", function.name, dtype.str(), device.name);
      if (measured.unit.error > most)
        fail(fmt::format("{} is off by {} at {}, promised: {}", what, number(measured.unit.error),
                         accuracy::at(function, measured.unit), most));
      if (measured.wrong != 0)
        fail(fmt::format("{} gives {} at {}, not {}, and {} others like that", what,
                         measured.first_wrong.got, accuracy::at(function, measured.first_wrong),
                         static_cast<double>(measured.first_wrong.want), measured.wrong - 1));
    }
  }

  void fail(const std::string& message) {
    fmt::print(stderr, "{}\n", message);
    ++failed_;
  }

  std::map<std::string, std::vector<double>> promises_;
  std::vector<Device> devices_ = devices();
  std::size_t count_ = 0, failed_ = 0;
};

// --- The table ----------------------------------------------------------------------------------

// A row for each function: the errors by each device, and where the greatest one is.
void write_row(std::ostream& markdown, std::ostream& json, const Function& function, DType dtype,
               const std::vector<Device>& devices, std::size_t log2, bool& is_first) {
  const Inputs inputs = inputs_for(function, dtype, samples_of(function, dtype, log2), 1);
  const std::vector<long double> exact = true_values(function, inputs);
  std::string row = fmt::format("| {} | {} |", function.name, name_of(function.unit)), special;
  Place worst, plain;
  for (const Device& device : devices) {
    const Measured measured = measure(function, dtype, device, inputs, exact);
    row += fmt::format(" {} |", number(measured.unit.error));
    if (measured.unit.error > worst.error) worst = measured.unit;
    if (measured.ulp.error > plain.error) plain = measured.ulp;
    if (measured.wrong != 0)
      special = fmt::format("{} at {}, not {}", measured.first_wrong.got,
                            accuracy::at(function, measured.first_wrong),
                            static_cast<double>(measured.first_wrong.want));
    fmt::print(json,
               "{}{{\"function\": \"{}\", \"dtype\": \"{}\", \"device\": \"{}\", \"inputs\": {}, "
               "\"unit\": \"{}\", "
               "\"error\": \"{:.4g}\", \"at\": \"{}\", \"ulp\": \"{:.4g}\", \"ulp_at\": \"{}\", "
               "\"wrong\": {}}}",
               is_first ? "" : ",\n", function.name, dtype.str(), device.name, measured.count,
               name_of(function.unit), measured.unit.error, accuracy::at(function, measured.unit),
               measured.ulp.error, accuracy::at(function, measured.ulp), measured.wrong);
    is_first = false;
  }
  row += fmt::format(" {} |", worst.error == 0 ? "" : accuracy::at(function, worst));
  row += function.unit == Unit::Result ? " |" : fmt::format(" {} |", number(plain.error));
  fmt::print(markdown, "{} {} |\n", row, special);
  markdown.flush(), json.flush();
}

int write_table(const std::string& markdown_path, const std::string& json_path,
                const std::vector<std::string>& names) {
  std::ofstream markdown(markdown_path), json(json_path);
  const std::vector<Device> devices = accuracy::devices();
  const std::size_t log2 = samples_wanted(20);
  bool is_first = true;
  fmt::print(json, "[\n");
  for (const DType dtype : dtypes_measured) {
    fmt::print(markdown, "## {}\n\n| function | unit |", dtype.str());
    for (const Device& device : devices) fmt::print(markdown, " {} |", device.name);
    fmt::print(markdown,
               " greatest error at | in ulp of the result | wrong special values |\n|---|---|");
    for (std::size_t i = 0; i < devices.size(); ++i) fmt::print(markdown, "---|");
    fmt::print(markdown, "---|---|---|\n");
    for (const Function& function : functions())
      if (names.empty() || std::ranges::find(names, function.name) != names.end())
        write_row(markdown, json, function, dtype, devices, log2, is_first);
    fmt::print(markdown, "\n");
  }
  fmt::print(json, "\n]\n");
  return markdown && json ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1) return Check(arguments[0]).run();
  if (arguments.size() >= 3 && arguments[0] == "--table")
    return write_table(arguments[1], arguments[2], {arguments.begin() + 3, arguments.end()});
  fmt::print(
      stderr,
      "Usage: weft_accuracy promises.txt | weft_accuracy --table OUT.md OUT.json [NAME...]\n");
  return 2;
}

}  // namespace
}  // namespace weft::accuracy

int main(int argc, char** argv) {
  try {
    return weft::accuracy::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft_accuracy: {}\n", error.what());
    return 1;
  }
}
