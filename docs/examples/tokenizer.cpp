// Text as numbers, and back.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const ByteTokenizer bytes;
  std::cout << Tensor(bytes.encode("abc")) << " " << bytes.decode({100, 101}) << "\n";
  for (const std::string_view word : BytePairTokenizer::words("it's  2 words"))
    std::cout << "'" << word << "' ";
  std::cout << "\n";
}

//> [97 98 99] de
//> 'it' ''s' ' ' ' 2' ' words' 
