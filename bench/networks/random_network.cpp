#include "random_network.h"

#include <fmt/format.h>

#include "families.h"

namespace weft::bench {
namespace {

struct Family {
  const char* name;
  Value (*draw)(Drawn& net);
  int share;
};
constexpr Family families[] = {
    {"classifier", classifier, 5},
    {"channels last", channels_last, 2},
    {"encoder-decoder", encoder_decoder, 2},
    {"detector", detector, 2},
    {"attention", attention, 4},
    {"recurrent", recurrent, 1},
    {"sound", sound, 1},
    {"volume", volume, 1},
    {"table", table, 2},
};

const Family& drawn_family(Drawn& net) {
  int all = 0;
  for (const Family& family : families) all += family.share;
  std::int64_t left = net.between(0, all - 1);
  for (const Family& family : families)
    if ((left -= family.share) < 0) return family;
  return families[0];
}

}  // namespace

RandomNetwork random_network(std::uint64_t seed) {
  Drawn net(fmt::format("random_{}", seed), seed);
  const Family& family = drawn_family(net);
  net.output(family.draw(net));
  return {family.name, net.file()};
}

}  // namespace weft::bench
