"""Numbers, times and amounts of money in texts, in a form that is the same for every locale.

`1,280`, `1.280` and `1 280` are one number; `6:30 pm`, `18h30` and `오후 6시 30분` are one time; `5,00 €` and
`EUR 5` are one amount. If a number has two readings, such as `1.280`, either one counts.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from faqsvc_embed.generation.data import load

CURRENCIES: Final = {
    name: code for code, names in load("currencies", dict[str, str]).items() for name in names.split()
}
"""The currencies that texts name, in lower case."""

_CURRENCY: Final = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
_NUMBER: Final = r"\d{1,3}(?:[\s\u2019']\d{3}){1,5}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,:]\d{1,15}){0,6}"
_AMOUNT = re.compile(
    rf"(?:(?P<before>{_CURRENCY})\s?)?(?P<number>{_NUMBER})(?:\s?(?P<after>{_CURRENCY})(?!\w))?"
)
_CLOCK = re.compile(
    r"(?P<half>오전|오후|午前|午後|上午|下午)?\s?(?<![\d.,:])(?P<hour>\d{1,2})"
    r"(?:(?P<colon>[:.]|\s?h\s?)(?P<minute>\d{2})(?![\d.,:]\d|\d))?"
    r"(?:\s?(?P<unit>[ap]\.?\s?m\b\.?|uhr\b|heures?\b|h\b|시(?!간)|時(?!間)|点|點)(?:\s?(?P<more>\d{1,2})\s?[분分])?)?"
)
_MYRIAD = re.compile(r"(\d{1,4})\s?[万萬만]\s?(\d{1,4})?(?!\d)")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\s\u2019']\d{3})+")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text: readings of its numbers and times, and the currencies of its amounts."""

    readings: frozenset[str]
    currencies: frozenset[tuple[str, str]]
    """Each currency with a reading of its amount."""

    def support(self, statement: str) -> bool:
        """Return whether the text has every number, time and amount of a statement."""
        for number, currency in _facts(statement):
            if not number & self.readings:
                return False
            known = {code for code, reading in self.currencies if reading in number}
            if currency is not None and known and currency not in known:
                return False
        return True


def facts_of(text: str) -> Facts:
    """Return the facts of a text, which must be normalized: in lower case, without wide digits."""
    found = list(_facts(text))
    readings = frozenset(reading for number, _ in found for reading in number)
    currencies = {(code, reading) for number, code in found if code is not None for reading in number}
    return Facts(readings, frozenset(currencies))


def _facts(text: str) -> Iterator[tuple[frozenset[str], str | None]]:
    """Yield the readings of each number or time, and its currency."""
    text = _MYRIAD.sub(lambda found: f"{found[1]}{found[2] or '':0>4}", text)
    rest: list[str] = []
    end = 0
    for match in _CLOCK.finditer(text):
        if (readings := _clock_readings(match)) is not None:
            yield readings, None
            rest += [text[end : match.start()], " "]
            end = match.end()
    rest.append(text[end:])
    for match in _AMOUNT.finditer("".join(rest)):
        currency = CURRENCIES.get(match["before"] or match["after"] or "")
        yield _number_readings(match["number"]), currency


def _clock_readings(match: re.Match[str]) -> frozenset[str] | None:
    """Return the readings of a time of day, or None for a number that is none."""
    unit, half = match["unit"] or "", match["half"] or ""
    is_time = bool(unit or half) or (match["colon"] or "").strip() in (":", "h")
    hour, minute = int(match["hour"]), int(match["minute"] or match["more"] or 0)
    if not is_time or hour > 24 or minute > 59:
        return None
    written = hour
    if (unit.startswith("p") or half in ("오후", "午後", "下午")) and hour < 12:
        hour += 12
    elif (unit.startswith("a") or half in ("오전", "午前", "上午")) and hour == 12:
        hour = 0
    readings = {f"{hour}:{minute:02}"}
    if minute == 0:  # `from 9 to 18` says the same as `from 9 am to 6 pm`
        readings |= {str(hour), str(written)}
    return frozenset(readings)


def _number_readings(number: str) -> frozenset[str]:
    """Return the numbers that digits with separators can mean."""
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in number)
    if digits.isdecimal():
        return frozenset({_canonical(digits)})
    readings = set[str]()
    if _GROUPED.fullmatch(digits):
        readings.add(_canonical(re.sub(r"\D", "", digits)))
    whole, separator, decimals = digits.rpartition("." if digits.rfind(".") > digits.rfind(",") else ",")
    if separator and (whole.isdecimal() or _GROUPED.fullmatch(whole)):
        readings.add(_canonical(re.sub(r"\D", "", whole), decimals))
    return frozenset(readings or {digits})


def _canonical(whole: str, decimals: str = "") -> str:
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
