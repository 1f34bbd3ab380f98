#include <weft/dev/cost/profile.h>

#include <algorithm>

namespace weft {

double seconds(const Profile& profile, const Work& work) {
  const double workers = std::clamp(work.parallel, 1.0, static_cast<double>(profile.workers));
  const double computing = work.flops / (profile.flops * workers);
  return profile.launch + std::max(computing, work.bytes / profile.bandwidth);
}

}  // namespace weft
