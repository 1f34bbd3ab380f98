// A nest together with a plan for it: queries that all parts of the cost model share.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include <weft/dev/cost/nest.h>

namespace weft {

inline bool in_registers(const Piece& piece) {
  return piece.kind == LoopKind::Upcast || piece.kind == LoopKind::Vector;
}

// Returns the number of pieces outside registers, which come first.
inline std::size_t loop_pieces(const NestPlan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(plan.pieces, std::not_fn(in_registers)));
}

class Planned {
 public:
  Planned(const DeviceModel& machine, const Nest& nest, const NestPlan& plan)
      : machine_(machine), nest_(nest), plan_(plan), loop_pieces_(loop_pieces(plan)) {
    for (const NestAccess& access : nest.accesses) in_reduction_.push_back(is_inner(access));
  }

 protected:
  const Piece& piece(std::size_t i) const { return plan_.pieces[i]; }
  std::size_t pieces() const { return plan_.pieces.size(); }
  double iterations(std::size_t i) const { return static_cast<double>(piece(i).iterations); }
  // Returns the iterations of all pieces for which the condition holds.
  template <class Condition>
  double iterations_where(Condition condition) const {
    double product = 1;
    for (std::size_t i = 0; i < pieces(); ++i)
      if (condition(i)) product *= iterations(i);
    return product;
  }
  bool is_reduce(std::size_t i) const { return nest_.loops[piece(i).loop].is_reduce; }
  bool changes(const NestAccess& access, std::size_t i) const {
    return access.changes_with(piece(i).loop);
  }
  // Returns how often piece `i` repeats access `a`. A reduction only repeats accesses inside it.
  double iterations_of(std::size_t i, std::size_t a) const {
    return !is_reduce(i) || in_reduction_[a] ? iterations(i) : 1;
  }
  double iterations_outside(std::size_t first, std::size_t a) const {
    double iterations = 1;
    for (std::size_t i = 0; i < first; ++i) iterations *= iterations_of(i, a);
    return iterations;
  }

  // Whether the plan stores the data in loop order.
  bool is_packed(std::size_t a) const {
    return plan_.is_kept(a) || (plan_.staged[a] >= 0 && !plan_.by_region[a]);
  }
  bool reads_copy(std::size_t a) const { return plan_.is_kept(a) || plan_.staged[a] >= 0; }

  const Piece* vector() const {
    for (std::size_t i = loop_pieces_; i < pieces(); ++i)
      if (piece(i).kind == LoopKind::Vector) return &piece(i);
    return nullptr;
  }

  // Returns how many registers a vector value takes, or 0 without lanes.
  double registers_per_vector() const {
    if (vector() == nullptr) return 0;
    const double lanes = static_cast<double>(vector()->iterations);
    return lanes * static_cast<double>(nest_.loops[vector()->loop].widest) / machine_.vector_bytes;
  }

  const DeviceModel& machine_;
  const Nest& nest_;
  const NestPlan& plan_;
  std::size_t loop_pieces_;         // see loop_pieces()
  std::vector<bool> in_reduction_;  // by access: it is in the loops of the reduction

 private:
  bool is_inner(const NestAccess& access) const {
    if (!nest_.has_reduce()) return true;
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
      if (nest_.loops[loop].is_reduce && access.changes_with(loop)) return true;
    return false;
  }
};

}  // namespace weft
