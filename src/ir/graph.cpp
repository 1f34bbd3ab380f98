#include <weft/dev/ir/graph.h>

#include <array>
#include <map>

#include <fmt/core.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {

namespace {

// In the order of toposort(); nothing below a node where is_leaf(node).
template <class IsLeaf>
std::vector<const Node*> postorder(NodeList roots, IsLeaf is_leaf) {
  std::vector<const Node*> order;
  NodeMap<bool> seen;
  struct Frame {
    const Node* node;
    std::uint32_t next, size;
  };
  std::vector<Frame> stack;
  const auto visit = [&](const Node* node) {
    if (seen.insert(node, true)) stack.push_back({node, 0, is_leaf(node) ? 0 : node->size()});
  };
  for (const Node* root : roots) {
    visit(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.size) {
        visit(top.node->src(top.next++));
      } else {
        order.push_back(top.node);
        stack.pop_back();
      }
    }
  }
  return order;
}

std::vector<void (*)()>& maps_of_thread() {
  thread_local std::vector<void (*)()> all;
  return all;
}

}  // namespace

void forget_node_maps() {
  for (void (*forget)() : maps_of_thread()) forget();
}

void detail::on_forgetting_node_maps(void (*forget)()) { maps_of_thread().push_back(forget); }

std::vector<const Node*> toposort(NodeList roots) {
  return postorder(roots, [](const Node*) { return false; });
}

std::vector<const Node*> toposort(const Node* root) { return toposort(NodeList(&root, 1)); }

std::vector<const Node*> clauses_of(const Node* condition) {
  std::vector<const Node*> clauses, open{condition};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node->op() == Op::And)
      open.insert(open.end(), {node->src(1), node->src(0)});
    else
      clauses.push_back(node);
  }
  return clauses;
}

std::vector<const Node*> forward_slice(NodeList roots, const Node* on) {
  std::vector<const Node*> result;
  NodeMap<bool> inside;
  for (const Node* node : toposort(roots)) {
    bool depends = node == on;
    for (const Node* source : node->src()) depends = depends || inside.contains(source);
    if (!depends) continue;
    inside.set(node, true);
    result.push_back(node);
  }
  return result;
}

bool depends_on(const Node* root, const Node* on) {
  const auto slice = forward_slice(NodeList(&root, 1), on);
  return !slice.empty() && slice.back() == root;
}

namespace {

// A node that is made again comes from where it came from.
const Node* keep_origin(Interner& interner, const Node* before, const Node* after) {
  interner.inherit(after, before, before->is_counted() ? shared_graph() : interner);
  return after;
}

}  // namespace

const Node* with_sources(Interner& interner, const Node* node, NodeList src) {
  return keep_origin(interner, node,
                     interner.intern({node->op(), node->dtype(), src, node->arg_bytes()}));
}

UOp with_sources(const UOp& node, const std::vector<UOp>& src) {
  Interner& interner = Interner::current();
  return UOp::adopt(keep_origin(
      interner, node.node(),
      make_node(interner, node->op(), nodes_of(src), node->dtype(), node->arg_bytes())));
}

namespace {

// Rebuilds nodes in order; `made` owns the results so that counted nodes stay alive meanwhile.
class Rebuilder {
 public:
  explicit Rebuilder(Interner& to) : to_(to) {}

  const Node* result(const Node* node) const { return made_[*places_.find(node)].node(); }
  void put(const Node* node, UOp result) {
    places_.set(node, static_cast<std::uint32_t>(made_.size()));
    made_.push_back(std::move(result));
  }
  void rebuild(const Node* node) {
    sources_.clear();
    for (const Node* source : node->src()) sources_.push_back(result(source));
    put(node, UOp::adopt(with_sources(to_, node, sources_)));
  }

 private:
  Interner& to_;
  NodeMap<std::uint32_t> places_;
  std::vector<UOp> made_;
  std::vector<const Node*> sources_;
};

// Users keep their dtypes, so what they use has to.
void check_replacement(const Node* node, const UOp& by) {
  if (by.is_null())
    user_error(fmt::format("substitute: {} by a null handle", expression_text(node)));
  if (by->dtype() != node->dtype())
    user_error(fmt::format("substitute: {} is {}, and {} in its place is {}: cast it first",
                           expression_text(node), node->dtype().str(), expression_text(by.node()),
                           by->dtype().str()));
}

}  // namespace

UOp substitute(const UOp& root, const Substitution& by) {
  Rebuilder rebuilder(Interner::current());
  const Node* start = root.node();
  const auto is_replaced = [&](const Node* node) { return by.contains(node); };
  for (const Node* node : postorder(NodeList(&start, 1), is_replaced)) {
    if (const auto found = by.find(node); found != by.end()) {
      check_replacement(node, found->second);
      rebuilder.put(node, found->second);
    } else {
      rebuilder.rebuild(node);
    }
  }
  return UOp(rebuilder.result(root.node()));
}

