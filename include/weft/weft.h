// Everything a program needs.
#pragma once

#include <weft/checkpoint.h>
#include <weft/data.h>
#include <weft/dtype.h>
#include <weft/error.h>
#include <weft/fft.h>
#include <weft/fields.h>
#include <weft/functional.h>
#include <weft/gradcheck.h>
#include <weft/init.h>
#include <weft/io.h>
#include <weft/jit.h>
#include <weft/limits.h>
#include <weft/linalg.h>
#include <weft/loader.h>
#include <weft/losses.h>
#include <weft/nn.h>
#include <weft/object.h>
#include <weft/onnx.h>
#include <weft/onnx_writer.h>
#include <weft/random.h>
#include <weft/settings.h>
#include <weft/state.h>
#include <weft/tensor.h>
#include <weft/tokenizer.h>
#include <weft/version.h>
