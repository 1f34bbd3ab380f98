// Computes a tensor graph node by node, each into an array of its own: no kernels, no indices that
// anything else made. What the compiler produces is measured against this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

struct Array {
  std::vector<std::int64_t> sizes;
  std::vector<Bits> values;  // row-major
};

class Eager {
 public:
  virtual ~Eager() = default;

  // What a PARAM or BUFFER holds.
  void set(const UOp& storage, Array array) { known_[storage.node()] = std::move(array); }

  const Array& operator()(const Node* root) {
    called_.push_back(without_calls(UOp(root)));
    for (const Node* node : toposort(called_.back().node()))
      if (!known_.contains(node)) known_[node] = compute(node);
    return known_.at(called_.back().node());
  }

 protected:
  // What an op makes of one element of each operand; `from` is their dtype.
  virtual Bits value_of(const Node* node, DType from, const std::vector<Bits>& bits) {
    return computed_value(node, from, bits);
  }
  // What a reduction makes of its terms, in the order that the arg names the axes.
  virtual Bits combined(Op op, DType dtype, const std::vector<Bits>& terms) {
    Bits total = identity_bits(info(op).identity, dtype);
    for (Bits term : terms) {
      const Bits bits[] = {total, term};
      total = evaluate(op, dtype, bits).value();
    }
    return total;
  }

  // Each CALL replaced by its body. The first in order holds no other, neither in its body nor in its
  // arguments.
  static UOp without_calls(UOp root) {
    for (;;) {
      const std::vector<const Node*> order = toposort(root.node());
      const auto call = std::ranges::find(order, Op::Call, &Node::op);
      if (call == order.end()) return root;
      Substitution arguments;
      for (const Node* node : toposort((*call)->src(0)))
        if (node->op() == Op::Param)
          arguments[node] =
              UOp((*call)->src(static_cast<std::size_t>(node->arg<ParamArg>().slot) + 1));
      root = substitute(root, {{*call, substitute(UOp((*call)->src(0)), arguments)}});
    }
  }

 private:
  using Index = std::vector<std::int64_t>;

