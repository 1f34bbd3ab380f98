// pad() as a case asks for it.
#pragma once

#include <map>

#include "golden.h"

namespace weft::golden {

inline Tensor padded(const Case& c) {
  const std::map<std::string, PadMode> modes{{"constant", PadMode::Constant},
                                             {"reflect", PadMode::Reflect},
                                             {"replicate", PadMode::Replicate},
                                             {"circular", PadMode::Circular}};
  return c[0].pad(c.numbers("padding"), modes.at(c.text("mode")),
                  c.has("value") ? c.number("value") : Scalar(0));
}

}  // namespace weft::golden
