#include "golden.h"

namespace weft::golden {
namespace {

const Group group("movement", {
                                  {"roll",
                                   [](const Case& c) {
                                     return one(c[0].roll(c.integer("shifts"), c.integer("dims")));
                                   }},
                              });

}  // namespace
}  // namespace weft::golden
