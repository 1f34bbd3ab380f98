// Random graphs over every op, each legal in the eyes of the verifier (Level::Any).
// Constants include NaNs with payloads, -0, infinities and the ends of the integers; strings need
// escapes. What they compute makes no sense, and levels of the pipeline are mixed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

class RandomGraph {
 public:
  // A graph follows from its seed and the compiler. Everything lands in Interner::current().
  explicit RandomGraph(std::uint64_t seed)
      : random_(seed), next_id_(seed % 4 == 0 ? ~std::uint64_t{0} - 10'000 : 0) {}

  // One root or more of a graph with about so many nodes, and more that the ops need.
  std::vector<UOp> roots(int nodes) {
    std::vector<UOp> result{all(nodes).back()};
    while (one_in(2)) result.push_back(pick(pool_));
    return result;
  }

  // Each node drawn is a root.
  const std::vector<UOp>& all(int nodes) {
    for (int i = 0; i < nodes; ++i) node(static_cast<Op>(index(op_count)));
    return pool_;
  }

  UOp node(Op op) {
    UOp made = build(op);
    pool_.push_back(made);
    return made;
  }

 private:
  std::size_t index(std::size_t size) { return static_cast<std::size_t>(random_() % size); }
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[index(list.size())];
  }
  template <class Enum>
  Enum any_of(Enum) {
    return static_cast<Enum>(index(enum_names(Enum{}).size()));
  }

  // Dtypes.
  static std::vector<DType> ints() {
    using namespace dtypes;
    return {dtypes::index, i8, i16, i32, i64, u8, u16, u32, u64};
  }
  static std::vector<DType> floats() {
    using namespace dtypes;
    return {weak, f8e4m3, f8e5m2, f16, bf16, f32, f64};
  }
  static std::vector<DType> numbers() {
    std::vector<DType> result{dtypes::bool_};
    for (DType dtype : ints()) result.push_back(dtype);
    for (DType dtype : floats()) result.push_back(dtype);
    return result;
  }
  // What may lie in memory: every dtype that has a width.
  static std::vector<DType> stored() {
    std::vector<DType> result = numbers();
    std::erase(result, dtypes::index);
    return result;
  }
  std::uint32_t some_lanes() {
    return one_in(4) ? pick(std::vector<std::uint32_t>{2, 3, 4, 16}) : 1;
  }

  // Args.
  Symbol symbol() {
    static const std::vector<std::string> names{"",
                                                "cpu",
                                                "cuda:1",
                                                "a \"quoted\" \\ word",
                                                "two\nlines\t",
                                                std::string("\0\x01\x7f", 3),
                                                "// no comment",
                                                "{ id = 3 } %0 : f32",
                                                "na\xc3\xafve",
                                                "\xff\xfe"};
    return Symbol(pick(names));
  }
  UniqueId id() { return {next_id_ += 1 + index(2)}; }
  IntList subset(std::size_t rank, std::size_t least = 0) {
    std::vector<std::int64_t> axes(least);  // of axis 0
    for (std::size_t axis = least; axis < rank; ++axis)
      if (one_in(2)) axes.push_back(static_cast<std::int64_t>(axis));
    return IntList(axes);
  }
  IntList permutation(std::size_t rank) {
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return IntList(axes);
  }

