// Batches in order and shuffled, in several epochs and from the middle; the line of progress.

#include <algorithm>
#include <set>

#include <weft/loader.h>

#include "files.h"

namespace weft {
namespace {

using Rows = std::vector<std::vector<int>>;

Rows rest_of(DataLoader& loader) {
  Rows rows;
  for (const std::vector<Tensor>& batch : loader) rows.push_back(batch[0].to_vector<int>());
  return rows;
}

Tensor numbers(std::int64_t count) { return Tensor::arange(count); }

TEST(DataLoader, InOrder) {
  DataLoader all({numbers(5)}, {.batch_size = 2});
  EXPECT_EQ(all.batches(), 3);
  EXPECT_EQ(rest_of(all), (Rows{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(all.epoch(), 1);
  EXPECT_EQ(rest_of(all), (Rows{{0, 1}, {2, 3}, {4}}));
  DataLoader whole({numbers(5)}, {.batch_size = 2, .drop_last = true, .ahead = 0});
  EXPECT_EQ(rest_of(whole), (Rows{{0, 1}, {2, 3}}));
  DataLoader none({numbers(0)}, {.batch_size = 2});
  EXPECT_EQ(rest_of(none), Rows{});
}

TEST(DataLoader, KeepsRowsTogether) {
  const Tensor x = Tensor::arange(12).reshape({6, 2}), y = Tensor::arange(6) * 2;
  DataLoader loader({x, y.cast(dtypes::i64)}, {.batch_size = 4, .shuffle = true, .seed = 3});
  std::set<int> seen;
  for (const std::vector<Tensor>& batch : loader) {
    EXPECT_EQ(batch[1].dtype(), dtypes::i64);
    EXPECT_EQ(batch[0].size(1), 2);
    for (std::int64_t i = 0; i < batch[0].size(0); ++i) {
      EXPECT_EQ((batch[0][{i, 0}].item<int>()), batch[1][i].item<int>());
      seen.insert(batch[1][i].item<int>());
    }
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(DataLoader, OrdersDependOnSeedAndEpoch) {
  const auto order = [](std::uint64_t seed, int epoch) {
    DataLoader loader({numbers(50)}, {.batch_size = 50, .shuffle = true, .seed = seed});
    for (int i = 0; i < epoch; ++i) rest_of(loader);
    return rest_of(loader)[0];
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));
  std::vector<int> sorted = order(7, 1);
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, numbers(50).to_vector<int>());
}

TEST(DataLoader, GoesOnWhereItWas) {
  const LoaderOptions options{.batch_size = 3, .shuffle = true, .seed = 5};
  DataLoader whole({numbers(20)}, options), left({numbers(20)}, options);
  rest_of(whole), rest_of(left);
  const Rows expected = rest_of(whole);
  Rows rows;
  for (const std::vector<Tensor>& batch : left) {
    rows.push_back(batch[0].to_vector<int>());
    if (rows.size() == 2) break;
  }
  DataLoader other({numbers(20)}, {.batch_size = 3, .shuffle = true, .seed = 99});
  other.set_state(left.state());
  EXPECT_EQ(other.epoch(), 1);
  for (DataLoader* each : {&left, &other}) {
    Rows both = rows;
    for (const std::vector<int>& row : rest_of(*each)) both.push_back(row);
    EXPECT_EQ(both, expected);
  }
  EXPECT_EQ(rest_of(other), rest_of(whole));
}

TEST(DataLoader, BatchesMayBeLargerThanAllThereIs) {
  const LoaderOptions options{.batch_size = std::numeric_limits<std::int64_t>::max()};
  DataLoader loader({numbers(3)}, options);
  EXPECT_EQ(loader.batches(), 1);
  EXPECT_EQ(rest_of(loader), (Rows{{0, 1, 2}}));
}

TEST(DataLoader, OfAFunction) {
  for (const std::int64_t ahead : {0, 1, 3}) {
    DataLoader loader(4,
                      [](const DataLoader::Places& places) { return std::vector{Tensor(places)}; },
                      {.batch_size = 3, .ahead = ahead});
    EXPECT_EQ(rest_of(loader), (Rows{{0, 1, 2}, {3}}));
    DataLoader failing(4,
                       [](const DataLoader::Places& places) {
                         if (places[0] > 1) user_error("no such image");
                         return std::vector{Tensor(places)};
                       },
                       {.batch_size = 1, .ahead = ahead});
    EXPECT_EQ(error_of([&] { return rest_of(failing); }), "no such image");
    EXPECT_EQ(failing.state().to_vector<int>(), (std::vector<int>{0, 0, 2}));
  }
}

TEST(DataLoader, Errors) {
  EXPECT_EQ(error_of([] { return DataLoader({}).batches(); }), "DataLoader: there are no tensors");
  EXPECT_EQ(
      error_of([] { return DataLoader({numbers(2), numbers(3)}).batches(); }),
      "DataLoader: a tensor of shape (3) beside one of (2): want first axes that are as long");
  EXPECT_EQ(error_of([] { return DataLoader({numbers(2)}, {.batch_size = 0}).batches(); }),
            "DataLoader: batches of 0 of 2 elements: want at least 1");
  EXPECT_EQ(error_of([] { return DataLoader(3, nullptr).batches(); }),
            "DataLoader: there is no function that makes batches");
  DataLoader loader({numbers(4)}, {.batch_size = 2});
  EXPECT_EQ(error_of([&] {
              loader.set_state(numbers(2));
              return 0;
            }),
            "DataLoader::set_state: i32 of shape (2) where state() gives i64 of (3)");
  const Tensor beyond(std::vector<std::int64_t>{0, 0, 3});
  EXPECT_EQ(error_of([&] {
              loader.set_state(beyond);
              return 0;
            }),
            "DataLoader::set_state: batch 3 of epoch 0, of a loader of 2 batches");
}

TEST(Progress, Lines) {
  Progress progress(120, "train");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 30; ++i) progress.step(0.5 - i / 100.0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // which is no terminal
  EXPECT_EQ(progress.line(10), "train 30/120 3/s loss 0.21, 0:30 left");
  EXPECT_EQ(progress.line(3600), "train 30/120 0.00833/s loss 0.21, 3:00:00 left");
  for (int i = 0; i < 90; ++i) progress.step();
  EXPECT_EQ(progress.line(61), "train 120/120 1.97/s, 1:01");
}

}  // namespace
}  // namespace weft
