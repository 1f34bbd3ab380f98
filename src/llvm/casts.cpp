// Casts of vectors of floats to integers that saturate. LLVM takes them apart lane by lane for processors that have no
// instruction for it, which all of x86 is: here they become casts that do not, and what lies beyond is chosen. A part of the
// module.

#include <cmath>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "module.h"

namespace weft::module {
namespace {

bool is_signed(const llvm::IntrinsicInst& cast) {
  return cast.getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
}

bool is_cast_of_vector(const llvm::IntrinsicInst& call) {
  return call.getType()->isVectorTy() &&
         (is_signed(call) || call.getIntrinsicID() == llvm::Intrinsic::fptoui_sat);
}

llvm::Value* spelled_out(const llvm::IntrinsicInst& cast, llvm::IRBuilder<>& builder) {
  constexpr unsigned narrowest = 32;
  llvm::Value* x = cast.getArgOperand(0);
  llvm::Type* type = cast.getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* wide = bits < narrowest ? type->getWithNewBitWidth(narrowest) : type;
  const auto real = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  const auto whole = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(wide, value); };
  const unsigned width = wide->getScalarSizeInBits();
  llvm::Value* zero = llvm::ConstantInt::get(wide, 0);
  llvm::Value* result = is_signed(cast) || bits < narrowest ? builder.CreateFPToSI(x, wide)
                                                            : builder.CreateFPToUI(x, wide);
  const auto put = [&](llvm::Value* where, llvm::Value* value) {
    result = builder.CreateSelect(where, value, result);
  };
  if (is_signed(cast)) {
    const double end = std::ldexp(1.0, static_cast<int>(bits) - 1);
    put(builder.CreateFCmpOGE(x, real(end)),
        whole(llvm::APInt::getSignedMaxValue(bits).sext(width)));
    put(builder.CreateFCmpOLT(x, real(-end)),
        whole(llvm::APInt::getSignedMinValue(bits).sext(width)));
    put(builder.CreateFCmpUNO(x, x), zero);
  } else {
    const double end = std::ldexp(1.0, static_cast<int>(bits));
    put(builder.CreateFCmpOGE(x, real(end)), whole(llvm::APInt::getMaxValue(bits).zext(width)));
    put(builder.CreateFCmpULT(x, real(0)), zero);
  }
  return builder.CreateTrunc(result, type);
}

}  // namespace

void spell_out_casts(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> casts;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call != nullptr && is_cast_of_vector(*call))
        casts.push_back(call);
  for (llvm::IntrinsicInst* cast : casts) {
    llvm::IRBuilder<> builder(cast);
    cast->replaceAllUsesWith(spelled_out(*cast, builder));
    cast->eraseFromParent();
  }
}

}  // namespace weft::module