  // Values. One of the pool that the test accepts; null where there is none.
  template <class Accept>
  UOp find(Accept accept) {
    if (pool_.empty()) return {};
    const std::size_t first = index(pool_.size());
    for (std::size_t i = 0; i < pool_.size(); ++i)
      if (const UOp& node = pool_[(first + i) % pool_.size()]; accept(*node)) return node;
    return {};
  }
  UOp constant(DType dtype) {
    const DType lane = dtype.scalar();
    if (lane.is_bool()) return const_bits(dtype, index(2));
    const int bits = lane.bits();
    const Bits all = ~Bits{0} >> (64 - bits), sign = Bits{1} << (bits - 1);
    const Bits raw =
        pick(std::vector<Bits>{0, 1, sign, all, all >> 1, lowest_bits(lane), highest_bits(lane),
                               bits_from_int(1, lane), random_(), random_()});
    return const_bits(dtype, lane.is_float() ? raw & all : convert(raw, dtypes::u64, lane));
  }
  static bool is_value(const Node& node) { return node.op() != Op::Index; }
  UOp scalar(DType dtype) {
    UOp found = find(
        [&](const Node& n) { return is_value(n) && n.dtype() == dtype && n.shape() == nullptr; });
    return found.is_null() || one_in(4) ? constant(dtype) : found;
  }
  // Of the shape, if any is given, or none; what has one gives it.
  UOp value(DType dtype, const Node*& shape) {
    UOp found = find([&](const Node& n) {
      return is_value(n) && n.dtype() == dtype &&
             (shape == nullptr || n.shape() == nullptr || n.shape() == shape);
    });
    if (found.is_null() || one_in(4)) return constant(dtype);
    if (found->shape() != nullptr) shape = found->shape();
    return found;
  }
  UOp value(DType dtype) {
    const Node* any = nullptr;
    return value(dtype, any);
  }
  UOp value() { return value(pick(numbers()).vec(some_lanes())); }
  UOp stored_value() { return value(pick(stored()).vec(some_lanes())); }
  UOp anything() { return pool_.empty() ? value() : pick(pool_); }
  UOp of(Op op) {
    UOp found = find([&](const Node& n) { return n.op() == op; });
    return found.is_null() || one_in(4) ? node(op) : found;
  }
  UOp tensor() {
    UOp found = find([](const Node& n) { return n.shape() != nullptr; });
    return found.is_null() || one_in(4) ? stored_tensor() : found;
  }
  UOp stored_tensor() { return make(Op::Param, {size(), size()}, pick(stored()), ParamArg{3}); }
  UOp place() { return of(Op::Index); }
  UOp place_in(const UOp& buffer) {
    std::vector<UOp> src{buffer, scalar(dtypes::bool_)};
    const std::size_t rank = buffer->op() == Op::Stage ? buffer->size() - 1 : buffer->dims().size();
    for (std::size_t i = 0; i < rank; ++i) src.push_back(scalar(dtypes::index));
    return make(Op::Index, src);
  }
  UOp size() {
    if (one_in(5)) return make(Op::Variable, {}, dtypes::index, VariableArg{symbol(), id(), 1, 7});
    return const_int(between(1, 4));
  }
  std::vector<UOp> dims_of(const UOp& node) {
    std::vector<UOp> dims;
    for (const Node* size : node->dims()) dims.emplace_back(size);
    return dims;
  }
  template <class Make>
  std::vector<UOp> list(std::int64_t least, std::int64_t most, Make make) {
    std::vector<UOp> result;
    for (std::int64_t i = between(least, most); i > 0; --i) result.push_back(make());
    return result;
  }
  template <class Make>
  std::vector<UOp> list_after(std::vector<UOp> first, std::int64_t most, Make make) {
    for (UOp& next : list(0, most, make)) first.push_back(std::move(next));
    return first;
  }

  // The node, and ranges to close.
  std::vector<UOp> over_ranges(const UOp& node, std::int64_t least) {
    std::vector<UOp> ranges;
    for (const UOp& range : list(least, 2, [&] { return of(Op::Range); }))
      if (std::ranges::none_of(ranges, [&](const UOp& other) { return other.is(range); }))
        ranges.push_back(range);
    std::vector<UOp> src{node};
    src.insert(src.end(), ranges.begin(), ranges.end());
    return src;
  }

  UOp build(Op op) {
    switch (info(op).cls) {
      case OpClass::Leaf: return leaf(op);
      case OpClass::Unary:
      case OpClass::Binary:
      case OpClass::Ternary: return elementwise(op);
      case OpClass::Movement: return movement(op);
      case OpClass::Reduce: return reduce(op);
      case OpClass::Graph: return graph(op);
      case OpClass::Memory: return memory(op);
      case OpClass::Control: return control(op);
      case OpClass::Vector: return vector(op);
    }
    return {};
  }

