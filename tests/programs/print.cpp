// The program of a seed as C++, for a compiler and for people; without a seed, one with every op there is.
//
//   weft_print_program [seed]           the C++
//   weft_print_program --run [seed]     what it prints

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "random.h"

int main(int argc, char** argv) {
  using namespace weft;
  const bool runs = argc > 1 && std::string_view(argv[1]) == "--run";
  const char* seed = argc > 1 + runs ? argv[1 + runs] : nullptr;
  const Script program =
      seed != nullptr ? random_program(std::strtoull(seed, nullptr, 10)) : program_of_every_op();
  if (!runs) {
    std::cout << cpp_text(program, {});
    return 0;
  }
  const std::vector<Tensor> tensors = build(program);
  std::vector<Tensor> outputs;
  for (std::size_t output : program.outputs) outputs.push_back(tensors[output]);
  Tensor::realize(outputs);
  for (const Tensor& output : outputs) std::cout << output.repr() << "\n";
}
