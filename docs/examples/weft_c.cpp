// A model behind the C API: a function of tensors, compiled to a folder that any program opens.
#include <filesystem>
#include <iostream>

#include <weft/export.h>
#include <weft/weft.h>
#include <weft/weft_c.h>

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "weft_c_example";
  const weft::Tensor image = weft::Tensor::zeros({1, 4}, {.device = weft::export_device("c")});
  const auto doubled = [](const std::vector<weft::Tensor>& given) {
    return std::vector<weft::NamedTensor>{{"twice", given[0] * 2}};
  };
  weft::export_c(doubled, {{"image", image}}, folder,
                 {.target = "c", .name = "tiny", .kinds = {weft::ExportKind::Shared}});

  weft_model* model = nullptr;
  weft_session* session = nullptr;
  if (weft_open(folder.c_str(), nullptr, &model) != WEFT_OK) std::cout << weft_last_error() << "\n";
  weft_session_open(model, &session);
  const float numbers[] = {1, 2, 3, 4};
  float results[4] = {};
  weft_set_input(session, 0, WEFT_F32, numbers, sizeof numbers);
  weft_set_output(session, 0, WEFT_F32, results, sizeof results);
  if (weft_run(session) == WEFT_OK) std::cout << results[0] << " to " << results[3] << "\n";

  const int status = weft_set_input(session, 1, WEFT_F32, numbers, sizeof numbers);
  std::cout << weft_status_name(status) << ": " << weft_last_error() << "\n";
  weft_session_close(session);
  weft_close(model);
  std::filesystem::remove_all(folder);
}
//> 2 to 8
//> WEFT_OUT_OF_RANGE: there is no input 1; the model has 1