  UOp leaf(Op op) {
    const auto dims = [&] { return list(0, 3, [&] { return size(); }); };
    switch (op) {
      case Op::Const: return constant(pick(numbers()).vec(some_lanes()));
      case Op::Variable: {
        const DType dtype = pick(ints());
        const std::int64_t lo = dtype.is_unsigned() ? between(0, 4) : between(-3, 4);
        return make(op, {}, dtype, VariableArg{symbol(), id(), lo, lo + between(0, 9)});
      }
      case Op::Counter: return make(op, {}, dtypes::u64, IdArg{id()});
      case Op::Range: return make(op, {size()}, {}, RangeArg{id(), any_of(LoopKind{})});
      case Op::Special:
        return make(op, {size()}, {}, SpecialArg{any_of(LoopKind{}), std::int32_t(index(3))});
      case Op::Buffer:
        return make(op, dims(), pick(stored()),
                    BufferArg{id(), any_of(Space{}), one_in(2) ? 0 : 1 << index(8),
                              std::int32_t(index(4)), symbol()});
      default:
        return make(op, dims(), pick(stored()),
                    ParamArg{std::int32_t(index(9)), any_of(Access{}), std::int32_t(index(2))});
    }
  }

  UOp elementwise(Op op) {
    std::vector<DType> allowed = numbers();
    std::erase_if(allowed, [&](DType dtype) { return !allows(op, dtype); });
    const DType dtype = pick(allowed).vec(some_lanes());
    if (op == Op::Cast) return make(op, {value(dtype)}, pick(numbers()).vec(dtype.lanes()));
    if (op == Op::Bitcast) {
      const DType from = dtype.is_index() ? dtypes::i64.vec(dtype.lanes()) : dtype;
      std::erase_if(allowed,
                    [&](DType other) { return other.is_index() || other.bits() != from.bits(); });
      return make(op, {value(from)}, pick(allowed).vec(from.lanes()));
    }
    const Node* shape = nullptr;
    std::vector<UOp> src;
    for (int i = 0; i < info(op).arity.least; ++i) {
      const bool is_condition = op == Op::Where && i == 0, is_exponent = op == Op::Ldexp && i == 1;
      const DType own = is_condition ? dtypes::bool_ : is_exponent ? dtypes::i32 : dtype.scalar();
      src.push_back(value(own.vec(dtype.lanes()), shape));
    }
    return make(op, src);
  }

  UOp movement(Op op) {
    const UOp a = tensor();
    std::vector<UOp> dims = dims_of(a), before, after;
    switch (op) {
      case Op::Reshape:
        std::shuffle(dims.begin(), dims.end(), random_);
        if (one_in(2)) dims.push_back(const_int(1));
        return make(op, {a, tuple(dims)});
      case Op::Expand:
        for (UOp& size : dims)
          if (size->is_const_int(1)) size = this->size();
        return make(op, {a, tuple(dims)});
      case Op::Pad:
        for (std::size_t i = 0; i < dims.size(); ++i) {
          before.push_back(const_int(between(0, 2)));
          after.push_back(const_int(between(0, 2)));
        }
        return make(op, {a, tuple(before), tuple(after)});
      case Op::Shrink:
        for (UOp& size : dims) {
          before.push_back(const_int(size->is_const() ? between(0, size->lo()) : 0));
          if (size->is_const()) size = const_int(between(0, size->lo() - before.back()->lo()));
        }
        return make(op, {a, tuple(before), tuple(dims)});
      default:
        return make(op, {a}, {},
                    AxesArg{op == Op::Flip ? subset(dims.size()) : permutation(dims.size())});
    }
  }

  UOp reduce(Op op) {
    const Op by = pick(std::vector<Op>{Op::Add, Op::Mul, Op::Max});
    if (op == Op::AllReduce) return make(op, {stored_value()}, {}, ReduceArg{by, {}});
    if (one_in(2)) {
      const UOp a = tensor();
      return make(op, {a}, {}, ReduceArg{by, subset(a->dims().size(), 1)});
    }
    return make(op, over_ranges(value(), 1), {}, ReduceArg{by, {}});
  }

