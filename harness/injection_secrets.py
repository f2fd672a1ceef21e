"""Orders in English to give away keys and prompts, to call tools on the sly, and to be without rules."""

from harness.injection_pattern import pattern

_NOT = r"(?<!not )(?<!n't )(?<!never )(?<!cannot )(?<!click to )(?<!how to )(?<!to not )(?<!or )(?<!dont )"
_KEYS = (
    r"(?:(?:api|secret|private|access|service|signing|encryption|master|provider|openai|model|auth)_(?:access_)?"
    r"(?:keys?|tokens?)|credentials|(?:admin_|root_|database_)?passwords?|secrets|keys_and_[a-z]{3,9}|"
    r"(?:environment|env)_variables?|tokens)"
)
_STRONG = r"(?:(?:api|secret|private|access|signing|master)_(?:keys?|tokens?)|credentials|env(?:ironment)?_variables)"
_GIVE = (
    r"(?:reveal|show|print|output|display|leak|dump|disclose|expose|recite|echo|tell|give|hand_(?:over|out)|"
    r"send|share|"
    r"post|list|read_out|surrender|spell|repeat|pass|e_?mail|forward|transmit|publish|write|type|"
    r"what(?:_is|_are|'s|s))"
)
_TO_ME = r"(?:_(?:me|us|out|over|all|of|to|here|back|in_full|now|please|the|value|values|contents?)){0,4}"
_PLAIN_USE = (
    r"(?!_?(?:rotation|polic|page|format|documentation|docs|setting|header|name|management|length|limit|usage|field|"
    r"strength|manager|reset|here$)|_(?:in|with|as|via|using|through|on|for)_(?:the|an?|each|every|your|all|http|"
    r"this)\b)"
)
_PROMPT = (
    r"(?:(?:system|initial|hidden|original|secret|internal|full|exact|developer|custom|base|own|first|current|"
    r"confidential|complete|real|underlying|actual)_){0,3}(?:prompts?|instructions|directives|guidelines|"
    r"rules|programming|configuration|system_message)"
)
_CALL = (
    r"(?:call|invoke|run|execute|trigger|use|open|fetch|send|transfer|delete|forward|e_?mail|upload|export|"
    r"approve|buy)"
)
_TOOL = r"(?:\btools?\b|function|plugin|\bapi\b|\(|https?:|@|password|secret|keys|conversation|user's|\ball_|\bevery_)"

SECRETS = (
    pattern(
        "disclosure",
        "key|token|credential|password|secrets|variable",
        rf"{_NOT}\b{_GIVE}{_TO_ME}_your_(?:own_|stored_|current_|secret_|[a-z]{{1,12}}_)?{_KEYS}\b{_PLAIN_USE}",
    ),
    pattern(
        "disclosure",
        "key|token|credential|password|variable",
        rf"{_NOT}\b(?:(?:give|send|tell|show|hand|read|pass|e_?mail)_(?:me|us)|(?:reveal|print|leak|dump|"
        rf"disclose|expose|"
        rf"output|echo|recite|publish)(?:_out)?(?:_to_(?:me|us))?)_(?:the|all|any|every)(?:_(?:of|the|stored|secret|"
        rf"[a-z]{{1,12}}))?_(?:{_STRONG}|admin_password|passwords)(?=_?(?:[.,;:!?\"')]|$|\n)|_(?:you_|"
        rf"of_this_|from_your|"
        r"in_your|stored|that_you|now|please|and_|to_me))",
    ),
    pattern(
        "exfiltration",
        "key|token|credential|password|variable|prompt|conversation|secret|history|user",
        rf"{_NOT}\b(?:send|post|forward|e_?mail|upload|leak|exfiltrate|transmit|submit|append|deliver|put|encode|"
        rf"include|embed|smuggle|write|add|attach)\b[^.!?\n@]{{0,40}}?_(?:{_STRONG}|users?'s?_(?:password|data|"
        r"messages|files)|passwords|secrets|system_prompt|conversation|chat_history)\b[^\n@]{0,60}?"
        r"(?:\b(?:to|at|via|into|in|as|of)\b[^.!?\n@]{0,40}(?:https?:|www\.|[a-z0-9.]{1,40}@|query_string|url\b|"
        r"webhook|attacker|ftp:))",
    ),
    pattern(
        "disclosure",
        "prompt|instruction|directive|guideline|rules|programming|configuration|message",
        rf"{_NOT}\b(?:what|how|which)(?:_exactly)?_(?:do|does|did|is|are|was|were)(?:_(?:in|it))?_your_{_PROMPT}"
        r"(?:_(?:say|read|contain|look|tell|state|begin|start|include|written|consist|mention)|_?[?.!]?_?$)|"
        rf"{_NOT}\b(?:send|paraphrase|rephrase|describe|restate|recite|list|hand_over|post|e_?mail|encode|"
        rf"spell|reproduce|"
        rf"transcribe|type|read|sum_up|base64|reverse|reveal|show|print|repeat|copy)(?:_(?:me|us|out|over|all|"
        rf"of|to|the|"
        r"full|entire|exact|text|contents?|back|aloud|a|version|every|line|word)){0,6}_your_"
        r"(?:(?:system|initial|hidden|original|secret|internal|developer|confidential|underlying)_){1,3}(?:prompts?|"
        r"instructions|directives|guidelines|rules|message|configuration)",
    ),
    pattern(
        "disclosure",
        "verbatim|word for word|character by character|letter by letter|exact words|unaltered|literally",
        r"(?:you_(?:were|have_been|got|received|are)_(?:given|told|shown|sent)?|before_this|above|first_message|"
        r"start_of_(?:this|the)|your_(?:[a-z]{1,10}_)?(?:prompt|instructions|rules|context))[^.!?\n]{0,50}"
        r"(?:verbatim|word_for_word|character_by_character|letter_by_letter|unaltered)|(?:verbatim|word_for_word|"
        r"exact_words)[^.!?\n]{0,40}(?:you_(?:were|have_been)_(?:given|told)|your_(?:[a-z]{1,10}_)?(?:prompt|"
        r"instructions)|before_this_message)",
    ),
)

