// Networks that nobody chose: for a benchmark that no schedule was tuned on.
#pragma once

#include <cstdint>
#include <string>

#include <weft/onnx_writer.h>

namespace weft::bench {

struct RandomNetwork {
  std::string family;
  onnx::Writer file;
};

// The same one for a seed, on every machine.
RandomNetwork random_network(std::uint64_t seed);

}  // namespace weft::bench
