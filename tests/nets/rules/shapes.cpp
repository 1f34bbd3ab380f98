// What brings elements elsewhere, as the oracle computes it.

#include <algorithm>
#include <numeric>

#include "../evaluate.h"
#include "../oracle/movement.h"
#include "../oracle/rearrange.h"

namespace nets {
namespace {

void add_views(Rules& rules) {
  rules["movedim"] =
      rules["moveaxis"] = [](const Call& c) { return movedim(c[0], c.step.i, c.step.j); };
  rules["swapaxes"] =
      rules["transpose"] = [](const Call& c) { return swapaxes(c[0], c.step.i, c.step.j); };
  rules["T"] = [](const Call& c) {
    Numbers order(c[0].shape.size());
    std::iota(order.rbegin(), order.rend(), 0);
    return permute(c[0], order);
  };
  rules["mT"] = [](const Call& c) { return swapaxes(c[0], -1, -2); };
  rules["flatten"] = [](const Call& c) { return flatten(c[0], c.step.i, c.step.j); };
  rules["ravel"] = [](const Call& c) { return flatten(c[0], 0, -1); };
  rules["unflatten"] = [](const Call& c) { return unflatten(c[0], c.step.i, c.step.n); };
  rules["open_reshape"] = [](const Call& c) { return open_reshape(c[0], c.step.n); };
  rules["squeeze_all"] = [](const Call& c) { return squeeze_all(c[0]); };
  rules["rot90"] = [](const Call& c) { return rot90(c[0], c.step.k, c.step.i, c.step.j); };
  rules["fliplr"] = [](const Call& c) { return flip(c[0], {1}); };
  rules["flipud"] = [](const Call& c) { return flip(c[0], {0}); };
  rules["diagonal_axes"] = [](const Call& c) {
    return diagonal_of(c[0], c.step.i, c.step.j, c.step.k);
  };
  rules["atleast_1d"] = [](const Call& c) { return atleast(c[0], 1); };
  rules["atleast_2d"] = [](const Call& c) { return atleast(c[0], 2); };
  rules["atleast_3d"] = [](const Call& c) { return atleast(c[0], 3); };
  rules["meshgrid"] = [](const Call& c) { return meshgrid_part(c.all(), at(c.step.k), false); };
  rules["meshgrid_xy"] = [](const Call& c) { return meshgrid_part(c.all(), at(c.step.k), true); };
}

void add_parts(Rules& rules) {
  rules["unbind"] = [](const Call& c) { return select(c[0], c.step.i, c.step.k); };
  rules["split"] = [](const Call& c) { return split_part(c[0], c.step.i, c.step.j, c.step.k); };
  rules["split_sizes"] = [](const Call& c) {
    const Numbers& sizes = c.step.n;
    const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    want(all == c[0].shape[at(axis_in(c.step.i, c[0].rank()))], "other sizes");
    return narrow(c[0], c.step.i,
                  std::accumulate(sizes.begin(), sizes.begin() + c.step.k, std::int64_t{0}),
                  sizes.at(at(c.step.k)));
  };
  rules["chunk"] = [](const Call& c) { return chunk_part(c[0], c.step.i, c.step.j, c.step.k); };
  rules["tensor_split"] = [](const Call& c) {
    return tensor_split_part(c[0], c.step.i, c.step.j, c.step.k);
  };
  rules["narrow"] = [](const Call& c) { return narrow(c[0], c.step.i, c.step.j, c.step.k); };
  rules["select"] = [](const Call& c) { return select(c[0], c.step.i, c.step.j); };
}

void add_copies(Rules& rules) {
  rules["tile"] = [](const Call& c) { return tile(c[0], c.step.n); };
  rules["roll_flat"] = [](const Call& c) {
    return reshape(roll(flatten(c[0], 0, -1), c.step.j, 0), c[0].shape);
  };
  rules["roll_axes"] = [](const Call& c) { return roll(roll(c[0], c.step.i, 0), c.step.j, 1); };
  rules["repeat_interleave_flat"] = [](const Call& c) {
    return repeat_interleave(flatten(c[0], 0, -1), c.step.j, 0);
  };
  rules["diff"] = [](const Call& c) { return diff(c[0], c.step.k, c.step.i); };
  rules["diff_prepend"] = [](const Call& c) {
    return diff(cat({c[1], c[0]}, c.step.i), 1, c.step.i);
  };
  rules["trace"] = [](const Call& c) { return trace(c[0]); };
  rules["diag"] = [](const Call& c) {
    return c[0].rank() == 1 ? diag_embed(c[0], c.step.i) : diagonal(c[0], c.step.i);
  };
  rules["diag_embed"] = [](const Call& c) { return diag_embed(c[0], c.step.i); };
  rules["diagflat"] = [](const Call& c) { return diag_embed(flatten(c[0], 0, -1), c.step.i); };
  // Negative widths take away.
  rules["pad_or_cut"] = [](const Call& c) {
    Numbers widths = c.step.n, bounds;
    want(widths.size() == 2 * c[0].shape.size(), "widths of other axes");
    for (std::size_t i = 0; i < widths.size(); i += 2) {
      bounds.insert(bounds.end(), {std::max<std::int64_t>(0, -widths[i]),
                                   c[0].shape[i / 2] + std::min<std::int64_t>(0, widths[i + 1])});
      want(bounds[i] <= bounds[i + 1], "less than nothing");
      for (std::size_t k = i; k < i + 2; ++k) widths[k] = std::max<std::int64_t>(0, widths[k]);
    }
    return pad(shrink(c[0], bounds), widths, c.filling(c[0].type));
  };
  for (const auto& [name, mode] : {std::pair{"pad_reflect", Beyond::Reflect},
                                   {"pad_replicate", Beyond::Replicate},
                                   {"pad_circular", Beyond::Circular}})
    rules[name] = [mode](const Call& c) { return pad_from_inside(c[0], c.step.n, mode); };
  rules["vander"] = [](const Call& c) { return vander(c[0], c.step.k, c.step.flag); };
}

}  // namespace

void add_shapes(Rules& rules) {
  add_views(rules);
  add_parts(rules);
  add_copies(rules);
  rules["kron"] = [](const Call& c) { return kron(c[0], c[1]); };
  rules["outer"] = [](const Call& c) { return outer(c[0], c[1]); };
  rules["block_diag"] = [](const Call& c) { return block_diag(c.all()); };
  rules["hstack"] = [](const Call& c) { return hstack(c.all()); };
  rules["vstack"] = [](const Call& c) { return vstack(c.all()); };
  rules["dstack"] = [](const Call& c) { return dstack(c.all()); };
  rules["column_stack"] = [](const Call& c) { return column_stack(c.all()); };
  rules["cartesian_prod"] = [](const Call& c) { return cartesian_prod(c.all()); };
}

}  // namespace nets
