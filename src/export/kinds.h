// The files that a library's code comes in.
#pragma once

#include <string>
#include <vector>

#include <weft/export.h>

#include "library.h"
#include "target.h"

namespace weft::exported {

struct File {
  std::string name, bytes;
};

// Those of the kinds that are asked for, made of the object file, or of the source in C with its header.
std::vector<File> files_of(const std::vector<ExportKind>& kinds, const Library& library,
                           const Target& target, const std::string& code,
                           const std::string& header);

}  // namespace weft::exported
