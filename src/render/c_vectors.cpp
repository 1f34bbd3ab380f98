#include "c_vectors.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "c_helpers.h"
#include "c_text.h"

namespace weft {
namespace {

// What a compiler with vectors does with all lanes at once; where there is nothing, lane by lane. {t} is the type of the
// operands, {k} that of a lane, {m} that of masks, {u} that of unsigned integers, which wrap.
// clang-format off
constexpr std::string_view choice = "({t})(({0} & ({m}){1}) | (~{0} & ({m}){2}))",
                           larger = "where_{t}(({m})({0} > {1}), {0}, {1})",
// NaN where one is, and of two zeros +0 unless both are -0.
                           larger_real = "where_{t}(({m})({1} != {1}), {1}, where_{t}(({m})({0} == {1}), "
                                         "({t})(({m}){0} & ({m}){1}), where_{t}(({m})({0} <= {1}), {1}, {0})))";
constexpr Phrase wholes[] = {
    // op          logic                       signed                         unsigned             real
    {Op::Neg,    {"{0}",                      "({t})-({u}){0}",              "-{0}",              "-{0}"}},
    {Op::Recip,  {"",                         "",                            "",                  "({k})1 / {0}"}},
    {Op::Trunc,  {"{0}",                      "{0}",                         "{0}",               ""}},
    {Op::Add,    {"{0} | {1}",                "({t})(({u}){0} + ({u}){1})",  "{0} + {1}",         "{0} + {1}"}},
    {Op::Sub,    {"{0} ^ {1}",                "({t})(({u}){0} - ({u}){1})",  "{0} - {1}",         "{0} - {1}"}},
    {Op::Mul,    {"{0} & {1}",                "({t})(({u}){0} * ({u}){1})",  "{0} * {1}",         "{0} * {1}"}},
    {Op::Div,    {"",                         "",                            "",                  "{0} / {1}"}},
    {Op::Max,    {"{0} | {1}",                larger,                        larger,              larger_real}},
    {Op::Shl,    {"",                         "({t})(({u}){0} << ({u}){1})", "{0} << {1}",        ""}},
    {Op::Shr,    {"",                         "{0} >> {1}",                  "{0} >> {1}",        ""}},
    {Op::And,    {"{0} & {1}",                "{0} & {1}",                   "{0} & {1}",         ""}},
    {Op::Or,     {"{0} | {1}",                "{0} | {1}",                   "{0} | {1}",         ""}},
    {Op::Xor,    {"{0} ^ {1}",                "{0} ^ {1}",                   "{0} ^ {1}",         ""}},
    {Op::CmpLt,  {"~{0} & {1}",               "({m})({0} < {1})",            "({m})({0} < {1})",  "({m})({0} < {1})"}},
    {Op::CmpNe,  {"{0} ^ {1}",                "({m})({0} != {1})",           "({m})({0} != {1})", "({m})({0} != {1})"}},
    {Op::CmpEq,  {"~({0} ^ {1})",             "({m})({0} == {1})",           "({m})({0} == {1})", "({m})({0} == {1})"}},
    {Op::Where,  {"({0} & {1}) | (~{0} & {2})", choice,                      choice,              choice}},
};
// clang-format on

// What clang does with all lanes by functions of its own.
constexpr struct {
  Op op;
  std::string_view name;
} builtins[] = {
    {Op::Sqrt, "__builtin_elementwise_sqrt"},
    {Op::Trunc, "__builtin_elementwise_trunc"},
    {Op::MulAcc, "__builtin_elementwise_fma"},
};

constexpr OpSet compares{Op::CmpLt, Op::CmpNe, Op::CmpEq};
constexpr const char* parameters[] = {"a", "b", "c"};

// "static inline RESULT NAME(TYPE a, TYPE b) { BODY }", by what the operands are.
void add_function(CHelperOrder order, DType result, const std::string& name,
                  std::span<const CVector> operands, const std::string& body, CHelpers& helpers) {
  std::string text = fmt::format("static inline {} {}(", c_vector_type(result, helpers), name);
  for (std::size_t i = 0; i < operands.size(); ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", c_vector_type(operands[i].held, helpers),
                        parameters[i]);
  helpers.emplace(order, fmt::format("{}) {{\n{}\n}}", text, body));
}

std::string call(const std::string& name, std::span<const CVector> operands) {
  std::vector<std::string> texts;
  for (const CVector& operand : operands) texts.push_back(operand.text);
  return fmt::format("{}({})", name, fmt::join(texts, ", "));
}

std::string lane_of(std::size_t operand) { return fmt::format("LANE({}, i)", parameters[operand]); }

std::string each(DType result, std::string_view whole, std::string_view lane, CHelpers& helpers) {
  const std::string type = c_vector_type(result, helpers);
  if (whole.empty()) return fmt::format("  LANES({}, {}, {})", type, result.lanes(), lane);
  return fmt::format("  EACH({}, {}, {},\n       {})", type, result.lanes(), whole, lane);
}

std::string formed(std::string_view form, std::span<const std::string> operands, DType held,
                   CHelpers& helpers) {
  std::string text[3];
  std::ranges::copy(operands, text);
  return fmt::format(
      fmt::runtime(form), text[0], text[1], text[2], fmt::arg("t", c_vector_type(held, helpers)),
      fmt::arg("k", held.scalar().str()), fmt::arg("m", c_vector_type(signed_of(held), helpers)),
      fmt::arg("u", c_vector_type(unsigned_of(held), helpers)));
}

std::string_view whole_of(Op op, DType operand) {
  const auto* found = std::ranges::find(wholes, op, &Phrase::op);
  return found == std::end(wholes) ? std::string_view() : form_of(*found, operand);
}

// As C computes one lane. Throws for what C does not have.
std::string lane_text(Op op, DType operand, std::size_t count, DType held, CHelpers& helpers) {
  if (op == Op::Where) return fmt::format("{} ? {} : {}", lane_of(0), lane_of(1), lane_of(2));
  std::vector<std::string> lanes;
  std::vector<CText> texts;
  for (std::size_t i = 0; i < count; ++i) {
    lanes.push_back(lane_of(i));
    texts.push_back({lanes.back()});
  }
  if (operand.is_bool()) return formed(whole_of(op, operand), lanes, held, helpers);
  const CText text = c_combine(op, operand.scalar(), texts, helpers);
  return compares.contains(op) ? fmt::format("-({})", text.text) : text.text;
}

std::string body_of(Op op, DType operand, DType result, std::span<const CVector> operands,
                    CHelpers& helpers) {
  const DType held = operands.back().held;
  const std::string lane = lane_text(op, operand, operands.size(), held, helpers);
  const auto names = std::vector<std::string>(parameters, parameters + operands.size());
  const std::string_view form = whole_of(op, operand);
  std::string body =
      each(result, form.empty() ? "" : formed(form, names, held, helpers), lane, helpers);
  for (const auto& [owner, builtin] : builtins)
    if (owner == op && operand.is_float())
      return fmt::format("#if HAS({0})\n  return {0}({1});\n#else\n{2}\n#endif", builtin,
                         fmt::join(names, ", "), body);
  return body;
}

// A float as an integer of its width: what is out of range is the nearest, NaN is 0.
std::string saturated(DType from, DType to, const std::string& lane, CHelpers& helpers) {
  const Interval all = dtype_interval(to.scalar());
  const auto bound = [&](auto value) {
    return fmt::format("{:.1f}{}", static_cast<double>(value), from.kind() == Kind::F32 ? "f" : "");
  };
  const auto number = [&](auto value) {
    return c_int_constant(static_cast<std::int64_t>(value), to.scalar());
  };
  return fmt::format(
      "#if HAS_VECTORS\n"
      "  const {0} least = ({0})(a >= {3}), above = ({0})(a >= {4}), below = ({0})(a < {3});\n"
      "  const {1} some = ({1})(({0})a & least & ~above);\n"
      "  return __builtin_convertvector(some, {2}) | (({2})above & {5}) | (({2})below & {6});\n"
      "#else\n{7}\n#endif",
      c_vector_type(signed_of(to), helpers), c_vector_type(from, helpers),
      c_vector_type(to, helpers), bound(all.lo), bound(all.hi + 1), number(all.hi), number(all.lo),
      each(to, "", lane, helpers));
}

}  // namespace

DType signed_of(DType held) {
  const DType kinds[] = {dtypes::i8, dtypes::i16, dtypes::i32, dtypes::i64};
  return kinds[std::countr_zero(static_cast<unsigned>(held.bits())) - 3].vec(held.lanes());
}
DType unsigned_of(DType held) {
  const DType kinds[] = {dtypes::u8, dtypes::u16, dtypes::u32, dtypes::u64};
  return kinds[std::countr_zero(static_cast<unsigned>(held.bits())) - 3].vec(held.lanes());
}

std::string c_vector_type(DType held, CHelpers& helpers) {
  helpers.emplace(VectorWords, c_vector_words);
  helpers.emplace(VectorType, fmt::format("VECTOR({}, {}, {})", held.scalar().str(), held.lanes(),
                                          std::bit_ceil(held.lanes())));
  return held.str();
}

std::string c_vector_list(DType held, std::span<const std::string> lanes, CHelpers& helpers) {
  return fmt::format("LIST({}, {})", c_vector_type(held, helpers), fmt::join(lanes, ", "));
}

std::string c_vector_splat(DType held, const std::string& lane, CHelpers& helpers) {
  const std::string type = c_vector_type(held, helpers), name = "splat_" + type;
  const std::vector<std::string> lanes(held.lanes(), "x");
  helpers.emplace(OfVectors,
                  fmt::format("static inline {} {}({} x) {{\n  return {};\n}}", type, name,
                              held.scalar().str(), c_vector_list(held, lanes, helpers)));
  return fmt::format("{}({})", name, lane);
}

std::string c_vector_zero(DType held, CHelpers& helpers) {
  return fmt::format("({}){{0}}", c_vector_type(held, helpers));
}

std::string c_vector_lane(const CVector& vector, std::int32_t at, CHelpers& helpers) {
  const std::string type = c_vector_type(vector.held, helpers);
  helpers.emplace(OfVectors,
                  fmt::format("static inline {} lane_{}({} a, int i) {{\n  return LANE(a, i);\n}}",
                              vector.held.scalar().str(), type, type));
  return fmt::format("lane_{}({}, {})", type, vector.text, at);
}

std::string c_vector_shuffle(const CVector& a, const CVector& b, std::vector<std::int64_t> from,
                             CHelpers& helpers) {
  const auto lanes = static_cast<std::uint32_t>(from.size());
  const std::string type = c_vector_type(a.held.scalar().vec(lanes), helpers);
  const std::string source = c_vector_type(a.held, helpers);
  const std::string name = fmt::format("shuffle_{}_of_{}", type, source);
  const std::uint32_t room = std::bit_ceil(a.held.lanes());
  helpers.emplace(
      OfVectors,
      fmt::format("#if !HAS(__builtin_shufflevector)\n"
                  "static inline {0} {1}({2} a, {2} b, const i16 *from) {{\n"
                  "  LANES({0}, {3}, from[i] < {4} ? LANE(a, from[i]) : LANE(b, from[i] - {4}))\n"
                  "}}\n#endif",
                  type, name, source, lanes, room));
  for (std::int64_t& place : from)
    if (place >= a.held.lanes()) place += room - a.held.lanes();
  from.resize(std::bit_ceil(lanes), -1);
  return fmt::format("SHUFFLE({}, {}, {}, {})", name, a.text, b.text, fmt::join(from, ", "));
}

CVector c_mask_for(DType held, const CVector& mask, CHelpers& helpers) {
  return c_vector_cast(mask.held, signed_of(held), mask, helpers);
}

CVector c_vector_apply(Op op, DType operand, std::vector<CVector> operands, CHelpers& helpers) {
  const DType held = operands.back().held;
  if (op == Op::Where || operand.is_bool())
    for (CVector& each : operands)
      if (operand.is_bool() || &each == operands.data()) each = c_mask_for(held, each, helpers);
  const DType result = compares.contains(op) ? signed_of(held) : held;
  std::string name =
      fmt::format("{}_{}{}", info(op).name, operand.is_bool() ? "bool_" : "", held.str());
  const std::string body = body_of(op, operand, result, operands, helpers);
  const bool calls = body.find("where_") != std::string::npos;
  if (calls) {
    const CVector any{"", held};
    c_vector_apply(Op::Where, operand, {{"", signed_of(held)}, any, any}, helpers);
  }
  add_function(calls ? OfVectorFunctions : OfVectors, result, name, operands, body, helpers);
  return {call(name, operands), result};
}

CVector c_vector_above(const CVector& value, const CVector& constant, CHelpers& helpers) {
  const DType held = value.held;
  const CVector operands[] = {value, constant};
  const std::string name = "above_" + held.str();
  const std::string whole =
      fmt::format("({0})(((a <= b) & ({1})b) | (~(a <= b) & ({1})a))", c_vector_type(held, helpers),
                  c_vector_type(signed_of(held), helpers));
  add_function(OfVectors, held, name, operands,
               each(held, whole, "LANE(a, i) <= LANE(b, i) ? LANE(b, i) : LANE(a, i)", helpers),
               helpers);
  return {call(name, operands), held};
}

CVector c_vector_cast(DType from, DType to, const CVector& value, CHelpers& helpers) {
  if (to.is_bool() && from.is_bool()) return value;
  const DType held = to.is_bool() ? signed_of(value.held) : to;
  if (!to.is_bool() && held == value.held && !from.is_bool()) return value;
  const std::string type = c_vector_type(held, helpers),
                    source = c_vector_type(value.held, helpers);
  const CVector operands[] = {value};
  const auto made = [&](const std::string& name, const std::string& whole,
                        const std::string& lane) {
    add_function(OfVectors, held, name, operands, each(held, whole, lane, helpers), helpers);
    return CVector{call(name, operands), held};
  };
  if (to.is_bool())
    return made("true_" + source, fmt::format("({})(a != ({}){{0}})", type, source),
                "-(LANE(a, i) != 0)");
  if (from.is_bool())
    return made(fmt::format("{}_from_mask_{}", type, source),
                fmt::format("__builtin_convertvector(-a, {})", type), "-LANE(a, i)");
  const std::string lane = c_cast(from.scalar(), to.scalar(), {"LANE(a, i)"}, helpers).text;
  const std::string name = fmt::format("{}_from_{}", type, source);
  if (!from.is_float() || !to.is_int())
    return made(name, fmt::format("__builtin_convertvector(a, {})", type), lane);
  if (from.bits() != to.bits()) return made(name, "", lane);
  add_function(OfVectors, held, name, operands, saturated(from, to, lane, helpers), helpers);
  return {call(name, operands), held};
}

CVector c_vector_bitcast(DType to, const CVector& value, CHelpers& helpers) {
  if (to == value.held) return value;
  const std::string type = c_vector_type(to, helpers);
  const std::string name = fmt::format("{}_of_{}_bits", type, value.held.str());
  const CVector operands[] = {value};
  add_function(OfVectors, to, name, operands,
               fmt::format("  {} to;\n  __builtin_memcpy(&to, &a, sizeof to);\n  return to;", type),
               helpers);
  return {call(name, operands), to};
}

}  // namespace weft
