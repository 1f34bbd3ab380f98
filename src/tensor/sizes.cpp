#include <weft/dev/tensor/sizes.h>

#include <weft/dev/ir/node.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

UOp as_index(const Dim& size) { return cast(size.uop(), dtypes::index); }

}  // namespace

Dim plus(const Dim& size, std::int64_t more) {
  if (more == 0) return size;
  return size.is_symbolic() ? Dim(as_index(size) + more) : Dim(size.uop()->lo() + more);
}

Dim minus(const Dim& a, const Dim& b) {
  if (!b.is_symbolic()) return plus(a, -b.uop()->lo());
  return as_index(a) - as_index(b);
}

Dim times(const Dim& size, std::int64_t factor) {
  if (factor == 0) return 0;
  if (factor == 1) return size;
  return size.is_symbolic() ? Dim(as_index(size) * factor) : Dim(size.uop()->lo() * factor);
}

Dim floordiv(const Dim& size, std::int64_t divisor) {
  if (divisor == 1) return size;
  if (size.is_symbolic()) return as_index(size) / divisor;
  return floor_div(size.uop()->lo(), divisor);
}

Dim product(const std::vector<Dim>& sizes) {
  std::int64_t numbers = 1;
  UOp symbols;
  for (const Dim& size : sizes) {
    if (size.is_symbolic())
      symbols = symbols.is_null() ? as_index(size) : symbols * as_index(size);
    else
      numbers *= size.uop()->lo();
  }
  return symbols.is_null() ? Dim(numbers) : times(symbols, numbers);
}

Dim simplified(const Dim& size) {
  return size.is_symbolic() ? Dim(simplify(as_index(size))) : size;
}

std::int64_t least(const Dim& size) { return size.uop()->lo(); }
std::int64_t most(const Dim& size) { return size.uop()->hi(); }

}  // namespace weft
