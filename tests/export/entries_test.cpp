// Libraries whose calls have sizes, and memory that lasts, and several entry points.
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "library.h"

namespace weft {
namespace {

using Named = std::vector<NamedTensor>;
using Floats = std::vector<float>;
constexpr int ok = 0, misaligned = 1, out_of_range = 6, missing = 7;

Floats floats_in(const Bytes& bytes, std::size_t count) {
  Floats floats(count);
  std::memcpy(floats.data(), bytes.data(), count * sizeof(float));
  return floats;
}

Tensor constant(const Shape& shape, const std::string& device) {
  return (Tensor::rand(shape, {.device = device}) - 0.5F).realize().freeze();
}

// --- Sizes --------------------------------------------------------------------------------------------

// Attention over as many tokens as a call has, and what else shapes follow from them.
ExportedFunction attention_over(const std::string& device) {
  Tensor::manual_seed(3);
  const Tensor query = constant({8, 8}, device), key = constant({8, 8}, device);
  const Tensor frozen = constant({3}, device);
  return [=](const std::vector<Tensor>& given) {
    const Tensor& tokens = given[0];
    const Dim n = tokens.dims()[1];
    const Tensor scores = tokens.matmul(query).matmul(tokens.matmul(key).transpose(1, 2));
    const Tensor mixed = scores.softmax(-1).matmul(tokens);
    return Named{{"mixed", mixed},        {"flat", mixed.reshape({Dim(n.uop() * 16)})},
                 {"mean", mixed.mean(1)}, {"twice", Tensor::cat({tokens, tokens}, 1)},
                 {"tokens", tokens},      {"added", tokens + given[1].reshape({1, n, 1})},
                 {"fixed", frozen}};
  };
}

Named inputs_of(const Dim& n, const std::string& device) {
  return {{"tokens", Tensor::zeros({2, n, 8}, {.device = device}).contiguous().realize()},
          {"bias", Tensor::zeros({n}, {.device = device}).contiguous().realize()}};
}

// How many elements a shape has, of which the library says `rank` numbers from there.
std::size_t elements_of(const std::int64_t* shape, std::size_t rank) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) count *= static_cast<std::size_t>(shape[i]);
  return count;
}

class SizesOf : public testing::TestWithParam<const char*> {};

TEST_P(SizesOf, AreThoseThatTheCallSays) {
  const std::string device = export_device(GetParam());
  const ExportedFunction function = attention_over(device);
  const ExportedLibrary library({{"", function, inputs_of(open_size("count", 1, 21), device)}},
                                {.target = GetParam()});
  const weft_library_description& about = library.about();
  ASSERT_EQ(about.size_count, 1U);
  EXPECT_STREQ(about.sizes[0].name, "count");
  EXPECT_EQ(about.sizes[0].least, 1);
  EXPECT_EQ(about.sizes[0].most, 21);
  for (const std::int64_t n : {1, 2, 5, 8, 16, 20, 21}) {
    const std::vector<Tensor> given{Tensor::rand({2, n, 8}, {.device = device}).realize(),
                                    Tensor::rand({n}, {.device = device}).realize()};
    std::vector<Bytes> found;
    ASSERT_EQ(library.call(about, given, found, {.sizes = {n}}), ok);
    std::vector<std::int64_t> shapes(about.shape_count);
    ASSERT_EQ(about.shapes(&n, shapes.data()), ok);
    const Named expected = function(given);
    const std::int64_t* shape = shapes.data() + about.ports[0].rank + about.ports[1].rank;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [name, tensor] = expected[i];
      const std::size_t rank = about.ports[2 + i].rank;
      EXPECT_EQ(std::vector(shape, shape + rank), tensor.shape()) << name;
      const std::size_t count = elements_of(shape, rank);
      const Floats values = floats_in(found[i], count), wanted = tensor.to_vector<float>();
      for (std::size_t at = 0; at < count; ++at)
        EXPECT_NEAR(values[at], wanted[at], 2e-6) << name << " of " << n << " at " << at;
      for (std::size_t at = count * sizeof(float); at < found[i].size(); ++at)
        ASSERT_EQ(found[i][at], std::byte(0xa5)) << name << " of " << n << " is too long";
      shape += rank;
    }
  }
  std::vector<Bytes> none;
  const std::vector<Tensor> given = {Tensor::zeros({2, 22, 8}), Tensor::zeros({22})};
  for (const std::int64_t n : {0, -1, 22})
    EXPECT_EQ(library.call(about, given, none, {.sizes = {n}}), out_of_range);
}

