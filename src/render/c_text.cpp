#include "c_text.h"

#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>

#include "c_helpers.h"

namespace weft {
namespace {

constexpr std::string_view language = "C";

// How tightly C's operators bind, from the loosest.
constexpr int conditional = 2, either = 5, differ = 6, both = 7, equal = 8, less = 9, shift = 10;
constexpr int sum = 11, product = 12, unary = 13, call = CText::call;

// clang-format off
constexpr Phrase phrases[] = {
    // op           logic             signed               unsigned             real                   level
    {Op::Neg,      {"-",              "-{0}",              "-{0}",              "-{0}"},               unary},
    {Op::Recip,    {"",               "",                  "",                  "1 / {0}"},            product},
    {Op::Sqrt,     {"",               "",                  "",                  "sqrt_{k}({0})"},      call},
    {Op::Trunc,    {"-",              "-",                 "-",                 "trunc_{k}({0})"},     call},
    {Op::Add,      {"{0} | {1}",      "{0} + {1}",         "{0} + {1}",         "{0} + {1}"},          sum},
    {Op::Sub,      {"{0} ^ {1}",      "{0} - {1}",         "{0} - {1}",         "{0} - {1}"},          sum},
    {Op::Mul,      {"{0} & {1}",      "{0} * {1}",         "{0} * {1}",         "{0} * {1}"},          product},
    {Op::Div,      {"",               "",                  "",                  "{0} / {1}"},          product},
    {Op::Mod,      {"",               "",                  "",                  "mod_{k}({0}, {1})"},  call},
    {Op::Max,      {"{0} | {1}",      "max_{k}({0}, {1})", "max_{k}({0}, {1})", "max_{k}({0}, {1})"},  call},
    {Op::CDiv,     {"",               "{0} / {1}",         "{0} / {1}",         ""},                   product},
    {Op::CMod,     {"",               "{0} % {1}",         "{0} % {1}",         ""},                   product},
    {Op::Shl,      {"",               "{0} << {1}",        "{0} << {1}",        ""},                   shift},
    {Op::Shr,      {"",               "{0} >> {1}",        "{0} >> {1}",        ""},                   shift},
    {Op::And,      {"{0} & {1}",      "{0} & {1}",         "{0} & {1}",         ""},                   both},
    {Op::Or,       {"{0} | {1}",      "{0} | {1}",         "{0} | {1}",         ""},                   either},
    {Op::Xor,      {"{0} ^ {1}",      "{0} ^ {1}",         "{0} ^ {1}",         ""},                   differ},
    {Op::CmpLt,    {"{0} < {1}",      "{0} < {1}",         "{0} < {1}",         "{0} < {1}"},          less},
    {Op::CmpNe,    {"{0} != {1}",     "{0} != {1}",        "{0} != {1}",        "{0} != {1}"},         equal},
    {Op::CmpEq,    {"{0} == {1}",     "{0} == {1}",        "{0} == {1}",        "{0} == {1}"},         equal},
    {Op::Where,    {"{0} ? {1} : {2}", "{0} ? {1} : {2}",  "{0} ? {1} : {2}",   "{0} ? {1} : {2}"},    conditional},
    {Op::MulAcc,   {"",               "",                  "",                  "fma_{k}({0}, {1}, {2})"}, call},
};

// Helpers by the name that phrases use; {k} is the dtype, {f} the suffix of C's own function.
constexpr struct {
  Op op;
  std::string_view integer, real;
} helper_texts[] = {
    {Op::Sqrt,   "", "static inline {k} sqrt_{k}({k} x) {{ return __builtin_sqrt{f}(x); }}"},
    {Op::Trunc,  "", "static inline {k} trunc_{k}({k} x) {{ return __builtin_trunc{f}(x); }}"},
    {Op::Mod,    "", "static inline {k} mod_{k}({k} a, {k} b) {{ return __builtin_fmod{f}(a, b); }}"},
    {Op::MulAcc, "", "static inline {k} fma_{k}({k} a, {k} b, {k} c) {{ return __builtin_fma{f}(a, b, c); }}"},
    {Op::Max,    "static inline {k} max_{k}({k} a, {k} b) {{ return a > b ? a : b; }}",
                 "// The sum is NaN where one is, and of two zeros +0 unless both are -0.\n"
                 "static inline {k} max_{k}({k} a, {k} b) {{\n"
                 "  return a > b ? a : a < b ? b : a != b || a == 0 ? a + b : a;\n}}"},
};
// clang-format on

void require_helper(Op op, DType dtype, CHelpers& helpers) {
  for (const auto& [owner, integer, real] : helper_texts) {
    const std::string_view text = dtype.is_float() ? real : integer;
    if (owner != op || text.empty()) continue;
    const std::string_view suffix = dtype.kind() == Kind::F32 ? "f" : "";
    helpers.emplace(OfScalars, fmt::format(fmt::runtime(text), fmt::arg("k", dtype.str()),
                                           fmt::arg("f", suffix)));
  }
}

std::string float_constant(Bits bits, DType dtype) {
  const double value = double_from_bits(bits, dtype);
  const bool is_f32 = dtype.kind() == Kind::F32;
  if (std::isinf(value))
    return fmt::format("{}__builtin_inf{}()", value < 0 ? "-" : "", is_f32 ? "f" : "");
  std::string text =
      is_f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (is_f32 ? "f" : "");
}

}  // namespace

std::string c_int_constant(std::int64_t value, DType dtype) {
  const bool is_wide = dtype.bits() == 64;
  if (dtype.is_unsigned())
    return fmt::format("{}{}", static_cast<Bits>(value), is_wide ? "ull" : "u");
  const std::string_view suffix = is_wide ? "ll" : "";
  if (value == dtype_interval(dtype).lo && dtype.bits() >= 32)  // whose negation C cannot write
    return fmt::format("(-{}{} - 1)", -(value + 1), suffix);
  return fmt::format("{}{}", value, suffix);
}

namespace {

// The unsigned integer that wraps as this one does; C itself computes in int at least.
DType wrapping_of(DType dtype) { return dtype.bits() > 32 ? dtypes::u64 : dtypes::u32; }

// Logic has other operators than arithmetic.
int logic_level(Op op, int level) {
  switch (op) {
    case Op::Add:
    case Op::Max: return either;
    case Op::Sub: return differ;
    case Op::Mul: return both;
    default: return level;
  }
}

CText phrase_text(Op op, DType operand, const std::vector<CText>& operands, CHelpers& helpers) {
  const Phrase& phrase = phrase_of(phrases, op, operand, language);
  const std::string_view form = form_of(phrase, operand);
  if (form == "-") return operands[0];
  require_helper(op, operand, helpers);
  const bool is_call = form.find('(') != std::string_view::npos;
  int level = phrase.level;
  if (operand.is_bool()) level = logic_level(op, level);
  std::string text[3];
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_right = i > 0 || op == Op::Recip;  // 1 / (a * b)
    const int least = is_call ? 0 : level + (is_right || level == conditional || level == unary);
    text[i] = operands[i].within(level == conditional && i == 2 ? conditional : least);
  }
  return {fmt::format(fmt::runtime(form), text[0], text[1], text[2], fmt::arg("k", operand.str())),
          is_call ? call : level};
}

CText converted(const std::string& type, const CText& text) {
  return {fmt::format("({}){}", type, text.within(unary)), unary};
}

// Arithmetic that may wrap, by way of unsigned integers.
CText wrapped(Op op, DType dtype, const std::vector<CText>& operands, CHelpers& helpers) {
  const DType wide = wrapping_of(dtype);
  std::vector<CText> parts = operands;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (op != Op::Shl || i == 0) parts[i] = converted(wide.str(), parts[i]);
  return converted(dtype.str(), phrase_text(op, wide, parts, helpers));
}

bool may_wrap(Op op, DType dtype) {
  const bool wraps = OpSet{Op::Add, Op::Sub, Op::Mul, Op::Neg, Op::Shl}.contains(op);
  return wraps && dtype.is_int() && (!dtype.is_unsigned() || dtype.bits() < 32);
}

}  // namespace

