// Products and layers of networks.

#include <algorithm>
#include <map>

#include "../families.h"

namespace nets {
namespace {

using Names = std::vector<std::string>;

// Floats of at least 32 bits: where halves are rounded within a layer is left to it.
bool is_wide(Type type) { return type == Type::F32 || type == Type::F64; }

std::size_t wide_of_rank(Draft& draft, std::int64_t least, std::int64_t most) {
  const auto x = draft.any([&](const Array& a) {
    return is_wide(a.type) && a.size() > 0 && a.rank() >= least && a.rank() <= most;
  });
  if (x && !draft.random.one_in(3)) return *x;
  Numbers shape;
  for (std::int64_t i = draft.random.between(least, most); i > 0; --i)
    shape.push_back(draft.extent(1, 6));
  return draft.input(draft.is_smooth() || draft.random.one_in(3) ? Type::F64 : Type::F32, shape);
}

// The axes of the operands have the letters' sizes: those of a value that is there, and new ones.
void draw_einsum(Draft& draft) {
  static const Names two{"ab,bc->ac", "ab,cb->ac", "ab,ab->a",     "ab,ab->",     "ab,b->a",
                         "a,b->ab",   "a,a->",     "abc,acd->abd", "abc,bd->acd", "ab,ac->abc"};
  const bool is_alone = draft.random.one_in(5);
  const std::string equation = is_alone ? "ab->b" : draft.random.of(two);
  const std::string inputs = equation.substr(0, equation.find("->"));
  const std::size_t comma = std::min(inputs.find(','), inputs.size());
  const std::string first = inputs.substr(0, comma);
  const auto x = draft.any([&](const Array& a) {
    return a.shape.size() == first.size() && (!(draft.is_smooth() || is_alone) || is_float(a.type));
  });
  want(x.has_value(), "no such shape");
  std::vector<std::size_t> operands{*x};
  if (!is_alone) {
    std::map<char, std::int64_t> sizes;
    for (std::size_t i = 0; i < first.size(); ++i) sizes[first[i]] = draft[*x].shape[i];
    Numbers shape;
    for (const char letter : inputs.substr(comma + 1)) {
      if (!sizes.contains(letter)) sizes[letter] = draft.extent(1, 4);
      shape.push_back(sizes[letter]);
    }
    operands.push_back(
        draft.input(draft.random.one_in(4) ? draft.any_type() : draft[*x].type, shape));
  }
  draft.add({.kind = "einsum:" + equation, .operands = operands});
}

void draw_product(Draft& draft) {
  static const Names kinds{"tensordot", "inner", "dot", "mv", "cross"};
  Random& random = draft.random;
  const std::string kind = random.of(kinds);
  const std::int64_t least = kind == "mv" ? 2 : 1, most = kind == "dot" ? 1 : kind == "mv" ? 2 : 3;
  const auto found = draft.any([&](const Array& a) {
    return a.rank() >= least && a.rank() <= most && (!draft.is_smooth() || is_float(a.type)) &&
           (kind != "cross" || !is_bool(a.type));
  });
  want(found.has_value(), "no such shape");
  std::size_t x = *found;
  Step step{.kind = kind, .operands = {}, .k = 1};
  Numbers shape{draft[x].shape.back()};
  if (kind == "cross") {
    Numbers own = draft[x].shape;
    const std::size_t axis = at(random.below(std::ssize(own)));
    own[axis] = 3;
    step.i = static_cast<std::int64_t>(axis);
    shape = own;
    if (draft[x].shape != own) x = draft.input(draft[x].type, own);
  } else if (kind == "tensordot") {
    if (draft[x].rank() > 1 && random.one_in(3))
      step.k = 2, shape.insert(shape.begin(), draft[x].shape[at(draft[x].rank() - 2)]);
    if (random.one_in(2)) shape.push_back(random.between(1, 4));
  } else if (kind == "inner" && random.one_in(2)) {
    shape.insert(shape.begin(), random.between(1, 4));
  }
  step.operands = {x, draft.input(draft[x].type, shape)};
  draft.add(step);
}

void draw_added(Draft& draft) {
  static const Names kinds{"addmm", "addmm", "baddbmm", "linear"};
  Random& random = draft.random;
  const std::string kind = random.of(kinds);
  const std::size_t a = wide_of_rank(draft, kind == "baddbmm" ? 3 : 2, kind == "baddbmm" ? 3 : 2);
  const Type type = draft[a].type;
  const std::int64_t columns = draft.extent(1, 5), rows = draft[a].shape[at(draft[a].rank() - 2)];
  Numbers right{draft[a].shape.back(), columns}, left{rows, columns};
  if (kind == "baddbmm")
    right.insert(right.begin(), draft[a].shape[0]), left.insert(left.begin(), draft[a].shape[0]);
  const std::size_t b = draft.input(type, right);
  if (kind == "linear") {
    draft.add({.kind = kind, .operands = {a, b, draft.input(type, {columns})}});
    return;
  }
  if (random.one_in(3)) left = {columns};
  const std::size_t x = draft.input(type, left);
  draft.add({.kind = kind,
             .operands = {x, a, b},
             .k = random.between(1, 2),
             .number = {Literal::Form::Float, 0, random.of(std::vector<double>{1, 1, 0.5, 2})}});
}

void draw_attention(Draft& draft) {
  const std::size_t query = wide_of_rank(draft, 3, 3);
  const Type type = draft[query].type;
  const Numbers shape = draft[query].shape;
  const std::int64_t keys = draft.extent(1, 6);
  const std::size_t key = draft.input(type, {shape[0], keys, shape[2]}, Filling::Real);
  const std::size_t value = draft.input(type, {shape[0], keys, draft.extent(1, 5)});
  draft.add({.kind = draft.random.one_in(2) ? "attention" : "attention_causal",
             .operands = {query, key, value}});
}

void draw_norm(Draft& draft) {
  static const Names kinds{"rmsnorm", "group_norm", "batchnorm"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = wide_of_rank(draft, kind == "rmsnorm" ? 1 : 2, 4);
  if (kind == "rmsnorm") {
    draft.add({.kind = kind, .operands = {x}, .i = draft.axis_of(draft[x])});
    return;
  }
  const std::int64_t channels = draft[x].shape[1];
  if (kind == "group_norm") {
    draft.add({.kind = kind,
               .operands = {x},
               .k = channels % 2 == 0 && draft.random.one_in(2) ? 2 : channels});
    return;
  }
  std::vector<std::size_t> operands{x};
  for (int i = 0; i < 4; ++i) operands.push_back(draft.input(draft[x].type, {channels}));
  draft.add({.kind = kind, .operands = operands});
}

void draw_pool_form(Draft& draft) {
  static const Names kinds{"max_pool_form", "avg_pool_form", "avg_pool_inside"};
  Random& random = draft.random;
  const auto x = draft.any([&](const Array& a) {
    return a.rank() > 1 && a.size() > 0 && !is_bool(a.type) &&
           (!draft.is_smooth() || is_float(a.type));
  });
  want(x.has_value(), "no image");
  Step step{.kind = random.of(kinds), .operands = {*x}};
  for (std::int64_t i = random.between(1, std::min<std::int64_t>(3, draft[*x].rank())); i > 0; --i)
    step.n.push_back(random.between(1, 3));
  step.i = random.between(1, 2), step.j = random.between(1, 3), step.k = random.below(2);
  step.flag = random.one_in(2);
  draft.add(step);
}

void draw_transpose(Draft& draft) {
  Random& random = draft.random;
  const std::int64_t dims = random.between(1, 2), groups = random.of(Numbers{1, 1, 2}),
                     in = groups * random.between(1, 2);
  Numbers image{random.between(1, 2), in}, weight{in, random.between(1, 2)};
  for (std::int64_t i = 0; i < dims; ++i)
    image.push_back(random.between(1, 5)), weight.push_back(random.between(1, 3));
  const auto found = draft.any([&](const Array& a) {
    return a.rank() == dims + 2 && a.shape[1] == in && a.size() > 0 && is_wide(a.type);
  });
  const std::size_t x = found && random.one_in(2)
                            ? *found
                            : draft.input(draft.is_smooth() ? Type::F64 : Type::F32, image);
  const std::size_t w = draft.input(draft[x].type, weight);
  const std::int64_t stride = random.between(1, 3);
  draft.add({.kind = "conv_transpose",
             .operands = {x, w},
             .n = {random.below(stride)},
             .i = groups,
             .j = stride,
             .k = random.below(2)});
}

void draw_resized(Draft& draft) {
  const bool is_linear = draft.random.one_in(2);
  const auto x = draft.any([&](const Array& a) {
    return a.rank() >= 3 && a.size() > 0 &&
           (is_float(a.type) || !(is_linear || draft.is_smooth())) && !is_bool(a.type);
  });
  want(x.has_value(), "no image");
  Step step{.kind = is_linear ? "interpolate_linear" : "interpolate_nearest", .operands = {*x}};
  for (std::int64_t i = draft.random.between(1, draft[*x].rank() - 2); i > 0; --i)
    step.n.push_back(draft.random.between(1, 7));
  step.flag = is_linear && draft.random.one_in(2);
  draft.add(step);
}

std::size_t classes_for(Draft& draft, const Numbers& shape, std::int64_t classes) {
  Step step{.kind = "input", .n = shape, .type = draft.random.one_in(2) ? Type::I32 : Type::I64};
  step.values.emplace_back();
  for (std::int64_t i = 0; i < count_of(shape); ++i)
    step.values[0].push_back(Cell::of(draft.random.below(classes)));
  return draft.add(std::move(step));
}

void draw_loss(Draft& draft) {
  static const Names pairs{"mse_loss",       "mse_loss",   "l1_loss",
                           "smooth_l1_loss", "huber_loss", "logits_loss"};
  Random& random = draft.random;
  Step step{.kind = random.of(pairs), .k = random.of(Numbers{0, 0, 1, 2})};
  if (random.one_in(2)) {
    const std::size_t x = wide_of_rank(draft, 1, 4);
    step.operands = {x, draft.input(draft[x].type, draft[x].shape)};
    draft.add(step);
    return;
  }
  const std::size_t x = wide_of_rank(draft, 2, 3);
  Numbers shape = draft[x].shape;
  const std::int64_t classes = shape[1];
  shape.erase(shape.begin() + 1);
  step.kind = random.one_in(3) ? "nll_loss" : "cross_entropy";
  step.operands = {x, classes_for(draft, shape, classes)};
  step.number = {Literal::Form::Float, 0, random.of(std::vector<double>{0, 0, 0.125, 0.1})};
  draft.add(step);
}

}  // namespace

std::vector<Family> network_families() {
  return {{4, draw_einsum, true},    {3, draw_product, true}, {2, draw_added, true},
          {2, draw_attention, true}, {3, draw_norm, true},    {3, draw_pool_form, true},
          {2, draw_transpose, true}, {3, draw_resized, true}, {4, draw_loss, true}};
}

}  // namespace nets