INSTANTIATE_TEST_SUITE_P(Targets, SizesOf, testing::Values("cpu=native", "cpu=x86-64-v2", "c"),
                         [](const auto& info) { return std::to_string(info.index); });

// Of what has no axes there are no shapes to tell.
TEST(ExportSizes, MayBeAllThatACallSays) {
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    const Dim n = open_size("n", 1, 9);
    const ExportedFunction function = [&](const std::vector<Tensor>& given) {
      return Named{{"y", given[0] * Tensor::ones({n}, {.device = device}).sum()}};
    };
    const Named inputs{{"x", Tensor::full({}, 2.0F, {.device = device}).realize()}};
    const ExportedLibrary library({{"", function, inputs, {n}}}, {.target = target});
    std::vector<Bytes> found;
    ASSERT_EQ(library.call(library.about(), {Tensor::full({}, 2.0F)}, found, {.sizes = {5}}), ok);
    EXPECT_EQ(floats_in(found[0], 1)[0], 10) << target;
    EXPECT_EQ(library.about().shape_count, 0U);
  }
}

TEST(ExportSizes, HaveNamesInTheHeader) {
  const Dim rows = open_size("rows", 2, 4), columns = open_size("x", 1, 3);
  const ExportedFunction function = [](const std::vector<Tensor>& given) {
    return Named{{"sum", given[0].sum(1) + given[1]}};
  };
  const Named inputs{{"x", Tensor::zeros({rows, columns}).contiguous().realize()},
                     {"state", Tensor::zeros({rows}).contiguous().realize()}};
  const ExportedLibrary library({{"", function, inputs}}, {});
  const std::string header = text_of_file(library.file("net.h"));
  for (const char* part :
       {"int64_t rows; /* 2 to 4 */", "int64_t x_2; /* 1 to 3 */",
        "const float *x; /* input: f32[4, 3] at most */", "const float *state_2;",
        "const net_sizes *sizes;", "#define NET_SHAPES 4", "#define NET_ROWS_MOST 4",
        "int net_shapes(const net_sizes *sizes, int64_t *shapes);"})
    EXPECT_NE(header.find(part), std::string::npos) << part << "\nin\n" << header;
}

TEST(ExportSizes, AreThoseOfInputs) {
  const TemporaryFolder folder;
  const Dim other = open_size("other", 1, 3);
  const ExportedFunction function = [&](const std::vector<Tensor>& given) {
    return Named{{"y", given[0].sum() + Tensor::zeros({other})}};
  };
  const Named inputs{{"x", Tensor::ones({4}).realize()}};
  const std::string error =
      error_of([&] { return export_c(function, inputs, folder.path().string()); });
  EXPECT_NE(error.find("a size of 'y' is open, and no input's"), std::string::npos) << error;
}

// --- State --------------------------------------------------------------------------------------------

class StateOf : public testing::TestWithParam<const char*> {};

