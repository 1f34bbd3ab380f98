// The parts of attention that operators of com.microsoft put together. Heads are (batch, heads, places, width).
#pragma once

#include <optional>

#include "microsoft.h"

namespace weft::onnx {

// (batch, places, heads * width) to heads, and back.
Tensor to_heads(const Call& call, const Tensor& x, std::int64_t heads);
Tensor from_heads(const Tensor& x);

// What each query may see, added to the scores; null for everything.
class Visible {
 public:
  explicit Visible(Options options) : options_(std::move(options)) {}
  // Adds this.
  void add(const Tensor& bias);
  // Takes away, or makes so much less likely, where the mask is false.
  void allow(const Tensor& mask, std::optional<double> otherwise = {});
  // The last query is at the place of the last key, and sees none behind itself.
  void allow_past(std::int64_t queries, std::int64_t keys);
  const Tensor& bias() const { return bias_; }

 private:
  Options options_;
  Tensor bias_;
};

struct AttendOptions {
  std::optional<double> scale = {};  // 1 / sqrt(width)
  double softcap = 0;                // none
  Tensor sink = {};  // what each head's scores have besides those of keys: (heads), or a number
};
// Keys and values may have fewer heads: each is for several queries.
Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
              const AttendOptions& options = {});

// Who is seen, by the mask of Attention and MultiHeadAttention: (batch) or (3 batch + 2) how many keys, (2 batch)
// their ends and beginnings, (batch, keys), (batch, queries, keys), or (batch, 1, most, most).
Tensor mask_of(const Call& call, const Tensor& mask, std::int64_t batch, std::int64_t queries,
               std::int64_t keys);

// The first pairs of the heads turned; cosines and sines of (batch or 1, places, pairs).
Tensor rotated(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool are_neighbours);

// What was, and behind it what is new. A buffer that is shared is longer than what it holds: it stays so long.
struct Cache {
  Tensor seen;     // to attend to
  Tensor present;  // to hand on
};
Cache cached(const Tensor& past, const Tensor& added, std::optional<std::int64_t> shared_length);

// What Attention makes of query, key and value in one tensor (batch, places, widths), and of those before.
struct Seen {
  Tensor mask, bias;
};
Values attended(const Call& call, const Tensor& projected, const Tensor& past,
                std::optional<std::int64_t> shared, const Seen& seen);

}  // namespace weft::onnx
