// Saves tensors of 1, then of 2, and so on to the file given, until it is killed.
#include <weft/weft.h>

int main(int, char** argv) {
  using namespace weft;
  for (int i = 1;; ++i) {
    const Tensor values = Tensor::full({1 << 16}, i, {.dtype = dtypes::i32});
    save_safetensors(argv[1], {{"a", values}, {"b", values}});
  }
}
