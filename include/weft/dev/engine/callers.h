// Which call of the program made a tensor, for DEBUG=2 to say.
#pragma once

#include <string>

#include <weft/dev/ir/uop.h>

namespace weft {

// Under DEBUG=2 the call that the program is in becomes the Origin of the tensor and of all nodes it
// is made of that have none: the one that made a node first stays.
void note_caller(const UOp& tensor);

// Where the call was: "model.cpp:42".
std::string caller(Origin origin);

}  // namespace weft
