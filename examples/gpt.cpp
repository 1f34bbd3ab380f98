// A GPT that writes like Shakespeare, character by character: 2.7 million weights, trained from nothing.
//
//   ./gpt --data input.txt --steps 1000 --save gpt.safetensors
//   ./gpt --data input.txt --load gpt.safetensors --steps 0 --sample 1000
//
// Training reads whole windows of the text at once and predicts every next character in them. Writing goes
// one character at a time, and keeps what each layer made of those before (see Memory in models/gpt.h).

#include <algorithm>
#include <chrono>
#include <iostream>

#include "flags.h"
#include "models/gpt.h"

using namespace weft;

const char* const usage =
    "Trains a transformer on a text, and lets it write.\n\n"
    "  --data FILE         the text\n"
    "  --steps N           of training (500)\n"
    "  --batch N           windows in each (16)\n"
    "  --lr X              the largest rate (0.002)\n"
    "  --layers N          (6)\n"
    "  --width N           (192)\n"
    "  --heads N           (6)\n"
    "  --context N         characters that are seen at once (128)\n"
    "  --seed N            of weights, batches and what is written (1)\n"
    "  --load FILE         begins with these weights (safetensors)\n"
    "  --save FILE         keeps the weights\n"
    "  --sample N          characters to write (300)\n"
    "  --temperature X     0: always the likeliest (0.8)";

// Each character that occurs has a number.
struct Characters {
  std::string all;
  std::vector<std::int32_t> numbers = std::vector<std::int32_t>(256, 0);

  explicit Characters(std::string text) : all(std::move(text)) {
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) numbers[byte(all[i])] = static_cast<int>(i);
  }
  static std::size_t byte(char character) { return static_cast<unsigned char>(character); }
  std::vector<std::int32_t> encode(const std::string& text) const {
    std::vector<std::int32_t> codes;
    for (const char character : text) codes.push_back(numbers[byte(character)]);
    return codes;
  }
};

// Windows of the text and, for each character in them, the next one.
DataLoader windows(const std::vector<std::int32_t>& text, std::int64_t context,
                   const LoaderOptions& options) {
  const auto fetch = [&text, context](const std::vector<std::int64_t>& places) {
    std::vector<std::int32_t> characters;
    for (const std::int64_t place : places)
      characters.insert(characters.end(), text.begin() + place, text.begin() + place + context + 1);
    const Tensor all = Tensor(characters).reshape({-1, context + 1});
    return std::vector{all.narrow(1, 0, context).contiguous(),
                       all.narrow(1, 1, context).contiguous()};
  };
  return {static_cast<std::int64_t>(text.size()) - context, fetch, options};
}

void train(const models::Gpt& model, DataLoader& loader, std::int64_t steps, double rate) {
  nn::AdamW optimizer(model, {.lr = rate, .beta2 = 0.99, .weight_decay = 0.1});
  nn::Scheduler schedule(
      optimizer, nn::OneCycleLR{.max_lr = rate, .total_steps = steps + 1, .pct_start = 0.1});
  auto step = jit([&](const Tensor& x, const Tensor& y) {
    const Training training;
    optimizer.zero_grad();
    const Tensor loss = model.loss(x, y);
    loss.backward();
    nn::clip_grad_norm(model, 1);
    optimizer.step();
    return loss;
  });

  Progress progress(steps, "training");
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t done = 0; done < steps;) {
    for (const std::vector<Tensor>& batch : loader) {
      const double loss = step(batch[0], batch[1]).item<double>();
      schedule.step();
      progress.step(loss);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      if (done % std::max<std::int64_t>(1, steps / 10) == 0 || done + 1 == steps)
        std::cout << "step " << done << " loss " << loss << " after " << time.count() << " s"
                  << std::endl;
      if (++done == steps) break;
    }
  }
  if (steps > 1) std::cout << step.report().kernels << " kernels a step" << std::endl;
}

// Writes behind the first characters. When the context is full it begins anew with the later half.
void write(const models::Gpt& model, const Characters& characters, const std::string& first,
           std::int64_t count, double temperature) {
  std::vector<std::int32_t> text = characters.encode(first);
  std::vector<models::Memory> memory = model.memory();
  Tensor character = Tensor::zeros({1}, {.dtype = dtypes::i32}).contiguous();
  Tensor position = Tensor::zeros({1}, {.dtype = dtypes::i32}).contiguous();
  auto step = jit([&](const Tensor& now, const Tensor& at) {
    const NoGrad constant;
    const Tensor scores = model.next(now, memory, at);
    if (temperature == 0) return scores.argmax(0);
    return (scores / temperature).softmax().multinomial(1).squeeze(0);
  });

  std::cout << '\n' << first;
  const auto start = std::chrono::steady_clock::now();
  std::int32_t at = 0;
  for (std::size_t read = 0; static_cast<std::int64_t>(text.size()) < count; ++at) {
    if (at == model.sizes.context) {
      read = text.size() - static_cast<std::size_t>(model.sizes.context / 2);
      at = 0;
    }
    const std::int32_t next =
        step(character.assign(text[read]), position.assign(at)).item<std::int32_t>();
    if (++read < text.size()) continue;  // what follows is known already
    text.push_back(next);
    std::cout << characters.all[static_cast<std::size_t>(next)] << std::flush;
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::cout << "\n\n" << static_cast<double>(count) / time.count() << " characters per second\n";
}

int main(int argc, char** argv) try {
  const Flags flags(argc, argv, usage);
  try {
    Tensor::manual_seed(static_cast<std::uint64_t>(flags.integer("--seed", 1)));
    const std::string text = load_text(flags.text("--data", "input.txt"));
    const Characters characters(text);
    const std::vector<std::int32_t> codes = characters.encode(text);

    const models::Gpt model({.words = static_cast<std::int64_t>(characters.all.size()),
                             .layers = flags.integer("--layers", 6),
                             .width = flags.integer("--width", 192),
                             .heads = flags.integer("--heads", 6),
                             .context = flags.integer("--context", 128)});
    std::cout << characters.all.size() << " characters, " << count_parameters(model) << " weights"
              << std::endl;
    if (const std::string file = flags.text("--load"); !file.empty())
      load_state_dict(model, load_safetensors(file));

    DataLoader loader = windows(codes, model.sizes.context,
                                {.batch_size = flags.integer("--batch", 16),
                                 .shuffle = true,
                                 .drop_last = true,
                                 .seed = static_cast<std::uint64_t>(flags.integer("--seed", 1))});
    train(model, loader, flags.integer("--steps", 500), flags.number("--lr", 0.002));
    if (const std::string file = flags.text("--save"); !file.empty())
      save_safetensors(file, get_state_dict(model));
    write(model, characters, text.substr(0, 1), flags.integer("--sample", 300),
          flags.number("--temperature", 0.8));
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
} catch (const std::exception& error) {
  return failed(error);
}