CText c_cast(DType from, DType to, const CText& text, CHelpers& helpers) {
  if (carrier_of(from) != from || carrier_of(to) != to)
    user_error(fmt::format("C has no cast from {} to {}: it has to be decomposed first", from.str(),
                           to.str()));
  if (to.is_bool()) return {text.within(equal) + " != 0", equal};
  if (!from.is_float() || !to.is_int()) return converted(to.str(), text);
  const Interval all = dtype_interval(to);
  const std::string_view suffix = from.kind() == Kind::F32 ? "f" : "";
  helpers.emplace(
      OfScalars,
      fmt::format(
          "static inline {0} {0}_from_{1}({1} x) {{\n"
          "  return x != x ? 0 : x < {2:.1f}{4} ? {5} : x >= {3:.1f}{4} ? {6} : ({0})x;\n}}",
          to.str(), from.str(), static_cast<double>(all.lo), static_cast<double>(all.hi + 1),
          suffix, c_int_constant(static_cast<std::int64_t>(all.lo), to),
          c_int_constant(static_cast<std::int64_t>(all.hi), to)));
  return {fmt::format("{}_from_{}({})", to.str(), from.str(), text.text), call};
}

namespace {

CText bitcast_text(DType from, DType to, const CText& text, CHelpers& helpers) {
  const std::string a = c_type(from), b = c_type(to);
  if (a == b) return text;
  if (!carrier_of(from).is_float() && !carrier_of(to).is_float()) return converted(b, text);
  helpers.emplace(
      OfScalars,
      fmt::format("static inline {1} {1}_of_{0}_bits({0} x) {{ return (union {{ {0} from; {1} to; "
                  "}}){{x}}.to; }}",
                  a, b));
  return {fmt::format("{}_of_{}_bits({})", b, a, text.text), call};
}

}  // namespace

