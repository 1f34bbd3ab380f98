// Fine-tuning: a trained model out of a file learns something else, and is a file again.
//
//   finetune --models models
//
// The model that weft ships reads digits, as long as they stand upright. Here it learns to read those that lie on
// their side, from ten images.
#include <algorithm>
#include <filesystem>

#include "flags.h"
#include "lesson.h"

using namespace weft;

const char* const usage =
    "Teaches a model of digits to read them as they lie on their side.\n\n"
    "  --models DIR  where digits.onnx is, and images of digits (models)\n"
    "  --out FILE    the model that has learned (sideways.onnx in the folder for temporary files)\n"
    "  --steps N     (60)\n"
    "  --seed N      of everything random (1)";

// The ten images, as the model wants them, lying on their side.
Tensor digits_on_their_side(const std::string& folder) {
  std::vector<Tensor> images;
  for (int digit = 0; digit < 10; ++digit)
    images.push_back(load_image(folder + "/" + std::to_string(digit) + ".png", 1).squeeze(2));
  const Tensor pixels = Tensor::stack(images).unsqueeze(1).to_float() / 255;
  return pixels.interpolate({28, 28}, {.antialias = true}).rot90(1, {2, 3}).contiguous().realize();
}

// All of them shifted by up to three pixels: others in each step, so that none is learned by heart.
Tensor shifted(const Tensor& images) {
  const std::int64_t size = images.size(3), most = 3;
  const Tensor place = Tensor::arange(size);
  const Tensor rows = place.reshape({size, 1}) + Tensor::randint({1, 1}, 0, 2 * most + 1);
  const Tensor columns = place + Tensor::randint({1, 1}, 0, 2 * most + 1);
  return images.pad({most, most, most, most})[{Slice{}, Slice{}, rows, columns}];
}

Tensor probabilities(const onnx::Model& model, const Tensor& images) {
  return model({{"image", images}}).at("probabilities").tensor();
}

std::int64_t count_right(const onnx::Model& model, const Tensor& images) {
  return (probabilities(model, images).argmax(1) == Tensor::arange(10)).sum().item<std::int64_t>();
}

// The loss of the first step, and of the last.
std::pair<double, double> train(const onnx::Model& model, const Tensor& images,
                                const Flags& flags) {
  // Initialisers by their names in the file. Those of the layers learn; other constants stay what they are.
  std::vector<Tensor> weights;
  for (const auto& [name, tensor] : model.parameters())
    if (name.ends_with(".weight") || name.ends_with(".bias")) weights.push_back(tensor);
  nn::Adam optimizer(weights, {.lr = 2e-3});

  const Tensor labels = Tensor::arange(10).unsqueeze(1);
  auto step = jit([&](const Tensor& lying) {
    const Training training;
    optimizer.zero_grad();
    const Tensor given = probabilities(model, shifted(lying)).gather(1, labels);
    const Tensor loss = -(given + 1e-7).log().mean();
    loss.backward();
    optimizer.step();
    return loss;
  });
  double first = 0, last = 0;
  const std::int64_t steps = flags.integer("--steps", 60);
  for (std::int64_t done = 0; done < steps; ++done) {
    last = step(images).item<double>();
    if (done == 0) first = last;
    if (done % 10 == 0) std::cout << "step " << done << ": loss " << last << std::endl;
  }
  return {first, last};
}

int main(int argc, char** argv) try {
  const Flags flags(argc, argv, usage);
  Tensor::manual_seed(static_cast<std::uint64_t>(flags.integer("--seed", 1)));
  const std::string folder = flags.text("--models", "models");
  const auto temporary = std::filesystem::temp_directory_path() / "sideways.onnx";
  const std::string file = flags.text("--out", temporary.string());
  const Tensor images = digits_on_their_side(folder);

  section("a model in a file");
  const onnx::Model model = onnx::Model::load(folder + "/digits.onnx", {.trainable = true});
  const std::int64_t before = count_right(model, images);
  std::cout << before << " of 10 digits on their side are read right\n";

  section("it learns");
  const auto [first, last] = train(model, images, flags);
  check("the loss falls", last < first / 2);
  const std::int64_t after = count_right(model, images);
  std::cout << after << " of 10 are read right\n";
  check("more than before", after > before);

  section("and is a file again");
  model.save(file);
  const onnx::Model again =
      onnx::Model::load(file);  // cleaned up and captured, as models for use are
  const double error = largest_error(probabilities(model, images), probabilities(again, images));
  check("a model loaded from " + file + " gives the same", error < 1e-5);
} catch (const std::exception& error) {
  return failed(error);
}
