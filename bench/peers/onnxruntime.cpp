// The same as peers_start by onnxruntime's C API:  peers_onnxruntime LIBRARY THREADS
//
// The Python package brings the library without its header. The functions of its API lie in one table, whose order never
// changes; this names those that are called.

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "memory.h"
#include "raw_file.h"

namespace weft::bench {
namespace {

using nlohmann::json;

// Places in the table.
enum Function : std::uint8_t {
  ErrorMessage = 2,
  NewEnvironment = 3,
  NewSession = 7,
  Run = 9,
  NewSessionOptions = 10,
  SetThreads = 24,
  NewTensor = 49,
  NewMemoryInfo = 69,
};

struct Base {
  void* const* (*table)(std::uint32_t version);
  const char* (*version)();
};

constexpr int errors_only = 3, arena = 1, default_memory = 0;

class Api {
 public:
  explicit Api(const char* library) {
    void* opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) throw std::runtime_error(::dlerror());
    const auto base = reinterpret_cast<const Base* (*)()>(::dlsym(opened, "OrtGetApiBase"));
    if (base == nullptr) throw std::runtime_error("the library has no OrtGetApiBase");
    table_ = base()->table(1);
  }

  // Each returns nothing, or what is wrong.
  template <class... Arguments>
  void call(Function function, Arguments... arguments) const {
    const auto target = reinterpret_cast<void* (*)(Arguments...)>(table_[function]);
    if (void* status = target(arguments...); status != nullptr)
      throw std::runtime_error(
          reinterpret_cast<const char* (*)(const void*)>(table_[ErrorMessage])(status));
  }
  // Those that make something, by a pointer behind the other arguments.
  template <class... Arguments>
  void* made(Function function, Arguments... arguments) const {
    void* result = nullptr;
    call(function, arguments..., &result);
    return result;
  }

 private:
  void* const* table_;
};

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> result;
  for (const std::string& name : names) result.push_back(name.c_str());
  return result;
}

void run(const Api& api, int threads, const json& one) {
  void* environment = api.made(NewEnvironment, errors_only, "weft");
  void* options = api.made(NewSessionOptions);
  api.call(SetThreads, options, threads);
  const auto file = one.at("file").get<std::string>();
  void* session =
      api.made(NewSession, environment, file.c_str(), static_cast<const void*>(options));
  const void* memory = api.made(NewMemoryInfo, arena, default_memory);
  std::vector<std::vector<std::byte>> bytes;
  std::vector<const void*> inputs;
  std::vector<std::string> input_names;
  for (const json& each : one.at("inputs")) {
    input_names.push_back(each.at("name").get<std::string>());
    bytes.push_back(raw_file(each.at("file").get<std::string>()));
    const auto shape = each.at("shape").get<std::vector<std::int64_t>>();
    inputs.push_back(api.made(NewTensor, memory, static_cast<void*>(bytes.back().data()),
                              bytes.back().size(), shape.data(), shape.size(),
                              each.at("type").get<int>()));
  }
  const auto output_names = one.at("outputs").get<std::vector<std::string>>();
  std::vector<void*> outputs(output_names.size());
  api.call(Run, session, static_cast<const void*>(nullptr), pointers(input_names).data(),
           inputs.data(), inputs.size(), pointers(output_names).data(), output_names.size(),
           outputs.data());
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  try {
    if (argc != 3) throw std::runtime_error("peers_onnxruntime LIBRARY THREADS");
    run(Api(argv[1]), std::stoi(argv[2]), nlohmann::json::parse(std::cin));
    std::cout << nlohmann::json{{"peak_mb", peak_mb()}}.dump() << "\n" << std::flush;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n" << std::flush;
    return 1;
  }
  std::_Exit(0);  // what the library holds goes with the process
}
