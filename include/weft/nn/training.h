// What goes between backward() and step(): gradients that are not too long, and losses that are scaled for
// narrow floats.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/nn/optim.h>

namespace weft::nn {

// All gradients shorter by as much, so that their norm is at most max_norm; what it was is the result.
Tensor clip_grad_norm(const TensorsOf& tensors, double max_norm, double norm_type = 2);
// Each element within -clip_value and clip_value.
void clip_grad_value(const TensorsOf& tensors, double clip_value);

struct GradScalerOptions {
  double init_scale = 65536, growth_factor = 2, backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  // steps without overflow
};

// Small gradients of f16 vanish: the loss is scaled, and its gradients back. Where one is no number, the
// optimiser's step changes nothing and the scale goes down. Nothing of that is read by the program.
//
//   scaler.scale(loss).backward();
//   scaler.unscale(optimizer);   // only needed where gradients are clipped, say
//   scaler.step(optimizer);
//   scaler.update();
struct GradScaler {
  Tensor scale_factor, growth_tracker;
  GradScalerOptions options;

  explicit GradScaler(const GradScalerOptions& given = {});
  Tensor scale(const Tensor& loss) const;
  void unscale(const Optimizer& optimizer);
  void step(Optimizer& optimizer);
  void update();
  WEFT_FIELDS(scale_factor, growth_tracker);

 private:
  struct Unscaled {
    const Optimizer* optimizer;
    Tensor overflow;  // null where no parameter has a gradient
    bool has_stepped = false;
  };
  Unscaled* find(const Optimizer& optimizer);
  std::vector<Unscaled> unscaled_;  // in this step
};

}  // namespace weft::nn
