// Where along a loop conditions change.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The first iterations of a range for which a comparison of it with a constant may have another
// answer than before.
void add_turns(const Node* condition, const Node* range, std::vector<std::int64_t>& turns);

// From 0 to the size of a loop, each of these that lies between once: where its sections begin and
// end.
std::vector<std::int64_t> section_ends(std::vector<std::int64_t> turns, std::int64_t size);

}  // namespace weft
