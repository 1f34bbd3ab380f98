#include <weft/dev/ir/op.h>

namespace weft {
namespace {

using enum OpClass;
using enum ArgType;
using namespace OpFlag;

constexpr Arity at_least(std::uint8_t n) { return {n, false}; }
constexpr Arity arity(std::uint8_t n) { return {n, true}; }
constexpr Arity arity(Arity a) { return a; }

constexpr OpInfo table[] = {
#define OP(name, text, cls, sources, flags, identity, dtype, arg, meaning) \
  {                                                                        \
      text,                                                                \
      meaning,                                                             \
      OpClass::cls,                                                        \
      arity(sources),                                                      \
      flags,                                                               \
      Identity::identity,                                                  \
      DTypeRule::dtype,                                                    \
      ArgType::arg},
#include <weft/dev/ir/ops.def>
};

}  // namespace

const OpInfo& info(Op op) { return table[static_cast<int>(op)]; }

bool allows(Op op, DType operand) {
  return !has(op, Operands) || (has(op, Int) && operand.is_int()) ||
         (has(op, Float) && operand.is_float()) ||
         (has(op, Bits) && (operand.is_int() || operand.is_bool())) ||
         (has(op, U64) && operand.kind() == Kind::U64);
}

std::optional<Op> parse_op(std::string_view name) {
  for (int i = 0; i < op_count; ++i)
    if (table[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

}  // namespace weft
