#include "golden.h"

namespace weft::golden {
namespace {

const Group group("hashes",
                  {
                      {"keccak",
                       [](const Case& c) { return one(c[0].keccak(c.text("algorithm"))); }},
                  });

}  // namespace
}  // namespace weft::golden
