// C that people read: loops, short names, a statement for what is used more than once.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/render/render.h>

#include "c_text.h"

namespace weft {
namespace {

// Longer expressions get a statement of their own.
constexpr std::size_t longest = 72;

class CSource {
 public:
  CSource(const Node* kernel, std::size_t scratch_bytes, CHelpers& helpers)
      : kernel_(kernel),
        program_(checked_program(kernel, scratch_bytes)),
        signature_(signature_of(kernel)),
        helpers_(helpers) {}

  // The function, by what stands before its parameters.
  std::string text(std::string_view head) {
    find_places();
    for (const Node* node : program_) render(node);
    return fmt::format("// {}\n{}(void* const* arguments, const i64* values{}) {{\n",
                       one_line(kernel_->arg<KernelArg>().name.get()), head,
                       signature_.thread != nullptr ? ", i64 thread" : "") +
           arguments() + body_ + "}\n";
  }
  std::string threads() const {
    if (signature_.thread == nullptr) return {};
    return fmt::format("const i64 threads = {};\n\n", signature_.threads());
  }

 private:
  // Where a node stands: the loop body, and the stores and loops before it. What reads memory may
  // only move, into the statement that uses it, where these are the same.
  struct Place {
    std::uint32_t body = 0, epoch = 0;
    std::uint32_t uses = 0;
    const Node* user = nullptr;
  };

  // What a statement for the node needs: a place's sources are its reader's.
  static std::vector<const Node*> operands_of(const Node* node) {
    static const OpSet no_values{Op::End, Op::Sink, Op::Tuple, Op::Index, Op::Buffer};
    if (no_values.contains(node->op())) return {};
    std::vector<const Node*> operands(node->src().begin(), node->src().end());
    if (node->op() == Op::After) operands.resize(node->dtype().is_void() ? 0 : 1);
    if (OpSet{Op::Load, Op::Store, Op::Prefetch}.contains(node->op())) {
      const Node* index = node->src(0);
      operands.resize(node->op() == Op::Store ? 2 : node->size());
      operands.erase(operands.begin());
      operands.insert(operands.begin(), index->src().begin() + 1, index->src().end());
    }
    return operands;
  }

  void find_places() {
    std::vector<std::uint32_t> bodies{0};
    std::uint32_t count = 0, epoch = 0;
    for (const Node* node : program_) {
      if (node->op() == Op::End) bodies.resize(bodies.size() - (node->size() - 1));
      places_.set(node, {bodies.back(), epoch, 0, nullptr});
      if (node->op() == Op::Range) bodies.push_back(++count);
      if (OpSet{Op::Range, Op::End, Op::Store}.contains(node->op())) ++epoch;
      for (const Node* operand : operands_of(node)) {
        Place place = *places_.find(operand);
        place.user = node;
        ++place.uses;
        places_.set(operand, place);
      }
    }
  }

  bool reads_memory(const Node* node) const {
    const bool* reads = reads_.find(node);
    return reads != nullptr && *reads;
  }

  // Whether the text may stand in its user's statement.
  bool may_move(const Node* node, const CText& text) const {
    const Place& here = *places_.find(node);
    if (text.level == CText::atom && !reads_memory(node)) return true;
    if (here.uses != 1 || text.text.size() > longest) return false;
    const Place& there = *places_.find(here.user);
    return there.body == here.body && (!reads_memory(node) || there.epoch == here.epoch);
  }

  void render(const Node* node) {
    switch (node->op()) {
      case Op::Sink:
      case Op::Tuple:
      case Op::Index:
      case Op::Param: return;
      case Op::Const: return name(node, c_constant(node));
      case Op::Variable: return name(node, {fmt::format("n{}", variables_++)});
      case Op::Special: return name(node, {"t"});
      case Op::Buffer: return declare_buffer(node);
      case Op::Range: return open(node);
      case Op::End: return close(node);
      case Op::Store: return store(node);
      case Op::After:
        if (places_.find(node)->uses > 0) define(node, texts_[*text_.find(node->src(0))]);
        return;
      case Op::Load: return define(node, load(node));
      case Op::Prefetch:
        return line(fmt::format("__builtin_prefetch(&{});", place_text(node->src(0))));
      default: return define(node, apply(node));
    }
  }

  void line(std::string_view text) {
    body_ += fmt::format("{:{}}{}\n", "", 2 * (depth_ + 1), text);
  }

