// Optimisers: how parameters change by their gradients, by PyTorch's formulas.
//
//   nn::SGD optimizer(model, {.lr = 0.1, .momentum = 0.9});   // or of a list of tensors
//   optimizer.zero_grad();
//   loss.backward();
//   optimizer.step();
//
// A step is one plan: new parameters, what the optimiser keeps, and the model's buffers (running means) that
// were assigned meanwhile. The rate is a tensor, so that plans stay the same when it changes.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/fields.h>

namespace weft::nn {

// What an optimiser keeps of each parameter, by PyTorch's names.
using Moments = std::map<std::string, Tensor>;

// One step of one parameter.
struct Now {
  Tensor lr, step;  // the rate, and the number of this step, from 1: of shape ()
  Tensor momentum;  // null where the rule has none
  // A moment as it was, or as it is from now on: what is computed from that reads its memory, so that
  // nothing needs an old value that another kernel has overwritten.
  std::function<Tensor(const std::string& name)> before;
  std::function<Tensor(const std::string& name, const Tensor& value)> put;
};

// How one parameter changes: the result is the new one. Gradients and parameters come in f32 at least.
struct UpdateRule {
  std::function<Tensor(const Tensor& parameter, Tensor gradient, const Now& now)> next = {};
  std::vector<std::string> moments = {};
  double first_moment = 0;  // what they begin with
  std::optional<double> momentum =
      {};  // how much of it stays, Adam's beta1 too; schedules change it
};

// Parameters that change by one rule, at one rate.
struct ParameterGroup {
  std::vector<Tensor> parameters = {};
  Tensor lr = {}, steps = {};
  Tensor momentum = {};  // a constant until a schedule changes it, null where the rule has none
  std::vector<Moments> state = {};
  UpdateRule rule = {};
  WEFT_FIELDS(lr, steps, state);
};

// All tensors of a model, or of a list.
struct TensorsOf {
  template <class Model>
  TensorsOf(const Model& model)  // NOLINT: a model reads as it is
      : parameters(get_parameters(model)), buffers(get_buffers(model)) {}
  TensorsOf(std::initializer_list<Tensor> tensors) : TensorsOf(std::vector<Tensor>(tensors)) {}
  std::vector<Tensor> parameters, buffers;
};

// get_state_dict() of an optimiser is what it takes to go on as if nothing had happened.
struct Optimizer {
  std::vector<ParameterGroup> groups;
  std::vector<Tensor> buffers;

  Optimizer() = default;
  Optimizer(const TensorsOf& tensors, double lr, const UpdateRule& rule);

  std::vector<Tensor> parameters() const;
  void zero_grad();
  // Parameters without a gradient stay.
  void step();
  // The same without computing: the tensors to realize. Where `skip`, a bool, is true, all stays as it was.
  std::vector<Tensor> update(const Tensor& skip = {});
  WEFT_FIELDS(groups);
};

// Several as one. Parameters with a rate or options of their own are an optimiser of their own.
//
//   nn::OptimizerGroup optimizer{nn::Muon(matrices), nn::AdamW(others, {.lr = 3e-4})};
struct OptimizerGroup : Optimizer {
  OptimizerGroup(std::initializer_list<Optimizer> optimizers);
};

// --- The rules ------------------------------------------------------------------------------------
// The constructors of lists make nn::Adam({w}) unambiguous: without them the copy constructor matches too.

struct SGDOptions {
  double lr = 0.001, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};
struct SGD : Optimizer {
  explicit SGD(const TensorsOf& tensors, const SGDOptions& options = {});
  explicit SGD(std::initializer_list<Tensor> tensors, const SGDOptions& options = {})
      : SGD(TensorsOf(tensors), options) {}
};

struct AdamOptions {
  double lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
};
struct Adam : Optimizer {
  explicit Adam(const TensorsOf& tensors, const AdamOptions& options = {});
  explicit Adam(std::initializer_list<Tensor> tensors, const AdamOptions& options = {})
      : Adam(TensorsOf(tensors), options) {}
};

struct AdamWOptions {
  double lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
  bool amsgrad = false, maximize = false;
};
// Weights decay by themselves, not as a part of the gradient.
struct AdamW : Optimizer {
  explicit AdamW(const TensorsOf& tensors, const AdamWOptions& options = {});
  explicit AdamW(std::initializer_list<Tensor> tensors, const AdamWOptions& options = {})
      : AdamW(TensorsOf(tensors), options) {}
};

struct LAMBOptions {
  double lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-6, weight_decay = 0;
};
// AdamW, in steps as long as the parameter is.
struct LAMB : Optimizer {
  explicit LAMB(const TensorsOf& tensors, const LAMBOptions& options = {});
  explicit LAMB(std::initializer_list<Tensor> tensors, const LAMBOptions& options = {})
      : LAMB(TensorsOf(tensors), options) {}
};

struct LARSOptions {
  double lr = 0.001, momentum = 0.9, weight_decay = 1e-4, trust = 0.001;
  bool nesterov = false;
};
// SGD whose rate is as much as the parameter is longer than its gradient, times `trust`.
struct LARS : Optimizer {
  explicit LARS(const TensorsOf& tensors, const LARSOptions& options = {});
  explicit LARS(std::initializer_list<Tensor> tensors, const LARSOptions& options = {})
      : LARS(TensorsOf(tensors), options) {}
};

struct MuonOptions {
  double lr = 0.001, momentum = 0.95, weight_decay = 0.1, eps = 1e-7;
  std::int64_t ns_steps = 5;
  std::vector<double> ns_coefficients = {3.4445, -4.775, 2.0315};
  bool nesterov = true;
};
// Of matrices: gradients of momentum, made nearly orthogonal. Further axes are columns.
struct Muon : Optimizer {
  explicit Muon(const TensorsOf& tensors, const MuonOptions& options = {});
  explicit Muon(std::initializer_list<Tensor> tensors, const MuonOptions& options = {})
      : Muon(TensorsOf(tensors), options) {}
};

struct RMSpropOptions {
  double lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
};
struct RMSprop : Optimizer {
  explicit RMSprop(const TensorsOf& tensors, const RMSpropOptions& options = {});
  explicit RMSprop(std::initializer_list<Tensor> tensors, const RMSpropOptions& options = {})
      : RMSprop(TensorsOf(tensors), options) {}
};

struct AdagradOptions {
  double lr = 0.01, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
  bool maximize = false;
};
struct Adagrad : Optimizer {
  explicit Adagrad(const TensorsOf& tensors, const AdagradOptions& options = {});
  explicit Adagrad(std::initializer_list<Tensor> tensors, const AdagradOptions& options = {})
      : Adagrad(TensorsOf(tensors), options) {}
};

}  // namespace weft::nn
