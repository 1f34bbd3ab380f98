// LLVM IR: an instruction or two for each node, loops as blocks, vectors as they are. Memory of the
// kernel's own is allocated on entry, where LLVM turns what is small into registers.

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "llvm_scale.h"
#include "llvm_text.h"
#include "llvm_tiles.h"
#include "llvm_writer.h"
#include "past_caches.h"
#include "short_loops.h"
#include "shuffle.h"

namespace weft {
namespace {

class LlvmSource : LlvmWriter {
 public:
  LlvmSource(const Node* kernel, std::size_t scratch_bytes, std::size_t cache_bytes)
      : kernel_(kernel),
        program_(checked_program(kernel, scratch_bytes, true)),
        cache_bytes_(cache_bytes) {}

  std::string text() {
    load_arguments();
    find_tiles();
    find_needed();
    short_ = short_loops(program_, needed_);
    for (at_ = 0; at_ < program_.size(); ++at_)
      if (needed_.contains(program_[at_])) render(program_[at_]);
    if (nowhere_bytes_ > 0)
      globals_ += fmt::format(
          "@nowhere = private unnamed_addr constant <{} x i8> zeroinitializer, align 64\n",
          nowhere_bytes_);
    return fmt::format(
        "{}define void @kernel(ptr %arguments, ptr %values{}) {{\nentry:\n{}  br label "
        "%begin\nbegin:\n{}{}  ret void\n}}\n{}",
        globals_, thread_, entry_, body(), lined_.empty() ? "" : "  fence seq_cst\n", metadata());
  }

 private:
  // The places that products of matrices are read from and written to.
  void find_tiles() {
    if (std::ranges::find(program_, Op::Mma, &Node::op) == program_.end()) return;
    for (const Node* node : program_) {
      if (node->op() == Op::Mma && shape_of(node).rows > 1) {
        sums_.push_back(node->dtype());
        for (std::size_t i = 0; i < 2; ++i)
          rows_.set(node->src(i)->src(0), rows_of_factor(node, i));
      }
      if (node->op() != Op::Store || !is_sum(node->src(1))) continue;
      const std::int64_t count = full_rows(node->src(1)->dtype());
      if (rows_of(node->src(0), count)) rows_.set(node->src(0), count);
    }
  }
  std::optional<TileRows> rows(const Node* place) const {
    const std::int64_t* count = rows_.find(place);
    return count != nullptr ? rows_of(place, *count) : std::nullopt;
  }
  // What a tile has: a product, or what a register has summed of them.
  bool is_sum(const Node* value) const {
    if (!are_sums(value->dtype())) return false;
    if (value->op() != Op::Load) return value->op() == Op::Mma;
    const Node* storage = storage_of(value->src(0)->src(0));
    return storage->op() == Op::Buffer && storage->arg<BufferArg>().space == Space::Register;
  }
  bool are_sums(DType dtype) const { return std::ranges::find(sums_, dtype) != sums_.end(); }

  // Indices of neighbours are only a base: their vectors need not be computed.
  void find_needed() {
    static const OpSet statements{Op::Store, Op::Range, Op::End, Op::Buffer, Op::Prefetch};
    const auto need = [&](const Node* node) { needed_.set(node, true); };
    for (const Node* node : program_ | std::views::reverse) {
      if (statements.contains(node->op())) need(node);
      if (!needed_.contains(node) || node->op() == Op::End) continue;
      if (node->op() == Op::After) {
        need(node->src(0));
      } else if (const auto shuffle = shuffle_in(node)) {
        need(shuffle->a);
        need(shuffle->b);
      } else if (!OpSet{Op::Load, Op::Store, Op::Prefetch}.contains(node->op())) {
        for (const Node* source : node->src()) need(source);
      } else {
        const Node* place = node->src(0);
        if (const Node* at = index_of(place)) {
          const auto run = run_of(at);
          const auto tile = rows(place);
          const Node* base = tile ? tile->base : run ? run->base : at;
          if (base != nullptr) need(base);
        }
        need(place->src(1));
        if (node->size() > 1) need(node->src(1));
      }
    }
  }

