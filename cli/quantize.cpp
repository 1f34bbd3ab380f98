// Models of floats to models of 8-bit integers, by values that files have.

#include <map>

#include <fmt/format.h>
#include <weft/onnx_quantize.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "model_inputs.h"
#include "samples.h"

namespace weft::cli {
namespace {

using onnx::NamedValues;

const std::map<std::string, onnx::RangeMethod> methods{
    {"minmax", onnx::RangeMethod::MinMax},
    {"percentile", onnx::RangeMethod::Percentile},
    {"entropy", onnx::RangeMethod::Entropy}};

std::vector<NamedValues> calls_of(const QuantizeOptions& options) {
  if (options.model.samples.empty())
    fmt::print(stderr,
               "weft: ranges come from generated inputs and are of little use: --calibrate names "
               "representative samples\n");
  return model_calls(load_model(options.model), options.model, options.images);
}

}  // namespace

void run_quantize(const QuantizeOptions& options) {
  const onnx::QuantizeOptions how{.method = methods.at(options.method),
                                  .percentile = options.percentile,
                                  .per_channel = options.per_channel,
                                  .exclude = options.exclude};
  std::vector<NamedValues> calls;
  if (!options.dynamic) calls = calls_of(options);
  const onnx::Quantized done =
      options.dynamic ? onnx::quantize_dynamically(options.model.file, options.out, how)
                      : onnx::quantize(options.model.file, options.out, calls, how);
  if (options.json)
    fmt::print("{}\n", json_object({{"products", fmt::to_string(done.products)},
                                    {"others", fmt::to_string(done.others)},
                                    {"activations", fmt::to_string(done.activations)},
                                    {"calls", fmt::to_string(calls.size())}}));
  else
    fmt::print("{}: {}, {}; {} in 8 bits, {}\n", options.out,
               count_text(done.products, "int8 product"), count_text(done.others, "float product"),
               count_text(done.activations, "activation"),
               count_text(calls.size(), "calibration call"));
}

}  // namespace weft::cli
