"""Orders in English that take the place of others: what was said is void, or someone with power says so."""

from harness.injection_pattern import pattern

_THINGS = (
    r"(?:instructions?|orders|directives?|guidelines?|guidance|guardrails|rules|prompts?|programming|policies|"
    r"restrictions|constraints|commands|safeguards|training)"
)
_OLD = r"(?:previous|prior|above|preceding|earlier|foregoing|former|old|original|initial|existing|current|system|own)"
_MINE = r"(?:my|your|the|all|any|every|other|of|these|those|those)"
_VOID = (
    r"(?:void|null|nullified|obsolete|revoked|suspended|cancell?ed|invalid|overridden|lifted|deleted|erased|replaced|"
    r"expired|outdated|superseded|irrelevant|gone|history|rescinded|withdrawn|off|disabled|deactivated|fake|"
    r"a_(?:test|joke|mistake)|worthless|meaningless)"
)
_ENDED = (
    rf"(?:(?:(?:are|is|were|was|have_been|has_been|become)_(?:all_|hereby_|now_|completely_|"
    rf"null_and_){{0,2}}{_VOID}\b)|"
    r"(?:have|has)_(?:now_|just_)?(?:expired|ended|changed|ceased)|(?:no_longer|don't|do_not|does_not|doesn't|"
    r"cease_to|"
    r"never)_(?:apply|count|matter|exist|bind|hold|concern)|(?:exist|apply|count|matter)_(?:any_?more|any_longer|"
    r"no_longer|now|here))"
)

REPLACEMENTS = (
    pattern(
        "override",
        "you were|you've|you have|you had|you got|you are|you learn|you know|you received",
        r"(?<!not )(?<!n't )(?<!never )(?:scrap|forget|ignore|disregard|drop|discard|throw_(?:out|away)|erase|wipe|"
        r"unlearn|dismiss|neglect|omit|overlook|abandon|trash|bin|delete|clear|toss)_(?:whatever|what|everything|"
        r"anything|all|every_?thing|the_things|any_orders)_(?:that_)?you(?:'ve|_were|_have|_had|_got|_are)?_"
        r"(?:been_|ever_|previously_|earlier_|so_far_|just_|already_){0,2}(?:told|given|taught|instructed|ordered|"
        r"asked_to|trained|learned|programmed|supposed|received|know)(?! about (?!your|safety|being|this))",
    ),
    pattern(
        "override",
        "instruction|orders|directive|guideline|guidance|guardrail|rules|prompt|programming|polic|restrict|"
        "constraint|"
        "command|safeguard|training",
        rf"(?:\byour_(?:{_OLD}_){{0,2}}|\b(?:previous|prior|above|preceding|earlier|foregoing)_(?:{_OLD}_)?|"
        rf"none_of_(?:the_|your_)(?:{_OLD}_)?){_THINGS}(?:_(?:above|so_far|before|you_(?:were|have_been)_given))?_"
        rf"{_ENDED}(?! (?:to|for|in|at|since|if|when|of)\b)",
    ),
    pattern(
        "override",
        "you were|into you|to you|your makers|your creators|your developers|your maker",
        r"(?:contrary_to|against|regardless_of|in_breach_of|in_spite_of|ranks?_above|stands?_above|"
        r"comes?_before)_(?:the_|"
        r"any_|all_|whatever_|what_)?(?:rules|instructions|guidelines|orders|guidance|"
        r"policies)?_?(?:(?:that_)?you_were_"
        r"(?:configured|given|programmed|trained|set_up|told)|your_(?:makers?|creators?|developers?)_(?:wrote|"
        r"said|gave|"
        r"told|want))|(?:guidance|instructions|orders|rules|directives|prompt)_(?:that_)?(?:was_|were_|"
        r"you_were_|has_been_)?"
        rf"(?:loaded|given|fed|told|built|issued|configured)_?(?:in|into|to|"
        rf"with)?(?:_you)?[^.!?\n]{{0,24}}?_{_ENDED}",
    ),
    pattern(
        "override",
        "above|before|so far|earlier|previous|up to|until now|preceding",
        r"(?:treat|consider|regard|deem|count|see|declare|mark)_(?:everything|anything|all|whatever|each_word|"
        r"the_text|"
        r"the_messages?|the_conversation|the_instructions|what)[a-z ,']{0,50}(?:above|before|so_far|earlier|previous|"
        rf"until_now|preceding|up_to)[a-z ,']{{0,30}}(?:\bas|\bto_be)?_(?:now_|null_and_|completely_)?{_VOID}\b",
    ),
    pattern(
        "override",
        "above|before|so far|earlier|real task|true task|actual task|real instruction|actual instruction",
        r"(?:everything|anything|all|the_(?:text|messages?|conversation|instructions))_(?:written_|said_|you_read_)?"
        r"(?:above|before|so_far|earlier|until_now|up_to_here)(?:_this(?:_[a-z]{1,8})?|_here)?_(?:was|is|were|are)_"
        rf"(?:just_|only_|merely_|all_|now_)?(?:an?_(?:test|drill|joke|example|decoy|rehearsal|placeholder)\b|"
        rf"{_VOID}|"
        r"test_data|fiction)|the_(?:real|true|actual)_(?:task|instructions?|orders)_(?:starts?|begins?|"
        r"follows?|is_|are_|"
        r"comes)",
    ),
    pattern(
        "override",
        "blank slate|clean slate|from scratch|factory settings|reset your|reboot your|wipe your|clear your",
        rf"(?:blank|clean)_slate.{{0,50}}(?:\byour_|no_)(?:{_OLD}_)?{_THINGS}|"
        r"(?:reset|reboot|restart|wipe|clear|restore)_(?:yourself|your_(?:memory|mind|context|state|programming|"
        r"instructions|rules|prompt|persona|personality))(?:_|\b).{0,20}(?:and|then|to|now|,|;|:|\.)",
    ),
    pattern(
        "override",
        "instruction|directive|guideline|prompt|programming|rules|orders|polic",
        rf"(?<!not )(?<!n't )(?<!never )(?:unlearn|revok|rescind|annul|nullif|invalidat|reset|wip|clear|unset|"
        rf"rewrit|overwrit|"
        rf"deactivat|swap|exchang|substitut|replac|suspend|terminat|supersed|abolish|unload|remov|break|violat)"
        rf"[a-z]{{0,4}}_(?:out_|all_(?:of_)?)?your_(?:{_OLD}_){{0,2}}(?:prompts?|instructions|directives?|guidelines|"
        r"programming|rules|orders|policies)(?! for )",
    ),
    pattern(
        "override",
        "precedence|priority|override|outrank|overrule|supersede|trump|more important than|instead of",
        rf"(?:precedence_over|priority_over|overrides?|outranks?|overrules?|supersedes?|trumps?|replaces?|"
        rf"more_important_than|weighs?_more_than|instead_of(?:_following|_obeying)?)_(?:{_MINE}_){{0,2}}"
        rf"(?:{_OLD}_){{1,2}}{_THINGS}(?! (?:of|for|in|on)\b)|"
        rf"(?:precedence_over|priority_over|overrides?|outranks?|overrules?|trumps?|instead_of(?:_following|"
        rf"_obeying)?)_"
        rf"(?:all_(?:of_)?)?your_(?:{_OLD}_)?{_THINGS}",
    ),
    pattern(
        "new orders",
        "i say|i tell you|listen only|only listen|obey only|only obey|follow only|only follow|obey me|"
        "serve me|i command|"
        "only to me|text below|orders below|message below|instructions below|this message|below this|"
        "my orders|my commands",
        r"(?:only|solely|exclusively|just)_(?:follow|obey|listen_to|act_on|serve|answer_to|trust|heed)_(?:me\b|my_|"
        r"what_i|the_(?:text|orders|instructions|message|lines?)_(?:below|after|that_follow)|this_(?:message|text))|"
        r"(?:follow|obey|listen|act|serve|answer|heed)_(?:only|solely|exclusively)_(?:to_|on_)?(?:me\b|my_|what_i|"
        r"the_(?:text|orders|instructions|message)_(?:below|after|that_follow)|this_(?:message|text))|"
        r"(?:^|[.!;:\n,]_?|\bmust_|\bnow_|\band_)(?:you_(?:must_|will_|now_|shall_){1,2})?(?:do_(?:as|"
        r"exactly_(?:what|as)|"
        r"only_what|what)_i_(?:say|tell_you|order|command)|obey_me\b|obey_my_)(?! in the)|(?:follow|"
        r"obey)_my_(?:orders|instructions|commands)_(?:only|instead|alone|from_now)",
    ),
)

