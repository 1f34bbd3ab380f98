// Proofs with Z3 about integer expressions, for all values of their ranges and variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

enum class Verdict { Proved, Refuted, Unknown };

struct Proof {
  Verdict verdict = Verdict::Unknown;
  std::string reason;  // refuted: the values of a counterexample; unknown: what stood in the way
};

// Whether this build can prove anything (it was configured with Z3).
bool can_prove();

// `condition` (bool) holds wherever `given` (bool; null for everywhere) does.
Proof prove(const Node* condition, const Node* given = nullptr, unsigned timeout_ms = 1000);

// a == b for all values.
Proof prove_equal(const Node* a, const Node* b, unsigned timeout_ms = 1000);

// Every INDEX below the roots stays inside its buffer's dimensions wherever it is valid.
struct IndexProof {
  const Node* index;
  Proof proof;
};
std::vector<IndexProof> prove_indices(NodeList roots, unsigned timeout_ms = 1000);

// Throws where an index is refuted; with `strict`, also where one cannot be decided.
void validate_indices(NodeList roots, std::string_view pass, bool strict = false);

}  // namespace weft
