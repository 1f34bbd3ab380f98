// A test program that somebody runs by hand compiles into the cache of the tests, not into the user's.

#include <cstdlib>

namespace {

[[maybe_unused]] const int results[] = {setenv("CACHE_DIR", WEFT_TEST_CACHE, 0),
                                        setenv("CACHE_LIMIT", WEFT_TEST_LIMIT, 0)};

}  // namespace