  static std::int64_t count(const Index& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  }
  static std::int64_t place(const Index& sizes, const Index& at) {
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) flat = flat * sizes[i] + at[i];
    return flat;
  }
  // Calls f for every index in row-major order.
  template <class F>
  static void for_each(const Index& sizes, F f) {
    Index at(sizes.size());
    for (std::int64_t n = count(sizes); n > 0; --n) {
      f(at);
      for (std::size_t i = sizes.size(); i-- > 0;) {
        if (++at[i] < sizes[i]) break;
        at[i] = 0;
      }
    }
  }
  // An array whose elements are those of `from` at other indices; f returns false where there are
  // none.
  template <class F>
  static Array moved(const Array& from, Index sizes, F f) {
    Array result{std::move(sizes), {}};
    for_each(result.sizes, [&](const Index& at) {
      Index source = at;
      const bool exists = f(source);
      result.values.push_back(
          exists ? from.values[static_cast<std::size_t>(place(from.sizes, source))] : 0);
    });
    return result;
  }

  Index list(const Node* tuple) {
    Index values;
    for (const Node* node : tuple->src())
      values.push_back(static_cast<std::int64_t>(known_.at(node).values[0]));
    return values;
  }

  Array compute(const Node* node) {
    if (node->is_const()) return {{}, {node->arg<ConstArg>().bits}};
    if (is_elementwise(node->op())) return elementwise(node);
    if (node->op() == Op::Range) return {{}, {0}};  // its STAGE looks at all of them
    if (node->op() == Op::Stage) return counted(node);
    if (OpSet{Op::Tuple, Op::Index, Op::Store}.contains(node->op())) return {};
    if (node->op() == Op::GetTuple)
      return known_.at(node->src(0)->src(static_cast<std::size_t>(node->arg<PositionArg>().at)));
    if (node->op() == Op::Load) return gather(node);
    if (node->op() == Op::After) return written(node);
    const Array& a = known_.at(node->src(0));
    if (node->op() == Op::Reduce) return reduced(node, a);
    if (node->op() == Op::Reshape) return {list(node->src(1)), a.values};
    return movement(node, a);
  }

  Array movement(const Node* node, const Array& a) {
    const Index& from = a.sizes;
    const auto axes = [&] { return node->arg<AxesArg>().axes.get(); };
    switch (node->op()) {
      case Op::Expand:
        return moved(a, list(node->src(1)), [&](Index& at) {
          for (std::size_t i = 0; i < at.size(); ++i) at[i] = from[i] == 1 ? 0 : at[i];
          return true;
        });
      case Op::Permute: {
        Index sizes;
        for (std::int64_t axis : axes()) sizes.push_back(from[static_cast<std::size_t>(axis)]);
        return moved(a, sizes, [&](Index& at) {
          const Index old = at;
          for (std::size_t i = 0; i < at.size(); ++i)
            at[static_cast<std::size_t>(axes()[i])] = old[i];
          return true;
        });
      }
      case Op::Pad: {
        const Index before = list(node->src(1)), after = list(node->src(2));
        Index sizes = from;
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += before[i] + after[i];
        return moved(a, sizes, [&](Index& at) {
          bool inside = true;
          for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] -= before[i];
            inside = inside && at[i] >= 0 && at[i] < from[i];
          }
          return inside;
        });
      }
      case Op::Shrink: {
        const Index start = list(node->src(1));
        return moved(a, list(node->src(2)), [&](Index& at) {
          for (std::size_t i = 0; i < at.size(); ++i) at[i] += start[i];
          return true;
        });
      }
      case Op::Flip:
        return moved(a, from, [&](Index& at) {
          for (std::int64_t axis : axes()) {
            const auto i = static_cast<std::size_t>(axis);
            at[i] = from[i] - 1 - at[i];
          }
          return true;
        });
      default: return a;
    }
  }

  // The ops that the table only bounds are computed in f64.
  static Bits computed_value(const Node* node, DType from, const std::vector<Bits>& bits) {
    const auto x = [&](std::size_t i) { return double_from_bits(bits[i], from); };
    switch (node->op()) {
      case Op::Cast: return convert(bits[0], from, node->dtype());
      case Op::Bitcast: return reinterpret(bits[0], from, node->dtype());
      case Op::Exp2: return bits_from_double(std::exp2(x(0)), from);
      case Op::Log2: return bits_from_double(std::log2(x(0)), from);
      case Op::Sin: return bits_from_double(std::sin(x(0)), from);
      case Op::Cos: return bits_from_double(std::cos(x(0)), from);
      case Op::Pow: return bits_from_double(std::pow(x(0), x(1)), from);
      default: return evaluate(node->op(), from, bits).value();
    }
  }

  Array elementwise(const Node* node) {
    Array result;
    std::vector<const Array*> operands;
    for (const Node* source : node->src()) {
      operands.push_back(&known_.at(source));
      if (!operands.back()->sizes.empty()) result.sizes = operands.back()->sizes;
    }
    const DType from = node->src(node->op() == Op::Where ? 1 : 0)->dtype();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count(result.sizes)); ++i) {
      std::vector<Bits> bits;
      for (const Array* operand : operands)
        bits.push_back(operand->values[operand->sizes.empty() ? 0 : i]);
      result.values.push_back(value_of(node, from, bits));
    }
    return result;
  }

  Array reduced(const Node* node, const Array& a) {
    const auto& arg = node->arg<ReduceArg>();
    const DType dtype = node->dtype();
    Array result{a.sizes, {}};
    Index inner;
    for (std::int64_t axis : arg.axes.get()) {
      inner.push_back(a.sizes[static_cast<std::size_t>(axis)]);
      result.sizes[static_cast<std::size_t>(axis)] = 1;
    }
    for_each(result.sizes, [&](Index at) {
      std::vector<Bits> terms;
      for_each(inner, [&](const Index& iteration) {
        for (std::size_t i = 0; i < iteration.size(); ++i)
          at[static_cast<std::size_t>(arg.axes.get()[i])] = iteration[i];
        terms.push_back(a.values[static_cast<std::size_t>(place(a.sizes, at))]);
      });
      result.values.push_back(combined(arg.op, dtype, terms));
    });
    return result;
  }

  // What depends on RANGEs alone, in every iteration. A dimension of 1 has the RANGE 0.
  static Array counted(const Node* stage) {
    Array result;
    for (const Node* range : stage->src().subspan(1))
      result.sizes.push_back(range->is_const() ? 1 : range->src(0)->lo());
    for_each(result.sizes, [&](const Index& at) {
      Assignment iteration;
      for (std::size_t i = 0; i < at.size(); ++i)
        if (const Node* range = stage->src(i + 1); range->op() == Op::Range)
          iteration.emplace(range, static_cast<Bits>(at[i]));
      result.values.push_back(evaluate(stage->src(0), iteration).value());
    });
    return result;
  }

  // Of an array that a scalar may stand for.
  Bits element(const Node* node, std::size_t i) {
    const Array& array = known_.at(node);
    return array.values[array.sizes.empty() ? 0 : i];
  }

  // Calls f(i, place) for every element i of the INDEX, with where it is in the storage: nothing
  // where it is not valid.
  template <class F>
  Index for_each_place(const Node* index, F f) {
    const Index storage = known_.at(index->src(0)).sizes;
    Index sizes;
    for (const Node* source : index->src().subspan(1))
      if (!known_.at(source).sizes.empty()) sizes = known_.at(source).sizes;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count(sizes)); ++i) {
      Index at;
      for (const Node* source : index->src().subspan(2))
        at.push_back(static_cast<std::int64_t>(element(source, i)));
      const bool valid = element(index->src(1), i) != 0;
      f(i, valid ? std::optional(static_cast<std::size_t>(place(storage, at))) : std::nullopt);
    }
    return sizes;
  }

  Array gather(const Node* load) {
    const Array& table = known_.at(load->src(0)->src(0));
    Array result;
    result.sizes = for_each_place(load->src(0), [&](std::size_t i, std::optional<std::size_t> at) {
      const Bits other = load->size() > 1 ? element(load->src(1), i) : 0;
      result.values.push_back(at ? table.values[*at] : other);
    });
    return result;
  }

  // Calls f(i, place) for every element i of what a STORE writes to: an INDEX, or a view of storage.
  template <class F>
  void for_each_target(const Node* target, const Node* storage, F f) {
    if (target->op() == Op::Index) return void(for_each_place(target, f));
    std::vector<const Node*> views;
    for (; target != storage; target = target->src(0)) views.push_back(target);
    // Each element is its place and 1, so that 0 is where padding put it.
    Array places{known_.at(storage).sizes, {}};
    places.values.resize(known_.at(storage).values.size());
    std::iota(places.values.begin(), places.values.end(), Bits{1});
    for (; !views.empty(); views.pop_back())
      places = views.back()->op() == Op::Reshape ? Array{list(views.back()->src(1)), places.values}
                                                 : movement(views.back(), places);
    for (std::size_t i = 0; i < places.values.size(); ++i)
      f(i, places.values[i] != 0 ? std::optional(static_cast<std::size_t>(places.values[i] - 1))
                                 : std::nullopt);
  }

  // The storage of an AFTER once its stores have run, in order.
  Array written(const Node* after) {
    Array result = known_.at(after->src(0));
    for (const Node* store : after->src().subspan(1)) {
      const auto& arg = store->arg<StoreArg>();
      const auto put = [&](std::size_t i, std::optional<std::size_t> at) {
        if (!at) return;
        Bits& value = result.values[*at];
        const Bits bits[] = {value, element(store->src(1), i)};
        value = arg.combine ? evaluate(arg.op, store->src(1)->dtype(), bits).value() : bits[1];
      };
      for_each_target(store->src(0), after->src(0), put);
    }
    return result;
  }

  std::vector<UOp> called_;  // what was asked for, its calls replaced
  std::map<const Node*, Array> known_;
};

}  // namespace weft
