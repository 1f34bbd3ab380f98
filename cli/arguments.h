// The subcommands as the command line has them. These files and main.cpp are all that know its library.
#pragma once

#include "commands.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weft::cli {

// What the command line fills in, and the exit status that a subcommand asks for.
struct Options {
  OptOptions opt;
  KernelsOptions kernels;
  RunOptions run;
  CompareOptions compare;
  InspectOptions inspect;
  QuantizeOptions quantize;
  BenchOptions bench;
  TuneModelOptions tune;
  CompileOptions compile;
  CacheOptions cache;
  OnnxTestOptions onnx_test;
  bool devices_as_json = false;
  std::string shell;
  int status = 0;
};

void add_model_commands(CLI::App& app, Options& options);
void add_compare(CLI::App& app, CompareOptions& options);
void add_quantize(CLI::App& app, QuantizeOptions& options);
void add_bench(CLI::App& app, BenchOptions& options);
void add_other_commands(CLI::App& app, Options& options);

// --- What they share ------------------------------------------------------------------------------

void add_model(CLI::App& command, ModelOptions& options);
void add_shapes(CLI::App& command, ModelOptions& options);
void add_inputs(CLI::App& command, ModelOptions& options);
// `meaning`: what they are for, up to what files they are.
CLI::Option* add_samples(CLI::App& command, ModelOptions& options, const std::string& flag,
                         const std::string& meaning);
void add_images(CLI::App& command, ImageOptions& options);
void add_device(CLI::App& command, ModelOptions& options);  // and threads
void add_precision(CLI::App& command, PrecisionOptions& options);
void add_precision_choice(CLI::App& command, ModelOptions& options);
std::vector<std::int64_t> sizes_of(const std::string& text, const std::string& argument,
                                   char separator);

}  // namespace weft::cli
