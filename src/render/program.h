// What all renderers ask of a program.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>

namespace weft {

// What the text of an op depends on.
enum class Domain : std::uint8_t { Logic, Signed, Unsigned, Real };
Domain domain_of(DType dtype);

// One op in a language: a format string for each domain, with operands {0}, {1}, {2}. A dash is an op
// that hands its operand on; what is empty cannot be said.
struct Phrase {
  Op op;
  std::array<std::string_view, 4> forms;  // by Domain
  int level = 0;                          // how tightly it binds, where that matters
};
// Throws, naming the language, where the op has no form for operands of the dtype.
const Phrase& phrase_of(std::span<const Phrase> table, Op op, DType operand,
                        std::string_view language);
inline std::string_view form_of(const Phrase& phrase, DType operand) {
  return phrase.forms[static_cast<std::size_t>(domain_of(operand))];
}

// The dtype of the operands: of WHERE, those chosen from.
inline DType operand_of(const Node* node) {
  return node->src(node->op() == Op::Where ? 1 : 0)->dtype();
}

// What memory holds where the language has no such float: an unsigned integer of as many bits.
DType carrier_of(DType dtype);
DType memory_of(DType dtype);  // bools are bytes there

// Places have at most one index.
inline const Node* index_of(const Node* place) {
  return place->size() > 2 ? place->src(2) : nullptr;
}
inline bool is_always_valid(const Node* place) { return place->src(1)->is_const_int(1); }

// Of a PREFETCH: whether the kernel only stores there.
bool will_be_written(const Node* prefetch);

// How many elements a BUFFER has room for; 1 where it has no dimension.
std::int64_t elements_of(const Node* buffer);

// The program in order. Throws where it is none, or its BUFFERs need more than these bytes. Products of matrices are for
// who has them.
std::vector<const Node*> checked_program(const Node* kernel, std::size_t scratch_bytes,
                                         bool has_mma = false);

// Vector indices that are neighbours, as they are written for VECTOR loops: lanes at `base` and behind
// it; without a base, from 0 on.
struct Run {
  const Node* base;
};
std::optional<Run> run_of(const Node* index);

}  // namespace weft
