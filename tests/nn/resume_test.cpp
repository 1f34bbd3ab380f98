// Training that goes on from a file gives the bits that it would have given without a break.

#include <filesystem>

#include <unistd.h>
#include <weft/loader.h>
#include <weft/random.h>
#include <weft/state.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

struct Net {
  nn::Linear hidden{4, 8}, out{8, 1};
  nn::BatchNorm norm{8, {.momentum = std::nullopt}};
  Tensor operator()(const Tensor& x) const { return out(norm(hidden(x)).relu().dropout(0.3)); }
  WEFT_FIELDS(hidden, out, norm);
};

// Everything that moves while a net is trained: its tensors, the optimiser's, the schedule, the place among the
// batches, and that in the stream of random numbers, of which dropout draws.
struct Course {
  Net net;
  nn::AdamW optimizer{net, {.lr = 0.01}};
  nn::Scheduler schedule{optimizer, nn::OneCycleLR{.max_lr = 0.05, .total_steps = 40}};
  nn::EMA<Net> average{net, 0.9};
  DataLoader loader;

  explicit Course(std::uint64_t seed)
      : loader({Tensor::arange(44).reshape({11, 4}).to_float() / 44,
                Tensor::arange(11).reshape({11, 1}).to_float() / 11},
               {.batch_size = 3, .shuffle = true, .seed = seed}) {}

  void train(int steps) {
    const Training training;
    while (steps > 0)
      for (const std::vector<Tensor>& batch : loader) {
        optimizer.zero_grad();
        net(batch[0]).mse_loss(batch[1]).backward();
        optimizer.step();
        schedule.step();
        average.update(net);
        if (--steps == 0) break;
      }
  }

  void save(const std::string& path) const {
    StateDict state = get_state_dict(*this);
    state["loader"] = loader.state();
    state["random"] = random::state();
    save_safetensors(path, state);
  }
  void load(const std::string& path) {
    StateDict state = load_safetensors(path);
    loader.set_state(state.extract("loader").mapped());
    const Tensor stream = state.extract("random").mapped();
    load_state_dict(*this, state);
    random::set_state(stream);
  }
  WEFT_FIELDS(net, optimizer, schedule, average);
};

StateDict values_of(const Course& run) {
  StateDict values;
  for (const auto& [name, tensor] : get_state_dict(run))
    values.emplace(name, tensor.detach().clone().realize());
  return values;
}

TEST(Resuming, GoesOnToTheBit) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("weft_resume_" + std::to_string(::getpid()) + ".safetensors"))
                               .string();
  Tensor::manual_seed(7);
  Course whole(1);
  whole.train(6);  // within the second epoch
  whole.save(path);
  whole.train(7);  // into the fourth
  const StateDict expected = values_of(whole);
  EXPECT_TRUE(expected.contains("schedule.momenta.0"));

  Tensor::manual_seed(99);
  Course later(2);
  later.train(2);
  later.load(path);
  later.train(7);
  std::filesystem::remove(path);
  const StateDict found = values_of(later);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(tensor.equal(found.at(name))) << name;
}

TEST(Resuming, StreamsHaveAState) {
  Tensor::manual_seed(3);
  Tensor::rand({5}).realize();
  const Tensor state = random::state();
  const Tensor expected = Tensor::rand({5}).realize();
  Tensor::manual_seed(4);
  random::set_state(state);
  EXPECT_TRUE(Tensor::rand({5}).equal(expected));
  EXPECT_EQ(error_of([] {
              random::set_state(Tensor({1, 2, 3}));
              return 0;
            }),
            "set_state: i32 of shape (3,) where state() gives i64 of (2,)");
}

}  // namespace
}  // namespace weft
