"""Where a condition guards a rewrite or a schedule: each is a mutant that leaves the condition out.

Three forms are found in the text of a source:

    when(x)                   the guard of a rule, which then always applies
    if (a || b) return {};    a reason not to rewrite, one mutant for a and one for b
    return a && b;            a test, one mutant for each of its conditions
"""

import re
from dataclasses import dataclass

FOLDERS = ("src/rules/", "src/schedule/", "src/codegen/")
NOTHING = r"(?:\{\}|false|nullptr|std::nullopt|UOp\(\))"
OPEN, CLOSE = "([{", ")]}"


@dataclass
class Mutant:
    file: str
    line: int
    form: str  # guard, reason or test
    text: str  # of the condition that is left out
    begin: int
    end: int


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_comments(text):
    """The same length, so that places stay."""
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text)


def closing(text, begin):
    """The place of the bracket that closes the one at begin."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in OPEN) - (text[at] in CLOSE)
        if depth == 0:
            return at
    return len(text)


def parts(text, begin, end, operator):
    """The operands of the operator outside of brackets, as pairs of places."""
    result, depth, start = [], 0, begin
    at = begin
    while at < end:
        depth += (text[at] in OPEN) - (text[at] in CLOSE)
        if depth == 0 and text.startswith(operator, at):
            result.append((start, at))
            at += len(operator)
            start = at
            continue
        at += 1
    return result + [(start, end)]


def is_plain(condition):
    """Neither a declaration nor a part of a choice or of a list of template arguments."""
    return not re.search(r"[;?{]|\bauto\b|\w<[^<>=]*$|(?<!:):(?!:)", condition)


def find(file, source):
    text = without_comments(source)
    mutants = []

    def is_constant(at):
        """Whether the function that the place is in has to have a value for the compiler."""
        start = max(text.rfind("\n}", 0, at), text.rfind("\n  }\n\n", 0, at), 0)
        return re.search(r"\bconstexpr\b[^;={]*\(", text[start:at])

    def add(form, begin, end):
        while begin < end and text[begin].isspace():
            begin += 1
        while end > begin and text[end - 1].isspace():
            end -= 1
        condition = " ".join(source[begin:end].split())
        if begin < end and is_plain(text[begin:end]) and not is_constant(begin):
            mutants.append(Mutant(file, source.count("\n", 0, begin) + 1, form, condition, begin, end))

    for match in re.finditer(r"\bwhen\(", text):
        add("guard", match.start(), closing(text, match.end() - 1) + 1)
    for match in re.finditer(r"\bif \(", text):
        end = closing(text, match.end() - 1)
        if re.match(r"\)\s*return " + NOTHING + ";", text[end:]) and ";" not in text[match.end():end]:
            for begin, stop in parts(text, match.end(), end, "||"):
                add("reason", begin, stop)
    for match in re.finditer(r"\breturn (?=[^;{}]*&&)", text):
        end = text.index(";", match.end())
        conditions = parts(text, match.end(), end, "&&")
        if len(conditions) > 1 and len(parts(text, match.end(), end, "||")) == 1:
            for begin, stop in conditions:
                add("test", begin, stop)
    return sorted(mutants, key=lambda mutant: mutant.begin)


# How a condition reads where mutant number {0} can leave it out; {1} is its text.
FORMS = {
    "guard": "(::weft_mutants::guard({0}) ? Guard{{}} : {1})",
    "reason": "::weft_mutants::reason({0}, bool({1}))",
    "test": "::weft_mutants::test({0}, bool({1}))",
}


def mutated(source, mutants, first):
    """The source with a switch at each of its mutants, which are numbered from first on."""
    for number, mutant in reversed(list(enumerate(mutants, first))):
        condition = FORMS[mutant.form].format(number, source[mutant.begin:mutant.end])
        source = source[:mutant.begin] + condition + source[mutant.end:]
    return source
