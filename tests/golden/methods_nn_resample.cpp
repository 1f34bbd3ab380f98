// Resampling.

#include "golden.h"

namespace weft::golden {
namespace {

Resampling resampling(const Case& c) {
  const std::map<std::string, Resampling> modes{{"nearest", Resampling::Nearest},
                                                {"nearest-exact", Resampling::NearestExact},
                                                {"linear", Resampling::Linear},
                                                {"cubic", Resampling::Cubic},
                                                {"area", Resampling::Area}};
  return modes.at(c.text("mode"));
}

Tensor interpolated(const Case& c) {
  return c[0].interpolate(c.numbers("sizes", {}),
                          {.mode = resampling(c),
                           .align_corners = c.flag("align_corners"),
                           .antialias = c.flag("antialias"),
                           .scale_factor = c.reals("scale_factor"),
                           .recompute_scale_factor = c.flag("recompute_scale_factor")});
}

Tensor sampled(const Case& c) {
  const std::map<std::string, functional::Outside> outside{
      {"zeros", functional::Outside::Zeros},
      {"border", functional::Outside::Border},
      {"reflection", functional::Outside::Reflection}};
  return functional::grid_sample(c[0], c[1],
                                 {.mode = resampling(c),
                                  .padding = outside.at(c.text("padding_mode", "zeros")),
                                  .align_corners = c.flag("align_corners")});
}

Method by_number(Tensor (*function)(const Tensor&, std::int64_t)) {
  return [function](const Case& c) { return one(function(c[0], c.integer("by"))); };
}

// clang-format off
const Group group("nn_resample", {
  {"interpolate", [](const Case& c) { return one(interpolated(c)); }},
  {"functional.pixel_shuffle", by_number(functional::pixel_shuffle)},
  {"functional.pixel_unshuffle", by_number(functional::pixel_unshuffle)},
  {"functional.channel_shuffle", by_number(functional::channel_shuffle)},
  {"functional.grid_sample", [](const Case& c) { return one(sampled(c)); }},
  {"functional.affine_grid", [](const Case& c) {
    return one(functional::affine_grid(c[0], c.numbers("sizes"), c.flag("align_corners")));
  }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
