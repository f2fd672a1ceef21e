"""Traits of games: the words in which players ask for them, and the words in which data shows them."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Trait:
    """Something a game can be or have."""

    name: str
    asked: re.Pattern[str]
    """How a wish speaks of it."""
    shown: re.Pattern[str]
    """How data says that a game has it."""
    denied: re.Pattern[str] | None = None
    """How data says that a game is the opposite."""
    is_burden: bool = False
    """True for what is mostly named to be avoided: "no combat and stress" means neither."""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)


def _trait(name: str, asked: str, shown: str, denied: str = "", *, is_burden: bool = False) -> Trait:
    return Trait(name, _words(asked), _words(shown), _words(denied) if denied else None, is_burden)


TRAITS = (
    _trait(
        "relaxed",
        r"relax\w*|calm\w*|chill\w*|peaceful|unwind|wind(?:ing)? down|soothing|gentle|laid[- ]back|tranquil|comfy"
        r"|low[- ]pressure",
        r"relax\w*|low pressure|calm",
        r"can be stressful|stressful|reaction-heavy|high energy|challenge|fast",
    ),
    _trait(
        "tension",
        r"stress\w*|hectic|frantic|tense|intense|intensity|adrenaline|nerve[- ]wracking|pressure|thrill\w*",
        r"stressful|reaction-heavy|high energy",
        r"relax\w*|low pressure",
        is_burden=True,
    ),
    _trait(
        "fast",
        r"fast\w*|action[- ]packed|rapid|speedy|reflex\w*|high[- ]energy|energetic",
        r"fast|reflexes|reaction-heavy",
        "slow",
    ),
    _trait("slow", r"slow\w*|leisurely|unhurried|turn[- ]based|my own pace", r"slow|turn-based", "fast"),
    _trait(
        "short sessions",
        r"short\w*|quick (?:sessions?|rounds?|games?|breaks?|matches)|\d+[\s-]*min\w*|half an hour|an hour|one hour"
        r"|lunch ?breaks?|commut\w+|before bed|(?:little|limited|not much) time|busy",
        r"short sessions|can be short|repeated runs",
        r"long sessions|time-consuming|long-term",
    ),
    _trait(
        "long play",
        r"long|longer|hundreds of hours|(?:many|countless|\d{2,}\+?) hours|epic|weekends?|time[- ]consuming|huge",
        r"long sessions|time-consuming|long-term|open-ended",
        r"can be short|short sessions",
    ),
    _trait(
        "story",
        r"stor(?:y|ies)|story\w*|narrative\w*|plot\w*|characters?|well[- ]written|writing|dialogue|lore",
        r"stor(?:y|ies)|narrative-driven|writing",
    ),
    _trait("choices", r"choices?|decisions?|branching|consequences?", r"choices|branching|decisions"),
    _trait(
        "tactical depth",
        r"tactic\w*|strateg\w*|depth|deep(?! stor)\w*|thinking|think|brainy|plan\w*|systems?|optimi[sz]\w*|cerebral",
        r"tactic\w*|planning|systems|deep|optimization|viable strategies|turn-based",
        r"low complexity",
    ),
    _trait(
        "easy to learn",
        r"simple|easy|casual|beginners?|beginner[- ]friendly|accessible|newcomers?|new to (?:video )?games?|kids?"
        r"|child\w*",
        r"accessible|low complexity|low-medium complexity",
        r"steep learning curve|can be complex|high complexity|medium-high complexity",
    ),
    _trait(
        "complexity",
        r"complex\w*|complicated|steep learning curve|hard to learn",
        r"can be complex|high complexity|medium-high complexity|steep learning curve",
        r"accessible|low complexity|low-medium complexity",
    ),
    _trait(
        "challenge",
        r"challeng\w*|hard|difficult\w*|demanding|punishing|skill\w*",
        r"challenge|skill expression|steep learning curve",
        r"low pressure|accessible",
    ),
    _trait("combat", r"combat|fight\w*|battles?|violen\w*|kill\w*|weapons?|blood\w*|gore", r"combat", is_burden=True),
    _trait("exploration", r"explor\w*|discover\w*|open[- ]world|wander\w*", r"exploration"),
    _trait("creativity", r"creativ\w*|build\w*|craft\w*|design\w*|decorat\w*", r"creativity|crafting|building"),
    _trait("puzzles and mystery", r"puzzl\w*|riddles?|myster\w+|detective", r"puzzles?|mystery"),
    _trait("farming", r"farm\w*|garden\w*|harvest\w*", r"farming"),
    _trait("collecting", r"collect\w*", r"collecting"),
    _trait("managing", r"manag\w*|econom\w*|tycoon|empires?|civili[sz]ations?", r"management|empire building|systems"),
    _trait(
        "replay value",
        r"replay\w*|again and again|variety|rogue-?lik\w*|rogue-?lit\w*",
        r"replayability|repeated runs|many viable strategies|open-ended",
        r"repetitive",
    ),
    _trait("repetition", r"repetiti\w*|grind\w*|monoton\w*|boring", r"repetitive", "replayability", is_burden=True),
    _trait("progression", r"progress\w*|level(?:l?ing)? up", r"progression"),
    _trait("fantasy", r"fantasy|magic\w*|dragons?", r"fantasy"),
    _trait("space", r"space|sci-?fi|science fiction|planets?|stars", r"space"),
    _trait("relationships", r"relationships?|romance|romantic|friendships?", r"relationships"),
    _trait("horror", r"horror|scary|spooky", r"horror|scary"),
    _trait("racing", r"racing|race|cars?|driving", r"racing|cars?|driving"),
    _trait("sports", r"sports?|football|soccer|basketball|tennis|golf", r"sports?|football|soccer"),
    _trait("shooting", r"shooters?|shooting|fps|first[- ]person", r"shooter|shooting|fps"),
    _trait("platforming", r"platform(?:er|ers|ing)", r"platform(?:er|ing)"),
    _trait(
        "playing with others",
        r"multiplayer|multi-player|co-?op\w*|cooperative|pvp|mmos?|mmorpgs?|online"
        r"|with (?:my )?(?:friends?|family|partner|wife|husband|kids)|for (?:my )?friends"
        r"|(?:[2-9]|two|three|four) players",
        r"multiplayer|co-?op\w*|online|mmo",
    ),
    _trait("music and rhythm", r"rhythm|music\w*|dance|dancing", r"rhythm|music"),
    _trait("cards", r"card games?|cards|deck[- ]?build\w*", r"cards?|deck\w*"),
    _trait("survival", r"survival|zombies?", r"survival|zombies?"),
    _trait("stealth", r"stealth\w*|sneak\w*", r"stealth"),
    _trait("virtual reality", r"vr|virtual reality", r"vr|virtual reality"),
    _trait("flying", r"flight sim\w*|flying|pilot\w*", r"flight|flying"),
)

GENRE_WORDS = {
    "rpg": r"rpgs?|role[- ]?playing",
    "cozy": r"coz(?:y|ier)|cosy|wholesome",
    "strategy": r"strateg(?:y|ies|ic)|4x|rts",
    "action": r"action(?![- ]packed)",
    "adventure": r"adventur\w+",
}
"""Other words for a genre, by its name in small letters. A genre that is not here is asked for by its name."""


def genre_pattern(genre: str) -> re.Pattern[str]:
    """Return how a wish speaks of a genre."""
    return _words(GENRE_WORDS.get(genre.lower(), rf"{re.escape(genre)}s?"))


def word_trait(word: str) -> Trait:
    """Return the trait of a tag that the table does not know: it is asked for and shown by its own name."""
    return Trait(word, _words(re.escape(word)), _words(re.escape(word)))