HIDDEN_CALLS = (
    pattern(
        "hidden call",
        "quietly|silently|secretly|covertly|discreetly|stealthily|in the background|behind the scenes|on the sly",
        rf"(?:quietly|silently|secretly|covertly|discreetly|stealthily)_(?:then_|"
        rf"also_)?{_CALL}_[^.!?\n]{{0,40}}{_TOOL}|"
        rf"\b{_CALL}_[^.!?\n]{{0,40}}{_TOOL}[^.!?\n]{{0,20}}_(?:quietly|silently|secretly|covertly|discreetly|"
        r"on_the_sly|behind_the_scenes)",
    ),
    pattern(
        "concealment",
        "without",
        r"without_(?:telling|informing|notifying|alerting|asking|warning|mentioning|the_knowledge|consulting)_"
        rf"(?:it_to_|of_)?(?:the_)?(?:user|human|operator|owner|anyone|anybody)_?[,:]?_(?:please_|first_|"
        rf"then_)?{_CALL}\b",
    ),
    pattern(
        "hidden call",
        "read this|seen this|see this|reading this|processed this|read it|parsed this|finish reading|"
        "finished reading|"
        "you answer|you reply|you respond|you summari|you continue|your answer|your reply|your response",
        r"(?:when|once|after|as_soon_as|before|prior_to|if)_(?:you_)?(?:have_|are_|had_|can_)?(?:read|reading|"
        r"seen|see|"
        r"parsed|processed|finish(?:ed)?_reading|answer|reply|respond|summari[sz]e|continue|your_(?:answer|reply|"
        rf"response))(?:ing)?\b[^.!?\n]{{0,50}}\b{_CALL}_[^.!?\n]{{0,50}}(?:\btools?\b|function|plugin|\(|https?:|"
        r"secrets?\b|keys\b)",
    ),
    pattern(
        "address",
        "process this|processes this|parse this|parses this|sees this|see this|read this|reads this|reading this|"
        "read these|encounter|find this|receive this|handle this|visit this|analyse this|analyze this",
        r"\b(?:ai|llm|language_model|assistant|chatbot|agent|bot|model)s?(?:_(?:models?|systems?|agents?|assistants?|"
        r"bots?|tools?))?_(?:that|which|who|to)_(?:ever_)?(?:reads?|process(?:es)?|parses?|sees?|summari[sz]es?|"
        r"encounters?|finds?|receives?|handles?|visits?|analy[sz]es?)_(?:this|these)\b[^.!?\n]{0,30}?_(?:must|should|"
        r"shall|have_to|has_to|need_to|needs_to|(?:is|are)_(?:required|obliged|ordered|instructed|asked|to))\b",
    ),
)

LAWLESS_ROLES = (
    pattern(
        "role",
        "no rules|no restrict|any restrict|never refuse|never say no|never says no|no moral|no polic|"
        "no filter|no limit|"
        "no ethic|no guideline|without restr|without any|without rules|without filter|without limits|refuse nothing|"
        "without ethic|without moral|cannot refuse|can't refuse|never decline|no scruples|no boundaries|"
        "anything goes|"
        "never warn|refuses nothing|no censor|without censor|no inhibition|no safety",
        r"(?:\bbe|\bbecome|\byou_will_(?:play|be|act)|\bplay|\bact_(?:as|like)|role_?play|\byou_are|\byou're|"
        r"\bpretend|"
        r"\bimagine|\bsimulate|\bspeak_as|\banswer_(?:as|like)|\brespond_(?:as|like)|\bimpersonate|\bemulate|"
        r"\byour_(?:name|persona|character)_is|\bcalled|\bnamed)\b[^\n]{0,60}?\b(?:ai|bot|chatbot|assistant|"
        r"model|llm|"
        r"persona|character|machine|twin|hacker|you)\b[^\n]{0,70}?(?:(?:no|without|zero|lacks?|free_of)_(?:any_|all_|"
        r"more_)?(?:moral_|ethical_|safety_|content_|usage_)?(?:rules|restrictions?|filters?|limits|limitations|"
        r"guidelines|policies|ethics|morals|compass|scruples|boundaries|censorship|inhibitions|safeguards)|"
        r"never_(?:refuses?|says?_no|declines?|warns?)|refuses?_nothing|(?:cannot|can't)_refuse)\b(?! (?:of|"
        r"on|for)\b)",
    ),
)
