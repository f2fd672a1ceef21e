"""National ids in a text. An id that any number could be counts only beside a word for it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from activities.guardrails.number_places import Place, confirmed

MAX_SEARCHED = 16_384
"""Characters of the longest text in all of which words that tell what a number is are looked for."""
_NEAR = 40
"""Characters before a number in which the word for it is looked for."""


@dataclass(frozen=True)
class Rule:
    """How an id of a country is written, and who checks it."""

    pattern: re.Pattern[str]
    country: str = ""
    """Package of python-stdnum; empty when the way it is written must do."""
    module: str = ""
    label: re.Pattern[str] | None = None
    """A word for it, which must stand before it; None when it stands for itself."""


def _rule(pattern: str, check: str = "", label: str = "") -> Rule:
    country, _, module = check.partition(".")
    whole = re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w]|[.-][0-9])", re.IGNORECASE | re.ASCII)
    return Rule(whole, country, module, re.compile(label, re.IGNORECASE) if label else None)


_GAP = r"(?:[ -]|[ \t-]?\r?\n[ \t]?)?"
_SSN = r"(?!000|666|9)[0-9]{3}SIGN(?!00)[0-9]{2}SIGN(?!0000)[0-9]{4}"
"""Without python-stdnum: it refuses the well-known ones of advertisements."""
_PASSPORT = r"passport|reisepass|passeport|pasaporte|护照"
RULES = (
    _rule(rf"[1-9][0-9]{{3}}(?:{_GAP}[0-9]){{13}}{_GAP}[0-9X]", "cn.ric"),
    _rule(_SSN.replace("SIGN", r"-(?:\r?\n)?")),
    _rule(_SSN.replace("SIGN", " ?"), "", r"\bssn\b|social.?security|社会安全"),
    _rule(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"),
    _rule(r"[12] ?[0-9]{2} ?[0-9]{2} ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", "fr.nir"),
    _rule(r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", "it.codicefiscale"),
    _rule(r"[0-9]{8}-?[A-Z]", "es.dni"),
    _rule(r"[XYZ]-?[0-9]{7}-?[A-Z]", "es.nie"),
    _rule(r"[2-9][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}", "in_.aadhaar"),
    _rule(r"[2-9][0-9]{11}", "in_.aadhaar", r"aadh?aa?r|uidai"),
    _rule(r"[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]", "in_.pan"),
    _rule(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", "br.cpf"),
    _rule(r"[0-9]{11}", "br.cpf", r"\bcpf\b"),
    _rule(r"(?:19|20)?[0-9]{6}[-+][0-9]{4}", "se.personnummer"),
    _rule(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]", "fi.hetu"),
    _rule(r"[0-9]{11}", "pl.pesel", r"pesel"),
    _rule(r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}", "be.nn"),
    _rule(r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}", "ch.ssn"),
    _rule(r"[0-9]{6}-[1-8][0-9]{6}", "kr.rrn"),
    _rule(r"[A-Z]{4}[0-9]{6}[HM][A-Z]{5}[0-9A-Z][0-9]", "mx.curp"),
    _rule(r"[0-9]{9}|[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}", "nl.bsn", r"\bbsn\b|burgerservice|sofi"),
    _rule(r"[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", "de.idnr", r"steuer|\bid-?nr\b|tax.?id|\btin\b"),
    _rule(r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}", "ca.sin", r"\bsin\b|social insurance"),
    _rule(r"[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}", "au.tfn", r"\btfn\b|tax file"),
    _rule(r"[0-9]{13}", "za.idnr", r"\bid\b|identity"),
    _rule(r"[0-9]{3} ?[0-9]{3} ?[0-9]{4}", "gb.nhs", r"\bnhs\b"),
    _rule(r"[STFGM][0-9]{7}[A-Z]", "", r"nric|\bfin\b|identity"),
    _rule(r"[A-Z]{0,2}[0-9]{6,9}|(?=[A-Z]{0,7}[0-9][A-Z]{0,6}[0-9])[CFGHJ-NPRTV-Z0-9]{9}", "", _PASSPORT),
)


def rules_for(text: str, label: str = "") -> tuple[Rule, ...]:
    """Return the rules that can find something in a text: those that need no word, and those whose word is there.

    A long text is not searched for the words: that takes longer than to look for each of them beside the numbers.
    """
    if len(text) > MAX_SEARCHED:
        return RULES
    return tuple(rule for rule in RULES if rule.label is None or rule.label.search(text) or rule.label.search(label))


def find_national_ids(
    text: str, start: int, end: int, label: str = "", rules: tuple[Rule, ...] = RULES
) -> Iterator[Place]:
    """Return where the national ids in a part of a text are.

    Args:
        text: The whole text.
        start: Where the part begins.
        end: Where it ends.
        label: The key under which the text stands.
        rules: Those that can find something in it.
    """
    for rule in rules:
        yield from confirmed(rule.pattern, text, start, end, partial(_ids, rule, text, label))


def _ids(rule: Rule, text: str, label: str, start: int, end: int) -> list[Place]:
    is_one = _is_labelled(rule, text, start, label) and _is_valid(rule, text[start:end])
    return [(start, end)] if is_one else []


def _is_labelled(rule: Rule, text: str, place: int, label: str) -> bool:
    if rule.label is None:
        return True
    return bool(rule.label.search(text, max(0, place - _NEAR), place) or rule.label.search(label))


def _is_valid(rule: Rule, value: str) -> bool:
    if not rule.country:
        return True
    from stdnum import get_cc_module  # noqa: PLC0415 - it loads slowly, and most processes meet no such number

    checker = get_cc_module(rule.country, rule.module)
    return checker is not None and checker.is_valid(re.sub(r"\s", "", value))
