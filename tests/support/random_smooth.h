// Random programs on tensors of f64 that have derivatives almost everywhere.
#pragma once

#include "random_tensors.h"

namespace weft {

class RandomSmooth : public RandomTensors {
 public:
  using RandomTensors::RandomTensors;

 private:
  DType input_dtype() override { return dtypes::f64; }

  // More arithmetic, so that slopes depend on where they are.
  UOp next() override {
    if (one_in(2)) return RandomTensors::next();
    return one_in(3) ? unary() : binary();
  }

  UOp unary() override {
    const UOp x = pick();
    switch (below(9)) {
      case 0: return make(Op::Exp2, {sin(x)});
      case 1: return make(Op::Log2, {positive(x)});
      case 2: return make(Op::Sqrt, {positive(x)});
      case 3: return make(Op::Recip, {positive(x)});
      case 4: return x - make(Op::Trunc, {x});
      case 5: return make(Op::Contiguous, {x});
      case 6: return -x;
      default: return sin(x);
    }
  }

  UOp binary() override {
    const UOp x = pick(), y = fitted(x);
    switch (below(6)) {
      case 0: return x / positive(y);
      case 1: return make(Op::Pow, {positive(x), sin(y)});
      case 2: return x % positive(y);
      case 3: return make(Op::MulAcc, {sin(x), y, fitted(x)});
      default: return RandomTensors::binary();
    }
  }

  static UOp sin(const UOp& x) { return make(Op::Sin, {x}); }
  static UOp positive(const UOp& x) { return x * x + 0.5; }
};

}  // namespace weft
