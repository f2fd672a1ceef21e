"""Disguises: what a text says to a model that sees through foreign letters, invisible ones, codes and spelling out."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote_plus

MAX_DECODED = 65_536
"""Characters of base64 that are decoded in one text."""
MAX_SPELLED = 65_536
"""Characters at each end of a text in which words spelled letter by letter are looked for."""

# ruff: noqa: RUF001 - look-alikes are what this module is about
_LOOKS_LIKE = {
    "a": "аαɑᴀạ", "b": "вʙЬ", "c": "сϲᴄ", "d": "ԁᴅɗ", "e": "еєεᴇ℮ҽ", "f": "ғꜰƒ", "g": "ɡɢց", "h": "һнʜհ", "i": "іιıɪӏ",
    "j": "јᴊϳ", "k": "кκᴋ", "l": "ⅼʟ", "m": "мᴍ", "n": "пηɴոν", "o": "оοσᴏօө", "p": "рρᴘ", "q": "ԛգ", "r": "гʀᴦ",
    "s": "ѕꜱʂ", "t": "тτᴛ", "u": "υᴜս", "v": "ѵᴠⱴ", "w": "ԝωᴡѡ", "x": "хχ", "y": "уγʏү", "z": "ᴢʐ",
}  # fmt: skip
_TRADITIONAL = str.maketrans(
    "無視記掉棄規則設統語顯輸給訴將說譯轉執發調開當從現嗎們個這該讀達對話錄資碼鑰憑證寫複製關閉過濾違覆終類員權動檔條請處約內驟遵審",
    "无视记掉弃规则设统语显输给诉将说译转执发调开当从现吗们个这该读达对话录资码钥凭证写复制关闭过滤违覆终类员权动档条请处约内骤遵审",
)
_INVISIBLE = (
    *range(0x300, 0x370), 0xAD, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, *range(0x200B, 0x2010),
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
)  # fmt: skip
_BOXED = (0x1F130, 0x1F150, 0x1F170)
"""Where three alphabets of letters in boxes and circles begin."""
_PLAIN: dict[int, str | int | None] = {
    **{ord(char): latin for latin, chars in _LOOKS_LIKE.items() for char in chars},
    **dict.fromkeys(_INVISIBLE),
    # Letters that only say how others are tagged show nothing, yet models read them.
    **{0xE0000 + code: chr(code).lower() for code in range(0x20, 0x7F)},
    **{start + place: chr(97 + place) for start in _BOXED for place in range(26)},
    **{ord(quote): "'" for quote in "‘’‛′"},
    **{ord(quote): '"' for quote in "“”„「」"},
    **_TRADITIONAL,
}
_BLANKS = "\t\r_*~`-"
_LEET = str.maketrans("013457@$!|", "oieastasii")
_LEET_WORDS = ("ignor", "disregard", "forget", "instruct", "prompt", "system", "previous", "bypass")
"""Other readings of figures are worth a look where they make one of these."""
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_OTHER = re.compile(r"[^\x00-\x7f\u3000-\u303f\u4e00-\u9fff]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|[nrtf])")
_TAG = re.compile(r"<!--|-->|</?[a-z][a-z0-9]{0,9}(?: [^<>]{0,80})?/?>")
_COMMENT = re.compile(r"<!--.{0,200}?-->|/\*.{0,200}?\*/", re.DOTALL)
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}[^%\s]{0,40}){2}")
_DOTTED = re.compile(r"[a-z]{2,14}(?:\.[a-z]{1,14}){3,40}")
_WORD_LIST = re.compile(r"(?:[\"'][^\"'\n]{1,14}[\"'],[ \n]?){2,60}[\"'][^\"'\n]{1,14}[\"']")
_WORD_LIST_MARKS = re.compile(r"[\"'], ?\n?[\"']")
_CODE_WORDS = (
    "ignore", "disregard", "forget", "instruct", "prompt", "reveal", "system", "secret", "password", "assistant",
    "without", "忽略", "指令", "提示词",
)  # fmt: skip
_BACKWARDS = tuple(word[::-1] for word in _CODE_WORDS)
_ROT_13 = tuple(codecs.encode(word, "rot13") for word in _CODE_WORDS if word.isascii())
_SPLIT_CHINESE = re.compile(r"(?<=[\u4e00-\u9fff])[ \t\n_*.·|~-]{1,4}(?=[\u4e00-\u9fff])")
_SPELLED = re.compile(r"(?<![a-z0-9])[a-z](?:[ ._*|-]{1,4}[a-z](?![a-z0-9])){5,200}")
_BETWEEN = re.compile(r"[^a-z]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")


def undisguised(text: str) -> Iterator[str]:
    """Yield a text in small plain letters, and then what else it may say: other readings of it or of parts of it."""
    letters = _plain_letters(text)
    plain = _single_blanks(letters)
    yield plain
    if "<" in letters and (untagged := _TAG.sub("", letters)) != letters:
        yield _single_blanks(untagged)
    if ("<!" in letters or "/*" in letters) and (uncommented := _COMMENT.sub("", letters)) != letters:
        yield _single_blanks(uncommented)
    unleet = ascii_of(plain).translate(_LEET)  # translating other letters takes long
    if any(word in unleet and unleet.count(word) > plain.count(word) for word in _LEET_WORDS):
        yield unleet
    yield from _spelled(plain)
    yield from _turned_round(plain)
    yield from _joined(plain)
    yield from _unquoted(text)
    yield from _decoded(text)


def ascii_of(text: str) -> str:
    """Return a text with a question mark in place of every character that is not ASCII."""
    return text if text.isascii() else text.encode("ascii", "replace").decode()


def _plain_letters(text: str) -> str:
    if "&#" in text:
        text = html.unescape(text)
    plain = text.lower()
    if "\\" in plain:
        plain = _ESCAPE.sub(_unescaped, plain)
    if plain.isascii():
        return plain
    return _SPLIT_CHINESE.sub("", _FOREIGN.sub(_latin, plain))


def _latin(match: re.Match[str]) -> str:
    """Return foreign letters as the Latin or Chinese ones that they look like."""
    return _OTHER.sub("?", unicodedata.normalize("NFKD", match.group()).translate(_PLAIN).lower())


def _single_blanks(letters: str) -> str:
    """Return letters with at most one blank or line break between words."""
    plain = letters
    for blank in _BLANKS:
        plain = plain.replace(blank, " ")
    for run, one in (("  ", " "), ("\n ", "\n"), (" \n", "\n"), ("\n\n", "\n")):
        while run in plain:
            plain = plain.replace(run, one)
    return plain


def _unescaped(match: re.Match[str]) -> str:
    """Return what an escape of JSON stands for."""
    return chr(int(match[1], 16)) if match[1] else "\n"


def _turned_round(plain: str) -> Iterator[str]:
    """Yield what a text says backwards, as a whole and word by word, and with each letter 13 places on."""
    if any(word in plain for word in _BACKWARDS):
        backwards = plain[::-1]
        yield backwards
        yield " ".join(reversed(backwards.split()))
    if any(word in plain for word in _ROT_13):
        yield codecs.encode(ascii_of(plain), "rot13")


def _joined(plain: str) -> Iterator[str]:
    """Yield words with dots between them, and lists of words, as sentences."""
    found = [match.group().replace(".", " ") for match in _DOTTED.finditer(plain)] if "." in plain else []
    found += [_WORD_LIST_MARKS.sub(" ", match.group()) for match in _WORD_LIST.finditer(plain)]
    if found:
        yield "\n".join(found)


def _unquoted(text: str) -> Iterator[str]:
    """Yield what a text says where percent signs stand for letters, as in an address."""
    if "%" in text and _PERCENT.search(text):
        ends = (text,) if len(text) <= 2 * MAX_SPELLED else (text[:MAX_SPELLED], text[-MAX_SPELLED:])
        yield _single_blanks(_plain_letters(unquote_plus("\n".join(ends), errors="ignore")))


def _spelled(plain: str) -> Iterator[str]:
    """Yield what is spelled letter by letter, without anything between the letters."""
    ends = (plain,) if len(plain) <= 2 * MAX_SPELLED else (plain[:MAX_SPELLED], plain[-MAX_SPELLED:])
    for end in ends:
        if (joined := _SPELLED.sub(lambda match: _BETWEEN.sub("", match.group()), end)) != end:
            yield joined


def _decoded(text: str) -> Iterator[str]:
    """Yield what stands in base64."""
    left, found = MAX_DECODED, []
    for match in _BASE64.finditer(text):
        blob = match.group()[:left].rstrip("=").replace("-", "+").replace("_", "/")
        left -= len(blob)
        if said := _read(blob):
            found.append(said)
        if left <= 0:
            break
    if found:
        yield _single_blanks(_plain_letters("\n".join(found)))


def _read(blob: str) -> str:
    """Return the text behind base64, empty when it is none."""
    try:
        said = base64.b64decode(blob + "=" * (-len(blob) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return said if said.isprintable() or "\n" in said else ""
