#include "weights.h"

#include <bit>
#include <cstring>

#include <weft/dev/base/hash.h>

namespace weft::exported {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t magic = 0x5357'5446'4557'1a89;  // "\x89\x1aWEFTWS"
constexpr std::uint64_t file_version = 1;

// Of all that says what lies where. It does not depend on the values: weights that were trained on may take
// the place of those that the library was written with.
std::uint64_t identity(const Library& library) {
  std::uint64_t id = hash_mix(hash_text(library.target), library.weights.size());
  for (const Function& function : library.functions) id = hash_mix(id, hash_text(function.source));
  for (const Entry& entry : library.entries)
    for (const Call& call : entry.run.calls) {
      id = hash_mix(hash_mix(id, call.function), call.bytes);
      for (const Place& place : call.places)
        id = hash_mix(hash_mix(hash_mix(id, static_cast<std::uint64_t>(place.in)), place.port),
                      place.offset);
    }
  return hash_mix(hash_mix(id, library.state.bytes), library.state.kept_bytes);
}

std::uint64_t checksum(const std::string& bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum = hash_mix(sum, word);
  }
  return sum;
}

void put(std::string& bytes, std::size_t offset, std::uint64_t word) {
  std::memcpy(bytes.data() + offset, &word, sizeof word);
}

}  // namespace

std::array<HeaderField, 4> header_fields(const Library& library) {
  return {{
      {0, magic, NoWeights},
      {8, file_version, NoWeights},
      {16, header_bytes + library.weights.size(), WrongSize},
      {24, identity(library), OtherWeights},
  }};
}

std::string weights_file(const Library& library) {
  std::string header(header_bytes, '\0');
  for (const HeaderField& field : header_fields(library)) put(header, field.offset, field.value);
  put(header, checksum_offset, checksum(library.weights));
  return header + library.weights;
}

}  // namespace weft::exported
