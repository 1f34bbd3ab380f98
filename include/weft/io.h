// Tensors in files of other programs: NumPy's .npy and .npz, and images.
#pragma once

#include <map>
#include <span>
#include <string>

#include <weft/tensor.h>

namespace weft {

// --- NumPy ----------------------------------------------------------------------------------------

// Of any version, byte order and memory order. What has no dtype here (text, complex numbers, records) is an
// error that names it.
Tensor load_npy(const std::string& path, const Options& options = {});
// NumPy has no bf16 and no 8-bit floats: cast() these first.
void save_npy(const std::string& path, const Tensor& tensor);

// By name, without the .npy; compressed or not.
std::map<std::string, Tensor> load_npz(const std::string& path, const Options& options = {});
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors,
              bool compressed = false);

// --- Images ---------------------------------------------------------------------------------------

// PNG, JPEG, BMP, GIF, TGA and PNM as u8 of shape (height, width, channels): as many as the file has, or
// 1 (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (and alpha).
Tensor load_image(const std::string& path, int channels = 0, const Options& options = {});
// The same of the bytes of such a file.
Tensor decode_image(std::span<const std::byte> file, int channels = 0, const Options& options = {});
// u8 of shape (height, width) or (height, width, channels); by the ending: .png, .jpg, .bmp or .tga.
void save_image(const std::string& path, const Tensor& image, int jpeg_quality = 90);

}  // namespace weft