std::string c_type(DType dtype) { return dtype.is_bool() ? "bool" : carrier_of(dtype).str(); }

std::string c_prelude(const CHelpers& helpers) {
  std::string out =
      "typedef _Bool bool;\n"
      "typedef __INT8_TYPE__ i8;\ntypedef __INT16_TYPE__ i16;\n"
      "typedef __INT32_TYPE__ i32;\ntypedef __INT64_TYPE__ i64;\n"
      "typedef __UINT8_TYPE__ u8;\ntypedef __UINT16_TYPE__ u16;\n"
      "typedef __UINT32_TYPE__ u32;\ntypedef __UINT64_TYPE__ u64;\n"
      "typedef float f32;\ntypedef double f64;\n\n";
  for (const auto& [order, helper] : helpers) out += helper + (order == VectorType ? "\n" : "\n\n");
  return out;
}

CText c_constant(DType dtype, Bits bits) {
  if (dtype.is_bool()) return {bits != 0 ? "1" : "0"};
  const auto signed_level = [](const std::string& text) {
    return CText{text, text.starts_with('-') ? unary : CText::atom};
  };
  if (!dtype.is_float() || carrier_of(dtype) != dtype)
    return signed_level(c_int_constant(static_cast<std::int64_t>(bits), carrier_of(dtype)));
  if (!std::isnan(double_from_bits(bits, dtype))) return signed_level(float_constant(bits, dtype));
  const DType integer = dtype.bits() == 32 ? dtypes::u32 : dtypes::u64;
  return {fmt::format("((union {{ {} from; {} to; }}){{{:#x}u}}).to", integer.str(), dtype.str(),
                      bits)};
}

CText c_apply(const Node* node, const std::vector<CText>& operands, CHelpers& helpers) {
  const DType operand = operand_of(node);
  if (node->op() == Op::Cast) return c_cast(operand, node->dtype(), operands[0], helpers);
  if (node->op() == Op::Bitcast) return bitcast_text(operand, node->dtype(), operands[0], helpers);
  const bool wraps = may_wrap(node->op(), operand) && !node->is_exact();
  return wraps ? wrapped(node->op(), operand, operands, helpers)
               : phrase_text(node->op(), operand, operands, helpers);
}

CText c_combine(Op op, DType dtype, const std::vector<CText>& operands, CHelpers& helpers) {
  return may_wrap(op, dtype) ? wrapped(op, dtype, operands, helpers)
                             : phrase_text(op, dtype, operands, helpers);
}

}  // namespace weft