  UOp graph(Op op) {
    const auto some = [&](std::int64_t least) {
      return list(least, 4, [&] { return anything(); });
    };
    switch (op) {
      case Op::Tuple: return make(op, one_in(3) ? list(1, 3, [&] { return size(); }) : some(0));
      case Op::GetTuple: {
        std::vector<UOp> list = some(1);
        std::erase_if(list, [](const UOp& member) { return !is_value(*member); });
        const UOp members = list.empty() ? tuple({value()}) : tuple(list);
        const std::size_t at = index(members->size());
        return make(op, {members}, members->src(at)->dtype(), PositionArg{std::int32_t(at)});
      }
      case Op::Bind: {
        const UOp variable = of(Op::Variable);
        return make(op, {variable, const_int(variable->lo(), variable->dtype())});
      }
      case Op::Copy: return make(op, {stored_value()}, {}, DeviceArg{symbol()});
      case Op::Multi: {
        const UOp part = stored_tensor();
        return make(op, {part, part}, {}, ShardArg{one_in(2) ? 0 : -1, Symbol("d0,d1")});
      }
      case Op::Shard: return make(op, {stored_tensor()}, {}, ShardArg{0, symbol()});
      case Op::Remat: return make(op, {stored_value()}, {}, IdArg{id()});
      case Op::Call: {
        const UOp body = stored_value();
        return make(op, list_after({body}, 3, [&] { return value(); }), body->dtype(),
                    CallArg{id(), symbol()});
      }
      case Op::After:
        return make(op, list_after({of(Op::Buffer)}, 2, [&] { return of(Op::Store); }));
      case Op::Custom:
        return make(op, some(0), one_in(2) ? DType{} : pick(stored()), CustomArg{symbol()});
      case Op::Sink: return make(op, some(0), {}, KernelArg{symbol(), symbol()});
      default: return make(op, {stored_value()});  // CONTIGUOUS, DETACH
    }
  }

  UOp memory(Op op) {
    switch (op) {
      case Op::Index: return place_in(of(pick(std::vector<Op>{Op::Buffer, Op::After, Op::Stage})));
      case Op::Load: {
        const UOp from = place();
        return one_in(2) ? make(op, {from}) : make(op, {from, scalar(from->dtype())});
      }
      case Op::Store: {
        const UOp to = place();
        const StoreArg arg{one_in(2), pick(std::vector<Op>{Op::Add, Op::Mul, Op::Max})};
        return make(op, list_after({to, scalar(to->dtype())}, 2, [&] { return of(Op::Load); }), {},
                    arg);
      }
      case Op::Stage: {
        const std::vector<UOp> src = over_ranges(stored_value(), 0);
        const IntList layout = one_in(2) ? IntList() : permutation(src.size() - 1);
        return make(op, src, {}, StageArg{id(), any_of(Space{}), layout});
      }
      case Op::Prefetch: return make(op, {place()});
      case Op::AsyncCopy: {
        const UOp to = place();
        return make(op, {to, place_in(make(Op::Buffer, {size()}, to->dtype(), BufferArg{id()}))});
      }
      default:
        return make(op, list_after({of(Op::AsyncCopy)}, 2, [&] { return of(Op::AsyncCopy); }), {},
                    PositionArg{2});
    }
  }

  UOp control(Op op) {
    switch (op) {
      case Op::End: return make(op, over_ranges(of(Op::Store), 0));
      case Op::Barrier:
        return make(op, list(0, 3, [&] { return of(Op::Store); }), {}, ScopeArg{any_of(Scope{})});
      case Op::If: return make(op, {scalar(dtypes::bool_)});
      default: return make(op, {of(Op::If)});
    }
  }

  UOp vector(Op op) {
    static const std::vector<DType> fragments{DType::fragment("m16n8k16.f32"),
                                              DType::fragment("tile-0:{a,b}//%x=;")};
    const DType lane = pick(numbers());
    switch (op) {
      case Op::Stack: return make(op, list(2, 8, [&] { return scalar(lane); }));
      case Op::Splat: return make(op, {scalar(lane)}, lane.vec(std::uint32_t(between(2, 8))));
      case Op::Lane: {
        const UOp from = value(lane.vec(4));
        return make(op, {from}, {}, PositionArg{std::int32_t(index(4))});
      }
      case Op::Shuffle: return make(op, {scalar(pick(stored())), scalar(dtypes::i32)});
      default: {
        const DType fragment = pick(fragments);
        const auto operand = [&] { return make(Op::Custom, {}, fragment, CustomArg{symbol()}); };
        return make(op, {operand(), operand(), operand()}, fragment, NameArg{symbol()});
      }
    }
  }

  std::mt19937_64 random_;
  std::uint64_t next_id_;
  std::vector<UOp> pool_;
};

}  // namespace weft
