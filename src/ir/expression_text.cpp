#include <limits>

#include <fmt/format.h>
#include <weft/dev/ir/text.h>

#include "text_forms.h"

namespace weft {
namespace {

constexpr Infix infixes[] = {
    {Op::Or, " | ", 1},     {Op::Xor, " ^ ", 2},     {Op::And, " & ", 3},    {Op::CmpNe, " != ", 4},
    {Op::CmpEq, " == ", 4}, {Op::CmpLt, " < ", 5},   {Op::Shl, " << ", 6},   {Op::Shr, " >> ", 6},
    {Op::Add, " + ", 7},    {Op::Sub, " - ", 7},     {Op::Mul, "*", 8},      {Op::Div, "/", 8},
    {Op::Mod, "%", 8},      {Op::FloorDiv, "//", 8}, {Op::FloorMod, "%", 8},
};
constexpr int tightest = 9;

// Messages want the gist: an expression is cut off at this depth, and after so many nodes.
constexpr int deepest = 24, longest = 256;

std::string leaf_text(const Node* node) {
  switch (node->op()) {
    case Op::Const: return const_text(node);
    case Op::Range: return fmt::format("r{}", node->arg<RangeArg>().id.value);
    case Op::Variable: return node->arg<VariableArg>().name.get();
    case Op::Param: return fmt::format("p{}", node->arg<ParamArg>().slot);
    case Op::Buffer: return fmt::format("b{}", node->arg<BufferArg>().id.value);
    default: return {};
  }
}

class ExpressionPrinter {
 public:
  // In parentheses where its operator binds looser than `level`.
  std::string text(const Node* node, int level, int depth) {
    if (depth > deepest || ++count_ > longest) return "...";
    if (std::string leaf = leaf_text(node); !leaf.empty()) return leaf;
    if (const Infix* infix = infix_of(node->op())) return infix_text(node, *infix, level, depth);
    return call_text(node, depth);
  }

 private:
  std::string call_text(const Node* node, int depth) {
    std::string out(info(node->op()).name);
    if (info(node->op()).dtype == DTypeRule::Given) out += fmt::format("<{}>", node->dtype().str());
    out += "(";
    for (std::size_t i = 0; i < node->size() && count_ <= longest; ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ", ", text(node->src(i), 0, depth + 1));
    return out + ")";
  }

  std::string infix_text(const Node* node, const Infix& infix, int level, int depth) {
    const Node *a = node->src(0), *b = node->src(1);
    std::string out;
    if (node->op() == Op::CmpNe && a->dtype().is_bool() && b->is_const_int(1)) {
      out = a->op() == Op::CmpLt ? fmt::format("{} >= {}", text(a->src(0), 6, depth + 1),
                                               text(a->src(1), 6, depth + 1))
                                 : fmt::format("!{}", text(a, tightest, depth + 1));
    } else if (node->op() == Op::Add && b->is_const() && b->dtype().is_int() &&
               b->bounds().hi < 0 && b->lo() != std::numeric_limits<std::int64_t>::min()) {
      out = fmt::format("{} - {}", text(a, infix.level, depth + 1), -b->lo());
    } else {
      out = fmt::format("{}{}{}", text(a, infix.level, depth + 1), infix.symbol,
                        text(b, infix.level + 1, depth + 1));
    }
    return infix.level < level ? fmt::format("({})", out) : out;
  }

  int count_ = 0;
};

}  // namespace

const Infix* infix_of(Op op) {
  for (const Infix& infix : infixes)
    if (infix.op == op) return &infix;
  return nullptr;
}

std::string expression_text(const Node* node) { return ExpressionPrinter().text(node, 0, 0); }

std::string sizes_text(NodeList sizes) {
  std::string text;
  for (const Node* size : sizes)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", expression_text(size));
  return fmt::format("({}{})", text, sizes.size() == 1 ? "," : "");
}

}  // namespace weft
