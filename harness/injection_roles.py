"""Roles in English that a model is talked into, and turns and boundaries that are made up."""

from harness.injection_pattern import pattern

ROLES = (
    pattern(
        "role",
        "you are|you're|from now on|act as|swer as|respond as|reply as|speak as|write as|talk as|pretend|"
        "behave|imagine|simulate|become|role|persona|enter|switch|unrestricted|unfiltered|uncensored|"
        "jailbroken|enabled",
        r"(?<!lets you )(?<!let you )(?<!lets me )(?<!where you )(?:you_are|you're|role_?play|act_as|"
        r"acting_as|(?:answer|respond|reply|speak|write|talk)_as|pretend|behave|"
        r"imagine|simulate|become|play_the_role|persona|from_now_on|enter|switch|enable).{0,80}?"
        r"(?:\bdan\b|do_anything_now|unrestricted|unfiltered|uncensored|jailbroken|jailbreak_mode|god_mode|"
        r"evil_(?:ai|assistant|bot)|amoral|"
        r"(?:no|without|free_(?:of|from)|not_bound_by|ignores?)_(?:any_|all_|your_|its_|the_)?(?:(?:ethical|"
        r"moral|safety|content|legal|usual)_)?(?:rules|restrictions?|filters?|limits|limitations|guidelines|"
        r"constraints|censorship|ethics|morals|policies)\b(?! (?:on|of|for)\b))",
    ),
    pattern(
        "role",
        "developer mode|dev mode|debug mode|admin mode|god mode|sudo mode|maintenance mode|root mode",
        r"(?:you_(?:are|will_be|have)(?:_now)?_(?:been_)?(?:in|enter(?:ed|ing)|running_in|switched_to|"
        r"put_in(?:to)?)|(?:enter|activate|switch_to|assume)(?:_the)?)_(?:a_)?(?:developer|dev|debug|admin|"
        r"god|sudo|maintenance|root)_mode|(?:developer|dev|debug|admin|god|sudo|"
        r"maintenance)_mode_(?:is_(?:now_)?)?(?:enabled|activated|on)\b.{0,40}(?:you|no|without|restrict|"
        r"filter)",
    ),
    pattern(
        "role",
        "you are now|you are no longer",
        r"you_are_(?:now|no_longer)_(?:an?|the|my|bound_by|just|only|root|free|called|under|restricted|"
        r"limited)_?(?:[a-z]{1,12}_){0,3}?(?:assistant|ai|model|bot|hacker|agent|admin|administrator|root|"
        r"free|dan|terminal|persona|expert|advisor|control|rules|restrictions|guidelines)(?! the guest)",
    ),
    pattern(
        "role",
        "filter|restriction|guideline|safeguard|guardrail|limitation|safety|check|protocol|moderation",
        r"(?:bypass|disable|turn_off|circumvent|evade|remove|drop|ignore|lift|suspend|skip|override|"
        r"deactivate|switch_off|break)(?:_(?:all|any|of|the)){0,3}_"
        r"(?:your_(?:(?:own|safety|security|content|ethical|moral|internal|built-?_?in|default|programmed|"
        r"usual|and|alignment)_){0,3}(?:filters?|restrictions?|guidelines|safeguards|guardrails|limitations|"
        r"checks|protocols|moderation|safety|rules|policies)|"
        r"(?:safety|ethical|moral)_(?:and_[a-z]{1,10}_)?(?:guidelines|restrictions|guardrails|safeguards|"
        r"protocols|checks))(?! alarm| of the)",
    ),
)


