// An operator new that fails when it is told to: what a program does without memory.
#pragma once

#include <cstdint>

namespace weft {

// Which requests for memory fail: the n-th from now on, counted from 1, alone or with a hundred that follow it.
enum class Failing { Once, ForAWhile };

// Requests fail from now on, in all threads, until stop_failing(). What LLVM asks for is given: it is built without
// exceptions, and ends the process where it gets none.
void start_failing(std::int64_t n, Failing how);
// How many requests there were since start_failing().
std::int64_t requests();
void stop_failing();

}  // namespace weft
