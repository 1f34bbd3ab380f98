// The larger of two floats: +0 rather than -0, and NaN where one of them is. LLVM chooses by the sign which operand of MAX comes
// first, and then looks for NaN: five instructions, each of which waits for the one before. VRANGE knows signs, and the sum of
// both gives the NaN. A part of the module.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include "module.h"

namespace weft::module {
namespace {

constexpr unsigned widest = 512, narrowest = 128;  // bits of a register

unsigned lanes_of(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector != nullptr ? vector->getNumElements() : 1;
}

bool fills_registers(const llvm::Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits(), lanes = lanes_of(value);
  return (bits == 32 || bits == 64) && std::has_single_bit(lanes) &&
         (lanes == 1 || lanes * bits >= narrowest);
}

llvm::Intrinsic::ID range_for(bool is_double, unsigned bits) {
  using namespace llvm::Intrinsic;
  switch (bits) {
    case widest: return is_double ? x86_avx512_mask_range_pd_512 : x86_avx512_mask_range_ps_512;
    case 256: return is_double ? x86_avx512_mask_range_pd_256 : x86_avx512_mask_range_ps_256;
    default: return is_double ? x86_avx512_mask_range_pd_128 : x86_avx512_mask_range_ps_128;
  }
}

// Of two that fill one register.
llvm::Value* larger(llvm::Value* a, llvm::Value* b, llvm::IRBuilder<>& builder) {
  constexpr unsigned larger_with_its_sign = 0b0101, rounding_as_set = 4;
  const unsigned bits = a->getType()->getScalarSizeInBits(), lanes = lanes_of(a);
  llvm::Type* mask = builder.getIntNTy(std::max(lanes, 8U));
  std::vector<llvm::Value*> operands{a, b, builder.getInt32(larger_with_its_sign),
                                     llvm::Constant::getNullValue(a->getType()),
                                     llvm::Constant::getAllOnesValue(mask)};
  if (bits * lanes == widest) operands.push_back(builder.getInt32(rounding_as_set));
  llvm::Value* range = builder.CreateIntrinsic(range_for(bits == 64, bits * lanes), {}, operands);
  return builder.CreateSelect(builder.CreateFCmpUNO(a, b), builder.CreateFAdd(a, b), range);
}

std::vector<int> lanes_from(unsigned first, unsigned count) {
  std::vector<int> lanes;
  for (unsigned lane = first; lane < first + count; ++lane) lanes.push_back(static_cast<int>(lane));
  return lanes;
}

llvm::Value* in_registers(llvm::Value* a, llvm::Value* b, llvm::IRBuilder<>& builder) {
  const unsigned bits = a->getType()->getScalarSizeInBits(), lanes = lanes_of(a);
  if (lanes == 1) {
    auto* const type = llvm::FixedVectorType::get(a->getType(), narrowest / bits);
    const auto first_of = [&](llvm::Value* scalar) {
      return builder.CreateInsertElement(llvm::PoisonValue::get(type), scalar, std::uint64_t{0});
    };
    return builder.CreateExtractElement(larger(first_of(a), first_of(b), builder),
                                        std::uint64_t{0});
  }
  if (bits * lanes <= widest) return larger(a, b, builder);
  const auto half_from = [&](unsigned first) {
    const std::vector<int> half = lanes_from(first, lanes / 2);
    return in_registers(builder.CreateShuffleVector(a, half), builder.CreateShuffleVector(b, half),
                        builder);
  };
  llvm::Value *low = half_from(0), *high = half_from(lanes / 2);
  return builder.CreateShuffleVector(low, high, lanes_from(0, lanes));
}

// With a constant LLVM takes one instruction, or two.
bool is_largest_of_two(const llvm::IntrinsicInst& call) {
  return call.getIntrinsicID() == llvm::Intrinsic::maximum && fills_registers(&call) &&
         llvm::none_of(call.args(),
                       [](const llvm::Use& value) { return llvm::isa<llvm::Constant>(value); });
}

}  // namespace

void choose_largest_by_range(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getMCSubtargetInfo()->checkFeatures("+avx512dq,+avx512vl")) return;
  std::vector<llvm::IntrinsicInst*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call != nullptr && is_largest_of_two(*call))
        calls.push_back(call);
  for (llvm::IntrinsicInst* call : calls) {
    llvm::IRBuilder<> builder(call);
    call->replaceAllUsesWith(in_registers(call->getArgOperand(0), call->getArgOperand(1), builder));
    call->eraseFromParent();
  }
}

}  // namespace weft::module
