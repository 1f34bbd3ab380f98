// Trains a small network that reads digits, and writes it as a model that other programs can run.
//
//   digits --data MNIST --out models/digits.onnx
//   weft run models/digits.onnx --input image=models/seven.png --top-k 3 --labels models/digits.txt
//
// models/digits.onnx is what it wrote when it was called without other options.

#include <iostream>

#include "flags.h"
#include "lesson.h"

using namespace weft;

const char* const usage =
    "Trains a network that reads digits, and writes it as an ONNX file.\n\n"
    "  --data DIR    the files of MNIST, plain or .gz (.)\n"
    "  --out FILE    the model (digits.onnx)\n"
    "  --epochs N    times to see all images (12)\n"
    "  --batch N     images in a batch (128)\n"
    "  --steps N     batches at most, of all epochs (all)\n"
    "  --seed N      of everything random (1)";

// 28 x 28 pixels become 12, 24 and 48 maps of half the size each time, and these ten scores.
struct Network {
  nn::Conv2d first{1, 12, 3, {.padding = 1}};
  nn::Conv2d second{12, 24, 3, {.padding = 1}};
  nn::Conv2d third{24, 48, 3, {.padding = 1}};
  nn::Linear scores{48 * 3 * 3, 10};

  Tensor operator()(const Tensor& images) const {
    const Tensor half = first(images).relu().max_pool2d();
    const Tensor quarter = second(half).relu().max_pool2d();
    const Tensor eighth = third(quarter).relu().max_pool2d();
    return scores(eighth.flatten(1));
  }
  WEFT_FIELDS(first, second, third, scores);
};

Tensor pixels(const Tensor& images) { return images.to_float() / 255; }

// Nobody writes a digit twice alike: each image is shifted, turned, slanted and scaled a little, at random.
Tensor varied(const Tensor& images) {
  const std::int64_t batch = images.size(0);
  const auto around = [&](double middle, double most) {
    return (Tensor::rand({batch, 1, 1}) * 2 - 1) * most + middle;
  };
  const Tensor angle = around(0, 0.25), wide = around(1.05, 0.25), high = around(1.05, 0.2);
  const Tensor slant = around(0, 0.2);
  const Tensor to_x = Tensor::cat({wide * angle.cos(), slant - angle.sin(), around(0, 0.2)}, 2);
  const Tensor to_y = Tensor::cat({angle.sin(), high * angle.cos(), around(0, 0.2)}, 2);
  const Tensor grid = functional::affine_grid(Tensor::cat({to_x, to_y}, 1), {batch, 1, 28, 28});
  return functional::grid_sample(images, grid);
}

void train(const Network& network, const LabelledImages& data, const Flags& flags) {
  const auto seed = static_cast<std::uint64_t>(flags.integer("--seed", 1));
  DataLoader loader({data.images, data.labels}, {.batch_size = flags.integer("--batch", 128),
                                                 .shuffle = true,
                                                 .drop_last = true,
                                                 .seed = seed});
  const std::int64_t steps =
      flags.integer("--steps", flags.integer("--epochs", 12) * loader.batches());
  nn::Adam optimizer(network, {.lr = 4e-3});
  nn::Scheduler schedule(optimizer, nn::OneCycleLR{.max_lr = 4e-3, .total_steps = steps + 1});
  auto step = jit([&](const Tensor& images, const Tensor& labels) {
    const Training training;
    optimizer.zero_grad();
    const Tensor loss = network(varied(pixels(images))).cross_entropy(labels);
    loss.backward();
    optimizer.step();
    return loss;
  });
  Progress progress(steps, "training");
  for (std::int64_t done = 0; done < steps;)
    for (const std::vector<Tensor>& batch : loader) {
      const double loss = step(batch[0], batch[1]).item<double>();
      schedule.step();
      progress.step(loss);
      if (++done % 500 == 0) std::cout << "step " << done << ": loss " << loss << std::endl;
      if (done == steps) break;
    }
}

// Node by node, with the names that those who run it will see.
onnx::Writer written(const Network& network) {
  onnx::Writer net("digits", 17);
  net.metadata("labels", "0 1 2 3 4 5 6 7 8 9");
  const std::string image = net.input("image", onnx::Type::F32, {"batch", 1, 28, 28});

  // The network knows light digits on a dark ground. What is light on the whole is inked paper.
  const auto number = [&](const std::string& name, float value) {
    return net.constant(name, Tensor({value}));
  };
  const std::string mean = net.node("ReduceMean", {image}, {{"axes", {1, 2, 3}}});
  const std::string is_paper = net.node("Greater", {mean, number("half", 0.5)});
  const std::string negative = net.node("Sub", {number("white", 1), image});
  std::string x = net.node("Where", {is_paper, negative, image});

  int block = 0;
  for (const nn::Conv2d* conv : {&network.first, &network.second, &network.third}) {
    const std::string name = "conv" + std::to_string(++block);
    const std::string weight = net.constant(name + ".weight", conv->weight);
    const std::string bias = net.constant(name + ".bias", conv->bias);
    x = net.node("Conv", {x, weight, bias}, {{"pads", {1, 1, 1, 1}}}, {.name = name});
    x = net.node("Relu", {x});
    x = net.node("MaxPool", {x}, {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}});
  }
  const std::string weight = net.constant("scores.weight", network.scores.weight);
  const std::string bias = net.constant("scores.bias", network.scores.bias);
  const std::string features = net.node("Flatten", {x});
  const std::string scores = net.node("Gemm", {features, weight, bias}, {{"transB", 1}});
  net.output("probabilities", net.node("Softmax", {scores}, {{"axis", 1}}));
  return net;
}

// How many of the test images a model reads right, from 0 to 1.
double accuracy(const onnx::Model& model, const LabelledImages& test) {
  double right = 0;
  DataLoader loader({test.images, test.labels}, {.batch_size = 500});
  for (const std::vector<Tensor>& batch : loader) {
    const auto found = model({{"image", pixels(batch[0]).realize()}});
    const Tensor classes = found.at("probabilities").tensor().argmax(1);
    right += (classes == batch[1]).sum().item<double>();
  }
  return right / static_cast<double>(test.images.size(0));
}

int main(int argc, char** argv) try {
  const Flags flags(argc, argv, usage);
  Tensor::manual_seed(static_cast<std::uint64_t>(flags.integer("--seed", 1)));
  const DataSet data = load_mnist(flags.text("--data", "."));
  const Network network;
  std::cout << data.train.images.size(0) << " images to learn from, " << data.test.images.size(0)
            << " to test with, " << count_parameters(network) << " weights" << std::endl;
  train(network, data.train, flags);

  const std::string file = flags.text("--out", "digits.onnx");
  written(network).save(file);
  const onnx::Model model = onnx::Model::load(file);
  const Tensor some = pixels(data.test.images[{Slice{0, 100}}]).realize();
  const Tensor expected = network(some).softmax(1);
  const Tensor found = model({{"image", some}}).at("probabilities").tensor();
  check("the file computes what the network does", largest_error(found, expected) < 1e-5);
  std::cout << "test accuracy of " << file << ": " << 100 * accuracy(model, data.test) << " %\n";
} catch (const std::exception& error) {
  return failed(error);
}
