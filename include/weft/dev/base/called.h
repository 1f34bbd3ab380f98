// What the user called: errors are in its name, whatever it is made of.
#pragma once

#include <string_view>

namespace weft {

// Public methods that others do the work for begin with one. While it lives, errors of this thread begin with
// its name, in place of that of an inner method: norm() is made of sum(), but "norm: there is no axis 2". Of
// several the outermost counts.
//
// A template says its name itself, since a compiler may put its arguments there too.
//
//   Tensor Tensor::dist(const Tensor& other, double p) const {
//     const Called called;
//     return (*this - other).norm(p);
//   }
class Called {
 public:
  explicit Called(std::string_view method = __builtin_FUNCTION());
  ~Called();
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;

 private:
  bool is_outermost_;
};

}  // namespace weft
