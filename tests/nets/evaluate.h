// Each kind of step as a rule of the oracle: what the rules of all files share.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "program.h"

namespace nets {

struct Call {
  const Step& step;
  const std::vector<Array>& values;
  std::size_t call;

  const Array& operator[](std::size_t i) const { return values.at(step.operands.at(i)); }
  std::vector<Array> all(std::size_t from = 0) const {
    std::vector<Array> result;
    for (std::size_t i = from; i < step.operands.size(); ++i) result.push_back((*this)[i]);
    return result;
  }
  // The number, as what it meets of the type.
  Array number(Type type) const;
  // The number as an element of the type, converted as by a cast.
  Cell filling(Type type) const;
  double real() const;
  Array written(const std::function<void(const Array&)>& write_to) const {
    const Array& x = (*this)[0];
    write_to(x);
    return x;
  }
};

using Rules = std::unordered_map<std::string, std::function<Array(const Call&)>>;

// Beside those of evaluate.cpp.
void add_functions(Rules& rules);
void add_shapes(Rules& rules);
void add_statistics(Rules& rules);
void add_networks(Rules& rules);

}  // namespace nets
