// Trained networks in ../shared/data and what tests give them.
#pragma once

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <weft/io.h>
#include <weft/onnx.h>

namespace weft::onnx {

// The words of each line of a file among these tests, less what is after #.
std::vector<std::vector<std::string>> lines_of(const std::string& file);

// "1x3x224x224", or "-" for a number.
std::vector<std::int64_t> sizes_of(const std::string& text);

// Of one port: the array of its name, else of its number, else the only one.
Tensor array_of(const std::map<std::string, Tensor>& arrays, const Port& port, std::size_t number);

struct Trained {
  std::string name, file;
  std::map<std::string, std::string> given;  // of inputs

  std::filesystem::path path() const;
  // What lies beside the file, or made up numbers, on the device.
  NamedValues inputs(const Model& model, const std::string& device = "CPU") const;
};

void PrintTo(const Trained& network, std::ostream* out);

std::vector<Trained> networks();  // of models.txt

}  // namespace weft::onnx
