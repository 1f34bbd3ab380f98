// What makes integers of models.

#include <CLI/CLI.hpp>

#include "arguments.h"

namespace weft::cli {

void add_quantize(CLI::App& app, QuantizeOptions& options) {
  CLI::App* command = app.add_subcommand(
      "quantize", "Write a float ONNX model as one that multiplies 8-bit integers");
  command->add_option("model", options.model.file, "ONNX file")->required()->type_name("FILE");
  add_shapes(*command, options.model);
  add_device(*command, options.model);
  command->add_option("-o,--out", options.out, "File to write")->required()->type_name("FILE");
  CLI::Option* calibrate =
      add_samples(*command, options.model, "--calibrate",
                  "Call the model with these samples to find the ranges of its values");
  command
      ->add_option("--method", options.method,
                   "How the range of 8-bit values is chosen: minmax: all values; percentile: "
                   "without the largest magnitudes; entropy: the range that changes their "
                   "distribution least")
      ->check(CLI::IsMember({"minmax", "percentile", "entropy"}))
      ->capture_default_str();
  command
      ->add_option("--percentile", options.percentile,
                   "Percentage of the magnitudes within the range, for --method percentile")
      ->capture_default_str();
  command->add_flag("--per-channel", options.per_channel,
                    "Use a scale for each channel of weights, not one for all");
  command
      ->add_flag("--dynamic", options.dynamic,
                 "Compute the scales of activations in every call, without calibration")
      ->excludes(calibrate);
  command
      ->add_option("--exclude", options.exclude,
                   "Node that stays as it is, by its name or that of its output. Repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_images(*command, options.images);
  command->add_flag("--json", options.json,
                    "Print a JSON object: products, others, activations, calls");
  command->footer(
      "weft quantize mnist.onnx -o mnist.int8.onnx --calibrate digits.npy --per-channel\n"
      "weft quantize resnet.onnx -o resnet.int8.onnx --calibrate photos --image-norm "
      "0.485,0.456,0.406,0.229,0.224,0.225 --method entropy --per-channel");
  command->callback([&options] { run_quantize(options); });
}

}  // namespace weft::cli
