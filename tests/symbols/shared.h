// A function of a shared object, which exists with debug information and without.
#pragma once

#include <cstdint>

using Where = const void*();  // gives its return address

// Calls it, and says from which line.
extern "C" const void* call_from_shared(Where* where, std::uint32_t& line);
