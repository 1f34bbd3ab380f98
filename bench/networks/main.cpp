// random_networks SEED COUNT FOLDER: writes FOLDER/SEED.onnx and the next ones, and says what they are.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "random_network.h"

int main(int count, char** arguments) try {
  if (count != 4) {
    fmt::print(stderr, "usage: random_networks SEED COUNT FOLDER\n");
    return 2;
  }
  const std::uint64_t first = std::strtoull(arguments[1], nullptr, 10);
  const std::uint64_t many = std::strtoull(arguments[2], nullptr, 10);
  const std::filesystem::path folder = arguments[3];
  std::filesystem::create_directories(folder);
  for (std::uint64_t seed = first; seed < first + many; ++seed) {
    const auto network = weft::bench::random_network(seed);
    const std::filesystem::path path = folder / fmt::format("{}.onnx", seed);
    network.file.save(path);
    fmt::print("{} {}\n", path.string(), network.family);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "random_networks: {}\n", error.what());
  return 1;
}