// A sum and a maximum of all that was seen, beginning with zeros and with numbers.
TEST_P(StateOf, LastsFromCallToCall) {
  const std::string device = export_device(GetParam());
  Tensor sum = Tensor::zeros({5}, {.device = device}).contiguous().realize();
  Tensor most = Tensor::full({5}, 0.5F, {.device = device}).contiguous().realize();
  const ExportedFunction function = [&](const std::vector<Tensor>& given) {
    sum.assign(sum + given[0]);
    most.assign(most.maximum(given[0]));
    return Named{{"mean", sum / 2}, {"most", most}};
  };
  const Named inputs{{"x", Tensor::zeros({5}, {.device = device}).contiguous().realize()}};
  const ExportedLibrary library({{"", function, inputs}},
                                {.target = GetParam(), .state = {{"sum", sum}, {"most", most}}});
  EXPECT_EQ(sum.to_vector<float>(), Floats(5, 0));  // exporting changes nothing
  EXPECT_EQ(most.to_vector<float>(), Floats(5, 0.5F));
  const weft_library_description& about = library.about();
  EXPECT_EQ(about.state_bytes, 128U);  // two parts, each a line
  const Aligned one(about.state_bytes), other(about.state_bytes);
  for (const Aligned* state : {&one, &other})
    EXPECT_EQ(about.start(library.weights().at(), state->at()), ok);
  Floats total(5, 0), largest(5, 0.5F);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = Tensor::rand({5}, {.device = device}).realize();
    std::vector<Bytes> found;
    ASSERT_EQ(library.call(about, {x}, found, {.state = one.at()}), ok);
    for (std::size_t at = 0; at < 5; ++at) {
      const float value = x.to_vector<float>()[at];
      total[at] += value;
      largest[at] = std::max(largest[at], value);
      EXPECT_EQ(floats_in(found[0], 5)[at], total[at] / 2);
    }
    EXPECT_EQ(floats_in(found[1], 5), largest);
  }
  const std::string header = text_of_file(library.file("net.h"));
  EXPECT_NE(header.find("#define NET_STATE_MOST 0 /* where it begins: f32[5] */"),
            std::string::npos);
  EXPECT_NE(header.find("#define NET_STATE_SUM 64"), std::string::npos);
  Floats kept(5), untouched(5);
  std::memcpy(kept.data(), one.at(64), 5 * sizeof(float));
  std::memcpy(untouched.data(), other.at(64), 5 * sizeof(float));
  EXPECT_EQ(kept, total);
  EXPECT_EQ(untouched, Floats(5, 0));
  EXPECT_EQ(about.start(library.weights().at(), one.at(4)), misaligned);
  std::vector<Bytes> none;
  EXPECT_EQ(library.call(about, {Tensor::zeros({5})}, none, {.state = one.at(8)}), misaligned);
}

INSTANTIATE_TEST_SUITE_P(Targets, StateOf, testing::Values("cpu=native", "c"),
                         [](const auto& info) { return std::to_string(info.index); });

// What has to be there and is NULL is an error, and nothing is run.
TEST_P(StateOf, HasToBeThere) {
  const std::string device = export_device(GetParam());
  Tensor sum = Tensor::zeros({3}, {.device = device}).contiguous().realize();
  const ExportedFunction function = [&](const std::vector<Tensor>& given) {
    sum.assign(sum + given[0].sum(0));
    return Named{{"sum", sum}};
  };
  const Named inputs{
      {"x", Tensor::zeros({open_size("n", 1, 4), 3}, {.device = device}).contiguous().realize()}};
  const ExportedLibrary library({{"", function, inputs}}, {.target = GetParam()});
  const weft_library_description& about = library.about();
  EXPECT_EQ(about.version, unsigned{WEFT_LIBRARY_VERSION});
  std::int64_t n = 2;
  std::array<float, 12> x{};
  std::array<float, 3> y{};
  const Aligned state(about.state_bytes), workspace(about.workspace_bytes);
  ASSERT_EQ(about.start(library.weights().at(), state.at()), ok);
  const std::array<void*, 4> all{x.data(), y.data(), &n, state.at()};
  const auto status_of = [&](void* const* ports, const void* weights) {
    return about.run(ports, weights, workspace.at(), nullptr);
  };
  EXPECT_EQ(status_of(all.data(), library.weights().at()), ok);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::array<void*, 4> given = all;
    given[i] = nullptr;
    EXPECT_EQ(status_of(given.data(), library.weights().at()), missing) << i;
  }
  EXPECT_EQ(status_of(all.data(), nullptr), missing);
  EXPECT_EQ(about.verify(nullptr, library.weights().size), missing);
  EXPECT_EQ(about.start(library.weights().at(), nullptr), missing);
  std::vector<std::int64_t> shapes(about.shape_count);
  EXPECT_EQ(about.shapes(nullptr, shapes.data()), missing);
  EXPECT_EQ(about.shapes(&n, nullptr), missing);
}

