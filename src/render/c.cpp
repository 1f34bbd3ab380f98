// C that people read: loops, short names, a statement for what is used more than once.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/render/render.h>

#include "c_places.h"
#include "c_text.h"
#include "c_vectors.h"
#include "shuffle.h"

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
        places_(program_),
        helpers_(helpers) {}

  // The function, by what stands before its parameters.
  std::string text(std::string_view head) {
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
  bool reads_memory(const Node* node) const {
    const bool* reads = reads_.find(node);
    return reads != nullptr && *reads;
  }

  // Whether the text may stand in its user's statement.
  bool may_move(const Node* node, const CText& text) const {
    if (text.level == CText::atom && !reads_memory(node)) return true;
    return text.text.size() <= longest && places_.may_move(node, reads_memory(node));
  }

  void render(const Node* node) {
    switch (node->op()) {
      case Op::Sink:
      case Op::Tuple:
      case Op::Index:
      case Op::Param: return;
      case Op::Const: return constant(node);
      case Op::Variable: return name(node, {fmt::format("n{}", variables_++)});
      case Op::Special: return name(node, {"t"});
      case Op::Buffer: return declare_buffer(node);
      case Op::Range: return open(node);
      case Op::End: return close(node);
      case Op::Store: return store(node);
      case Op::After:
        if (is_used(node)) define(node, text_of(node->src(0)), held_of(node->src(0)));
        return;
      case Op::Load: return load(node);
      case Op::Splat:
      case Op::Stack:
      case Op::Lane: return is_used(node) ? lanes(node) : void();
      case Op::Prefetch:
        return line(fmt::format("__builtin_prefetch(&{}, {});", access(node->src(0)).place,
                                will_be_written(node) ? "1, 3" : "0, 2"));
      default: return is_used(node) ? apply(node) : void();
    }
  }

  void line(std::string_view text) {
    body_ += fmt::format("{:{}}{}\n", "", 2 * (depth_ + 1), text);
  }

  bool is_used(const Node* node) const { return places_.is_used(node); }

  void name(const Node* node, CText text) { name(node, std::move(text), node->dtype()); }
  void name(const Node* node, CText text, DType held) {
    text_.set(node, static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(std::move(text));
    held_.push_back(held);
  }
  const CText& text_of(const Node* node) const { return texts_[*text_.find(node)]; }
  DType held_of(const Node* node) const { return held_[*text_.find(node)]; }
  CVector vector_of(const Node* node) const { return {text_of(node).text, held_of(node)}; }

  void define(const Node* node, const CVector& vector) {
    define(node, {vector.text, CText::call}, vector.held);
  }
  void define(const Node* node, CText text, DType held) {
    if (!is_used(node)) return;
    const std::vector<const Node*> operands = needed_by(node);
    reads_.set(node, node->op() == Op::Load ||
                         std::ranges::any_of(operands, [&](auto o) { return reads_memory(o); }));
    if (may_move(node, text)) return name(node, std::move(text), held);
    const std::string variable = fmt::format("v{}", values_++);
    line(fmt::format("const {} {} = {};", c_type(held), variable, text.text));
    reads_.set(node, false);
    name(node, {variable}, held);
  }

  // Of lanes with conditions: masks for values of 32 bits, until they meet others.
  static DType held_as(DType dtype) {
    if (dtype.lanes() == 1) return dtype;
    return dtype.is_bool() ? dtypes::i32.vec(dtype.lanes()) : carrier_of(dtype);
  }
  // One of the lanes, as vectors hold it.
  static std::string lane_text(const Node* scalar, const CText& text) {
    return scalar->dtype().is_bool() ? fmt::format("-{}", text.within(13)) : text.text;
  }

  void constant(const Node* node) {
    const DType dtype = node->dtype(), held = held_as(dtype);
    const CText lane = c_constant(dtype.scalar(), node->arg<ConstArg>().bits);
    if (dtype.lanes() == 1 || !is_used(node)) return name(node, lane);
    name(node, {c_vector_splat(held, dtype.is_bool() ? "-" + lane.text : lane.text, helpers_)},
         held);
  }

  void lanes(const Node* node) {
    const DType held = held_as(node->dtype());
    if (node->op() == Op::Lane) {
      const CVector vector = vector_of(node->src(0));
      const std::string lane = c_vector_lane(vector, node->arg<PositionArg>().at, helpers_);
      const bool is_bool = node->dtype().is_bool();
      return define(node,
                    is_bool ? CText{lane + " != 0", CText::equality} : CText{lane, CText::call},
                    node->dtype());
    }
    if (node->op() == Op::Splat)
      return define(
          node,
          {c_vector_splat(held, lane_text(node->src(0), text_of(node->src(0))), helpers_), held});
    if (const auto shuffle = shuffle_in(node)) return define(node, shuffled(node, *shuffle));
    std::vector<std::string> lanes;
    for (const Node* lane : node->src()) lanes.push_back(lane_text(lane, text_of(lane)));
    define(node, {c_vector_list(held, lanes, helpers_), held});
  }

  CVector shuffled(const Node* node, const Shuffle& shuffle) {
    std::vector<std::int64_t> from;
    for (const Node* lane : node->src()) from.push_back(shuffle.place(lane));
    const CVector a = vector_of(shuffle.a);
    CVector b = vector_of(shuffle.b);
    if (b.held != a.held) b = c_mask_for(a.held, b, helpers_);
    return {c_vector_shuffle(a, b, std::move(from), helpers_),
            a.held.scalar().vec(node->dtype().lanes())};
  }

  void apply(const Node* node) {
    if (node->dtype().lanes() > 1) return define(node, applied(node));
    std::vector<CText> operands;
    for (const Node* source : node->src()) operands.push_back(text_of(source));
    define(node, c_apply(node, operands, helpers_), node->dtype());
  }

  CVector applied(const Node* node) {
    const DType operand = operand_of(node), to = node->dtype();
    const CVector first = vector_of(node->src(0));
    if (node->op() == Op::Cast) return c_vector_cast(operand, to, first, helpers_);
    if (node->op() == Op::Bitcast) return c_vector_bitcast(held_as(to), first, helpers_);
    if (node->op() == Op::Max && operand.is_float())
      for (std::size_t i = 0; i < 2; ++i)
        if (orders_zeros(node->src(i)))
          return c_vector_above(vector_of(node->src(1 - i)), vector_of(node->src(i)), helpers_);
    std::vector<CVector> operands;
    for (const Node* source : node->src()) operands.push_back(vector_of(source));
    return c_vector_apply(node->op(), operand, std::move(operands), helpers_);
  }

  // A constant that is neither NaN nor -0.
  static bool orders_zeros(const Node* node) {
    if (node->op() == Op::Splat) node = node->src(0);
    if (!node->is_const()) return false;
    const double value = double_from_bits(node->arg<ConstArg>().bits, node->dtype().scalar());
    return value != 0 ? value == value : !std::signbit(value);
  }

  // What a place is in C.
  struct Access {
    DType held = {};         // in memory
    std::string place = {};  // an element; of a row the first
    std::string valid = {};  // a condition for all of it; empty: always
    CRow row = {};
    bool is_row = false;  // or lanes apart: functions read and write those
  };

  Access access(const Node* index) {
    const Node *storage = storage_of(index->src(0)), *first = first_of(index),
               *at = index_of(index);
    const DType memory = memory_of(index->dtype());
    const std::string base = storage->op() == Op::Param
                                 ? fmt::format("p{}", storage->arg<ParamArg>().slot)
                                 : text_of(storage).text;
    Access access;
    access.held = held_as(memory);
    access.is_row = memory.lanes() != storage->dtype().lanes();
    const bool is_apart = access.is_row && at != nullptr && !run_of(at);
    const bool is_single = storage->op() == Op::Buffer && storage->size() == 0;
    access.place = is_single || is_apart
                       ? base
                       : fmt::format("{}[{}]", base, first == nullptr ? "0" : text_of(first).text);
    access.row.address = is_apart ? base : "&" + access.place;
    if (is_apart) access.row.at = vector_of(at);
    const Node* condition = condition_of(index);
    if (condition->dtype().lanes() > 1)
      access.row.mask = vector_of(condition);
    else if (!is_always_valid(index))
      access.valid = text_of(condition).within(3);
    return access;
  }

  CText read(const Access& from, const std::string& other) {
    if (!from.is_row) return {from.place};
    return {c_vector_load(from.held, from.row, other, helpers_), CText::call};
  }

  // Bools are bytes in memory.
  CText from_memory(CText value, const Access& from, DType dtype) {
    if (!dtype.is_bool()) return value;
    if (dtype.lanes() == 1) return {value.text + " != 0", CText::equality};
    return {c_vector_cast(dtypes::u8, dtypes::bool_, {value.text, from.held}, helpers_).text,
            CText::call};
  }
  CText to_memory(const Node* value, const Access& to) {
    if (value->dtype().lanes() == 1 || !value->dtype().is_bool()) return text_of(value);
    return {c_vector_cast(dtypes::bool_, to.held, vector_of(value), helpers_).text};
  }

  void load(const Node* node) {
    if (!is_used(node)) return;
    const Access from = access(node->src(0));
    const DType dtype = node->dtype();
    const bool is_vector = dtype.lanes() > 1;
    const DType held = is_vector && dtype.is_bool() ? signed_of(from.held)
                       : is_vector                  ? from.held
                                                    : dtype;
    const bool has_other = node->size() > 1;
    if (is_vector) {
      const std::string other =
          has_other ? to_memory(node->src(1), from).text : c_vector_zero(from.held, helpers_);
      CText value = read(from, other);
      if (!from.valid.empty())
        value = {fmt::format("({} ? {} : {})", from.valid, value.text, other), CText::call};
      return define(node, from_memory(value, from, dtype), held);
    }
    const CText value = from_memory({from.place}, from, dtype);
    if (from.valid.empty()) return define(node, value, held);
    const std::string other = has_other ? text_of(node->src(1)).within(2) : "0";
    define(node, {fmt::format("{} ? {} : {}", from.valid, value.within(3), other), 2}, held);
  }

  void store(const Node* node) {
    const Node* value = node->src(1);
    const auto& arg = node->arg<StoreArg>();
    const Access to = access(node->src(0));
    const std::string condition = to.valid.empty() ? "" : fmt::format("if ({}) ", to.valid);
    if (to.held.lanes() > 1) return store_vector(node, to, condition);
    CText result = text_of(value);
    if (arg.combine)
      result = c_combine(arg.op, value->dtype(),
                         {from_memory({to.place}, to, value->dtype()), result}, helpers_);
    line(fmt::format("{}{} = {};", condition, to.place, result.text));
  }

  void store_vector(const Node* node, const Access& to, const std::string& condition) {
    const Node* value = node->src(1);
    const auto& arg = node->arg<StoreArg>();
    const bool is_bool = value->dtype().is_bool();
    std::string result = to_memory(value, to).text;
    if (arg.combine) {
      const CText old = from_memory(read(to, c_vector_zero(to.held, helpers_)), to, value->dtype());
      const DType held = is_bool ? signed_of(to.held) : to.held;
      CVector both =
          c_vector_apply(arg.op, value->dtype(), {{old.text, held}, vector_of(value)}, helpers_);
      if (is_bool) both = c_vector_cast(dtypes::bool_, to.held, both, helpers_);
      result = both.text;
    }
    line(to.is_row
             ? fmt::format("{}{};", condition, c_vector_store({result, to.held}, to.row, helpers_))
             : fmt::format("{}{} = {};", condition, to.place, result));
  }

  void declare_buffer(const Node* node) {
    const bool is_single = node->size() == 0;
    const DType held = held_as(memory_of(node->dtype()));
    const std::string type = held.lanes() > 1 ? c_vector_type(held, helpers_) : c_type(held);
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
  CPlaces places_;
  NodeMap<bool> reads_;  // whose text, wherever it stands, reads memory
  NodeMap<std::uint32_t> text_;
  std::vector<CText> texts_;
  std::vector<DType> held_;  // what those are: of vectors as C has them
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
