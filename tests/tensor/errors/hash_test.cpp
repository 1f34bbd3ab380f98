// Wrong calls of hashes, of what moves a handle, and of aliases.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, HashesAndHandles) {
  const Tensor x = of({3, 4}), scalar(1.5), none;
  const Tensor open = of({Variable("n", 1, 9), 4});
  Tensor here = x, nowhere;
  const std::string known = ": want sha3_224, sha3_256, sha3_384, sha3_512, shake_128, shake_256";
  const WrongCall calls[] = {
      {"keccak, by another name", [&] { x.keccak("sha2_256"); },
       "keccak: there is no \"sha2_256\"" + known},
      {"keccak, of hashlib's name", [&] { x.keccak("sha3-256"); },
       "keccak: there is no \"sha3-256\"" + known},
      {"keccak, in capitals", [&] { x.keccak("SHA3_256"); },
       "keccak: there is no \"SHA3_256\"" + known},
      {"keccak, by no name", [&] { x.keccak(""); }, "keccak: there is no \"\"" + known},
      {"keccak, of a scalar", [&] { scalar.keccak(); },
       "keccak: a scalar has no last axis: reshape({1}) is a row of one"},
      {"keccak, of open rows", [&] { open.keccak(); },
       "keccak: the size n is symbolic, and has to be a number here"},
      {"keccak, of an open length", [&] { open.transpose().keccak(); },
       "keccak: the size n is symbolic, and has to be a number here"},
      {"keccak, null", [&] { none.keccak(); }, "keccak" + is_null},
      {"hash, of open size", [&] { open.hash(); },
       "hash: the size n is symbolic, and has to be a number here"},
      {"hash, null", [&] { none.hash(); }, "hash" + is_null},
      {"to_, no number", [&] { here.to_("CPU:x"); },
       "to_: 'CPU:x' is not the name of a device: after the colon stands its number, or a compiler "
       "(LLVM, CLANG) and a processor (native, x86-64-v2, x86-64-v3, x86-64-v3-vnni, x86-64-v4, "
       "x86-64-v4-vnni, sapphirerapids, graniterapids, aarch64, riscv64), or one of these"},
      {"to_, null", [&] { nowhere.to_("CPU"); }, "to_" + is_null},
      {"contiguous_backward, null", [&] { none.contiguous_backward(); },
       "contiguous_backward" + is_null},
      {"image_dot", [&] { x.image_dot(x); },
       "image_dot: shapes (3, 4) and (3, 4): 4 does not match 3"},
      {"image_dot, of a scalar", [&] { x.image_dot(scalar); },
       "image_dot: shapes (3, 4) and (): a scalar has no rows"},
      {"image_dot, null", [&] { none.image_dot(x); }, "image_dot" + is_null},
  };
  expect_errors(calls);
  EXPECT_EQ(here.device(), x.device());
}

}  // namespace
}  // namespace weft
