#include "online_rescale.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/ir/memory.h>

#include "common/loops.h"
#include "schedule/actions/fills.h"

namespace weft {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Returns the place at the indices. Memory over no loops has one element.
UOp element(const UOp& memory, const std::vector<UOp>& at) {
  return place_in(memory, at.empty() ? std::vector{const_int(0)} : at);
}

UOp read_at(const UOp& memory, const std::vector<UOp>& at) {
  return make(Op::Load, {element(memory, at)});
}

UOp memory_over(const std::vector<const Node*>& loops, DType dtype) {
  if (!loops.empty()) return memory_for(list_of(loops), dtype, Space::Scratch);
  return make(Op::Buffer, {const_int(1)}, dtype, BufferArg{fresh_id(), Space::Scratch});
}

}  // namespace

OnlineRescale::OnlineRescale(const UOp& kernel, const Node* top, std::int64_t block,
                             const std::vector<NamedLoop>& loops)
    : kernel_(kernel),
      together_(kernel.node(), top),
      iterations_(top->src(1)->src(0)->lo()),
      is_masked_(iterations_ % block != 0),
      loops_(loops) {
  if (!refusal().empty()) return;
  blocks_ = weft::range((iterations_ + block - 1) / block, fresh_id().value);
  added_.push_back(blocks_);
  for (const Node* loop : together_.loops) in_block_.emplace(loop, range_like(loop, block));
  for (const auto& [buffer, dim] : together_.memory) {
    std::vector<UOp> sizes = list_of(buffer->src());
    sizes[dim] = const_int(sizes[dim]->lo() - iterations_ + block);
    const BufferArg arg{fresh_id(), buffer->arg<BufferArg>().space};
    memory_.emplace(buffer, make(Op::Buffer, sizes, buffer->dtype(), arg));
  }
  for (const Node* node : toposort(NodeList(together_.sums))) {
    made_.set(node, rebuilt(node).node());
    if (!refusal().empty()) return;
  }
  update_carried();
  if (!refusal().empty()) return;
  const std::vector<const Node*> nodes = toposort(kernel_.node());
  if (std::ranges::any_of(nodes, [&](auto node) { return in_block_.contains(node); }))
    together_.refusal = "values computed in its iterations are used elsewhere";
}

// Returns the counterpart of a node in a block, built from the counterparts of its sources.
UOp OnlineRescale::rebuilt(const Node* node) {
  if (const auto iteration = in_block_.find(node); iteration != in_block_.end())
    return blocks_ * iteration->second->src(0)->lo() + iteration->second;
  if (const auto memory = memory_.find(node); memory != memory_.end()) return memory->second;
  if (node == together_.top) return next_top();
  if (node->op() == Op::Index) return index_in_block(node);
  if (node->op() == Op::Load) return read_inline(node);
  const bool is_closer = OpSet{Op::End, Op::Reduce}.contains(node->op());
  if (is_closer && std::ranges::any_of(node->src().subspan(1),
                                       [&](auto own) { return in_block_.contains(own); }))
    return closed_in_block(node);
  const bool begins = node->op() == Op::After && node->src(1)->op() == Op::Range;
  if (begins && memory_.contains(node->src(0))) return in_iteration(memory_.at(node->src(0)));
  return with_made_sources(node);
}

UOp OnlineRescale::with_made_sources(const Node* node) const {
  std::vector<UOp> src;
  for (const Node* source : node->src()) src.push_back(made(source));
  return with_sources(UOp(node), src);
}

// Memory of one block is indexed by the iteration within the block. Other memory is indexed by the
// iteration overall, with a mask if the last block is partial.
UOp OnlineRescale::index_in_block(const Node* index) {
  std::vector<UOp> src;
  for (const Node* source : index->src()) src.push_back(made(source));
  if (const auto found = together_.memory.find(storage_of(index->src(0)));
      found != together_.memory.end()) {
    const auto iteration = in_block_.find(index->src(found->second + 2));
    if (iteration == in_block_.end()) {
      together_.refusal = "memory for its iterations is read at others too";
      return UOp(index);
    }
    src[found->second + 2] = iteration->second;
    if (index->src(0)->op() == Op::Buffer) src[0] = in_iteration(src[0]);
  } else if (is_masked_) {
    for (const Node* loop : together_.loops)
      if (changes_with(index, loop)) src[1] = src[1] & (made(loop) < iterations_);
  }
  return with_sources(UOp(index), src);
}

// Iterations past the end contribute the identity.
UOp OnlineRescale::closed_in_block(const Node* closer) const {
  UOp body = made(closer->src(0));
  std::vector<UOp> loops;
  for (const Node* own : closer->src().subspan(1)) {
    const auto iteration = in_block_.find(own);
    loops.push_back(iteration == in_block_.end() ? UOp(own) : iteration->second);
    if (is_masked_ && iteration != in_block_.end() && closer->op() == Op::Reduce)
      body = where(made(own) < iterations_, body,
                   identity_of(closer->arg<ReduceArg>().op, body->dtype()));
  }
  return closed_over(UOp(closer), body, loops);
}

// Memory that is computed from the final maximum cannot be filled in a block. Its value is
// recomputed where it is read.
UOp OnlineRescale::read_inline(const Node* load) const {
  const Node *read = load->src(0), *ready = read->src(0);
  const Node *storage = storage_of(ready), *store = only_store_into(ready);
  if (storage->op() != Op::Buffer || memory_.contains(storage) || store == nullptr ||
      ready->src(1) == store || !depends_on(ready, together_.top))
    return with_made_sources(load);
  Substitution there = loops_at(store->src(0), read);
  for (auto& [loop, at] : there) at = made(at.node());
  return substitute(made(store->src(1)), there);
}

