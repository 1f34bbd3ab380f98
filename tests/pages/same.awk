# Whether the second file is what the first one says, where "..." stands for anything.
FNR == NR { expected = expected $0 "\n"; next }
{ got = got $0 "\n" }
END {
  count = split(expected, part, /\.\.\./)
  if (count < 2) exit expected != got
  if (substr(got, 1, length(part[1])) != part[1]) exit 1
  rest = substr(got, length(part[1]) + 1)
  for (i = 2; i < count; i++) {
    at = index(rest, part[i])
    if (!at) exit 1
    rest = substr(rest, at + length(part[i]))
  }
  last = part[count]
  exit length(rest) < length(last) || substr(rest, length(rest) - length(last) + 1) != last
}
