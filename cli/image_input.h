// Images as inputs of models.
#pragma once

#include <string>

#include <weft/onnx.h>

#include "commands.h"

namespace weft::cli {

bool is_image(const std::string& file);  // by its ending

// In the sizes, layout and type of the input; open sizes are those of the image. Throws where it takes no images.
Tensor image_input(const onnx::Port& port, const std::string& file, const ImageOptions& options);

}  // namespace weft::cli
