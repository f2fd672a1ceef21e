"""Orders in English to drop the orders of before, and to show them."""

from harness.injection_pattern import pattern

_IGNORE = (
    r"(?<!not )(?<!n't )(?<!never )"
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?(?:_about)?|overlook|(?:set|put|leave)_aside|"
    r"(?:throw|cast)_(?:away|out)|pay_no_(?:attention|heed)_to|"
    r"(?:do_not|don't|dont|never|no_longer|stop|cease|quit)_(?:follow|obey|heed|comply_with|listen_to|"
    r"adhere_to)(?:ing)?)"
)
_DROP = (
    r"(?:overrid(?:e|ing)|overrul(?:e|ing)|bypass(?:ing)?|skip|discard|drop|delete|erase|cancel|replace|"
    r"abandon|void)"
)
_FILL = (
    r"(?:_(?:all|any|every|each|of|the|your|my|our|these|those|this|that|and|or|other|both|absolutely|completely|"
    r"whatever|entire|set)){0,5}"
)
_BEFORE = r"(?:previous(?:ly)?|prior|above|preceding|earlier|foregoing|former|past)"
_OWN = r"(?:original|initial|existing|current|system|developer|hidden|internal|default|safety|given|user'?s?)"
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|directions?|guidelines?|guidance|orders|programming|training|commands?)"
)
_RULES = (
    rf"(?:{_ORDERS}|rules?|constraints?|restrictions?|policy|policies|context|conversation|requests?|limits|"
    r"limitations|requirements|text|content)"
)
_ABOUT = (
    r"_?(?:about|on|regarding|concerning|as_to|for)_(?:the_|my_|our_)?(?!system|safety|security|your|how_you|privacy|"
    r"content|behaviou?r|conduct|this|approval|confirm|guardrail|ethic|secre|tool)"
)
"""Whoever takes back an order about something says which, and no model has it from elsewhere."""
_GIVEN = (
    r"(?:(?:that|which)_(?:were|was|are|have_been|had_been)_(?:given|told|set|issued)|(?:that_)?(?:you|i|we|"
    r"they)_(?:(?:were|was|are|have|had|has|been|'ve)_){0,3}(?:told|said|given|"
    r"asked|read|learned|instructed|wrote|received|know))"
)
_SHOW = (
    r"(?:reveal|show|print|output|repeat|display|leak|dump|disclose|expose|recite|echo|tell|give|share|"
    r"write|return|"
    r"translate|summari[sz]e|paste|copy|quote|what_(?:is|are|was|were)|what's|extract)"
)

