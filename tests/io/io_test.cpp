// Files written by NumPy and Pillow (data/make.py), and what comes back of what weft writes.

#include <weft/io.h>

#include "files.h"

namespace weft {
namespace {

using Io = InFolder;

TEST_F(Io, NpyOfEveryDtype) {
  const std::pair<const char*, DType> names[] = {
      {"i1", dtypes::i8},  {"i2", dtypes::i16}, {"i4", dtypes::i32}, {"i8", dtypes::i64},
      {"u1", dtypes::u8},  {"u2", dtypes::u16}, {"u4", dtypes::u32}, {"u8", dtypes::u64},
      {"f2", dtypes::f16}, {"f4", dtypes::f32}, {"f8", dtypes::f64}};
  for (const auto& [name, dtype] : names) {
    SCOPED_TRACE(name);
    const std::string path = data(std::string(name) + ".npy");
    const Tensor tensor = load_npy(path);
    EXPECT_EQ(tensor.dtype(), dtype);
    EXPECT_TRUE(holds<double>(tensor, {0, 1, 2, 3, 4, 5}, {2, 3}));
    save_npy(file("again.npy"), tensor);
    EXPECT_EQ(bytes_of(file("again.npy")), bytes_of(path));
  }
  const Tensor even = load_npy(data("b1.npy"));
  EXPECT_EQ(even.dtype(), dtypes::bool_);
  EXPECT_EQ(even.to_vector<bool>(), (std::vector<bool>{true, false, true, false, true, false}));
}

TEST_F(Io, NpyInOtherOrders) {
  EXPECT_TRUE(holds<float>(load_npy(data("fortran.npy")), {0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_TRUE(holds<int>(load_npy(data("big_endian.npy")), {0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_TRUE(holds<int>(load_npy(data("version2.npy")), {0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_TRUE(holds<double>(load_npy(data("scalar.npy")), {2.5}, {}));
  EXPECT_TRUE(holds<float>(load_npy(data("empty.npy")), {}, {0, 3}));
  save_npy(file("turned.npy"), Tensor({{1, 2}, {3, 4}}).T());
  EXPECT_TRUE(holds<int>(load_npy(file("turned.npy")), {1, 3, 2, 4}, {2, 2}));
}

TEST_F(Io, NpyAsAskedFor) {
  const Tensor tensor = load_npy(data("i4.npy"), {.dtype = dtypes::f32, .requires_grad = true});
  EXPECT_EQ(tensor.dtype(), dtypes::f32);
  EXPECT_TRUE(tensor.requires_grad());
}

TEST_F(Io, Npz) {
  const auto stored = load_npz(data("stored.npz"));
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_TRUE(holds<float>(stored.at("a"), {0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_TRUE(holds<int>(stored.at("b"), {7}, {}));
  const auto deflated = load_npz(data("deflated.npz"));
  EXPECT_EQ(deflated.at("a").sum().item<float>(), 0);
  EXPECT_TRUE(holds<int>(deflated.at("b"), {0, 1, 2, 3, 4, 5}, {2, 3}));
  for (const bool compressed : {false, true}) {
    save_npz(file("again.npz"), deflated, compressed);
    const auto again = load_npz(file("again.npz"));
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(again.at("a").shape(), (std::vector<std::int64_t>{100, 100}));
    EXPECT_TRUE(holds<int>(again.at("b"), {0, 1, 2, 3, 4, 5}, {2, 3}));
    EXPECT_EQ(fs::file_size(file("again.npz")) < 40000, compressed);
  }
}

TEST_F(Io, DamagedFilesAreErrors) {
  expect_care(data("f4.npy"), [](const std::string& path) { load_npy(path); });
  for (const char* name : {"deflated.npz", "stored.npz"})
    expect_care(data(name), [](const std::string& path) { load_npz(path); });
}

TEST_F(Io, Errors) {
  EXPECT_EQ(error_of([] { load_npy("/no/such.npy"); }),
            "load_npy: '/no/such.npy': No such file or directory");
  EXPECT_EQ(error_of([] { load_npy(data("text.npy")); }),
            "load_npy: '" + data("text.npy") + "': there is no dtype for <U2");
  EXPECT_EQ(error_of([] { load_npy(data("complex.npy")); }),
            "load_npy: '" + data("complex.npy") + "': there is no dtype for <c16");
  EXPECT_EQ(error_of([] { load_npz(data("f4.npy")); }),
            "load_npz: '" + data("f4.npy") + "': it is no archive");
  EXPECT_EQ(
      error_of([&] { save_npz(file("x.npz"), {{std::string(65532, 'a'), Tensor::ones({1})}}); }),
      "save_npz: '" + file("x.npz") +
          "': a name of 65532 letters: the format has no more than 65531");
  EXPECT_EQ(error_of([&] {
              save_npz(file("x.npz"), {{"a", Tensor::ones({1})}, {"b", Tensor::ones({1})}});
              std::vector<char> bytes = bytes_of(file("x.npz"));
              std::ranges::replace(bytes, 'b', 'a');
              load_npz(file("twice.npz", bytes));
            }),
            "load_npz: '" + file("twice.npz") + "': two tensors are named 'a'");
  EXPECT_EQ(error_of([] { load_image(data("f4.npy")); }),
            "load_image: '" + data("f4.npy") + "': unknown image type");
  EXPECT_EQ(error_of([] { save_npy("x", Tensor::ones({1}, {.dtype = dtypes::bf16})); }),
            "save_npy: 'x': NumPy has no bf16: cast the tensor first");
  EXPECT_EQ(error_of([] { save_image("x.png", Tensor::ones({2, 2})); }),
            "save_image: f32 of shape (2, 2) where an image is u8 of shape (height, width) or "
            "(height, width, 1 to 4)");
  EXPECT_EQ(error_of([] { save_image("x.gif", Tensor::ones({2, 2}, {.dtype = dtypes::u8})); }),
            "save_image: 'x.gif' ends in none of .png, .jpg, .bmp, .tga");
}

TEST_F(Io, Images) {
  std::vector<int> pixels;
  for (int i = 0; i < 24; ++i) pixels.push_back(i * 10);
  const Tensor image = load_image(data("rgb.png"));
  EXPECT_EQ(image.dtype(), dtypes::u8);
  EXPECT_TRUE(holds<int>(image, pixels, {2, 4, 3}));
  const std::vector<char> bytes = bytes_of(data("rgb.png"));
  const Tensor decoded = decode_image(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(decoded.equal(image));
  EXPECT_EQ(error_of([] { decode_image({}); }), "decode_image: unknown image type");
  EXPECT_EQ(load_image(data("grey.png")).shape(), (std::vector<std::int64_t>{2, 4, 1}));
  EXPECT_EQ(load_image(data("grey.png"), 3).shape(), (std::vector<std::int64_t>{2, 4, 3}));
  for (const char* name : {"x.png", "x.bmp", "x.tga"}) {
    save_image(file(name), image);
    EXPECT_TRUE(holds<int>(load_image(file(name)), pixels, {2, 4, 3})) << name;
  }
  const Tensor grey = Tensor::full({16, 16}, 100, {.dtype = dtypes::u8});
  save_image(file("x.jpg"), grey);
  const Tensor back = load_image(file("x.jpg"), 1).cast(dtypes::i32);
  EXPECT_LE((back - 100).abs().max().item<int>(), 2);
}

// What stb would write behind a table, read for ever, or give as it happens to lie in memory.
TEST_F(Io, ImagesThatLie) {
  const auto error = [](const std::string& bytes) {
    return error_of([&] { return decode_image(std::as_bytes(std::span(bytes))); });
  };
  const std::string table = std::string("\xff\xd8\xff\xc4\x10\x03\x13", 7) +
                            std::string(16, '\xff') + std::string(4080, '\1');
  EXPECT_EQ(error(table), "decode_image: a Huffman table is damaged");
  EXPECT_EQ(error(table.substr(0, 30)), "decode_image: a Huffman table is damaged");
  EXPECT_EQ(error("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n\2\2"),
            "decode_image: unknown image type");
  const std::string pic = std::string("\x53\x80\xf6\x34", 4) + std::string(84, '\0') + "PICT";
  EXPECT_EQ(error(pic + std::string("\0\1\0\1\0\0\0\0\0\0\0\0\0\7\0\xe0", 16)),
            "decode_image: unknown image type");
  const std::string psd = std::string("8BPS\0\1\0\0\0\0\0\0\0\4\0\0\0\1\0\0\0\1\0\x8\0\3", 26) +
                          std::string(14, '\0') + "\1\2\3\4";
  EXPECT_EQ(error(psd), "decode_image: unknown image type");
  EXPECT_EQ(error("P5 0 2 255\n"), "decode_image: an image without pixels");
  EXPECT_EQ(error("P6 20 2 255\n123456"), "decode_image: the file ends before the image does");
  EXPECT_EQ(error("P5 2 2 65535\n"), "decode_image: the file ends before the image does");
  EXPECT_EQ(error("P5 # 2 x 2\n2 2 255\nabc"), "decode_image: the file ends before the image does");
  const Tensor whole =
      decode_image(std::as_bytes(std::span(std::string_view("P5\n# 2 x 1\n#\n2 1 255\nab"))));
  EXPECT_TRUE(holds<int>(whole, {'a', 'b'}, {1, 2, 1}));
}

}  // namespace
}  // namespace weft
