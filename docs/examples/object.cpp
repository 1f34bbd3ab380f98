// What a file holds beside tensors.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Object run(Object::Dict{
      {"epoch", 3}, {"rates", Object::List{0.1, 0.01}}, {"weight", Tensor({1.0, 2.0})}});
  std::cout << run.at("epoch").as<std::int64_t>() << " " << run.at("rates").at(1).number() << "\n";
  for (const auto& [key, value] : run.as<Object::Dict>())
    if (value.is<Tensor>()) std::cout << key << " " << value.as<Tensor>() << "\n";
  std::cout << (run.find("note") == nullptr) << "\n";
}

//> 3 0.01
//> weight [1. 2.]
//> 1