  void render(const Node* node) {
    switch (node->op()) {
      case Op::Sink:
      case Op::Tuple:
      case Op::Index:
      case Op::Param:
      case Op::Special:
      case Op::Variable: return;
      case Op::Const: return name(node, llvm_constant(node));
      case Op::Buffer: return allocate(node);
      case Op::Range: return open(node);
      case Op::End: return close(node);
      case Op::Store: return store(node);
      case Op::Load: return name(node, rows_.contains(node->src(0)) ? tile(node) : load(node));
      case Op::Mma: return product(node);
      case Op::Prefetch: return prefetch(node);
      case Op::After:
        if (const std::uint32_t* known = text_.find(node->src(0))) text_.set(node, *known);
        return;
      case Op::Stack: return stack(node);
      case Op::Splat: return name(node, splat(text_of(node->src(0)), node->dtype()));
      case Op::Lane:
        return name(node, add("extractelement {} {}, i32 {}", llvm_type(node->src(0)->dtype()),
                              text_of(node->src(0)), node->arg<PositionArg>().at));
      default: return apply(node);
    }
  }

  void name(const Node* node, std::string text) {
    text_.set(node, static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(std::move(text));
  }
  const std::string& text_of(const Node* node) const { return texts_[*text_.find(node)]; }

  void load_arguments() {
    const Signature signature = signature_of(kernel_);
    for (const Node* param : signature.params) {
      if (param == nullptr) continue;
      const int slot = param->arg<ParamArg>().slot;
      entry_ += fmt::format(
          "  %at{0} = getelementptr ptr, ptr %arguments, i64 {0}\n  %p{0} = load ptr, ptr %at{0}\n",
          slot);
      name(param, fmt::format("%p{}", slot));
    }
    for (std::size_t i = 0; i < signature.variables.size(); ++i) {
      const Node* variable = signature.variables[i];
      entry_ += fmt::format(
          "  %value{0} = getelementptr i64, ptr %values, i64 {0}\n"
          "  %wide{0} = load i64, ptr %value{0}\n",
          i);
      const bool is_wide = variable->dtype().bits() == 64;
      if (!is_wide)
        entry_ +=
            fmt::format("  %n{0} = trunc i64 %wide{0} to {1}\n", i, llvm_type(variable->dtype()));
      name(variable, fmt::format("%{}{}", is_wide ? "wide" : "n", i));
    }
    if (signature.thread != nullptr) take_thread(signature);
  }

  void take_thread(const Signature& signature) {
    const DType dtype = signature.thread->dtype();
    globals_ = fmt::format("@threads = constant i64 {}\n", signature.threads());
    thread_ = ", i64 %thread";
    if (dtype.bits() < 64)
      entry_ += fmt::format("  %t = trunc i64 %thread to {}\n", llvm_type(dtype));
    name(signature.thread, dtype.bits() < 64 ? "%t" : "%thread");
  }

  void allocate(const Node* node) {
    if (text_.contains(node)) return;  // in the iteration before
    const std::string buffer = fmt::format("%b{}", buffers_++);
    entry_ += fmt::format("  {} = alloca [{} x {}], align 64\n", buffer, elements_of(node),
                          llvm_memory_type(node->dtype()));
    name(node, buffer);
  }

  // How LLVM compares integers of the dtype.
  static char sign_of(DType dtype) { return dtype.is_unsigned() ? 'u' : 's'; }

  struct Loop {
    std::string name = {};
    std::size_t begin = 0;  // of a short one: where its RANGE stands
    std::int64_t iteration = 0;
  };

  // The test is at the bottom; a loop that may have no iterations has one before it as well.
  void open(const Node* range) {
    if (short_.contains(range)) {
      open_.push_back({.begin = at_});
      return name(range, "0");
    }
    const std::string loop = fmt::format("loop{}", loops_++), type = llvm_type(range->dtype());
    const std::string& size = text_of(range->src(0));
    if (range->src(0)->bounds().lo < 1) {
      const std::string some = add("icmp {}gt {} {}, 0", sign_of(range->dtype()), type, size);
      line(fmt::format("br i1 {}, label %{}, label %{}.end", some, loop, loop));
    } else {
      line(fmt::format("br label %{}", loop));
    }
    const std::string before = block();
    label(loop);
    line(
        fmt::format("%{0}.at = phi {1} [ 0, %{2} ], [ %{0}.next, %{0}.back ]", loop, type, before));
    name(range, fmt::format("%{}.at", loop));
    open_.push_back({.name = loop});
  }

  void close(const Node* end) {
    for (std::size_t i = end->size(); i-- > 1;) {
      const Node* size = end->src(i)->src(0);
      if (short_.contains(end->src(i))) {
        if (begins_again(end->src(i))) return;
        continue;
      }
      const std::string loop = open_.back().name, type = llvm_type(size->dtype());
      const char sign = sign_of(size->dtype());
      open_.pop_back();
      line(fmt::format("br label %{}.back", loop));
      label(loop + ".back");
      line(fmt::format("%{}.next = add nuw{} {} %{}.at, 1", loop, sign == 's' ? " nsw" : "", type,
                       loop));
      line(fmt::format("%{0}.more = icmp {3}lt {1} %{0}.next, {2}", loop, type, text_of(size),
                       sign));
      line(fmt::format("br i1 %{0}.more, label %{0}, label %{0}.end{1}", loop, weights(size)));
      label(loop + ".end");
    }
  }

  // How often a loop goes on: registers are for those that do so often.
  std::string weights(const Node* size) {
    if (!size->is_const()) return {};
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::int64_t iterations = std::clamp<std::int64_t>(size->lo(), 1, most);
    const auto [known, is_new] = weights_.try_emplace(iterations, weights_.size() + 1);
    return fmt::format(", !prof !{}", known->second);
  }

  std::string metadata() const {
    std::string text = lined_.empty() ? "" : "!0 = !{i32 1}\n";
    for (const auto& [iterations, number] : weights_)
      text +=
          fmt::format("!{} = !{{!\"branch_weights\", i32 {}, i32 1}}\n", number, iterations - 1);
    return text;
  }

  // A short loop with its next iteration, which is written from its RANGE on; not where it had the
  // last.
  bool begins_again(const Node* range) {
    Loop& loop = open_.back();
    if (++loop.iteration == range->src(0)->lo()) {
      open_.pop_back();
      return false;
    }
    name(range, fmt::format("{}", loop.iteration));
    at_ = loop.begin;
    // No instruction. What windows of neighbouring iterations have in common is read again: kept,
    // it would take the registers of sums.
    line("fence syncscope(\"singlethread\") seq_cst");
    return true;
  }

  // Halves are known by their bits, but where LLVM converts them.
  bool converts_half(const Node* node) {
    if (node->op() != Op::Cast) return false;
    const DType from = operand_of(node), to = node->dtype();
    const std::string& value = text_of(node->src(0));
    if (from.kind() == Kind::F16 && to.kind() == Kind::F32) {
      const std::string half = add("bitcast {} {} to {}", llvm_type(from), value, llvm_half(from));
      name(node, add("fpext {} {} to {}", llvm_half(from), half, llvm_type(to)));
    } else if (from.kind() == Kind::F32 && (to.kind() == Kind::F16 || to.kind() == Kind::BF16)) {
      const std::string half = add("fptrunc {} {} to {}", llvm_type(from), value, llvm_half(to));
      name(node, add("bitcast {} {} to {}", llvm_half(to), half, llvm_type(to)));
    } else {
      return false;
    }
    return true;
  }

  void apply(const Node* node) {
    if (converts_half(node)) return;
    std::vector<std::string> operands;
    for (const Node* source : node->src()) operands.push_back(text_of(source));
    if (node->op() == Op::Ldexp)
      return name(node, llvm_scaled(node->dtype(), operands[0], operands[1],
                                    [&](const std::string& line) { return define(line); }));
    const std::string instruction = llvm_instruction(node, operands);
    name(node, instruction.empty() ? operands[0] : define(instruction));
  }

  void stack(const Node* node) {
    const auto is_const = [](const Node* lane) { return lane->is_const(); };
    if (std::ranges::all_of(node->src(), is_const)) return name(node, llvm_constant(node));
    if (const auto shuffle = shuffle_in(node)) return name(node, shuffled(node, *shuffle));
    std::string vector = "poison";
    for (std::uint32_t lane = 0; lane < node->size(); ++lane)
      vector = add("insertelement {} {}, {} {}, i32 {}", llvm_type(node->dtype()), vector,
                   llvm_type(node->dtype().scalar()), text_of(node->src(lane)), lane);
    name(node, vector);
  }

  std::string shuffled(const Node* stack, const Shuffle& shuffle) {
    std::string places;
    for (const Node* lane : stack->src())
      places += fmt::format("{}i32 {}", places.empty() ? "" : ", ", shuffle.place(lane));
    return add("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>", llvm_type(shuffle.a->dtype()),
               text_of(shuffle.a), text_of(shuffle.b), stack->size(), places);
  }

  // What a place needs of memory.
  struct Access {
    DType dtype;          // in memory
    std::string address;  // of the first lane; of every lane where `scattered`
    bool scattered = false;
    std::string valid;    // empty: always
    bool masked = false;  // `valid` is a vector
  };

  Access access(const Node* index) {
    const Node* storage = storage_of(index->src(0));
    const std::string element = llvm_memory_type(storage->dtype());
    Access access{memory_of(index->dtype()), text_of(storage), false, {}, false};
    if (!is_always_valid(index)) {
      const Node* valid = index->src(1);
      if (valid->op() == Op::Splat) valid = valid->src(0);  // all lanes or none
      access.valid = text_of(valid);
      access.masked = valid->dtype().lanes() > 1;
    }
    const Node* at = index_of(index);
    if (at == nullptr) return access;
    const auto tile = rows(index);
    if (tile && tile->first != 0)
      access.address =
          add("getelementptr {}, ptr {}, i64 {}", element, access.address, tile->first);
    const auto run = tile ? std::optional(Run{tile->base}) : run_of(at);
    if (run && run->base == nullptr) return access;
    if (run) at = run->base;
    access.scattered = !run && index->dtype().lanes() != storage->dtype().lanes();
    const bool is_vector = access.masked && !access.scattered;
    const std::string any = is_vector ? shared_condition(index->src(1)) : "";
    const std::uint32_t lanes = access.scattered ? index->dtype().lanes() : 1;
    const auto step = [&](const std::string& by) {
      access.address = add("getelementptr {}, ptr {}, {}", element, access.address, by);
    };
    // An instruction adds a constant for nothing, and places at constant distances share the rest.
    const bool is_beside = lanes == 1 && at->op() == Op::Add && at->src(1)->is_const();
    if (is_beside && !at->dtype().is_unsigned()) {
      step(offset(at->src(0), lanes));
      step(fmt::format("i64 {}", at->src(1)->lo()));
    } else {
      step(offset(at, lanes));
    }
    if (!any.empty()) access.address = safe_address(access, any);
    return access;
  }

  // Of a condition for each lane what all of them share; empty: nothing. Where that is false
  // nothing is accessed, but processors take hundreds of cycles to find out, if the address is
  // nobody's.
  std::string shared_condition(const Node* valid) {
    if (valid->op() == Op::Splat) return text_of(valid->src(0));
    if (valid->op() != Op::And) return {};
    const std::string a = shared_condition(valid->src(0)), b = shared_condition(valid->src(1));
    if (a.empty() || b.empty()) return a + b;
    return add("and i1 {}, {}", a, b);
  }

  // An address is computed from signed integers.
  std::string offset(const Node* at, std::uint32_t lanes) {
    DType dtype = at->dtype();
    std::string value = text_of(at);
    if (dtype.is_unsigned() && dtype.bits() < 64) {
      const DType wide = dtypes::i64.vec(dtype.lanes());
      value = add("zext {} {} to {}", llvm_type(dtype), value, llvm_type(wide));
      dtype = wide;
    }
    if (dtype.lanes() != lanes) value = splat(value, dtype.vec(lanes));
    return fmt::format("{} {}", llvm_type(dtype.vec(lanes)), value);
  }

  // Where nothing is valid, zeros. A constant: LLVM would branch around memory of the kernel's own.
  std::string safe_address(const Access& access, const std::string& valid) {
    nowhere_bytes_ = std::max(nowhere_bytes_, access.dtype.bytes());
    return add("select i1 {}, ptr {}, ptr @nowhere", valid, access.address);
  }

  std::string mask(const Access& access) {
    const DType dtype = dtypes::bool_.vec(access.dtype.lanes());
    if (access.masked) return access.valid;
    return access.valid.empty() ? llvm_splat("1", dtype) : splat(access.valid, dtype);
  }

  // What is not valid reads as `other`.
  std::string read(const Access& access, const std::string& other) {
    const std::string type = llvm_type(access.dtype);
    const std::size_t align = access.dtype.scalar().bytes();
    if (access.scattered)
      return add("call {0} @llvm.masked.gather(<{1} x ptr> {2}, i32 {3}, <{1} x i1> {4}, {0} {5})",
                 type, access.dtype.lanes(), access.address, align, mask(access), other);
    if (access.masked)
      return add("call {0} @llvm.masked.load(ptr {2}, i32 {3}, <{1} x i1> {4}, {0} {5})", type,
                 access.dtype.lanes(), access.address, align, access.valid, other);
    const std::string address =
        access.valid.empty() ? access.address : safe_address(access, access.valid);
    std::string value = add("load {}, ptr {}, align {}", type, address, align);
    if (access.valid.empty() || other == llvm_zero(access.dtype)) return value;
    return add("select i1 {}, {} {}, {} {}", access.valid, type, value, type, other);
  }

  void write(const Access& access, const std::string& value) {
    const std::string type = llvm_type(access.dtype);
    const std::size_t align = access.dtype.scalar().bytes();
    if (access.scattered)
      return line(fmt::format(
          "call void @llvm.masked.scatter({0} {4}, <{1} x ptr> {2}, i32 {3}, <{1} x i1> {5})", type,
          access.dtype.lanes(), access.address, align, value, mask(access)));
    if (access.masked)
      return line(
          fmt::format("call void @llvm.masked.store({0} {4}, ptr {2}, i32 {3}, <{1} x i1> {5})",
                      type, access.dtype.lanes(), access.address, align, value, access.valid));
    line(fmt::format("store {} {}, ptr {}, align {}", type, value, access.address, align));
  }

  std::string load(const Node* node) {
    const Access from = access(node->src(0));
    const DType dtype = node->dtype();
    const bool has_other = node->size() > 1 && !from.valid.empty();
    const std::string other =
        has_other ? to_memory(text_of(node->src(1)), dtype) : llvm_zero(memory_of(dtype));
    return from_memory(read(from, other), dtype);
  }

  std::string tile(const Node* node) {
    const auto from = rows(node->src(0));
    if (!from) internal_error("LLVM: a fragment is no rows of memory");
    return define(tile_load(*from, access(node->src(0)).address));
  }

  void product(const Node* node) {
    if (shape_of(node).rows == 1) {
      const auto write = [&](const std::string& text) { return define(text); };
      return name(node, vector_product(node, text_of(node->src(0)), text_of(node->src(1)),
                                       text_of(node->src(2)), write));
    }
    const Node* to = node->src(2);
    const std::string c = define(is_zero_tile(to) ? tile_zero(to->dtype())
                                                  : tile_of_vector(to->dtype(), text_of(to)));
    const std::string sum =
        define(tile_product(node, text_of(node->src(0)), text_of(node->src(1)), c));
    name(node, define(vector_of_tile(node->dtype(), sum)));
  }

  // What sums begin with in registers of their own. One vector of zeros for all would be loaded,
  // and copied through memory.
  bool is_zero_tile(const Node* value) const {
    const DType dtype = value->dtype();
    return are_sums(dtype) && value->op() == Op::Const && text_of(value) == llvm_zero(dtype);
  }

  // What is read comes into the second cache: early as it is, it would leave the first again. What
  // is written is written soon.
  void prefetch(const Node* node) {
    const auto [writes, locality] = will_be_written(node) ? std::pair(1, 3) : std::pair(0, 2);
    line(fmt::format("call void @llvm.prefetch(ptr {}, i32 {}, i32 {}, i32 1)",
                     access(node->src(0)).address, writes, locality));
  }

  void store(const Node* node) {
    const Access to = access(node->src(0));
    const Node* value = node->src(1);
    const auto& arg = node->arg<StoreArg>();
    if (const auto tile = rows(node->src(0)))
      return line(
          tile_store(*tile, to.address, define(tile_of_vector(value->dtype(), text_of(value)))));
    const bool branches = !to.valid.empty() && !to.masked;
    const std::string block = fmt::format("store{}", branches ? stores_++ : 0);
    if (branches) {
      line(fmt::format("br i1 {0}, label %{1}, label %{1}.end", to.valid, block));
      label(block);
    }
    std::string result =
        is_zero_tile(value)
            ? define(vector_of_tile(value->dtype(), define(tile_zero(value->dtype()))))
            : text_of(value);
    if (arg.combine) {
      const std::string old = from_memory(read_valid(to), value->dtype());
      const std::string instruction = llvm_combine(arg.op, value->dtype(), old, result);
      result = define(instruction);
    }
    if (goes_past_caches(node, cache_bytes_))
      return write_past_caches(to, text_of(storage_of(node->src(0)->src(0))),
                               to_memory(result, value->dtype()));
    Access valid = to;
    if (branches) valid.valid.clear();
    write(valid, to_memory(result, value->dtype()));
    if (branches) {
      line(fmt::format("br label %{}.end", block));
      label(block + ".end");
    }
  }

  // Where the param begins with a line: its memory may be a part of other memory.
  void write_past_caches(const Access& to, const std::string& param, const std::string& value) {
    if (lined_.insert(param).second)
      entry_ += fmt::format(
          "  {0}.address = ptrtoint ptr {0} to i64\n  {0}.in_line = and i64 {0}.address, 63\n"
          "  {0}.lined = icmp eq i64 {0}.in_line, 0\n",
          param);
    const std::string block = fmt::format("store{}", stores_++), type = llvm_type(to.dtype);
    line(fmt::format("br i1 {1}.lined, label %{0}.past, label %{0}", block, param));
    label(block + ".past");
    line(fmt::format("store {} {}, ptr {}, align 64, !nontemporal !0", type, value, to.address));
    line(fmt::format("br label %{}.end", block));
    label(block);
    write(to, value);
    line(fmt::format("br label %{}.end", block));
    label(block + ".end");
  }

  // Within the branch of a store the place is valid.
  std::string read_valid(Access access) {
    if (!access.masked) access.valid.clear();
    return read(access, llvm_zero(access.dtype));
  }

  // A bool is a byte in memory.
  std::string from_memory(const std::string& value, DType dtype) {
    if (!dtype.is_bool()) return value;
    return add("icmp ne {} {}, {}", llvm_memory_type(dtype), value, llvm_zero(memory_of(dtype)));
  }
  std::string to_memory(const std::string& value, DType dtype) {
    if (!dtype.is_bool()) return value;
    return add("zext {} {} to {}", llvm_type(dtype), value, llvm_memory_type(dtype));
  }

  const Node* kernel_;
  std::vector<const Node*> program_;
  NodeMap<bool> needed_;
  NodeMap<std::uint32_t> text_;
  std::vector<std::string> texts_;  // of values
  std::vector<Loop> open_;          // around what is written
  std::set<const Node*> short_;
  NodeMap<std::int64_t> rows_;            // of the places of tiles
  std::vector<DType> sums_;               // in tiles
  std::size_t at_ = 0;                    // in the program
  std::string globals_, thread_, entry_;  // before the function, in its head, and where it begins
  std::size_t cache_bytes_;
  std::set<std::string> lined_;                  // params that are written past the caches
  std::map<std::int64_t, std::size_t> weights_;  // by iterations: the number of what says so
  int loops_ = 0, buffers_ = 0, stores_ = 0;
  std::size_t nowhere_bytes_ = 0;
};

}  // namespace

std::string render_llvm(const Node* kernel, std::size_t scratch_bytes, std::size_t cache_bytes) {
  return LlvmSource(kernel, scratch_bytes, cache_bytes).text();
}

}  // namespace weft
