// What stb takes from a JPEG file without a look.
#pragma once

#include <cstddef>
#include <span>

namespace weft {

// Whether each of its Huffman tables has at most as many codes as there are bytes: stb 2.27 writes behind a table that has more.
// Of a file of another kind: true.
bool has_sound_tables(std::span<const std::byte> file);

}  // namespace weft
