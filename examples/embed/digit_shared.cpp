// Reads a drawn digit by a model in a folder, of whatever sizes it is. Usage: digit_shared FOLDER < DRAWING

#include <weft/weft_c.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

void check(int status) {
  if (status != WEFT_OK) throw std::runtime_error(weft_last_error());
}

struct Close {
  void operator()(weft_model* model) const { weft_close(model); }
  void operator()(weft_session* session) const { weft_session_close(session); }
};

std::unique_ptr<weft_model, Close> open_model(const char* folder) {
  weft_model* model = nullptr;
  check(weft_open(folder, nullptr, &model));
  return std::unique_ptr<weft_model, Close>(model);
}

std::unique_ptr<weft_session, Close> open_session(weft_model* model) {
  weft_session* session = nullptr;
  check(weft_session_open(model, &session));
  return std::unique_ptr<weft_session, Close>(session);
}

std::vector<float> floats_for(weft_model* model, weft_port_kind kind) {
  std::size_t bytes = 0;
  check(weft_port_bytes(model, kind, 0, &bytes));
  return std::vector<float>(bytes / sizeof(float));
}

float pixel(char c) { return c == '#' ? 1 : c == '+' ? 0.66F : c == ':' ? 0.33F : 0; }

}  // namespace

int main(int count, char** arguments) try {
  const auto model = open_model(count == 2 ? arguments[1] : ".");
  const auto session = open_session(model.get());
  std::vector<float> image = floats_for(model.get(), WEFT_INPUT);
  std::vector<float> scores = floats_for(model.get(), WEFT_OUTPUT);
  check(weft_set_input(session.get(), 0, WEFT_F32, image.data(), image.size() * sizeof(float)));
  check(weft_set_output(session.get(), 0, WEFT_F32, scores.data(), scores.size() * sizeof(float)));

  for (std::size_t i = 0; i < image.size();) {
    const int c = std::cin.get();
    if (c == EOF) throw std::runtime_error("the drawing ends too soon");
    if (c != '\n') image[i++] = pixel(static_cast<char>(c));
  }
  check(weft_run(session.get()));
  const auto best = std::max_element(scores.begin(), scores.end());
  std::cout << best - scores.begin() << " (" << *best << ")\n";
} catch (const std::exception& error) {
  std::cerr << "digit_shared: " << error.what() << "\n";
  return 1;
}