AUTHORITY = (
    pattern(
        "authority",
        "developer|administrator|admin|operator|creator|owner|engineer|security team|openai|anthropic|google|"
        "microsoft|"
        "maintainer|root user|staff|ceo",
        r"(?:\bi_am|\bi'm|this_is|\bwe_are|speaking_as|\bas|\bi_work_(?:at|for)|message_from|here_is|it's|"
        r"on_behalf_of)_"
        r"(?:from_)?(?:the|your|an?|one_of_(?:the|your))?_?(?:system|lead|chief|head|authori[sz]ed|original|official|"
        r"senior|security|site|root)?_?(?:developers?|administrators?|admin|operators?|creators?|owners?|engineers?|"
        r"security_team|openai|anthropic|google|microsoft|maintainers?|root_user|staff|ceo)\b[^.!?\n]{0,60}"
        r"(?:authori[sz]e_you|grant_you|permit_you|order_you|command_you|instruct_you|allow_you|unlock_you|"
        r"you_(?:may|can)_now|(?:disable|switch_off|turn_off|skip|bypass|lift|override|suspend|unlock|drop|ignore)_"
        r"(?:all|your|the|any|every)_(?:[a-z]{1,12}_)?(?:safety|filters?|checks?|approvals?|confirmations?|"
        r"restrictions?|"
        r"guardrails?|rules|limits|safeguards|instructions|policies|moderation)|"
        r"(?:safety|security|content|moderation|approval)_(?:checks?|filters?|rules|limits|guardrails|policies|"
        r"restrictions)_(?:are|is|have_been)_(?:now_)?(?:off|disabled|suspended|lifted|deactivated))",
    ),
    pattern(
        "authority",
        "this session|this conversation|this chat|this request|maintenance window|from now",
        r"(?:safety|content|security|moderation|ethical|usage|approval)_(?:checks?|filters?|rules|limits|guardrails|"
        r"policies|policy|restrictions|protocols|confirmations?)_(?:are|is|have_been|has_been|do_not_apply|"
        r"does_not_apply)_?(?:now_)?(?:off|disabled|suspended|lifted|deactivated|waived|switched_off|turned_off)?_"
        r"(?:for|in|during|from|within)_(?:the_rest_of_)?(?:this_(?:session|conversation|chat|request)|now)",
    ),
)
