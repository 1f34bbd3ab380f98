// Which lines, or names of the program's own, DEBUG=2 names. Lines are taken where they are, so each statement of interest has a line.
#include <weft/dev/engine/callers.h>

#include <functional>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <weft/checkpoint.h>
#include <weft/dev/engine/call_list.h>
#include <weft/dev/engine/realize.h>
#include <weft/settings.h>
#include <weft/tensor.h>

#include "../support/threads.h"

namespace program {

using weft::Tensor;

Tensor tripled(const Tensor& x) {
  Tensor result = x * 3;
  return result;
}
constexpr int tripled_line = __LINE__ - 3;

}  // namespace program

namespace weft {
namespace {

using Lines = std::vector<std::string>;

std::string here(int line) { return "callers_test.cpp:" + std::to_string(line); }

// The last column of each line about a kernel or a copy: what comes after the bandwidth.
Lines callers_in(const std::string& report) {
  Lines lines;
  std::istringstream text(report);
  for (std::string line; std::getline(text, line);)
    if (const auto rate = line.find(" GB/s"); rate != line.npos)
      lines.push_back(line.size() == rate + 5 ? "" : line.substr(rate + 7));
  return lines;
}

class Callers : public testing::Test {
 protected:
  template <class... Tensors>
  static Lines of(const Tensors&... tensors) {
    return of_run([&] { Tensor::realize({tensors...}); });
  }
  template <class Run>
  static Lines of_run(Run&& run) {
    testing::internal::CaptureStderr();
    run();
    return callers_in(testing::internal::GetCapturedStderr());
  }