  void name(const Node* node, CText text) {
    text_.set(node, static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(std::move(text));
  }
  const CText& text_of(const Node* node) const { return texts_[*text_.find(node)]; }

  void define(const Node* node, CText text) {
    if (places_.find(node)->uses == 0) return;
    const std::vector<const Node*> operands = operands_of(node);
    reads_.set(node, node->op() == Op::Load ||
                         std::ranges::any_of(operands, [&](auto o) { return reads_memory(o); }));
    if (may_move(node, text)) return name(node, std::move(text));
    const std::string variable = fmt::format("v{}", values_++);
    line(fmt::format("const {} {} = {};", c_type(node->dtype()), variable, text.text));
    reads_.set(node, false);
    name(node, {variable});
  }

  CText apply(const Node* node) {
    std::vector<CText> operands;
    for (const Node* source : node->src()) operands.push_back(text_of(source));
    return c_apply(node, operands, helpers_);
  }

  std::string place_text(const Node* index) const {
    const Node* storage = storage_of(index->src(0));
    std::string base = storage->op() == Op::Param
                           ? fmt::format("p{}", storage->arg<ParamArg>().slot)
                           : text_of(storage).text;
    const bool is_single = storage->op() == Op::Buffer && storage->size() == 0;
    if (is_single) return base;
    const Node* at = index_of(index);
    return fmt::format("{}[{}]", base, at != nullptr ? text_of(at).text : "0");
  }

  CText load(const Node* node) const {
    const Node* index = node->src(0);
    CText value{place_text(index)};
    if (node->dtype().is_bool()) value = {value.text + " != 0", CText::equality};
    if (is_always_valid(index)) return value;
    const std::string other = node->size() > 1 ? text_of(node->src(1)).within(2) : "0";
    return {fmt::format("{} ? {} : {}", text_of(index->src(1)).within(3), value.within(3), other),
            2};
  }

  void store(const Node* node) {
    const Node *index = node->src(0), *value = node->src(1);
    const auto& arg = node->arg<StoreArg>();
    const std::string place = place_text(index);
    CText result = text_of(value);
    if (arg.combine) {
      const bool is_bool = value->dtype().is_bool();
      const CText old = is_bool ? CText{place + " != 0", CText::equality} : CText{place};
      result = c_combine(arg.op, value->dtype(), {old, result}, helpers_);
    }
    const std::string condition =
        is_always_valid(index) ? "" : fmt::format("if ({}) ", text_of(index->src(1)).text);
    line(fmt::format("{}{} = {};", condition, place, result.text));
  }

  void declare_buffer(const Node* node) {
    const bool is_single = node->size() == 0;
    const std::string type = c_type(memory_of(node->dtype()));
    const std::string variable = fmt::format("{}{}", is_single ? "acc" : "tmp", buffers_++);
    line(is_single ? fmt::format("{} {};", type, variable)
                   : fmt::format("__attribute__((aligned(64))) {} {}[{}];", type, variable,
                                 elements_of(node)));
    name(node, {variable});
  }

  void open(const Node* range) {
    const bool reduces = range->arg<RangeArg>().kind == LoopKind::Reduce;
    // Not i: i8 is a type.
    const std::string variable = fmt::format("{}{}", reduces ? 'r' : 'k', loops_++);
    name(range, {variable});
    line(fmt::format("for ({0} {1} = 0; {1} < {2}; {1}++) {{", c_type(range->dtype()), variable,
                     text_of(range->src(0)).within(CText::equality + 2)));
    ++depth_;
  }

  void close(const Node* end) {
    for (std::size_t i = 1; i < end->size(); ++i) {
      --depth_;
      line("}");
    }
  }

  std::string arguments() const {
    std::string out;
    for (const Node* param : signature_.params) {
      if (param == nullptr) continue;
      const auto& arg = param->arg<ParamArg>();
      const std::string type = c_type(memory_of(param->dtype()));
      out += fmt::format("  {0}{1}*{2} p{3} = arguments[{3}];{4}\n",
                         writes(arg.access) ? "" : "const ", type,
                         arg.alias == 0 ? " restrict" : "", arg.slot, size_comment(param));
    }
    for (std::size_t i = 0; i < signature_.variables.size(); ++i) {
      const Node* variable = signature_.variables[i];
      out +=
          fmt::format("  const {0} {1} = ({0})values[{2}];  // {3}\n", c_type(variable->dtype()),
                      text_of(variable).text, i, one_line(variable->arg<VariableArg>().name.get()));
    }
    if (const Node* thread = signature_.thread)
      out += fmt::format("  const {0} {1} = ({0})thread;\n", c_type(thread->dtype()),
                         text_of(thread).text);
    return out;
  }

  static std::string size_comment(const Node* param) {
    if (param->size() == 0 || !param->src(0)->is_const()) return {};
    return fmt::format("  // {}[{}]", param->dtype().str(), param->src(0)->lo());
  }

  // Names come from outside, and stand in comments.
  static std::string one_line(std::string text) {
    for (char& c : text)
      if (c < ' ' || c == '\\') c = ' ';
    return text;
  }

  const Node* kernel_;
  std::vector<const Node*> program_;
  Signature signature_;
  NodeMap<Place> places_;
  NodeMap<bool> reads_;  // whose text, wherever it stands, reads memory
  NodeMap<std::uint32_t> text_;
  std::vector<CText> texts_;
  CHelpers& helpers_;
  std::string body_;
  int depth_ = 0, values_ = 0, buffers_ = 0, loops_ = 0, variables_ = 0;
};

}  // namespace

std::string render_c(const Node* kernel, std::size_t scratch_bytes) {
  CHelpers helpers;
  CSource source(kernel, scratch_bytes, helpers);
  const std::string function = source.text("void kernel");
  return c_prelude(helpers) + source.threads() + function;
}

std::string render_c_function(const Node* kernel, const std::string& name,
                              std::size_t scratch_bytes, CHelpers& helpers) {
  return CSource(kernel, scratch_bytes, helpers).text("static void " + name);
}

}  // namespace weft
