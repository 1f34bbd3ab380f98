// What a program that starts sees of weft:  peers_start
//
// Reads a case from stdin, loads the network and calls it once. Its results are in memory when it says what that took.

#include <iostream>

#include "memory.h"
#include "network.h"

int main() {
  using namespace weft;
  try {
    const auto one = nlohmann::json::parse(std::cin);
    const onnx::Model model = bench::load_network(one);
    const onnx::NamedValues outputs = model(bench::network_inputs(one));
    std::cout << nlohmann::json{{"peak_mb", bench::peak_mb()}}.dump() << "\n" << std::flush;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n" << std::flush;
    return 1;
  }
}
