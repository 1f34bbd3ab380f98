// What layers of a model multiply, as files say it and as it is chosen.
#pragma once

#include "commands.h"

namespace weft::cli {

// What the command line says of single layers, and the file that it names.
onnx::Precisions stated_precisions(const PrecisionOptions& options);

// The same options, in which precisions that were to be chosen are: stderr has them, and the file that is to have
// them.
ModelOptions with_choice(const ModelOptions& options, const ImageOptions& images);

}  // namespace weft::cli
