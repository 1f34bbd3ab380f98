// Tensors by name, in files: what a model has learnt.
//
//   StateDict state = load_safetensors("model.safetensors");
//   state.at("layers.0.weight") ...
//   save_safetensors("model.safetensors", state);
//
// What is loaded lies in the file: nothing is read until it is computed with, and a device whose memory is that of
// the program (CPU) computes from the file's pages in place. An assignment does not reach the file. Who cuts a
// file short while its tensors are in use ends the program (SIGBUS); saving does not: every save_ writes
// a new file beside the old one and puts it in its place when all of it is on the disk.
#pragma once

#include <map>
#include <string>

#include <weft/object.h>
#include <weft/tensor.h>

namespace weft {

using StateDict = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

// By the ending: .safetensors, .npz; load_state also .pt, .pth, .bin (PyTorch) and .gguf. Tensors are on the
// device, or on the default one.
StateDict load_state(const std::string& path, const std::string& device = {});
void save_state(const std::string& path, const StateDict& state);

// --- safetensors ----------------------------------------------------------------------------------

StateDict load_safetensors(const std::string& path, const std::string& device = {});
Metadata load_safetensors_metadata(const std::string& path);
void save_safetensors(const std::string& path, const StateDict& state,
                      const Metadata& metadata = {});

// --- PyTorch --------------------------------------------------------------------------------------

// What torch.save wrote. Nothing in the file is run: it may build tensors, numbers, text, lists and dictionaries,
// and any other class or function that it names is refused.
Object load_torch_object(const std::string& path, const std::string& device = {});
// Its tensors by the keys and places that lead there: "model.layers.0.weight".
StateDict load_torch(const std::string& path, const std::string& device = {});

// --- GGUF -----------------------------------------------------------------------------------------

// What language models come in. Blocks of quantised numbers stay as they are in memory; a tensor is what they stand
// for, in f32, decoded by the kernel that computes with it.
struct Gguf {
  Object metadata;  // a dictionary
  StateDict tensors;
};
Gguf load_gguf(const std::string& path, const std::string& device = {});

}  // namespace weft
