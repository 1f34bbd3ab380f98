// A transformer that says which character comes next: GPT-2's form, in small.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace models {

using namespace weft;

struct GptSizes {
  std::int64_t words = 65, layers = 6, width = 192, heads = 6, context = 128;
};

// What a layer remembers of the characters so far: (heads, context, width of a head) each.
struct Memory {
  Tensor keys, values;
  WEFT_FIELDS(keys, values);
};

struct Attention {
  nn::Linear qkv, out;
  std::int64_t heads;

  explicit Attention(const GptSizes& sizes)
      : qkv(sizes.width, 3 * sizes.width), out(sizes.width, sizes.width), heads(sizes.heads) {}

  // (..., time, width) to (..., heads, time, width of a head), of queries, keys and values.
  std::vector<Tensor> split(const Tensor& x) const {
    std::vector<Tensor> parts = qkv(x).chunk(3, -1);
    for (Tensor& part : parts) part = part.unflatten(-1, {heads, -1}).transpose(-2, -3);
    return parts;
  }
  Tensor join(const Tensor& x) const { return out(x.transpose(-2, -3).flatten(-2)); }

  // All characters at once, (batch, time, width). None sees later ones.
  Tensor operator()(const Tensor& x) const {
    const std::vector<Tensor> parts = split(x);
    return join(parts[0].scaled_dot_product_attention(parts[1], parts[2], {.is_causal = true}));
  }

  // The next character, (1, width): it sees what is in memory, and itself.
  Tensor next(const Tensor& x, Memory& memory, const Tensor& position) const {
    const std::vector<Tensor> parts = split(x);
    memory.keys.set({Slice{}, position}, parts[1]);
    memory.values.set({Slice{}, position}, parts[2]);
    const Tensor is_there = Tensor::arange(memory.keys.size(1)) <= position;
    return join(
        parts[0].scaled_dot_product_attention(memory.keys, memory.values, {.attn_mask = is_there}));
  }
  WEFT_FIELDS(qkv, out);
};

struct Block {
  nn::LayerNorm norm1, norm2;
  Attention attention;
  nn::Linear up, down;

  explicit Block(const GptSizes& sizes)
      : norm1(sizes.width),
        norm2(sizes.width),
        attention(sizes),
        up(sizes.width, 4 * sizes.width),
        down(4 * sizes.width, sizes.width) {}

  Tensor think(const Tensor& x) const { return x + down(up(norm2(x)).gelu()); }
  Tensor operator()(const Tensor& x) const { return think(x + attention(norm1(x))); }
  Tensor next(const Tensor& x, Memory& memory, const Tensor& position) const {
    return think(x + attention.next(norm1(x), memory, position));
  }
  WEFT_FIELDS(norm1, attention, norm2, up, down);
};

struct Gpt {
  GptSizes sizes;
  nn::Embedding token, place;
  std::vector<Block> blocks;
  nn::LayerNorm norm;

  explicit Gpt(const GptSizes& given)
      : sizes(given),
        token(sizes.words, sizes.width),
        place(sizes.context, sizes.width),
        norm(sizes.width) {
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer) blocks.emplace_back(sizes);
    initialise();
  }

  // tokens (batch, time) to scores (batch, time, words). What reads characters writes them too.
  Tensor operator()(const Tensor& tokens) const {
    Tensor x = token(tokens) + place.weight.shrink_to({tokens.size(1), -1});
    for (const Block& block : blocks) x = block(x);
    return norm(x).linear(token.weight.T());
  }
  Tensor loss(const Tensor& tokens, const Tensor& next) const {
    return (*this)(tokens).sparse_categorical_crossentropy(next);
  }

  std::vector<Memory> memory() const {
    const Shape shape{sizes.heads, sizes.context, sizes.width / sizes.heads};
    std::vector<Memory> layers;
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
      layers.push_back({Tensor::zeros(shape).contiguous(), Tensor::zeros(shape).contiguous()});
    return layers;
  }
  // The scores (words) behind one character, (1), at a position, (1): the work of one, not of all so far.
  Tensor next(const Tensor& character, std::vector<Memory>& memory, const Tensor& position) const {
    Tensor x = token(character) + place(position);
    for (std::size_t layer = 0; layer < blocks.size(); ++layer)
      x = blocks[layer].next(x, memory[layer], position);
    return norm(x).linear(token.weight.T()).squeeze(0);
  }
  WEFT_FIELDS(token, place, blocks, norm);

 private:
  // As GPT-2: normal, with a deviation of 0.02, and smaller where layers add up.
  void initialise() {
    const NoGrad constant;
    const double added = 0.02 / std::sqrt(2.0 * static_cast<double>(sizes.layers));
    for (auto& [name, tensor] : get_tensors(*this)) {
      const bool adds = name.ends_with("out.weight") || name.ends_with("down.weight");
      if (name.ends_with("bias")) tensor.fill(0);
      if (tensor.ndim() == 2) tensor.assign(Tensor::randn(tensor.shape()) * (adds ? added : 0.02));
    }
    std::vector<Tensor> all = get_parameters(*this);
    Tensor::realize(all);
  }
};

}  // namespace models
