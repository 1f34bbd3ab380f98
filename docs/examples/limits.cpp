// What a dtype can hold.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  std::cout << finfo(dtypes::f16).max << " " << finfo(dtypes::f16).eps << "\n";
  std::cout << iinfo(dtypes::i8).min << " " << iinfo(dtypes::u16).max << "\n";
}

//> 65504 0.000976562
//> -128 65535