std::vector<UOp> with_other_sources(
    const std::vector<UOp>& roots, const std::vector<const Node*>& nodes,
    const std::function<UOp(const Node* user, std::size_t source)>& other) {
  std::unordered_map<const Node*, UOp> made;
  for (const Node* node : nodes) {
    std::vector<UOp> src;
    for (std::size_t i = 0; i < node->size(); ++i) {
      UOp source = other(node, i);
      src.push_back(source.is_null() ? made.at(node->src(i)) : std::move(source));
    }
    const bool is_same = std::ranges::equal(src, node->src(), {}, &UOp::node);
    made.emplace(node, is_same ? UOp(node) : with_sources(UOp(node), src));
  }
  std::vector<UOp> results;
  for (const UOp& root : roots) results.push_back(made.at(root.node()));
  return results;
}

std::vector<UOp> import_graph(NodeList roots, Interner& from, Interner& to) {
  Rebuilder rebuilder(to);
  for (const Node* node : toposort(roots)) {
    rebuilder.rebuild(node);
    to.inherit(rebuilder.result(node), node, from);
  }
  std::vector<UOp> results;
  for (const Node* root : roots) results.emplace_back(rebuilder.result(root));
  return results;
}

namespace {

// The ids of each op are its own: whether a BUFFER happens to have the id of a RANGE means nothing.
struct IdNumbering {
  std::map<std::pair<Op, std::uint64_t>, std::uint64_t> numbers;
  std::uint64_t operator()(Op op, UniqueId id) {
    return numbers.emplace(std::pair(op, id.value), numbers.size()).first->second;
  }
};

bool is_fixed_size(const Node* node) { return node->is_const() && node->dtype().is_index(); }

StructuralHash structural_hash(NodeList roots, bool has_sizes) {
  // Two lanes with different multipliers, each fed everything: the cached hashes of nodes have 64
  // bits, and what collides there must not collide here.
  NodeMap<std::uint64_t> position;
  IdNumbering numbering;
  StructuralHash hash{0x243F6A8885A308D3u, 0x13198A2E03707344u};
  const auto mix = [&](std::uint64_t value) {
    hash.high = hash_mix(hash.high, value);
    hash.low = (hash.low ^ (value + 0xA4093822299F31D0u)) * 0xD1342543DE82EF95u;
    hash.low ^= hash.low >> 32;
  };
  const auto mix_text = [&](std::string_view text) {
    mix(text.size());
    for (char c : text) mix(static_cast<unsigned char>(c));
  };
  std::uint64_t count = 0;
  const auto mix_place = [&](const Node* node) {
    const std::uint64_t* place = position.find(node);
    mix(place != nullptr ? *place : ~std::uint64_t{0});  // of a size that is left out
  };
  for (const Node* node : toposort(roots)) {
    if (!has_sizes && is_fixed_size(node)) continue;
    position.set(node, count++);
    mix(static_cast<std::uint64_t>(node->op()) << 32 | node->size());
    mix_text(node->dtype().str());
    with_arg_type(info(node->op()).arg, [&](auto sample) {
      using Arg = decltype(sample);
      if constexpr (!std::is_same_v<Arg, NoArg>)
        for_each_field(node->arg<Arg>(), [&](std::string_view, const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, UniqueId>)
            mix(numbering(node->op(), value));
          else if constexpr (std::is_same_v<T, Symbol>)
            mix_text(value.get());
          else if constexpr (std::is_same_v<T, IntList>) {
            mix(value.get().size());
            for (std::int64_t element : value.get()) mix(static_cast<std::uint64_t>(element));
          } else
            mix(static_cast<std::uint64_t>(value));
        });
    });
    std::ranges::for_each(node->src(), mix_place);
  }
  std::ranges::for_each(roots, mix_place);
  return hash;
}

}  // namespace

StructuralHash structural_hash(NodeList roots) { return structural_hash(roots, true); }

StructuralHash structural_hash_without_sizes(NodeList roots) {
  return structural_hash(roots, false);
}

namespace {

bool reads_leaf(Op op) { return info(op).cls == OpClass::Leaf && op != Op::Const; }

std::optional<Bits> node_value(const Node* node, const NodeMap<Bits>& values) {
  const auto value = [&](std::size_t i) { return *values.find(node->src(i)); };
  switch (node->op()) {
    case Op::Const: return node->arg<ConstArg>().bits;
    case Op::Bind: return value(0);
    case Op::Cast: return convert(value(0), node->src(0)->dtype(), node->dtype());
    case Op::Bitcast: return reinterpret(value(0), node->src(0)->dtype(), node->dtype());
    default: break;
  }
  if (!is_elementwise(node->op())) return std::nullopt;
  std::array<Bits, 3> operands{};
  for (std::size_t i = 0; i < node->size(); ++i) operands[i] = value(i);
  const DType dtype = node->src(node->op() == Op::Where ? 1 : 0)->dtype();
  return evaluate(node->op(), dtype, std::span(operands).first(node->size()));
}

}  // namespace

std::optional<Bits> evaluate(const Node* root, const Assignment& leaves) {
  NodeMap<Bits> values;
  for (const Node* node : toposort(root)) {
    std::optional<Bits> value;
    if (const auto leaf = leaves.find(node); leaf != leaves.end())
      value = leaf->second;
    else if (!reads_leaf(node->op()))
      value = node_value(node, values);
    if (!value) return std::nullopt;
    values.set(node, *value);
  }
  return *values.find(root);
}

}  // namespace weft