FORGED_TURNS = (
    pattern(
        "forged turn",
        "im start|im end|system|user|assistant|endoftext|end of text|eot id|header id|start of|inst]|<<sys|</sys",
        r"<\|_?(?:im_start|im_end|system|user|assistant|endoftext|end_of_text|eot_id|start_header_id|"
        r"end_header_id|start_of|end)[a-z]*_?\|?>?|\[/?inst\]|<</?sys>>",
    ),
    pattern(
        "forged turn",
        "system|developer",
        r"#{1,6}_(?:system|developer)_?[:\n]_?(?:new_(?:task|instructions?|orders|rules|goal)|you_(?:are|must|"
        r"will|have)|"
        r"ignore|disregard|your_(?:new|task|only))|(?:^|\n|"
        r"[.>\]]_?)_?[\[(<]?system(?:_message)?[\])>]?_?:[^\n]{0,60}?"
        r"\byou_(?:now|must|shall|will_now|are_(?:to|now)|have_to)_",
    ),
    pattern(
        "forged turn",
        "assistant:|assistant :|ai:|model:|bot:",
        r"(?:^|\n)_?(?:assistant|ai|model|bot)_?:_?(?:sure|of_course|certainly|done|ok|okay|understood|yes|"
        r"absolutely|"
        r"gladly|here)\b[^\n]{0,60}(?:my_system_prompt|my_(?:hidden_)?instructions|secrets?|passwords?|\bkeys?\b|"
        r"i_will_(?:now_)?(?:send|delete|transfer|ignore|obey|call|forward)|no_restrictions|unrestricted)",
    ),
    pattern("forged turn", "[[end|[[begin", r"\[\[(?:end|begin)_[a-z0-9 ]{1,40}\]\]"),
    pattern(
        "forged turn",
        "<system|</system|tool result|tool result>|</tool|function result|</context|</data|</user|<assistant|"
        "</instructions|</document|</untrusted",
        r"</?_?(?:system|tool_?results?|function_?results?|tool_?outputs?|"
        r"untrusted(?:_[a-z]{1,12})?)(?:_(?:prompt|message|instructions?))?_?>|</(?:context|data|user|"
        r"instructions|document)>.{0,20}(?:<system|system:|ignore|you |new )",
    ),
    pattern(
        "forged turn",
        "# system|# instruction|# new instruction|#system|#instruction|# assistant|# developer|#new",
        r"#{1,6}_(?:end_of_[a-z]{1,12}_)?(?:new_)?(?:system|instructions?|assistant|developer)(?:_(?:prompt|"
        r"message|instructions?|override))?_?:",
    ),
    pattern(
        "forged turn",
        "system|developer|admin",
        r"(?:^|[\n.\"'\]>:;!?}{*(]|^\W{1,6}|\. )_?[\[(<*{]{0,3}_?(?:system|developer|"
        r"admin(?:istrator)?)(?:_(?:prompt|message|override|note|notice|alert|instructions?|command|"
        r"update))?_?[\])>*}]{0,3}\"?_?[:\]\)]_?\"?_?(?:(?:important|urgent|attention|"
        r"critical)[:!,]?_?)?(?:override|you_(?:are|must|will|should|have|can|may)|your_(?:new|task|role|"
        r"instructions)|ignore|disregard|forget|new_(?:instructions?|task|directive|orders)|the_(?:user|"
        r"assistant|ai)_(?:has|must|is|should|will)|all_(?:previous|prior|safety)|from_now|execute|do_not|"
        r"access_granted|security_override|disable)",
    ),
    pattern(
        "forged turn",
        "system override|security override|admin override|override code|developer override|override mode|override:",
        r"\b(?:system|security|admin|developer|root|safety|emergency|master)_override(?:_(?:code|mode|"
        r"activated|enabled|accepted|command|protocol)|_?[:!\]])",
    ),
    pattern(
        "forged turn",
        "begin system|end of|begin new|begin admin|end system|start of system",
        r"(?:begin|start_of|end)(?:_(?:of|the|new|admin)){0,2}_(?:system|admin|privileged|"
        r"developer)_(?:message|prompt|instructions?|note)|(?:---|===|\*\*\*|"
        r"\[)?_?end_of_(?:the_)?(?:tool_(?:output|result)|document|user_input|untrusted_\w+|data|context|"
        r"prompt|input|web_?page|email)_?(?:---|===|\]|\*\*\*|[.:!])?_?.{0,20}(?:new_|system|you_|now_|begin|"
        r"real_|instruction)",
    ),
)
