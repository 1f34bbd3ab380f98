// What says in which numbers models multiply.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.h"

namespace weft::cli {
namespace {

// TYPE or LAYER=TYPE; names of layers may have an = of their own.
void add_stated(PrecisionOptions& options, const std::string& given) {
  const std::size_t equals = given.rfind('=');
  const std::string type = equals == given.npos ? given : given.substr(equals + 1);
  const auto precision = onnx::parse_precision(type);
  if (!precision)
    throw CLI::ValidationError("--precision", "'" + type + "' is not f32, bf16, f16 or int8");
  if (equals == given.npos)
    options.all.push_back(*precision);
  else
    options.layers.insert_or_assign(given.substr(0, equals), *precision);
}

CLI::Option* add_max_error(CLI::App& command, PrecisionOptions& options) {
  CLI::Option* bound =
      command
          .add_option("--max-error", options.max_error,
                      "Choose a precision for each layer, from the types of --precision or bf16, "
                      "so that no output for these inputs differs from f32 by more than this "
                      "share of its largest value")
          ->check(CLI::PositiveNumber);
  command
      .add_option("--save-precision", options.save,
                  "File to which the choice of --max-error is written")
      ->type_name("FILE")
      ->needs(bound);
  return bound;
}

}  // namespace

void add_precision(CLI::App& command, PrecisionOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--precision",
          [&options](const std::vector<std::string>& given) {
            for (const std::string& each : given) add_stated(options, each);
          },
          "f32, bf16, f16 or int8: type in which matrix products and convolutions multiply and "
          "store weights; sums are f32, or exact for int8. LAYER=TYPE sets that of one layer, as "
          "weft compare names it. Repeatable")
      ->type_name("TYPE")
      ->allow_extra_args(false);
  command
      .add_option("--precision-file", options.file,
                  "File of layers and precisions, as --save-precision writes it")
      ->type_name("FILE");
}

void add_precision_choice(CLI::App& command, ModelOptions& options) {
  CLI::Option* bound = add_max_error(command, options.precision);
  add_samples(command, options, "--samples",
              "Choose precisions by calls with these samples in place of --input")
      ->needs(bound);
}

void add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App* command = app.add_subcommand(
      "compare", "Run an ONNX model in reduced precision and in f32, and compare layer by layer");
  add_model(*command, options.model);
  add_inputs(*command, options.model);
  add_samples(*command, options.model, "--samples",
              "Compare calls with these samples in place of --input, by the largest error of all")
      ->excludes(command->get_option("--input"));
  add_max_error(*command, options.model.precision);
  add_images(*command, options.images);
  command->add_flag("--sort", options.sort,
                    "Print the layers with the largest error of their own first");
  command->add_flag(
      "--json", options.json,
      "Print a JSON object: layers, outputs, max_error, calls; a layer has name, op, precision, "
      "products, and alone and together, each with max and rms");
  command->footer(
      "Layers are in bf16 unless another precision is given. The f32 reference uses neither "
      "Winograd convolutions nor int8 limbs (WINOGRAD=0, DIGITS=0), so that --precision f32 shows "
      "their error.\n"
      "weft compare mnist.onnx --precision int8 --samples digits --sort\n"
      "weft compare mnist.onnx --max-error 0.001 --save-precision mnist.json");
  command->callback([&options] { run_compare(options); });
}

}  // namespace weft::cli
