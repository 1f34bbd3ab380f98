// ResNet-18 for the small images of CIFAR-10.
//
//   ./resnet_cifar --data cifar-10-batches-bin --epochs 10
//
// Each time an image is seen it is another: shifted by up to 4 pixels, and maybe mirrored. That is part of the
// graph, so it becomes part of the kernels that read the images.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "flags.h"
#include "models/resnet.h"

using namespace weft;

const char* const usage =
    "Trains ResNet-18 on CIFAR-10.\n\n"
    "  --data DIR    binary files, plain or .gz; test images are those of files with \"test\" in "
    "their name,\n"
    "                or every tenth\n"
    "  --epochs N    (10)\n"
    "  --batch N     (64)\n"
    "  --lr X        the largest rate (0.1)\n"
    "  --width N     channels of the first layer (64)\n"
    "  --images N    at most, of all (60000)\n"
    "  --seed N      of everything random (1)\n"
    "  --save FILE   keeps the weights (safetensors)";

struct Images {
  LabelledImages train, test;
};

Images load(const std::string& folder, std::int64_t most) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().string().find(".bin") != std::string::npos)
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  std::vector<Tensor> images[2], labels[2];  // to learn from, and to test with
  for (const std::string& file : files) {
    const LabelledImages batch = load_cifar10_batch(file);
    const std::size_t part = file.find("test") == std::string::npos ? 0 : 1;
    images[part].push_back(batch.images);
    labels[part].push_back(batch.labels);
  }
  if (images[0].empty()) throw Error("there are no .bin files in " + folder);
  Tensor all = Tensor::cat(images[0]), classes = Tensor::cat(labels[0]);
  const std::int64_t count = std::min(most, all.size(0)),
                     tests = images[1].empty() ? count / 10 : 0;
  const auto part = [](const Tensor& x, std::int64_t start, std::int64_t stop) {
    return x.slice(0, {start, stop}).contiguous().realize();
  };
  LabelledImages test{part(all, count - tests, count), part(classes, count - tests, count)};
  if (tests == 0) test = {Tensor::cat(images[1]).realize(), Tensor::cat(labels[1]).realize()};
  return {{part(all, 0, count - tests), part(classes, 0, count - tests)}, test};
}

// Bytes to numbers around 0, by the mean and the deviation of each colour.
Tensor normalised(const Tensor& images) {
  const Tensor mean = Tensor({0.4914F, 0.4822F, 0.4465F}).reshape({3, 1, 1});
  const Tensor deviation = Tensor({0.247F, 0.2435F, 0.2616F}).reshape({3, 1, 1});
  return (images / 255.0 - mean) / deviation;
}

// Each image shifted by -4 to 4 pixels, and every other one mirrored, on average. Row i of the result is
// row i + down of the image; columns likewise, from the right end where it is mirrored.
Tensor shifted(const Tensor& images) {
  const std::int64_t batch = images.size(0), size = images.size(3), most = 4;
  const Tensor place = Tensor::arange(size);
  const Tensor down = Tensor::randint({batch, 1, 1}, 0, 2 * most + 1);
  const Tensor right = Tensor::randint({batch, 1, 1}, 0, 2 * most + 1);
  const Tensor mirror = Tensor::rand({batch, 1, 1}) < 0.5;
  const Tensor rows = down + place.reshape({1, size, 1});
  const Tensor columns = right + mirror.where(size - 1 - place, place).reshape({batch, 1, size});
  const Tensor number = Tensor::arange(batch).reshape({batch, 1, 1});
  const Tensor wide = images.pad({most, most, most, most}).transpose(0, 1);
  return wide[{Slice{}, number, rows, columns}].transpose(0, 1);
}

double accuracy(const models::ResNet<models::BasicBlock>& model, const LabelledImages& images,
                std::int64_t batch) {
  const NoGrad constant;
  const std::int64_t count = images.images.size(0);
  double right = 0;
  for (std::int64_t start = 0; start < count; start += batch) {
    const Slice part{start, std::min(start + batch, count)};
    const Tensor found = model(normalised(images.images.slice(0, part))).argmax(1);
    right += (found == images.labels.slice(0, part)).sum().item<double>();
  }
  return right / static_cast<double>(count);
}

int main(int argc, char** argv) try {
  const Flags flags(argc, argv, usage);
  try {
    Tensor::manual_seed(static_cast<std::uint64_t>(flags.integer("--seed", 1)));
    const Images data = load(flags.text("--data", "."), flags.integer("--images", 60000));
    const models::ResNet<models::BasicBlock> model =
        models::small_resnet18(flags.integer("--width", 64));
    DataLoader loader({data.train.images, data.train.labels},
                      {.batch_size = flags.integer("--batch", 64),
                       .shuffle = true,
                       .drop_last = true,
                       .seed = static_cast<std::uint64_t>(flags.integer("--seed", 1))});
    const std::int64_t epochs = flags.integer("--epochs", 10), steps = epochs * loader.batches();
    std::cout << data.train.images.size(0) << " images to learn from, " << data.test.images.size(0)
              << " to test with, " << count_parameters(model) << " weights" << std::endl;

    const double rate = flags.number("--lr", 0.1);
    nn::SGD optimizer(model, {.lr = rate, .momentum = 0.9, .weight_decay = 5e-4, .nesterov = true});
    nn::Scheduler schedule(optimizer, nn::OneCycleLR{.max_lr = rate, .total_steps = steps + 1});
    auto step = jit([&](const Tensor& images, const Tensor& labels) {
      const Training training;
      optimizer.zero_grad();
      const Tensor loss = model(normalised(shifted(images))).cross_entropy(labels);
      loss.backward();
      optimizer.step();
      return loss;
    });

    Progress progress(steps, "training");
    const auto start = std::chrono::steady_clock::now();
    double first = 0, last = 0;  // the mean loss of an epoch
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      double sum = 0;
      for (const std::vector<Tensor>& batch : loader) {
        const double loss = step(batch[0], batch[1]).item<double>();
        sum += loss;
        schedule.step();
        progress.step(loss);
      }
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      last = sum / static_cast<double>(loader.batches());
      if (epoch == 0) first = last;
      std::cout << "epoch " << epoch << " loss " << last << " after " << time.count() << " s"
                << std::endl;
    }
    std::cout << step.report().kernels << " kernels a step" << std::endl;
    if (epochs > 1) std::cout << (last < first ? "PASS" : "FAIL") << "  the loss falls\n";
    std::cout << "test accuracy: " << 100 * accuracy(model, data.test, 64) << " %\n";
    if (const std::string file = flags.text("--save"); !file.empty())
      save_safetensors(file, get_state_dict(model));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
} catch (const std::exception& error) {
  return failed(error);
}