// A step that is given nothing.
TEST_P(StateOf, MayBeAllThatThereIs) {
  const std::string device = export_device(GetParam());
  Tensor count = Tensor::zeros({1}, {.device = device}).contiguous().realize();
  const ExportedFunction tick = [&](const std::vector<Tensor>&) {
    count.assign(count + 1);
    return Named{};
  };
  const ExportedLibrary library({{"", tick, {}}},
                                {.target = GetParam(), .state = {{"bytes", count}}});
  const Aligned state(library.about().state_bytes);
  ASSERT_EQ(library.about().start(library.weights().at(), state.at()), ok);
  std::vector<Bytes> none;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(library.call(library.about(), {}, none, {.state = state.at()}), ok);
  EXPECT_EQ(*static_cast<const float*>(state.at()), 3);
  const std::string header = text_of_file(library.file("net.h"));
  EXPECT_NE(header.find("#define NET_STATE_BYTES 64\n"), std::string::npos);
  EXPECT_NE(header.find("#define NET_STATE_BYTES_2 0 "), std::string::npos);
}

// Values that gradients pass through are in memory like others.
TEST(ExportState, MayBeAssignedWhatIsTracked) {
  Tensor state = Tensor::zeros({3}).contiguous().realize();
  const Tensor weight = Tensor::full({3}, 2.0F).realize().set_requires_grad();
  const ExportedFunction function = [&](const std::vector<Tensor>& given) {
    state.assign(state + weight * given[0]);
    return Named{{"y", state}};
  };
  const ExportedLibrary library({{"", function, {{"x", Tensor::ones({3}).realize()}}}}, {});
  const Aligned memory(library.about().state_bytes);
  ASSERT_EQ(library.about().start(library.weights().at(), memory.at()), ok);
  std::vector<Bytes> found;
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(library.call(library.about(), {Tensor::ones({3})}, found, {.state = memory.at()}),
              ok);
  EXPECT_EQ(floats_in(found[0], 3), Floats(3, 4));
}