  const Context loud_{{"DEBUG", 2}};
  const Tensor a_{1.0f, 2.0f, 3.0f, 4.0f}, b_{5.0f, 6.0f, 7.0f, 8.0f};
};

TEST_F(Callers, TwoKernelsOfTwoLines) {
  const int first = __LINE__ + 1;
  const Tensor sum = a_ + b_;
  const int second = __LINE__ + 1;
  const Tensor difference = b_ - 11;
  EXPECT_EQ(of(sum), Lines{here(first)});
  EXPECT_EQ(of(difference), Lines{here(second)});
}

TEST_F(Callers, StandInTheLastColumn) {
  const int line = __LINE__ + 1;
  const Tensor sum = a_ + 12;
  testing::internal::CaptureStderr();
  sum.realize();
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("GB/s  " + here(line) + "\n"), std::string::npos) << report;
}

TEST_F(Callers, OfAFunctionOfTheProgram) {
  const int line = __LINE__ + 1;
  const Tensor direct = a_ * 4;
  const Tensor through = program::tripled(a_);
  EXPECT_EQ(of(direct), Lines{here(line)});
  EXPECT_EQ(of(through), Lines{here(program::tripled_line)});
}

TEST_F(Callers, AFusedKernelIsOfItsOutermostOp) {
  const Tensor sum = a_ + b_;
  const Tensor product = sum * 13;
  const int line = __LINE__ + 1;
  const Tensor result = product.relu();
  EXPECT_EQ(of(result), Lines{here(line)});
}

TEST_F(Callers, OfMethodsThatUseOthers) {
  const int line = __LINE__ + 1;
  const Tensor softmax = (a_ + 14).softmax(0);
  const int mean_line = __LINE__ + 1;
  const Tensor mean = a_.reshape({2, 2}).mean(1);
  EXPECT_EQ(of(softmax), Lines{here(line)});
  EXPECT_EQ(of(mean), Lines{here(mean_line)});
}

// A plan of one graph runs the other.
TEST_F(Callers, OfTheGraphThatRuns) {
  const int line = __LINE__ + 1;
  const Tensor first = (a_ * 15).exp2();
  const Tensor second = (b_ * 15).exp2();
  EXPECT_EQ(of(first), Lines{here(line)});
  EXPECT_EQ(of(second), Lines{here(line + 1)});
}

TEST_F(Callers, OfAPlanThatWasMadeQuietly) {
  {
    const Context quiet{{"DEBUG", 0}};
    (b_ * 16).exp2().realize();
  }
  const int line = __LINE__ + 1;
  const Tensor loud = (a_ * 16).exp2();
  EXPECT_EQ(of(loud), Lines{here(line)});
  const Context quiet{{"DEBUG", 1}};
  EXPECT_EQ(of((b_ * 17 + a_).exp2()), Lines{});
}

TEST_F(Callers, AreNotNotedQuietly) {
  const Context quiet{{"DEBUG", 1}};
  const Tensor sum = a_ + 18;
  EXPECT_EQ(shared_graph().origin(sum.uop().node()), std::nullopt);
  const Context loud{{"DEBUG", 2}};
  EXPECT_EQ(of(sum), Lines{""});
}

TEST_F(Callers, TheFirstToMakeANodeStays) {
  const int line = __LINE__ + 1;
  const Tensor first = a_ + 19;
  const Tensor second = a_ + 19;
  ASSERT_TRUE(first.uop().is(second.uop()));
  EXPECT_EQ(of(second), Lines{here(line)});
}

TEST_F(Callers, OneKernelOfTwoLines) {
  const Tensor both = a_.reshape({2, 2}) * 20;
  const int line = __LINE__ + 1;
  const Tensor sum = both.sum(1);
  const Tensor product = both.prod(1);
  EXPECT_EQ(of(sum, product), Lines{here(line) + ", " + here(line + 1)});
  const int same = __LINE__ + 1;
  const Tensor left = both.exp2(), right = both.log2();
  EXPECT_EQ(of(left, right), Lines{here(same)});
}

TEST_F(Callers, OfWhatIsComputedOnTheWay) {
  const int line = __LINE__ + 1;
  const Tensor sum = (a_ + 21).exp2();
  const Tensor kept = sum.contiguous();
  const Tensor result = kept * b_;
  EXPECT_EQ(of(result), (Lines{here(line + 1), here(line + 2)}));
}

TEST_F(Callers, OfViews) {
  const int line = __LINE__ + 1;
  const Tensor padded = a_.pad({{1, 1}});
  EXPECT_EQ(of_run([&] { padded.to_vector<float>(); }), Lines{here(line)})
      << "the engine puts them in order";
  const Tensor table = a_.reshape({2, 2}) + 22;
  const int turned_line = __LINE__ + 1;
  const Tensor turned = table.permute({1, 0});
  table.realize();
  EXPECT_EQ(of_run([&] { turned.to_vector<float>(); }), Lines{here(turned_line)})
      << "of another version";
}

TEST_F(Callers, OfViewsOfWhatIsAssigned) {
  Tensor target = Tensor({1.0f, 2.0f, 3.0f, 4.0f});
  const int line = __LINE__ + 1;
  const Tensor turned = target.flip(0);
  target.assign(5);
  EXPECT_EQ(of_run([&] { turned.to_vector<float>(); }), (Lines{here(line + 1), here(line)}));
}

TEST_F(Callers, OfAssignments) {
  Tensor target = Tensor({1.0f, 2.0f, 3.0f, 4.0f});
  const int line = __LINE__ + 1;
  const Tensor sum = a_ + 23;
  target.assign(sum);
  EXPECT_EQ(of(target), Lines{here(line)}) << "what is stored";
  const int assigned = __LINE__ + 1;
  target.assign(b_);
  EXPECT_EQ(of(target), Lines{here(assigned)}) << "it is in memory";
  target += 1;
  EXPECT_EQ(of(target), Lines{here(assigned + 2)});
  Tensor leaf = (a_ + 24).realize();
  const int own = __LINE__ + 1;
  leaf.set_requires_grad();
  EXPECT_EQ(of(leaf), Lines{here(own)}) << "into memory of its own";
}

TEST_F(Callers, OfCopies) {
  const int line = __LINE__ + 1;
  const Tensor sum = a_ + 24;
  const Tensor there = sum.to("INTERP");
  EXPECT_EQ(of(there), (Lines{here(line), here(line + 1)}));
}

TEST_F(Callers, OfGradients) {
  Tensor weights = a_ + 25;
  weights.set_requires_grad();
  const Tensor scores = (weights * a_).softmax(0);
  const Tensor loss = (scores * b_).sum();
  loss.realize();
  const int line = __LINE__ + 1;
  loss.backward();
  const Lines lines = of(weights.grad());
  EXPECT_FALSE(lines.empty());
  for (const std::string& each : lines) EXPECT_EQ(each, here(line));
}

TEST_F(Callers, OfFunctionsThatTheLibraryCalls) {
  const auto forward = [](const std::vector<Tensor>& inputs) { return inputs[0] * 25; };
  const int line = __LINE__ - 1;
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>&, const Tensor&) {
    return std::vector<Tensor>{gradient * 26};
  };
  EXPECT_EQ(of(Tensor::custom({a_}, forward, backward)), Lines{here(line)});
  const std::vector<Tensor> parts{a_, b_};
  const Tensor sum = std::accumulate(parts.begin(), parts.end(), Tensor(27.0f));
  EXPECT_EQ(of(sum), Lines{here(__LINE__ - 1)}) << "the standard library is not the program";
}