UOp OnlineRescale::in_iteration(const UOp& memory) const {
  std::vector<UOp> iterations = list_of(together_.around);
  iterations.push_back(blocks_);
  return with_list(Op::After, memory, iterations);
}

// Stores the value in fresh copies of its loops.
UOp OnlineRescale::filled(const UOp& begin, const UOp& value,
                          const std::vector<const Node*>& loops) {
  const LoopCopies own(loops);
  added_.insert(added_.end(), own.loops.begin(), own.loops.end());
  return with_list(Op::End, store_at(element(begin, own.loops), own.copy_of(value)), own.loops);
}

OnlineRescale::CarriedValue OnlineRescale::carry(const Node* reduce) {
  CarriedValue result;
  for (const auto& [name, range] : loops_)
    if (changes_with(reduce, range) && !has_node(together_.around, range))
      result.loops.push_back(range);
  result.memory = memory_over(result.loops, reduce->dtype());
  const UOp identity = identity_of(reduce->arg<ReduceArg>().op, reduce->dtype());
  const UOp begin = with_list(Op::After, result.memory, list_of(together_.around));
  result.before = make(Op::After, {result.memory, filled(begin, identity, result.loops), blocks_});
  return result;
}

UOp OnlineRescale::next_top() {
  top_ = carry(together_.top);
  const UOp before = read_at(top_.before, list_of(top_.loops));
  const UOp next = max(before, closed_in_block(together_.top));
  const UOp memory = memory_over(top_.loops, next->dtype());
  next_ = make(Op::After, {memory, filled(in_iteration(memory), next, top_.loops)});
  return read_at(next_, list_of(top_.loops));
}

// Computes the factor that rescales the sums to the maximum after this block. Then it updates the
// running maximum, whose previous value has been read by that time.
UOp OnlineRescale::scale_by(double rate) {
  const DType dtype = accumulator_of(Op::Add, next_->dtype());
  const UOp before = read_at(top_.before, list_of(top_.loops)),
            next = read_at(next_, list_of(top_.loops));
  const UOp scale = make(Op::Exp2, {(cast(next, dtype) - cast(before, dtype)) * rate});
  const UOp memory = memory_over(top_.loops, dtype);
  const UOp fill = filled(in_iteration(memory), scale, top_.loops);
  std::vector<UOp> later = list_of(top_.before->src());
  later.push_back(fill);
  top_.after = filled(make(Op::After, later), next, top_.loops);
  return make(Op::After, {memory, fill});
}

// While all iterations so far are masked, the maximum is minus infinity and sums stay unchanged.
UOp OnlineRescale::summed(const CarriedValue& sum, const UOp& part, const UOp& scale,
                          const Node* read) {
  const std::vector<UOp> at = list_of(read->src(0)->src().subspan(2));
  const UOp before = read_at(sum.before, list_of(sum.loops)), next(read);
  const UOp all = before * cast(read_at(scale, at), part->dtype()) + part;
  return filled(sum.before, where(next == -endless, before, all), sum.loops);
}

// Whether the exponent is relative to the maximum of the same value, so that no power exceeds 1.
bool OnlineRescale::is_relative_to_maximum(const RescaleRate& growth, const Node* sum) const {
  const NodeList at = growth.read->src(0)->src().subspan(2);
  Substitution there{{in_block_.at(together_.top->src(1)).node(), in_block_.at(sum->src(1))}};
  for (std::size_t i = 0; i < top_.loops.size(); ++i) there.emplace(top_.loops[i], UOp(at[i]));
  return substitute(made(together_.top->src(0)), there).is(growth.from);
}

void OnlineRescale::update_carried() {
  std::vector<RescaleRate> growths;
  for (const Node* sum : together_.sums) {
    const auto growth = rescale_rate_of(made(sum->src(0)).node(), storage_of(next_.node()));
    const bool is_known = growth && growth->rate < 0 && is_relative_to_maximum(*growth, sum);
    if (!is_known || (!growths.empty() && growth->rate != growths[0].rate)) {
      together_.refusal =
          "the sums are not all of the form EXP2(c * (x - maximum(x))) * y, with the same c > 0";
      return;
    }
    growths.push_back(*growth);
  }
  const UOp scale = scale_by(growths[0].rate);
  std::vector<UOp> effects{top_.after};
  std::vector<CarriedValue> sums;
  for (std::size_t i = 0; i < growths.size(); ++i) {
    sums.push_back(carry(together_.sums[i]));
    const UOp part = made(together_.sums[i]);
    effects.push_back(summed(sums[i], part, scale, growths[i].read.node()));
  }
  replace_totals(make(Op::End, {tuple(effects), blocks_}), sums, growths);
}

// In a row that is masked throughout, each term of the original sum is EXP2(-inf - -inf). Unless
// that is guarded, the sum is NaN, and so is the total.
void OnlineRescale::replace_totals(const UOp& all, const std::vector<CarriedValue>& sums,
                                   const std::vector<RescaleRate>& growths) {
  const auto total = [&](const CarriedValue& carry, const std::vector<UOp>& at) {
    return read_at(make(Op::After, {carry.memory, all}), at);
  };
  Substitution by{{together_.top, total(top_, list_of(top_.loops))}};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    UOp sum = total(sums[i], list_of(sums[i].loops));
    const std::vector<UOp> at = list_of(growths[i].read->src(0)->src().subspan(2));
    if (!growths[i].is_guarded)
      sum = where(total(top_, at) == -endless, literal_like(nan, sum), sum);
    by.emplace(together_.sums[i], sum);
  }
  kernel_ = substitute(kernel_, by);
}

}  // namespace weft
