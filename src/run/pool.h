// Threads of a session, which share in its calls.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace weft::capi {

struct Pool;

// That many beside the one that calls; null where there is no memory, or no thread to be had.
Pool* new_pool(int helpers);
void delete_pool(Pool* pool);
// As weft_library_threads wants it: `context` is the pool.
void parallel_for(void* context, std::size_t n, void (*body)(void* arg, std::size_t i), void* arg);

}  // namespace weft::capi
