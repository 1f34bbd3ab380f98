#include <weft/dev/rewrite/rewriter.h>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {
namespace {

using Drive = UOp (*)(const UOp&, const RuleSet&, const RewriteOptions&);

const Pat x = any("x"), y = any("y"), c = int_const("c"), d = int_const("d");

class Rewriter : public testing::Test {
 protected:
  Arena arena_;
  InternerScope scope_{arena_};
  const UOp a = Variable("a", 0, 9), b = Variable("b", 0, 9);
};

// Every application as "pass: before -> after (rule)".
class Log : public RewriteTrace {
 public:
  void applied(std::string_view pass, const Rule& rule, const Node* before,
               const Node* after) override {
    const std::string text = rule.str();
    lines.push_back(std::string(pass) + ": " + expression_text(before) + " -> " +
                    expression_text(after) + " (" + text.substr(0, text.find(" (")) + ")");
  }
  std::vector<std::string> lines;
};

std::string text(const UOp& value) { return expression_text(value.node()); }

std::string error_of(const UOp& on, const RuleSet& rules, const RewriteOptions& options = {}) {
  try {
    rewrite(on, rules, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

TEST_F(Rewriter, GoesToTheFixedPoint) {
  const RuleSet rules("double", {rule(x + x, x * 2), rule((x * c) * d, x * fold(c * d))});
  EXPECT_EQ(text(rewrite((a + a) + (a + a), rules)), "a*4");
  EXPECT_EQ(text(rewrite(b - ((a + a) + (a + a)) / 3, rules)), "b - a*4//3");
  const UOp untouched = a - b;
  EXPECT_TRUE(rewrite(untouched, rules).is(untouched));
}

TEST_F(Rewriter, EarlierRulesGoFirst) {
  const Rule one = rule(x * 2, x + 1), two = rule(x * c, x + fold(c * 10));
  EXPECT_EQ(text(rewrite(a * 2, RuleSet("ab", {one, two}))), "a + 1");
  EXPECT_EQ(text(rewrite(a * 2, RuleSet("ba", {two, one}))), "a + 20");
  const RuleSet first("first", {one}), second("second", {two}), both("both", {&second, &first});
  EXPECT_EQ(both.name(), "both");
  ASSERT_EQ(both.rules().size(), 2u);
  EXPECT_EQ(both.rules()[0].str(), two.str());
  EXPECT_EQ(both.rules()[1].str(), one.str());
  EXPECT_EQ(text(rewrite(a * 2, both)), "a + 20");
}

TEST_F(Rewriter, ARefusingRuleLeavesTheNodeToTheNext) {
  const RuleSet rules("next", {rule(x * c, [](const Match&) { return UOp(); }),
                               rule(x * c, x, when(c == 3)), rule(x * c, x + c)});
  EXPECT_EQ(text(rewrite(a * 2, rules)), "a + 2");
  // Nor does a rule apply that gives back what it was given.
  const RuleSet same("same", {rule(x * c, x * c), rule(x * c, x + c)});
  EXPECT_EQ(text(rewrite(a * 2, same)), "a + 2");
}

TEST_F(Rewriter, OrderDecidesWhatARuleSees) {
  const RuleSet rules("order", {rule(x * 2 + x, x * 3), rule(x * 2, x + x)});
  const UOp sum = a * 2 + a;
  EXPECT_EQ(text(rewrite(sum, rules)), "a + a + a") << "the source was expanded first";
  EXPECT_EQ(text(rewrite(sum, rules, {.order = Order::TopDown})), "a*3") << "the sum as written";
}

TEST_F(Rewriter, TopDownMeetsARebuiltNodeAgain) {
  const RuleSet rules("again", {rule(x - x, 0), rule(x * 1, x)});
  EXPECT_EQ(text(rewrite((a * 1 - a) + b, rules, {.order = Order::TopDown})), "0 + b");
}

TEST_F(Rewriter, ASharedNodeIsRewrittenOnce) {
  const RuleSet rules("once", {rule(x * 1, x)});
  UOp tower = a * 1;
  for (int i = 0; i < 60; ++i) tower = tower - tower;  // 2^60 paths
  for (const Order order : {Order::BottomUp, Order::TopDown}) {
    Log log;
    rewrite(tower, rules, {.order = order, .trace = &log});
    EXPECT_EQ(log.lines, std::vector<std::string>{"once: a*1 -> a (x*1 -> x)"});
  }
  Log log;
  const std::vector<UOp> results =
      rewrite(std::vector<UOp>{a * 1, (a * 1) / 2}, rules, {.trace = &log});
  EXPECT_EQ(text(results[0]), "a");
  EXPECT_EQ(text(results[1]), "a//2");
  EXPECT_EQ(log.lines.size(), 1u) << "the memo serves all roots";
}

TEST_F(Rewriter, OnceDoesNotLookIntoResults) {
  const RuleSet grow("grow", {rule(x * c, (x * c) * 3)});
  EXPECT_EQ(text(rewrite_once(a * 2, grow)), "a*2*3");
  EXPECT_EQ(text(rewrite_once((a * 2) / 5 * 2, grow)), "a*2*3//5*2*3")
      << "each node of the input once";
  const RuleSet chain("chain", {rule(x + 1, x + 2), rule(x + 2, x + 3)});
  EXPECT_EQ(text(rewrite_once(a + 1, chain)), "a + 2");
  EXPECT_EQ(text(rewrite(a + 1, chain)), "a + 3");
}

TEST_F(Rewriter, FunctionsSeeTheContext) {
  const RuleSet rules("context", {rule(x * c, [](const Match& m) {
                        const int* offset = m.context<int>();
                        return offset == nullptr ? UOp() : m[x] + *offset;
                      })});
  const int seven = 7;
  EXPECT_EQ(text(rewrite(a * 2, rules, {.context = &seven})), "a + 7");
  EXPECT_EQ(text(rewrite_once(a * 2, rules, {.context = &seven})), "a + 7");
  EXPECT_EQ(text(rewrite(a * 2, rules)), "a*2");
}

TEST_F(Rewriter, ATraceHearsEveryApplicationInOrder) {
  const RuleSet rules("fold",
                      {rule(x * 1, x), rule(x + x, x * 2), rule((x * c) * d, x * fold(c * d))});
  Log log;
  rewrite((a * 1 + a) * 3, rules, {.trace = &log});
  rewrite(b * 1, rules, {.pass = "named", .trace = &log});
  rewrite_once(b * 1, rules, {.trace = &log});
  EXPECT_EQ(log.lines, (std::vector<std::string>{
                           "fold: a*1 -> a (x*1 -> x)",
                           "fold: a + a -> a*2 (x + x -> x*2)",
                           "fold: a*2*3 -> a*6 ((x*c)*d -> x*fold(c*d))",
                           "named: b*1 -> b (x*1 -> x)",
                           "fold: b*1 -> b (x*1 -> x)",
                       }));
}

TEST_F(Rewriter, ACycleIsNamed) {
  const RuleSet two("two", {rule(x + x, x * 2), rule(x * 2, x + x), rule(x / 1, x)});
  for (const Order order : {Order::BottomUp, Order::TopDown}) {
    const std::string error = error_of((a + a) / 1, two, {.order = order});
    EXPECT_TRUE(contains(error, "two: the rules do not come to an end")) << error;
    EXPECT_TRUE(contains(error, "x + x -> x*2 (rewriter_test.cpp:")) << error;
    EXPECT_TRUE(contains(error, "x*2 -> x + x (rewriter_test.cpp:")) << error;
    EXPECT_FALSE(contains(error, "x/1 -> x")) << "no part of the cycle: " << error;
  }
  const RuleSet three("three", {rule(x + 1, x + 2), rule(x + 2, x + 3), rule(x + 3, x + 1)});
  const std::string error = error_of(a + 2, three);
  for (const char* part : {"x + 1 -> x + 2", "x + 2 -> x + 3", "x + 3 -> x + 1"})
    EXPECT_TRUE(contains(error, part)) << error;
}

// A result that contains what it replaces would grow for ever.
TEST_F(Rewriter, AResultAroundItselfIsNamed) {
  const RuleSet rules("around", {rule(x * 2, x * 2 + 0)});
  const std::string error = error_of(b - a * 2, rules, {.pass = "lower"});
  EXPECT_TRUE(contains(error, "lower: the rules do not come to an end at a*2")) << error;
  EXPECT_TRUE(contains(error, "x*2 -> (x*2) + 0")) << error;
}

TEST_F(Rewriter, GrowthMeetsTheBudget) {
  const RuleSet rules("growth", {rule(-x, -(x + 1)), rule(x / 1, x)});
  const std::string error = error_of(-(a / 1), rules, {.budget = 1000});
  EXPECT_TRUE(contains(error, "growth: the rules do not come to an end after 1000 applications"))
      << error;
  EXPECT_TRUE(contains(error, "neg(x) -> neg(x + 1)")) << error;
  EXPECT_FALSE(contains(error, "x/1 -> x")) << "used once, long ago: " << error;
}

TEST_F(Rewriter, TheBudgetCountsApplications) {
  const RuleSet rules("count", {rule(x * 1, x)});
  UOp chain = a;
  for (int i = 0; i < 50; ++i) chain = (chain - b) * 1;
  EXPECT_EQ(error_of(chain, rules, {.budget = 50}), "");
  EXPECT_NE(error_of(chain, rules, {.budget = 49}), "");
}

TEST_F(Rewriter, ADtypeMayNotChange) {
  const RuleSet rules("cast", {rule(x * 2, [](const Match& m) { return cast(m[x], dtypes::i8); })});
  const std::string error = error_of(a * 2, rules, {.pass = "narrow"});
  EXPECT_TRUE(contains(error, "narrow: rule x*2 -> function")) << error;
  EXPECT_TRUE(contains(error, "turned index into i8")) << error;
}

// A scalar is no replacement for a tensor of that value: such a rule does not apply.
TEST_F(Rewriter, AShapeMayNotChange) {
  const RuleSet rules("shape", {rule(x - x, 0), rule(x * 1, x)});
  const UOp tensor = make(Op::Expand, {make(Op::Reshape, {a, sizes({1, 1})}), sizes({2, 3})});
  ASSERT_NE(tensor->shape(), nullptr);
  EXPECT_TRUE(rewrite(tensor - tensor, rules).is(tensor - tensor));
  EXPECT_EQ(text(rewrite(a - a, rules)), "0");
}

TEST_F(Rewriter, LongChainsNeedNoStack) {
  const RuleSet rules("chain", {rule(x * 1, x), rule(x - 0, x)});
  UOp chain = a;
  for (int i = 0; i < 100'000; ++i) chain = (chain - b) * 1;
  for (const Order order : {Order::BottomUp, Order::TopDown})
    EXPECT_EQ(toposort(rewrite(chain, rules, {.order = order}).node()).size(), 100'002u);
  EXPECT_EQ(toposort(rewrite_once(chain, rules).node()).size(), 100'002u);
  UOp nothing = a;
  for (int i = 0; i < 100'000; ++i) nothing = nothing * 1;
  EXPECT_TRUE(rewrite(nothing, rules).is(a));
}

TEST_F(Rewriter, ALongRowOfResultsNeedsNoStack) {
  const RuleSet rules("row", {rule(x + c, x + fold(c + 1), when(c < 100'000))});
  EXPECT_EQ(text(rewrite(a + 0, rules)), "a + 100000");
}

TEST_F(Rewriter, AnArenaKeepsWhatIsRewrittenInIt) {
  const RuleSet rules("fold", {rule(x * 1, x)});
  const std::size_t shared = shared_graph().size();
  const UOp result = rewrite((a * 1) - b, rules);
  EXPECT_TRUE(result.is(a - b));
  EXPECT_FALSE(result->is_counted());
  EXPECT_EQ(shared_graph().size(), shared);
  EXPECT_TRUE(rewrite(std::vector<UOp>{}, rules).empty());
}

TEST(RewriterInTheSharedGraph, ResultsAreSharedAndNothingLeaks) {
  const RuleSet rules("fold", {rule(x * 1, x), rule(x + x, x * 2)});
  const std::size_t before = shared_graph().size();
  {
    const UOp a = Variable("a", 0, 9), b = Variable("b", 0, 9);
    for (const Drive drive : {Drive(rewrite), Drive(rewrite_once)}) {
      const std::size_t leaves = shared_graph().size();
      {
        const UOp root = (a * 1) - b;
        const UOp result = drive(root, rules, {});
        EXPECT_TRUE(result->is_counted());
        EXPECT_TRUE(result.is(a - b)) << "the leaves are the same nodes";
      }
      EXPECT_EQ(shared_graph().size(), leaves);
    }
    const auto both = rewrite(std::vector<UOp>{a + a, b * 1}, rules);
    EXPECT_TRUE(both[0].is(a * 2));
    EXPECT_TRUE(both[1].is(b));
    UOp chain = a;
    for (int i = 0; i < 100'000; ++i) chain = (chain - b) * 1;
    EXPECT_EQ(toposort(rewrite(chain, rules).node()).size(), 100'002u);
  }
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(RewriterInTheSharedGraph, AnErrorLeaksNothing) {
  const RuleSet cycle("cycle", {rule(x + x, x * 2), rule(x * 2, x + x)});
  const std::size_t before = shared_graph().size();
  {
    const UOp a = Variable("a", 0, 9), root = a + a;
    EXPECT_NE(error_of(root, cycle), "");
    EXPECT_TRUE(Interner::current().counted()) << "the scope is left";
    EXPECT_EQ(text(rewrite(root, RuleSet("fine", {rule(x + x, x)}))), "a");
  }
  EXPECT_EQ(shared_graph().size(), before);
}

TEST_F(Rewriter, OriginsFollow) {
  const auto origin_of = [&](const UOp& node) {
    return arena_.origin(node.node()).value_or(Origin{0});
  };
  const auto annotate = [&](const UOp& node, Origin origin) {
    arena_.annotate(node.node(), origin);
  };
  const RuleSet rules("origins", {rule(x + x, x * 2), rule(x * 1, x)});
  const UOp sum = a + a, difference = sum - b, own = a * 2 * 1;
  annotate(sum, Origin{10});
  annotate(difference, Origin{20});
  const UOp result = rewrite(difference, rules);
  EXPECT_EQ(origin_of(result), Origin{20}) << "a node made again for its sources";
  EXPECT_EQ(origin_of(result.src(0)), Origin{10}) << "a node that replaces another";
  annotate(own, Origin{30});
  EXPECT_EQ(origin_of(rewrite(own, rules)), Origin{10}) << "what has an origin keeps it";
  EXPECT_EQ(origin_of(rewrite_once(own / 3, rules)), Origin{0});
}

TEST(RewriterInTheSharedGraph, OriginsFollow) {
  const UOp a = Variable("a", 0, 9), sum = a + a;
  shared_graph().annotate(sum.node(), Origin{10});
  const UOp result = rewrite(sum, RuleSet("double", {rule(x + x, x * 2)}));
  EXPECT_EQ(shared_graph().origin(result.node()), Origin{10});
}

}  // namespace
}  // namespace weft