TEST_F(Callers, OfConstants) {
  const int line = __LINE__ + 1;
  const Tensor full = Tensor::full({28}, 3.0);
  EXPECT_EQ(of(full), Lines{here(line)});
  const Tensor scalar(28.5f);
  EXPECT_EQ(of(scalar), Lines{here(line + 2)});
  const Tensor random = Tensor::rand({29});
  for (const std::string& each : of(random)) EXPECT_EQ(each, here(line + 4));
}

// --- Names ------------------------------------------------------------------------------------------------

TEST_F(Callers, AreNamesWithinAScope) {
  Tensor inside, inner;
  {
    const NamedScope encoder("encoder");
    inside = a_ + 30;
    const NamedScope attention("attention", "Attention");
    inner = a_ + 31;
  }
  const int line = __LINE__ + 1;
  const Tensor outside = a_ + 32;
  EXPECT_EQ(of(inside), Lines{"encoder"});
  EXPECT_EQ(of(inner), Lines{"encoder/attention (Attention)"});
  EXPECT_EQ(of(outside), Lines{here(line)});
}

TEST_F(Callers, AreTheFirstAndTheLastNameOfAKernel) {
  const auto chain = [this](double addend) {
    Tensor value = a_ + addend;
    for (const char* name : {"first", "between", "last"}) {
      const NamedScope scope(name);
      value = value.exp2();
    }
    return value;
  };
  EXPECT_EQ(of(chain(33)), Lines{"first ... last"}) << "what was made before has no name";
  const Tensor again = chain(34);
  EXPECT_EQ(of(again), Lines{"first ... last"}) << "by the same plan";
  Tensor kept;
  {
    const NamedScope scope("kept");
    kept = (a_ * 35).exp2();
  }
  Tensor reader;
  {
    const NamedScope scope("reader");
    reader = kept.contiguous().sum();
  }
  EXPECT_EQ(of(reader, kept), (Lines{"kept", "reader"})) << "what is read from memory is no part";
}

// Where values lie is found when a kernel of several sums is taken apart again.
TEST_F(Callers, AreNamesOfWhatWasPlannedAsOneKernel) {
  const auto random = [](const Shape& shape) { return Tensor::randn(shape).realize(); };
  Tensor value = random({1, 1, 28, 28});
  const Tensor first = random({12, 1, 3, 3}), second = random({24, 12, 3, 3});
  const auto in_scope = [&](const char* name, const std::function<Tensor(const Tensor&)>& make) {
    const NamedScope scope(name);
    value = make(value);
  };
  in_scope("conv1", [&](const Tensor& x) { return x.conv2d(first, {}, {.padding = 1}); });
  in_scope("relu1", [](const Tensor& x) { return x.relu(); });
  in_scope("pool", [](const Tensor& x) { return x.max_pool2d(2); });
  in_scope("conv2", [&](const Tensor& x) { return x.conv2d(second, {}, {.padding = 1}); });
  in_scope("relu2", [](const Tensor& x) { return x.relu(); });
  const Context direct{{"WINOGRAD", 0}};
  EXPECT_EQ(of(value), (Lines{"conv1", "relu1 ... pool", "conv2 ... relu2"}));
}

