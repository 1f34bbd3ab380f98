// The file of constants: a header, then their bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "library.h"

namespace weft::exported {

// In front of the constants, so that these are as aligned as the file is.
constexpr std::size_t header_bytes = 64;
constexpr std::size_t alignment = 64;

// What the library's functions return.
struct Status {
  const char *name, *meaning;
};
enum StatusCode : std::uint8_t {
  Ok,
  Misaligned,
  WrongSize,
  NoWeights,
  OtherWeights,
  Damaged,
  OutOfRange,
  Missing
};
// clang-format off
constexpr Status statuses[] = {
    {"OK",            "all is well"},
    {"MISALIGNED",    "the weights, the workspace or the state do not begin where they have to"},
    {"WRONG_SIZE",    "there are more or fewer bytes than weights have"},
    {"NO_WEIGHTS",    "this is no file of weights, or one of another version"},
    {"OTHER_WEIGHTS", "these are the weights of another library"},
    {"DAMAGED",       "the bytes are not those that were written"},
    {"OUT_OF_RANGE",  "a size is less or more than it may be"},
    {"MISSING",       "what has to be there is NULL"},
};
// clang-format on

// A word of the header: little-endian, as all of the file.
struct HeaderField {
  std::size_t offset;
  std::uint64_t value;
  StatusCode otherwise;  // what is wrong where the file has another
};
constexpr std::size_t checksum_offset = 32;
// All but the checksum, in the order in which they are looked at. A library knows them when it is written.
std::array<HeaderField, 4> header_fields(const Library& library);

// The file's bytes.
std::string weights_file(const Library& library);

}  // namespace weft::exported
