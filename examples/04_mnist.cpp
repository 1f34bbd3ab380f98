// A convolutional network that reads digits (models/mnist.h): the data, training, saving and loading.
//
//   04_mnist --data FOLDER     (--help lists what else can be set)
//
// The folder has the files of MNIST, plain or .gz. Without those of t10k the last 10,000 images of train are what
// the network is tested with, and it learns from the others.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "lesson.h"
#include "models/mnist.h"

using namespace weft;

// --- Options --------------------------------------------------------------------------------------------

constexpr const char* help = R"(04_mnist --data FOLDER [options]
  --data FOLDER    train-images-idx3-ubyte[.gz] and its like; by default the present folder
  --steps N        batches to learn from (140): the rate goes up and down once in that time
  --epochs N       in place of steps: times to see all images, at one rate
  --batch N        images in a batch (128)
  --lr RATE        the highest rate (0.004, and 0.0003 with --epochs)
  --optimizer X    adam or sgd (adam)
  --no-norm        without batch normalisation
  --seed N         of weights and order (42)
  --save FILE      where the weights go (mnist_model.safetensors in the folder for temporary files)
)";

struct Settings {
  std::map<std::string, std::string> given;
  bool has(const std::string& name) const { return given.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise) const {
    return has(name) ? given.at(name) : otherwise;
  }
  double number(const std::string& name, double otherwise) const {
    return has(name) ? std::stod(given.at(name)) : otherwise;
  }
  std::int64_t count(const std::string& name, std::int64_t otherwise) const {
    return has(name) ? std::stoll(given.at(name)) : otherwise;
  }
};

Settings settings_of(int argc, char** argv) {
  const std::string known[] = {"--data", "--steps",     "--epochs", "--batch",
                               "--lr",   "--optimizer", "--seed",   "--save"};
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool takes_value = std::ranges::find(known, name) != std::end(known);
    if (name == "--no-norm")
      settings.given[name] = "";
    else if (takes_value && i + 1 < argc)
      settings.given[name] = argv[++i];
    else {
      std::cout << help;
      std::exit(name == "--help" ? 0 : 1);
    }
  }
  return settings;
}

std::int64_t elements_in(const std::vector<Tensor>& tensors) {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors) count += tensor.numel();
  return count;
}

// --- Training -------------------------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void train(const models::Mnist& network, const LabelledImages& data, const Settings& settings) {
  const std::int64_t batch = settings.count("--batch", 128);
  DataLoader loader({data.images, data.labels},
                    {.batch_size = batch,
                     .shuffle = true,
                     .drop_last = true,
                     .seed = static_cast<std::uint64_t>(settings.count("--seed", 42))});
  const bool by_epochs = settings.has("--epochs");
  const std::int64_t steps =
      by_epochs ? settings.count("--epochs", 1) * loader.batches() : settings.count("--steps", 140);
  const double rate = settings.number("--lr", by_epochs ? 3e-4 : 4e-3);
  nn::Optimizer optimizer = settings.text("--optimizer", "adam") == "sgd"
                                ? nn::Optimizer(nn::SGD(network, {.lr = rate, .momentum = 0.9}))
                                : nn::Optimizer(nn::Adam(network, {.lr = rate}));
  std::optional<nn::Scheduler> schedule;
  if (!by_epochs)
    schedule.emplace(optimizer,
                     nn::OneCycleLR{.max_lr = rate, .total_steps = steps, .div_factor = 5});

  // From the third call on jit() runs what the second did: the same kernels, without looking at the graph.
  auto step = jit([&](const Tensor& images, const Tensor& labels) {
    const Training training;
    optimizer.zero_grad();
    const Tensor loss = network(images).cross_entropy(labels);
    loss.backward();
    std::vector<Tensor> wanted = optimizer.update();
    wanted.push_back(loss);
    Tensor::realize(wanted);  // together, so that what they share is computed once
    return loss;
  });

  std::cout << steps << " steps of " << batch << " images\n";
  Progress progress(steps, "training");
  const Clock::time_point start = Clock::now();
  double first = 0, mean = 0;  // seconds of the first step; the loss of late
  for (std::int64_t done = 0; done < steps;)
    for (const std::vector<Tensor>& rows : loader) {
      const auto loss = step(rows[0], rows[1]).item<double>();
      mean = done == 0 ? loss : 0.95 * mean + 0.05 * loss;
      if (done == 0) first = seconds_since(start);
      if (schedule && done + 1 < steps) schedule->step();
      progress.step(mean);
      if (++done % 100 == 0) std::cout << "step " << done << ": loss " << mean << "\n";
      if (done == steps) break;
    }
  const double others = seconds_since(start) - first;
  std::printf(
      "%zu kernels in each step; the first took %.2f s, mostly to compile, others %.1f ms\n",
      step.report().kernels, first,
      1000 * others / static_cast<double>(std::max<std::int64_t>(steps - 1, 1)));
}

// --- Testing --------------------------------------------------------------------------------------------

std::vector<int> predictions(const models::Mnist& network, const Tensor& images) {
  std::vector<int> all;
  DataLoader loader({images}, {.batch_size = 500});
  for (const std::vector<Tensor>& rows : loader) {
    const auto some = network(rows[0]).argmax(1).to_vector<int>();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void save_and_load(const models::Mnist& network, const Settings& settings,
                   const LabelledImages& test, const std::vector<int>& expected) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string file = settings.text("--save", (folder / "mnist_model.safetensors").string());
  save_safetensors(file, get_state_dict(network));
  const models::Mnist loaded(!settings.has("--no-norm"));
  load_state_dict(loaded, load_safetensors(file));
  const Tensor some = test.images[{Slice{0, 1000}}].contiguous();
  const std::vector<int> again = predictions(loaded, some);
  check("a network loaded from " + file + " predicts the same",
        std::equal(again.begin(), again.end(), expected.begin()));
}

int main(int argc, char** argv) try {
  const Clock::time_point start = Clock::now();
  const Settings settings = settings_of(argc, argv);
  Tensor::manual_seed(static_cast<std::uint64_t>(settings.count("--seed", 42)));
  const DataSet data = load_mnist(settings.text("--data", "."));
  std::cout << data.train.images.size(0) << " images to learn from, " << data.test.images.size(0)
            << " to test with\n";
  const models::Mnist network(!settings.has("--no-norm"));
  const std::int64_t weights = elements_in(get_parameters(network));
  std::cout << weights << " parameters, " << weights + elements_in(get_buffers(network))
            << " numbers with buffers\n";
  if (!settings.has("--no-norm")) check("as many as there should be", weights == 1701578);
  train(network, data.train, settings);

  const std::vector<int> predicted = predictions(network, data.test.images);
  const std::vector<int> labels = data.test.labels.to_vector<int>();
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += predicted[i] == labels[i] ? 1 : 0;
  save_and_load(network, settings, data.test, predicted);
  std::printf("%.1f s in all\n", seconds_since(start));
  std::printf("test accuracy: %.2f %%\n",
              100.0 * static_cast<double>(right) / static_cast<double>(labels.size()));
} catch (const std::exception& error) {
  return failed(error);
}
