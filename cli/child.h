// Work in a process of its own, which begins as this one did: with nothing compiled or loaded.
#pragma once

#include <functional>
#include <vector>

namespace weft::cli {

// What the function gives, in a child of this process. Empty where it fails. To be called before anything
// starts threads.
std::vector<double> in_child(const std::function<std::vector<double>()>& function);

}  // namespace weft::cli