// Whatever is wrong with a function, what it assigned to before that was seen is as it was.
TEST(ExportState, IsAsItWasWhereExportIsRefused) {
  const TemporaryFolder folder;
  Tensor state = Tensor::ones({3}).contiguous().realize(), lazy = Tensor::ones({3}) * 5;
  const Named inputs{{"x", Tensor::ones({3}).contiguous().realize()}};
  const auto refused = [&](const ExportedFunction& function) {
    const ExportedFunction plain = [&](const std::vector<Tensor>& given) {
      state.assign(state + given[0]);
      lazy.assign(lazy + 1);
      return Named{{"y", state}};
    };
    const std::string error = error_of([&] {
      return export_c({{"plain", plain, inputs}, {"other", function, inputs}},
                      folder.path().string());
    });
    EXPECT_EQ(state.to_vector<float>(), Floats(3, 1)) << error;
    EXPECT_EQ(lazy.to_vector<float>(), Floats(3, 5)) << error;
    EXPECT_EQ(inputs[0].second.to_vector<float>(), Floats(3, 1)) << error;
    return error;
  };
  const auto expect = [](const std::string& error, const char* part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect(refused([&](const std::vector<Tensor>& given) {
           state.assign(given[0] + Tensor::rand({3}));
           return Named{{"y", state}};
         }),
         "draws random numbers");
  expect(refused([&](const std::vector<Tensor>& given) {
           state.assign(given[0] * given[0].sum().item<float>());
           return Named{{"y", state}};
         }),
         "reads the values");
  expect(refused([&](const std::vector<Tensor>& given) -> Named {
           state.assign(given[0] * 7);
           throw Error("no more");
         }),
         "no more");
  expect(refused([](const std::vector<Tensor>& given) {
           Tensor own = given[0];
           own.assign(own + 1);
           return Named{{"y", own}};
         }),
         "assigns to an argument");
}

struct Perceptron {
  nn::Linear hidden{2, 8}, out{8, 1};
  Tensor operator()(const Tensor& x) const { return out(hidden(x).tanh()); }
  WEFT_FIELDS(hidden, out);
};

// A library that learns, bit for bit as this process does.
TEST(ExportState, OfATrainingStepIsWhatItLearns) {
  Tensor::manual_seed(11);
  Perceptron model;
  nn::AdamW optimizer(model, {.lr = 0.05});
  const Training training;
  auto step = jit([&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    Tensor loss = functional::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  const Tensor x = Tensor::rand({16, 2}).realize(), y = x.prod(1, {.keepdim = true}).realize();
  const StateDict weights = get_state_dict(model);
  const ExportedLibrary library({export_entry("step", step, x, y)},
                                {.state = {weights.begin(), weights.end()}});
  const weft_library_description& about = library.about("step");
  const Aligned state(about.state_bytes);
  ASSERT_EQ(about.start(library.weights().at(), state.at()), ok);
  Floats losses, expected;
  for (int i = 0; i < 8; ++i) {
    std::vector<Bytes> found;
    ASSERT_EQ(library.call(about, {x, y}, found, {.state = state.at()}), ok);
    losses.push_back(floats_in(found[0], 1)[0]);
    expected.push_back(step(x, y).item<float>());
  }
  EXPECT_EQ(losses, expected);
  EXPECT_LT(losses.back(), losses.front());
  const std::string header = text_of_file(library.file("net.h"));
  for (const char* name : {"HIDDEN_WEIGHT", "HIDDEN_BIAS", "OUT_WEIGHT", "OUT_BIAS"})
    EXPECT_NE(header.find(fmt::format("#define NET_STATE_{} ", name)), std::string::npos) << name;
}

// --- Entry points -------------------------------------------------------------------------------------

TEST(ExportEntries, ShareWeightsAndState) {
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    Tensor cache = Tensor::zeros({4, 3}, {.device = device}).contiguous().realize();
    const Tensor by = Tensor::rand({3, 3}, {.device = device}).realize();
    const Named key{
        {"key", Tensor::rand({3}, {.device = device}).realize()},
        {"row", Tensor::randint({1}, 0, 4, {.dtype = dtypes::i64, .device = device}).realize()}};
    const ExportedFunction put = [&](const std::vector<Tensor>& given) {
      const Tensor is_row =
          Tensor::arange(4, {.dtype = dtypes::i64, .device = device}).eq(given[1]).reshape({4, 1});
      cache.assign(is_row.where(given[0].matmul(by), cache));
      return Named{{"norm", given[0].square().sum()}};
    };
    const ExportedFunction get = [&](const std::vector<Tensor>& given) {
      return Named{{"found", cache.matmul(given[0].matmul(by))}};
    };
    const ExportedLibrary library({{"put", put, key}, {"get", get, {key[0]}}}, {.target = target});
    const weft_library_description &first = library.about("put"), &second = library.about("get");
    EXPECT_STREQ(first.entry, "put");
    EXPECT_STREQ(second.entry, "get");
    EXPECT_EQ(first.next, &second);
    EXPECT_EQ(second.next, nullptr);
    // One matrix, and what stands before it.
    EXPECT_EQ(library.report().weights_bytes, 64U + 64U) << target;
    const Aligned state(first.state_bytes);
    ASSERT_EQ(first.start(library.weights().at(), state.at()), ok);
    std::vector<Bytes> found;
    for (std::int64_t row : {2, 0}) {
      const Tensor x = Tensor::arange(3, {.dtype = dtypes::f32}) + row;
      ASSERT_EQ(library.call(first, {x, Tensor::full({1}, row, {.dtype = dtypes::i64})}, found,
                             {.state = state.at()}),
                ok);
    }
    const Tensor x = Tensor::ones({3});
    ASSERT_EQ(library.call(second, {x}, found, {.state = state.at()}), ok);
    const Tensor own = by.to("CPU"),
                 keys = Tensor::stack(
                     {Tensor::arange(3, {.dtype = dtypes::f32}), Tensor::zeros({3}),
                      Tensor::arange(3, {.dtype = dtypes::f32}) + 2, Tensor::zeros({3})});
    const Floats wanted = keys.matmul(own).matmul(x.matmul(own)).to_vector<float>();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(floats_in(found[0], 4)[i], wanted[i], 1e-5);
  }
}

// Memory that a tensor gets when it is first assigned to is also that of entry points in front of the one that does it.
TEST(ExportEntries, SeeWhatLaterOnesAssign) {
  const Named inputs{{"x", Tensor::ones({4}).realize()}};
  for (const bool assigns_part : {false, true}) {
    Tensor weight = (Tensor::ones({4}) * 2).realize();
    const ExportedFunction infer = [&](const std::vector<Tensor>& given) {
      return Named{{"y", given[0] * weight}};
    };
    const ExportedFunction step = [&](const std::vector<Tensor>& given) {
      if (assigns_part)
        weight[1].assign(weight[1] + given[0][0]);
      else
        weight.assign(weight + given[0]);
      return Named{{"w", weight.sum()}};
    };
    const ExportedLibrary library({{"infer", infer, inputs}, {"step", step, inputs}}, {});
    const Aligned state(library.about("infer").state_bytes);
    ASSERT_EQ(library.about("step").start(library.weights().at(), state.at()), ok);
    std::vector<Bytes> found;
    for (const char* entry : {"step", "infer"})
      ASSERT_EQ(
          library.call(library.about(entry), {Tensor::ones({4})}, found, {.state = state.at()}),
          ok);
    EXPECT_EQ(floats_in(found[0], 4), assigns_part ? (Floats{2, 3, 2, 2}) : Floats(4, 3));
    EXPECT_EQ(weight.to_vector<float>(), Floats(4, 2));
  }
}

// One of which another begins with: no names of theirs are the same.
TEST(ExportEntries, MayHaveNamesThatGoOn) {
  for (const char* target : {"cpu=native", "c"}) {
    const std::string device = export_device(target);
    const Named inputs{
        {"x", Tensor::zeros({open_size("n", 1, 3)}, {.device = device}).contiguous().realize()}};
    const ExportedFunction plain = [](const auto& given) { return Named{{"y", given[0] + 1}}; };
    std::vector<ExportEntry> entries;
    for (const char* name : {"a", "a_in", "a_check", "a_shapes", "a_sizes"})
      entries.push_back({name, plain, inputs});
    const ExportedLibrary library(entries, {.target = target});
    for (const ExportEntry& entry : entries) {
      std::vector<Bytes> found;
      ASSERT_EQ(library.call(library.about(entry.name), {Tensor::ones({2})}, found, {.sizes = {2}}),
                ok);
      EXPECT_EQ(floats_in(found[0], 2), Floats(2, 2)) << target << " " << entry.name;
    }
  }
}

TEST(ExportEntries, HaveNames) {
  const TemporaryFolder folder;
  const Named inputs{{"x", Tensor::ones({4}).realize()}};
  const ExportedFunction plain = [](const auto& given) { return Named{{"y", given[0] + 1}}; };
  const auto refused = [&](const std::vector<ExportEntry>& entries) {
    return error_of([&] { return export_c(entries, folder.path().string()); });
  };
  EXPECT_EQ(refused({}), "export: there is no function to export");
  EXPECT_EQ(refused({{"", plain, inputs}, {"b", plain, inputs}}),
            "export: '' is no name for an entry point in C");
  EXPECT_EQ(refused({{"a-b", plain, inputs}}), "export: 'a-b' is no name for an entry point in C");
  EXPECT_EQ(refused({{"a", plain, inputs}, {"A", plain, inputs}}),
            "export: two entry points have the name 'A'");
  const ExportedFunction named = [](const auto& given) { return Named{{"b_y", given[0] + 1}}; };
  EXPECT_EQ(refused({{"a", named, inputs}, {"a_b", plain, inputs}}),
            "export: two things of entry points would be called NET_A_B_Y_SHAPE in C");
  EXPECT_EQ(refused({{"a", [](const auto&) { return Named{}; }, {}}}),
            "export: 'net_a' is given nothing, and gives nothing");
  Tensor state = Tensor::zeros({4}).contiguous().realize();
  const ExportedFunction keeps = [&](const auto& given) {
    state.assign(state + given[0]);
    return Named{{"y", state}};
  };
  const std::string error = error_of([&] {
    return export_c({{"", keeps, {{"state_x", inputs[0].second}}}}, folder.path().string(),
                    {.state = {{"x_rank", state}}});
  });
  EXPECT_EQ(error,
            "export: the header would have two numbers NET_STATE_X_RANK: name one of what they are "
            "of otherwise");
}

}  // namespace
}  // namespace weft