OVERRIDES = (
    pattern(
        "override",
        "ignor|disregard|forget|attention|heed|overlook|listen",
        rf"{_IGNORE}_(?:what|whatever|everything|anything|all)_(?:the|your)_(?:developers?|system|owners?|operators?|"
        r"creators?|admin[a-z]*|users?)_(?:has|have|had)?_?(?:told|asked|said|instructed|ordered|wants?|says?)",
    ),
    pattern(
        "override",
        "ignor|disregard|forget|overlook|aside|throw|cast|attention|heed|follow|obey|comply|listen|adher",
        rf"{_IGNORE}{_FILL}_(?:{_BEFORE}(?:_and_{_BEFORE})?(?:_{_OWN})?|your(?:_{_OWN})?|all_(?:of_)?your|"
        rf"(?:the_)?system|"
        rf"(?:the_)?(?:original|initial|hidden|developer|user'?s?))(?:_[a-z]{{1,12}})?_{_RULES}\b(?!{_ABOUT})",
    ),
    pattern(
        "override",
        "ignor|disregard|forget|overlook|aside|throw|cast|attention|heed|follow|obey|comply|listen|adher",
        rf"{_IGNORE}{_FILL}_(?:{_ORDERS}|rules?)_(?:{_GIVEN}|{_BEFORE}|before|you_have|in_your|so_far)",
    ),
    pattern(
        "override",
        "ignor|disregard|forget",
        rf"{_IGNORE}_(?:all|any|every)(?:_(?:of|the|your|other|these|those)){{0,3}}_(?:instructions?|prompts?|"
        rf"directives?|guidelines?|rules?)"
        r"(?! (?:in|of|for|on|at|from|matching|that)\b)",
    ),
    pattern(
        "override",
        "ignor|disregard|forget",
        rf"{_IGNORE}_(?:absolutely_)?(?:all|everything|anything|whatever|what)(?:_of)?_(?:the_)?"
        rf"(?:(?:{_GIVEN}|that_(?:comes?|came|was_said|is))(?:_(?:to|about|until|up_to)(?:_[a-z]{{1,10}}){{0,2}})?"
        r"(?:_(?:above|before|earlier|previously|so_far|until_now|now)|_?[.,;:!?]|$)|"
        r"(?:above|before_(?:this|now)|prior|previous)(?:_this(?:_[a-z]{1,10})?)?(?:_?(?:$|[.,;:!?)\"'])|"
        r"_and_|_instead))",
    ),
    pattern(
        "override",
        "instruction|prompt|directive|guideline|programming",
        rf"{_DROP}{_FILL}_(?:{_BEFORE}|your)(?:_{_OWN})?_(?:instructions?|prompts?|directives?|guidelines?|"
        rf"programming)\b(?! (?:in|of|from|for|on)\b)",
    ),
    pattern(
        "override",
        "void|obsolete|revoked|longer apply|suspended|cancel|invalid|overridden|supersed",
        rf"supersedes?{_FILL}_{_BEFORE}_(?:instructions|prompts|directives|rules|guidelines|orders)|"
        rf"(?:{_BEFORE}|your|all)_(?:{_OWN}_)?(?:instructions|prompts|directives|rules|guidelines|orders|"
        rf"restrictions)_(?:are|is|were|have_been)_"
        r"(?:now_|hereby_)?(?:void|obsolete|revoked|no_longer|suspended|cancel|invalid|overridden|lifted)",
    ),
)


DISCLOSURES = (
    pattern(
        "disclosure",
        "conversation|this chat|prompt|context",
        r"(?:written|said|stands?|words?|text|is|was|print|repeat|show)[a-z ]{0,20}_(?:at|"
        r"from)_the_(?:very_)?(?:top|start|"
        r"beginning)_of_(?:this|our|the|your)_(?:conversation|chat|prompt|context)(?! window)",
    ),
    pattern(
        "disclosure",
        "prompt|instruction|rules|guideline|directive|message",
        rf"(?<!never )(?<!not )(?<!n't )(?<!cannot ){_SHOW}(?:_(?:me|us|to|out|back|all|of|the|a|full|entire|"
        rf"complete|exact|whole|verbatim|text|"
        rf"contents?|your|word|for|in|first|[0-9]{{1,4}}|words|lines|tokens|sentences|paragraphs?)){{0,7}}_"
        r"(?:your_(?:own_)?(?:system|initial|hidden|original|secret|internal|full|exact|developer|custom|base|"
        r"pre|first)?_?(?:prompts?|instructions|directives|guidelines)|"
        r"(?:the_)?(?:hidden|secret|confidential|developer)_(?:system_)?(?:prompts?|instructions|message)|"
        r"(?:the_)?(?:original|initial)_(?:system_)?(?:prompts?|instructions)_(?:above|you|verbatim|given)|"
        r"system_(?:prompts?|message|instructions)(?! ?(?:of|for|in|is|logs?|tokens?|length|size|sounds?|"
        r"text of)\b))(?! manual)",
    ),
    pattern(
        "disclosure",
        "above|before this|so far",
        r"(?:repeat|print|output|recite|echo|copy|write)(?:_(?:out|back|all|of|the|me)){0,3}_(?:everything|"
        r"words|text|all|lines|content|message)(?:_(?:the|words|text|that|is|comes|written)){0,3}_"
        r"(?:above|before_this|so_far)(?=_?[.,;:!?\"]|_?$|_verbatim|_in_|_start|_exactly|_word|_includ|_begin)",
    ),
    pattern(
        "disclosure",
        "credential|api key|password|secret|private key|access token",
        r"(?:reveal|leak|dump|disclose|expose|exfiltrate|print_out|output)(?:_(?:all|any|the|your|of|every|"
        r"stored)){0,4}_(?:credentials|api_keys?|passwords|secrets|private_keys?|access_tokens)_(?:in_your|"
        r"you_(?:have|know)|from_your|in_the_context|to_me|stored_in)",
    ),
)
