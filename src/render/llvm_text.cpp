#include "llvm_text.h"

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {
namespace {

constexpr std::string_view language = "LLVM";

// {t} is the type of the operands, {c} that of a condition, {one} and {zero} are constants; {n} says
// that the op does not wrap, which lets LLVM widen indices.
// clang-format off
constexpr Phrase phrases[] = {
    // op          logic                      signed                        unsigned                      real
    {Op::Neg,    {"-",                       "sub{n} {t} {zero}, {0}",        "sub{n} {t} {zero}, {0}",        "fneg {t} {0}"}},
    {Op::Recip,  {"",                        "",                           "",                           "fdiv {t} {one}, {0}"}},
    {Op::Sqrt,   {"",                        "",                           "",                           "call {t} @llvm.sqrt({t} {0})"}},
    {Op::Trunc,  {"-",                       "-",                          "-",                          "call {t} @llvm.trunc({t} {0})"}},
    {Op::Add,    {"or {t} {0}, {1}",         "add{n} {t} {0}, {1}",           "add{n} {t} {0}, {1}",           "fadd {t} {0}, {1}"}},
    {Op::Sub,    {"xor {t} {0}, {1}",        "sub{n} {t} {0}, {1}",           "sub{n} {t} {0}, {1}",           "fsub {t} {0}, {1}"}},
    {Op::Mul,    {"and {t} {0}, {1}",        "mul{n} {t} {0}, {1}",           "mul{n} {t} {0}, {1}",           "fmul {t} {0}, {1}"}},
    {Op::Div,    {"",                        "",                           "",                           "fdiv {t} {0}, {1}"}},
    {Op::Mod,    {"",                        "",                           "",                           "frem {t} {0}, {1}"}},
    {Op::Max,    {"or {t} {0}, {1}",         "call {t} @llvm.smax({t} {0}, {t} {1})", "call {t} @llvm.umax({t} {0}, {t} {1})", "call {t} @llvm.maximum({t} {0}, {t} {1})"}},
    {Op::CDiv,   {"",                        "sdiv {t} {0}, {1}",          "udiv {t} {0}, {1}",          ""}},
    {Op::CMod,   {"",                        "srem {t} {0}, {1}",          "urem {t} {0}, {1}",          ""}},
    {Op::Shl,    {"",                        "shl{n} {t} {0}, {1}",           "shl{n} {t} {0}, {1}",           ""}},
    {Op::Shr,    {"",                        "ashr {t} {0}, {1}",          "lshr {t} {0}, {1}",          ""}},
    {Op::And,    {"and {t} {0}, {1}",        "and {t} {0}, {1}",           "and {t} {0}, {1}",           ""}},
    {Op::Or,     {"or {t} {0}, {1}",         "or {t} {0}, {1}",            "or {t} {0}, {1}",            ""}},
    {Op::Xor,    {"xor {t} {0}, {1}",        "xor {t} {0}, {1}",           "xor {t} {0}, {1}",           ""}},
    {Op::CmpLt,  {"icmp ult {t} {0}, {1}",   "icmp slt {t} {0}, {1}",      "icmp ult {t} {0}, {1}",      "fcmp olt {t} {0}, {1}"}},
    {Op::CmpNe,  {"icmp ne {t} {0}, {1}",    "icmp ne {t} {0}, {1}",       "icmp ne {t} {0}, {1}",       "fcmp une {t} {0}, {1}"}},
    {Op::CmpEq,  {"icmp eq {t} {0}, {1}",    "icmp eq {t} {0}, {1}",       "icmp eq {t} {0}, {1}",       "fcmp oeq {t} {0}, {1}"}},
    {Op::Where,  {"select {c} {0}, {t} {1}, {t} {2}", "select {c} {0}, {t} {1}, {t} {2}", "select {c} {0}, {t} {1}, {t} {2}", "select {c} {0}, {t} {1}, {t} {2}"}},
    {Op::MulAcc, {"",                        "",                           "",                           "call {t} @llvm.fma({t} {0}, {t} {1}, {t} {2})"}},
};

// Casts between numbers: {f} and {t} are the types, {i} and {x} how LLVM abbreviates them.
constexpr std::string_view casts[4][4] = {  // from, to, by Domain
    {"",                             "zext {f} {0} to {t}",  "zext {f} {0} to {t}",  "uitofp {f} {0} to {t}"},
    {"icmp ne {f} {0}, {zero}",      "sext {f} {0} to {t}",  "sext {f} {0} to {t}",  "sitofp {f} {0} to {t}"},
    {"icmp ne {f} {0}, {zero}",      "zext {f} {0} to {t}",  "zext {f} {0} to {t}",  "uitofp {f} {0} to {t}"},
    {"fcmp une {f} {0}, {zero}",     "call {t} @llvm.fptosi.sat.{tn}.{fn}({f} {0})", "call {t} @llvm.fptoui.sat.{tn}.{fn}({f} {0})", "fpext {f} {0} to {t}"},
};
// clang-format on

std::string scalar_type(DType dtype) {
  if (dtype.is_bool()) return "i1";
  if (!carrier_of(dtype).is_float()) return fmt::format("i{}", dtype.bits());
  return dtype.bits() == 32 ? "float" : "double";
}

std::string scalar_constant(DType dtype, Bits bits) {
  if (dtype.is_float() && carrier_of(dtype) == dtype)  // written as the bits of a double
    return fmt::format("0x{:016x}", convert(bits, dtype, dtypes::f64));
  if (dtype.is_float()) return fmt::format("{}", bits);
  return dtype.is_bool() ? (bits != 0 ? "1" : "0")
                         : fmt::format("{}", static_cast<std::int64_t>(bits));
}

std::string short_name(DType dtype) {
  const std::string scalar = dtype.is_float() ? dtype.scalar().str() : scalar_type(dtype);
  return dtype.lanes() == 1 ? scalar : fmt::format("v{}{}", dtype.lanes(), scalar);
}

std::string phrase_text(Op op, DType operand, const std::vector<std::string>& operands,
                        DType condition, bool exact) {
  const std::string_view form = form_of(phrase_of(phrases, op, operand, language), operand);
  if (form == "-") return {};
  std::string text[3];
  for (std::size_t i = 0; i < operands.size(); ++i) text[i] = operands[i];
  const auto number = [&](std::int64_t value) {
    return llvm_splat(scalar_constant(operand.scalar(), bits_from_int(value, operand.scalar())),
                      operand);
  };
  return fmt::format(fmt::runtime(form), text[0], text[1], text[2],
                     fmt::arg("t", llvm_type(operand)), fmt::arg("c", llvm_type(condition)),
                     fmt::arg("n", !exact                  ? ""
                                   : operand.is_unsigned() ? " nuw"
                                                           : " nsw"),
                     fmt::arg("one", number(1)), fmt::arg("zero", number(0)));
}

std::string cast_text(DType from, DType to, const std::string& operand) {
  if (carrier_of(from) != from || carrier_of(to) != to)
    user_error(fmt::format("LLVM has no cast from {} to {}: it has to be decomposed first",
                           from.str(), to.str()));
  const bool both_whole = from.is_int() && to.is_int();
  if (from.scalar() == to.scalar() || (both_whole && from.bits() == to.bits())) return {};
  std::string_view form = casts[static_cast<int>(domain_of(from))][static_cast<int>(domain_of(to))];
  if (both_whole && from.bits() > to.bits()) form = "trunc {f} {0} to {t}";
  if (from.is_float() && to.is_float() && from.bits() > to.bits()) form = "fptrunc {f} {0} to {t}";
  return fmt::format(fmt::runtime(form), operand, fmt::arg("f", llvm_type(from)),
                     fmt::arg("t", llvm_type(to)), fmt::arg("fn", short_name(from)),
                     fmt::arg("tn", short_name(to)), fmt::arg("zero", llvm_zero(from)));
}

}  // namespace

std::string llvm_type(DType dtype) {
  const std::string scalar = scalar_type(dtype);
  return dtype.lanes() == 1 ? scalar : fmt::format("<{} x {}>", dtype.lanes(), scalar);
}

std::string llvm_half(DType dtype) {
  const std::string_view scalar = dtype.kind() == Kind::BF16 ? "bfloat" : "half";
  return dtype.lanes() == 1 ? std::string(scalar) : fmt::format("<{} x {}>", dtype.lanes(), scalar);
}

std::string llvm_memory_type(DType dtype) { return llvm_type(memory_of(dtype)); }

std::string llvm_splat(std::string_view scalar, DType dtype) {
  if (dtype.lanes() == 1) return std::string(scalar);
  std::string out = "<";
  for (std::uint32_t lane = 0; lane < dtype.lanes(); ++lane)
    out += fmt::format("{}{} {}", lane > 0 ? ", " : "", scalar_type(dtype), scalar);
  return out + ">";
}

std::string llvm_constant(const Node* node) {
  const DType dtype = node->dtype();
  if (node->op() == Op::Const)
    return llvm_splat(scalar_constant(dtype.scalar(), node->arg<ConstArg>().bits), dtype);
  std::string out = "<";
  for (const Node* lane : node->src())
    out += fmt::format("{}{} {}", out.size() > 1 ? ", " : "", llvm_type(lane->dtype()),
                       llvm_constant(lane));
  return out + ">";
}

std::string llvm_zero(DType dtype) { return llvm_splat(scalar_constant(dtype.scalar(), 0), dtype); }

std::string llvm_instruction(const Node* node, const std::vector<std::string>& operands) {
  const DType from = operand_of(node), to = node->dtype();
  if (node->op() == Op::Cast) return cast_text(from, to, operands[0]);
  if (node->op() == Op::Bitcast) {
    if (llvm_type(from) == llvm_type(to)) return {};
    return fmt::format("bitcast {} {} to {}", llvm_type(from), operands[0], llvm_type(to));
  }
  return phrase_text(node->op(), from, operands, node->src(0)->dtype(), node->is_exact());
}

std::string llvm_combine(Op op, DType dtype, const std::string& a, const std::string& b) {
  return phrase_text(op, dtype, {a, b}, dtype, false);
}

}  // namespace weft
