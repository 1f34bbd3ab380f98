// What makes integers of models.

#include <CLI/CLI.hpp>

#include "arguments.h"

namespace weft::cli {

void add_quantize(CLI::App& app, QuantizeOptions& options) {
  CLI::App* command = app.add_subcommand(
      "quantize", "Write an ONNX model of floats as one whose products are of 8-bit integers");
  command->add_option("model", options.model.file, "An ONNX file")->required()->type_name("FILE");
  add_shapes(*command, options.model);
  add_device(*command, options.model);
  command->add_option("-o,--out", options.out, "The file to write")->required()->type_name("FILE");
  CLI::Option* calibrate =
      add_samples(*command, options.model, "--calibrate",
                  "What the model is called with to see what values it computes: files as of "
                  "--input of weft run");
  command
      ->add_option("--method", options.method,
                   "The range of values that the steps of 8 bits are for: minmax: all; percentile: "
                   "magnitudes that so many stay below; entropy: what changes their distribution "
                   "least")
      ->check(CLI::IsMember({"minmax", "percentile", "entropy"}))
      ->capture_default_str();
  command->add_option("--percentile", options.percentile, "Of all magnitudes, for that method")
      ->capture_default_str();
  command->add_flag("--per-channel", options.per_channel,
                    "A scale for each channel of weights, and not one for all");
  command
      ->add_flag("--dynamic", options.dynamic,
                 "Nothing is calibrated: each call computes the scales of what products read")
      ->excludes(calibrate);
  command
      ->add_option("--exclude", options.exclude,
                   "A node, by its name or that of its output, that stays as it is. Again for more")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_images(*command, options.images);
  command->add_flag("--json", options.json,
                    "Print one object instead: products, others, activations, calls");
  command->footer(
      "weft quantize mnist.onnx -o mnist.int8.onnx --calibrate digits.npy --per-channel\n"
      "weft quantize resnet.onnx -o resnet.int8.onnx --calibrate photos --image-norm "
      "0.485,0.456,0.406,0.229,0.224,0.225 --method entropy --per-channel");
  command->callback([&options] { run_quantize(options); });
}

}  // namespace weft::cli