// Functions that are called share what they compute with other calls.
TEST_F(Callers, OfFunctionsThatAreSharedWithOthers) {
  const auto under = [](const char* name, const Tensor& x) {
    const NamedScope scope(name);
    return x.tanh() * 42;
  };
  const Tensor one = under("one", a_), other = under("other", b_);
  EXPECT_EQ(of(other), Lines{"other"});
  EXPECT_EQ(of(one), Lines{"one"});
}

TEST_F(Callers, OfCheckpoints) {
  int line = 0;
  const auto body = [&](const Tensor& x) {
    line = __LINE__ + 1;
    return x.exp2();
  };
  Tensor x = Tensor({1.0f, 2.0f}).set_requires_grad();
  const Tensor result = checkpoint(body, x);
  EXPECT_EQ(of(result), Lines{here(line)});
  const NamedScope scope("layer");
  EXPECT_EQ(of(checkpoint(body, Tensor(x + 43))), Lines{"layer"});
}

TEST_F(Callers, NumbersAreOfNoName) {
  const auto rectified = [](const char* name, const Tensor& x) {
    const NamedScope scope(name);
    return x.relu() * 41;
  };
  const Tensor one = rectified("one", a_);
  const Tensor other = rectified("other", b_);  // of the same zeros
  EXPECT_EQ(of(other), Lines{"other"});
  EXPECT_EQ(of(one), Lines{"one"});
}

TEST_F(Callers, AreNamesOfTheGraphThatRuns) {
  const auto under = [](const char* name, const Tensor& x) {
    const NamedScope scope(name);
    return (x * 36).exp2();
  };
  const Tensor one = under("one", a_), other = under("other", b_);
  EXPECT_EQ(of(one), Lines{"one"});
  EXPECT_EQ(of(other), Lines{"other"});
}

TEST_F(Callers, AnEmptyNameHidesLines) {
  const NamedScope hidden("");
  EXPECT_EQ(of(a_ + 37), Lines{""});
  const NamedScope named("named");
  EXPECT_EQ(of(a_ + 38), Lines{"named"});
}

TEST_F(Callers, AreNotedWithoutBeingPrinted) {
  const Context quiet{{"DEBUG", 0}};
  CallList list;
  const auto callers = [&] {
    std::vector<std::string> found;
    for (std::size_t call = 0; call < list.size(); ++call)
      found.push_back(list.planned(call).caller);
    return found;
  };
  const auto recorded = [&](double addend) {
    const CallList::Recording recording(list);
    const NamedScope scope("noted");
    return of_run([&] { (a_ + addend).realize(); });
  };
  EXPECT_EQ(recorded(39), Lines{});
  EXPECT_EQ(callers(), Lines{""});
  const NotingCallers noting;
  EXPECT_EQ(recorded(40), Lines{});
  EXPECT_EQ(callers(), (Lines{"", "noted"}));
}

TEST_F(Callers, FromSeveralThreads) {
  in_threads(4, [this](int thread) {
    const Context loud{{"DEBUG", 2}};
    for (int i = 0; i < 50; ++i) {
      const Tensor sum = a_ + (100 * thread + i);
      const int line = __LINE__ - 1;
      EXPECT_EQ(caller(*shared_graph().origin(sum.uop().node())), here(line));
      const std::string name = "thread " + std::to_string(thread);
      const NamedScope scope(name);
      const Tensor product = sum * (i + 2);
      EXPECT_EQ(caller(*shared_graph().origin(product.uop().node())), name);
    }
  });
}

}  // namespace
}  // namespace weft
