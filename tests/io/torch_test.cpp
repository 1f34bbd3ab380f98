// What PyTorch saved (data/make_state.py), and what nobody should load.

#include <weft/state.h>

#include "files.h"

namespace weft {
namespace {

using Torch = InFolder;

TEST_F(Torch, Checkpoints) {
  for (const char* name : {"checkpoint.pt", "protocol5.pt", "legacy.pt"}) {
    SCOPED_TRACE(name);
    const StateDict state = load_torch(data(name));
    std::vector<float> base(12);
    for (std::size_t i = 0; i < base.size(); ++i) base[i] = static_cast<float>(i);
    EXPECT_TRUE(holds<float>(state.at("model.weight"), base, {3, 4}));
    EXPECT_TRUE(
        holds<float>(state.at("model.turned"), {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}, {4, 3}));
    EXPECT_TRUE(holds<float>(state.at("model.part"), {5, 6, 9, 10}, {2, 2}));
    EXPECT_TRUE(holds<float>(state.at("model.wide"), {0, 0, 4, 4, 8, 8}, {3, 2}));
    EXPECT_TRUE(holds<float>(state.at("model.wrapped"), {1, 2, 3, 4, 5, 6, 7, 8}, {2, 4}));
    EXPECT_TRUE(holds<float>(state.at("model.odd"), {1, 3, 5, 7, 9, 11}, {3, 2}));
    EXPECT_TRUE(holds<int>(state.at("optimizer.state.0.step"), {7}, {}));
    EXPECT_TRUE(holds<int>(state.at("array"), {0, 3, 1, 4, 2, 5}, {3, 2}));
    EXPECT_EQ(state.size(), 9u + 15u);
  }
}

TEST_F(Torch, EveryDtype) {
  const std::pair<const char*, DType> every[] = {
      {"i8", dtypes::i8},         {"u8", dtypes::u8},        {"i16", dtypes::i16},
      {"u16", dtypes::u16},       {"i32", dtypes::i32},      {"u32", dtypes::u32},
      {"i64", dtypes::i64},       {"u64", dtypes::u64},      {"f16", dtypes::f16},
      {"bf16", dtypes::bf16},     {"f32", dtypes::f32},      {"f64", dtypes::f64},
      {"f8e4m3", dtypes::f8e4m3}, {"f8e5m2", dtypes::f8e5m2}};
  for (const char* file : {"checkpoint.pt", "legacy.pt"}) {
    const StateDict state = load_torch(data(file));
    for (const auto& [name, dtype] : every) {
      SCOPED_TRACE(name);
      const Tensor& tensor = state.at(std::string("dtypes.") + name);
      EXPECT_EQ(tensor.dtype(), dtype);
      EXPECT_TRUE(holds<double>(tensor.cast(dtypes::f64), {0, 1, 2, 3, 4, 5}, {2, 3}));
    }
    EXPECT_EQ(state.at("dtypes.bool_").to_vector<bool>(),
              (std::vector<bool>{false, true, true, true, true, true}));
  }
}

TEST_F(Torch, WhatIsNoTensor) {
  for (const char* name : {"checkpoint.pt", "protocol5.pt", "legacy.pt"}) {
    SCOPED_TRACE(name);
    const Object all = load_torch_object(data(name));
    EXPECT_EQ(all.at("epoch").as<std::int64_t>(), 3);
    EXPECT_EQ(all.at("best").as<double>(), -1.5);
    EXPECT_EQ(all.at("note").as<std::string>(), "é");
    EXPECT_TRUE(all.at("none").is_none());
    EXPECT_TRUE(all.at("flags").at(0).as<bool>());
    EXPECT_EQ(all.at("large").as<double>(), std::pow(2.0, 70));
    EXPECT_EQ(all.at("negative").as<std::int64_t>(), -300);
    EXPECT_EQ(all.at("device").as<std::string>(), "cuda:1");
    EXPECT_EQ(all.at("dtype").as<std::string>(), "torch.float16");
    EXPECT_EQ(all.at("size").at(1).as<std::int64_t>(), 3);
    EXPECT_EQ(all.at("number").as<double>(), 0.5);
    EXPECT_EQ(all.at("bytes").as<std::string>(), std::string("\0\xff", 2));
    EXPECT_EQ(all.at("optimizer").at("param_groups").at(0).at("betas").at(1).as<double>(), 0.999);
  }
}

TEST_F(Torch, TensorsShareTheirStorage) {
  const StateDict state = load_torch(data("checkpoint.pt"));
  Tensor weight = state.at("model.weight");
  weight[{1, 1}].assign(50).realize();
  EXPECT_TRUE(holds<float>(state.at("model.part"), {50, 6, 9, 10}, {2, 2}));
  EXPECT_TRUE(
      holds<float>(load_torch(data("checkpoint.pt")).at("model.part"), {5, 6, 9, 10}, {2, 2}));
}

TEST_F(Torch, RefusesToRunAnything) {
  const std::pair<const char*, const char*> cases[] = {
      {"system.pt", "posix.system"},
      {"eval.pt", "__builtin__.eval"},
      {"module.pt", "torch.nn.modules.linear.Linear"},
  };
  for (const auto& [name, global] : cases)
    EXPECT_EQ(
        error_of([&] { return load_torch(data(name)); }),
        fmt::format("load_torch: '{}': it names {}, which is refused: files may build tensors, "
                    "numbers, text, lists and dictionaries, and call nothing else",
                    data(name), global));
}

TEST_F(Torch, FilesThatLie) {
  EXPECT_EQ(
      error_of([] { return load_torch_object(data("loop.pt")); }),
      fmt::format("load_torch_object: '{}': its pickle is nested too deeply, or contains itself",
                  data("loop.pt")));
  EXPECT_EQ(
      error_of([] { return load_torch(data("many.pt")); }),
      fmt::format("load_torch: '{}': there are more than 1000000 objects in it", data("many.pt")));
  // A text of 2000 bytes, and 100 calls that each copy it.
  std::string many_copies =
      "\x80\x02X\xd0\x07" + std::string(2, '\0') + std::string(2000, 'x') + "q\1";
  for (int i = 0; i < 100; ++i) many_copies += "0c_codecs\nencode\nh\1\x85R";
  const std::pair<std::string, const char*> cases[] = {
      {"\x80\x09.", "its pickle is of protocol 9 where 5 is the last that is known"},
      {"\x80\x02.", "its pickle takes from an empty stack"},
      {"\x80\x02(.", "its pickle takes from an empty stack"},
      {"\x80\x02t.", "its pickle has no mark where one is needed"},
      {"\x80\x02h\x01.", "its pickle asks for what it has not kept"},
      {"\x80\x02NNR.", "its pickle calls what cannot be called"},
      {"\x80\x02NNa.", "its pickle fills what is no container"},
      {"\x80\x02}(Nu.", "its pickle fills what is no container"},
      {"\x80\x02NQ.", "its pickle points outside of it in an unknown way"},
      {"\x80\x02i.",
       "its pickle has the instruction 0x69, which is none of those that build tensors"},
      {"\x80\x02X\xff\xff\xff\x7f.", "it is cut off, or damaged"},
      {"\x80\x02N.\x80\x02N.", "it is a pickle, but not one that torch.save wrote"},
      {"\x80\x02"
       "cnumpy.core.multiarray\n_reconstruct\n)R.",
       "its pickle has an array that is never filled"},
      {many_copies, "its pickle makes far more than it has"},
      {"hello", "it is neither a zip archive nor a pickle, so not from torch.save"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_EQ(error_of([&] { return load_torch(file("lie", text)); }),
              fmt::format("load_torch: '{}': {}", file("lie"), message));
  EXPECT_EQ(
      error_of([] { return load_torch(data("stored.npz")); }),
      fmt::format("load_torch: '{}': it is an archive without data.pkl, so not from torch.save",
                  data("stored.npz")));
}

// The instructions for a tensor of one storage, whose sixth property is `view`.
std::string tensor_of_storage(const std::string& view) {
  const auto text = [](const std::string& value) {
    return std::string("\x8c") + static_cast<char>(value.size()) + value;
  };
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
         text("0") + text("cpu") + "K\1" + view + "tQK" + std::string(1, '\0') +
         "K\1\x85K\1\x85\x89NtR";
}

// The format before 1.6: what it is, its version, where it was written, the object, the keys of storages.
std::string legacy(const std::string& system, const std::string& object) {
  return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02" +
         system + ".\x80\x02" + object + ".\x80\x02].";
}

TEST_F(Torch, LittleThatStandsForMuch) {
  const auto error = [&](const std::string& bytes) {
    return error_of([&] { return load_torch(file("lie", bytes)); });
  };
  const auto message = [&](const char* what) {
    return fmt::format("load_torch: '{}': {}", file("lie"), what);
  };
  const std::string long_text =
      "X" + std::string("\0\0\x10\0", 4) + std::string(1 << 20, 'x');  // 1 MiB
  // A list that has it 1000 times, of two bytes each, and 1000 names that begin with it.
  std::string copies = long_text + "q\1](";
  for (int i = 0; i < 1000; ++i) copies += "h\1";
  EXPECT_EQ(error(legacy("}", copies + "e")),
            message("its pickle makes far more text than it has"));
  EXPECT_EQ(error(legacy("}", "}" + long_text + "](" + std::string(1000, 'N') + "es")),
            message("the names in it have more than 256000000 letters"));
  EXPECT_EQ(error_of([] { return load_torch(data("packed.pt")); }),
            fmt::format("load_torch: '{}': its data.pkl is packed too well to be one",
                        data("packed.pt")));
}

TEST_F(Torch, StoragesThatAreNone) {
  const auto error = [&](const std::string& bytes) {
    return error_of([&] { return load_torch(file("lie", bytes)); });
  };
  const auto message = [&](const char* what) {
    return fmt::format("load_torch: '{}': {}", file("lie"), what);
  };
  EXPECT_EQ(error(legacy("}", tensor_of_storage("N"))), message("its storage '0' is missing"));
  EXPECT_EQ(error(legacy(tensor_of_storage("N"), "N")),
            message("its pickle has a tensor where none can be"));
  EXPECT_EQ(error(legacy("}", tensor_of_storage("K\1"))),
            message("its pickle has a storage that is a part of another, which is not known"));
}

TEST_F(Torch, DamagedFilesAreErrors) {
  for (const char* name : {"small.pt", "small_legacy.pt"})
    expect_care(data(name), [](const std::string& path) { load_torch(path); });
}

}  // namespace
}  // namespace weft
