// A pole on a cart learns to stand: an actor that chooses left or right, and a critic that says how long it
// will go well from here. Both are one small network. Many carts run at once, so that each call of
// the network serves all of them.
//
//   ./rl_cartpole            until 200 of 200 steps are usual: a few seconds
//
// The way of learning is PPO: choices that went better than the critic expected become likelier, but in one
// round no choice becomes much likelier than it was when it was made.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>

#include <weft/weft.h>

#include "flags.h"

using namespace weft;

constexpr std::int64_t carts = 32, longest = 200;

// Barto, Sutton and Anderson's cart: pushed by 10 N to either side, in steps of 20 ms.
struct CartPole {
  std::array<float, 4> state{};  // place, speed, angle, speed of the angle
  bool is_up = false;

  void reset(std::mt19937& random) {
    std::uniform_real_distribution<float> small(-0.05F, 0.05F);
    for (float& value : state) value = small(random);
    is_up = true;
  }
  void push(bool right) {
    constexpr float gravity = 9.8F, cart = 1, pole = 0.1F, half = 0.5F, seconds = 0.02F;
    auto& [place, speed, angle, turn] = state;
    const float sine = std::sin(angle), cosine = std::cos(angle);
    const float force =
        ((right ? 10.0F : -10.0F) + pole * half * turn * turn * sine) / (cart + pole);
    const float bend = (gravity * sine - cosine * force) /
                       (half * (4.0F / 3 - pole * cosine * cosine / (cart + pole)));
    const float pull = force - pole * half * bend * cosine / (cart + pole);
    place += seconds * speed;
    speed += seconds * pull;
    angle += seconds * turn;
    turn += seconds * bend;
    is_up = std::abs(place) < 2.4F && std::abs(angle) < 12 * 3.14159265F / 180;
  }
};

struct Mind {
  nn::Linear seen{4, 64}, choice{64, 2}, worth{64, 1};

  Tensor think(const Tensor& states) const { return seen(states).tanh(); }
  Tensor scores(const Tensor& states) const { return choice(think(states)); }
  WEFT_FIELDS(seen, choice, worth);
};

// What all carts went through, step by step: `longest` rows of `carts`. What lies behind a fall counts 0.
struct Round {
  std::vector<float> states, counts, returns;
  std::vector<std::int32_t> choices;

  double mean_length() const {
    double sum = 0;
    for (const float counted : counts) sum += counted;
    return sum / carts;
  }
  // How long each cart went on from each step, later steps counting less.
  void add_returns() {
    returns.assign(counts.size(), 0);
    for (std::size_t i = counts.size(); i-- > 0;) {
      const float later = i + carts < counts.size() ? returns[i + carts] : 0;
      returns[i] = counts[i] * (1 + 0.98F * later);
    }
  }
};

template <class Choose>
Round run_carts(Choose& choose, std::mt19937& random) {
  std::vector<CartPole> all(carts);
  for (CartPole& one : all) one.reset(random);
  Round round;
  for (std::int64_t step = 0; step < longest; ++step) {
    const auto begin = static_cast<std::ptrdiff_t>(round.states.size());
    for (const CartPole& one : all)
      round.states.insert(round.states.end(), one.state.begin(), one.state.end());
    const std::span<const float> now(round.states.begin() + begin, round.states.end());
    const std::vector<std::int32_t> choices =
        choose(Tensor(now).reshape({carts, 4})).template to_vector<std::int32_t>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      round.choices.push_back(choices[i]);
      round.counts.push_back(all[i].is_up ? 1 : 0);
      if (all[i].is_up) all[i].push(choices[i] == 1);
    }
  }
  round.add_returns();
  return round;
}

int main(int argc, char** argv) try {
  const Flags flags(argc, argv,
                    "Teaches carts to balance a pole.\n\n"
                    "  --goal N    steps of 200 that are enough, on average (195)\n"
                    "  --rounds N  at most (60)\n"
                    "  --seed N    of everything random (1)");
  try {
    Tensor::manual_seed(static_cast<std::uint64_t>(flags.integer("--seed", 1)));
    std::mt19937 random(static_cast<unsigned>(flags.integer("--seed", 1)));
    const Mind mind;
    nn::Adam optimizer(mind, {.lr = 0.01});

    auto explore = jit([&](const Tensor& states) {
      const NoGrad constant;
      return mind.scores(states).softmax().multinomial(1);
    });
    auto best = jit([&](const Tensor& states) {
      const NoGrad constant;
      return mind.scores(states).argmax(1);
    });
    const auto likelihood = [&](const Tensor& states, const Tensor& choices) {
      return mind.scores(states).log_softmax().gather(1, choices).squeeze(1);
    };
    auto learn = jit([&](const Tensor& states, const Tensor& choices, const Tensor& counts,
                         const Tensor& returns, const Tensor& before) {
      optimizer.zero_grad();
      const Tensor expected = mind.worth(mind.think(states)).squeeze(1);
      const Tensor better = (returns - expected.detach()) * 0.1;
      const Tensor likelier = (likelihood(states, choices) - before).exp();
      const Tensor gain = (likelier * better).minimum(likelier.clamp(0.8, 1.2) * better);
      const Tensor loss = ((expected - returns).square() * 0.002 - gain) * counts;
      (loss.sum() / counts.sum()).backward();
      optimizer.step();
    });

    const auto start = std::chrono::steady_clock::now();
    const double goal = flags.number("--goal", 195);
    for (std::int64_t round = 0, rounds = flags.integer("--rounds", 60); round < rounds; ++round) {
      const Round went = run_carts(explore, random);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      std::cout << "round " << round << ": " << went.mean_length() << " steps, after "
                << time.count() << " s" << std::endl;
      if (went.mean_length() >= goal) break;
      const Tensor states = Tensor(went.states).reshape({-1, 4});
      const Tensor choices = Tensor(went.choices).reshape({-1, 1});
      const Tensor counts(went.counts), returns(went.returns);
      const Tensor before = likelihood(states, choices).detach().realize();
      for (int time_again = 0; time_again < 8; ++time_again)
        learn(states, choices, counts, returns, before);
    }

    double mean = 0;  // without chance, of 4 times as many carts
    for (int i = 0; i < 4; ++i) mean += run_carts(best, random).mean_length() / 4;
    std::cout << "mean return of " << 4 * carts << " carts: " << mean << " of " << longest << '\n'
              << (mean >= goal ? "PASS" : "FAIL") << "  the pole stands\n";
    return mean >= goal ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
} catch (const std::exception& error) {
  return failed(error);
}
