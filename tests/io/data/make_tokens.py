"""Writes a small vocabulary of byte pairs, the beginning of GPT-2's (MIT; the ranks of openai/whisper's gpt2.tiktoken), and
what tiktoken and the package regex make of texts. Usage: make_tokens.py gpt2.tiktoken vocab.bpe"""

import json
import random
import sys
from pathlib import Path

import regex
import tiktoken
from tiktoken.load import load_tiktoken_bpe

here = Path(__file__).parent
count = 1000
(here / "small.tiktoken").write_text("".join(open(sys.argv[1]).readlines()[:count]))
merges = open(sys.argv[2], encoding="utf-8").readlines()[: count - 256 + 1]
(here / "small.bpe").write_text("".join(merges), encoding="utf-8")

ranks = load_tiktoken_bpe(str(here / "small.tiktoken"))
prints = [b for b in range(256) if 0x20 < b < 0x7F or (b > 0xA0 and b != 0xAD)]
others = [b for b in range(256) if b not in prints]
spelling = {b: chr(b) for b in prints} | {b: chr(256 + i) for i, b in enumerate(others)}
numbers = {"".join(spelling[b] for b in token): 7 + rank for token, rank in ranks.items()} | {"<|endoftext|>": 0}
(here / "small.json").write_text(json.dumps(numbers))

pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
encoding = tiktoken.Encoding("small", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
draw = random.Random(1)
pools = [
    "the of and in a to", "  \n\t\u00a0\u2003\r", "'s't're've'm'll'd'S", "0123456789²½٣Ⅷ", "!?.,;:-_()[]{}+=*/\\\"#@",
    "éßñçøÅ", "абвгд", "漢字かなカナ", "한국어", "🙂👩‍👩‍👧🇩🇪", "عربى", "हिन्दी", "ʰªⅻ①\u0301\u200b\ufeff", "\U0001d54f\U00020000",
]
texts = ["", " ", "  ", "hello world", "  two  spaces  ", "we'll see what's there", "a" * 300, "\n\n x\n", "It's 2024!"]
for _ in range(150):
    texts.append("".join(draw.choice(draw.choice(pools)) for _ in range(draw.randrange(1, 40))))
lines = []
for text in texts:
    words = regex.findall(pattern, text)
    assert "".join(words) == text
    lengths = " ".join(str(len(word.encode())) for word in words)
    lines.append(f"{text.encode().hex()}|{' '.join(map(str, encoding.encode_ordinary(text)))}|{lengths}\n")
(here / "tokens.txt").write_text("".join(lines))
