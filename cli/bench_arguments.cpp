// weft bench, whose subcommands say what is timed.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.h"

namespace weft::cli {
namespace {

void add_common(CLI::App& command, BenchOptions& options, BenchOptions::What what, int runs = 20) {
  const CLI::Option* given = command.add_option("--runs", options.runs, "Number of timed runs")
                                 ->check(CLI::PositiveNumber)
                                 ->default_str(std::to_string(runs));
  command.add_flag("--json", options.json,
                   "Print a JSON object: median_ms, min_ms, p90_ms, runs, gflops, gbps, kernels, "
                   "peak_bytes, compile_ms, cold, warm");
  command.callback([&options, given, what, runs] {
    options.what = what;
    if (given->empty()) options.runs = runs;
    run_bench(options);
  });
}

void add_cold(CLI::App& command, BenchOptions& options) {
  command.add_flag("!--no-cold", options.cold,
                   "Do not measure the time to the first result in a new process with an empty "
                   "cache");
}

// Of what the tensors are, and where.
void add_tensors(CLI::App& command, BenchOptions& options) {
  add_device(command, options.model);
  command
      .add_option("--dtype", options.dtype, "Type of the elements, such as f16, bf16, f64 or i32")
      ->capture_default_str();
}

template <class Size>
void add_size(CLI::App& command, const std::string& name, Size& size, const std::string& meaning) {
  command.add_option(name, size, meaning)->required()->check(CLI::PositiveNumber);
}

void add_matmul(CLI::App& bench, BenchOptions& options) {
  CLI::App* command = bench.add_subcommand("matmul", "Time a product of two matrices");
  add_size(*command, "m", options.matmul[0], "Rows of the first matrix");
  add_size(*command, "k", options.matmul[1], "Columns of the first matrix, and rows of the second");
  add_size(*command, "n", options.matmul[2], "Columns of the second matrix");
  add_tensors(*command, options);
  add_cold(*command, options);
  add_common(*command, options, BenchOptions::Matmul);
}

void add_conv(CLI::App& bench, BenchOptions& options) {
  CLI::App* command = bench.add_subcommand("conv", "Time a convolution of images");
  add_size(*command, "images", options.conv.sizes[0], "Number of images");
  add_size(*command, "channels", options.conv.sizes[1], "Channels of an image");
  add_size(*command, "height", options.conv.sizes[2], "Height of an image");
  add_size(*command, "width", options.conv.sizes[3], "Width of an image");
  add_size(*command, "filters", options.conv.sizes[4],
           "Number of filters, the channels of the result");
  add_size(*command, "window", options.conv.sizes[5], "Height and width of the filters");
  command->add_option("--stride", options.conv.stride, "Distance from one window to the next")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--padding", options.conv.padding, "Zeros on each side of an image")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--groups", options.conv.groups, "Number of groups of channels")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_tensors(*command, options);
  add_cold(*command, options);
  add_common(*command, options, BenchOptions::Conv2d);
}

void add_op(CLI::App& bench, BenchOptions& options) {
  CLI::App* command = bench.add_subcommand("op", "Time one operation on tensors");
  command->add_option("name", options.op, "Operation; an unknown name lists all of them")
      ->required();
  command
      ->add_option_function<std::vector<std::string>>(
          "shapes",
          [&options](const std::vector<std::string>& given) {
            for (const std::string& shape : given)
              options.shapes.push_back(sizes_of(shape, "shapes", 'x'));
          },
          "Shape of all operands, or of each, such as 4096x1024")
      ->required();
  add_tensors(*command, options);
  add_cold(*command, options);
  add_common(*command, options, BenchOptions::OneOp);
}

}  // namespace

void add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App* bench = app.add_subcommand("bench", "Time a model or an operation");
  bench->require_subcommand(1);
  CLI::App* onnx =
      bench->add_subcommand("onnx", "Time calls of a model, with generated inputs by default");
  add_model(*onnx, options.model);
  add_inputs(*onnx, options.model);
  add_precision_choice(*onnx, options.model);
  add_cold(*onnx, options);
  add_common(*onnx, options, BenchOptions::Onnx);
  add_matmul(*bench, options);
  add_conv(*bench, options);
  add_op(*bench, options);
  CLI::App* launch = bench->add_subcommand("launch", "Time a call that computes almost nothing");
  add_tensors(*launch, options);
  add_cold(*launch, options);
  add_common(*launch, options, BenchOptions::Launch);
  CLI::App* compile = bench->add_subcommand(
      "compile", "Time the first result of a model, each in a new process with an empty cache");
  add_model(*compile, options.model);
  add_inputs(*compile, options.model);
  add_common(*compile, options, BenchOptions::Compile, 3);
}

}  // namespace weft::cli
