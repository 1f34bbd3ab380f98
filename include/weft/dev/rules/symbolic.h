// Integer algebra: what makes index arithmetic as small as a person would write it.
//
// Each set is one subject and can be used alone. Floats take part only where the result is the
// same for every value, NaN, infinities and -0 included.
#pragma once

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

const RuleSet& fold_rules();     // constants, identities, values that bounds pin down
const RuleSet& order_rules();    // one order for commuting operands, constants last
const RuleSet& sum_rules();      // sums of products: like terms, distribution, quotient + remainder
const RuleSet& divmod_rules();   // floor division and remainder of sums
const RuleSet& compare_rules();  // comparisons, and conditions made of them
const RuleSet& select_rules();   // WHERE
const RuleSet& gate_rules();     // indices under the validity that guards them

const RuleSet& symbolic();         // all of the above
const RuleSet& reduction_rules();  // reductions that need no loop: an arange, a one-hot row
const RuleSet& spread_rules();     // (a + b)*c + ... as a*c + b*c + ..., where parts then join
const RuleSet& factor_rules();  // contracts what is left: a*4 + b*4 -> (a + b)*4, a + b*-1 -> a - b
const RuleSet& merge_rules();   // nested quotients as one of a sum, where parts then join
const RuleSet& width_rules();   // i32, u32 or i64 for every index, whichever its bounds allow

const RuleSet& fast_math_rules();  // of floats where NaN, infinity and -0 do not matter

// What the settings ask for: nothing beyond what lowering needs (ALGEBRA=0), symbolic(), or
// fast_math_rules() with it (FASTMATH=1).
enum class Algebra : std::uint8_t { Off, Exact, Fast };
Algebra algebra_in_force();
const RuleSet& algebra(Algebra which = algebra_in_force());

// Whether a factor of an f32 or f64 is 1/ln 2 times a power of two: EXP2 of the product is exp() of the other, or of a part.
bool is_multiple_of_log2e(double factor, DType dtype);

// symbolic(), then factor_rules(); with spread_rules() and merge_rules() as well where that ends in
// fewer ops. The trace hears of what led to the result, not of the attempt given up.
UOp simplify(const UOp& root);
std::vector<UOp> simplify(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// width_rules(); a root of dtype index becomes the integer that it is.
std::vector<UOp> width(const std::vector<UOp>& roots, const RewriteOptions& options = {});

}  // namespace weft
