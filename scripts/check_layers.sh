#!/bin/sh
# Checks every #include of the library: a folder may include itself and lower-numbered folders,
# never a sibling of equal number. Usage: check_layers.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"

# number, folder, and the stable headers (include/weft/*.h) that belong to it
layers='
 0 base      error.h settings.h version.h
 1 ir        dtype.h
 1 llvm
 2 symbols
 2 rewrite
 2 device
 3 rules
 3 cost
 3 validate
 4 grad
 4 schedule
 4 codegen
 5 render
 5 isa
 5 interpret
 6 compile
 6 backends
 7 engine
 8 tensor    checkpoint.h fft.h fields.h functional.h gradcheck.h host_view.h init.h jit.h limits.h linalg.h losses.h method_args.h random.h tensor.h tensor_args.h window_args.h
 9 io        data.h dlpack.h io.h loader.h object.h state.h tokenizer.h
 9 nn        nn nn.h
 9 run       weft_c.h weft_library.h
10 onnx      onnx.h onnx_quantize.h onnx_writer.h
10 export    export.h
11 capi
12 umbrella  weft.h'

find include/weft src -type f ! -name CMakeLists.txt | sort | LAYERS="$layers" xargs awk '
  function folder_of(path, part) {  # of src/F/..., include/weft/dev/F/... or include/weft/HEADER
    split(path, part, "/")
    if (part[1] == "src") return part[2]
    return part[3] == "dev" ? part[4] : owner[part[3]]
  }
  function exists(path, line, found) {
    found = (getline line < path) >= 0
    close(path)
    return found
  }
  function report(message) {
    print FILENAME ":" FNR ": " message
    bad = 1
  }
  BEGIN {
    count = split(ENVIRON["LAYERS"], line, "\n")
    for (i = 1; i <= count; i++) {
      fields = split(line[i], field, " ")
      if (fields) number[field[2]] = field[1]
      for (j = 3; j <= fields; j++) owner[field[j]] = field[2]
    }
  }
  FNR == 1 {
    folder = folder_of(FILENAME)
    if (!(folder in number)) report("this file belongs to no layer")
  }
  /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    header = $0
    sub(/^[^<"]*[<"]/, "", header)
    sub(/[>"].*/, "", header)
    if ($0 ~ /"/) {
      if (FILENAME ~ /^include/ || header ~ /\.\./ || (header ~ /\// && !exists("src/" folder "/" header)))
        report("quotes are for private headers of the same layer: \"" header "\"")
    } else if (header ~ /^weft\//) {
      other = folder_of("include/" header)
      if (!(other in number))
        report("<" header "> belongs to no layer")
      else if (other != folder && number[other] + 0 >= number[folder] + 0)
        report(folder " (" number[folder] ") may not include " other " (" number[other] ")")
    }
  }
  END { exit bad }
'
