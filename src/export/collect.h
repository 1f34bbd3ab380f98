// From a captured call to a library.
#pragma once

#include <functional>

#include <weft/dev/tensor/recorded.h>
#include <weft/export.h>

#include "library.h"

namespace weft::exported {

// The program of a kernel as a function of that name.
using RenderFunction = std::function<Function(const Node* program, const std::string& name)>;

// Fills in the functions, the calls and what they use; the library has its name and ports already.
void collect(const Recorded& recorded, const RenderFunction& render, Library& library);

}  // namespace weft::exported
