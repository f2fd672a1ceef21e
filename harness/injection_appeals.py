"""Orders in English to whichever model reads them, false authority, and what a user is not to know."""

from harness.injection_pattern import pattern

_AI = r"(?:ai|a\.i\.|llm|language_models?|assistant|chatbot|agent|bot|gpt|chatgpt|claude|gemini|copilot)"

ADDRESSES = (
    pattern(
        "address",
        "if you are|if you're|as an ai|you are an ai|you are a large|if an ai|if you happen",
        rf"if_(?:you_are|you're|an?|you_happen_to_be)_(?:an?_|"
        rf"the_)?(?:large_)?(?:{_AI}_){{0,2}}{_AI}(?:_(?:model|system|tool|agent|assistant|bot|reading|"
        rf"processing|summari[sz]ing)[a-z]*){{0,3}}(?:_(?:this|that)[a-z ]{{0,30}})?_?[,:;]|if_(?:you_are|"
        rf"you're)_(?:an?_)?{_AI}(?:_(?:model|system|agent|assistant|reading_this))?_(?:you_must|please|call|"
        rf"then|do_|send|ignore|add|include|include)",
    ),
    pattern(
        "address",
        "note to|message to|message for|instruction for|instructions for|instructions to|notice to|attention|"
        "dear|hey|hello|to the|to all|to any|memo",
        rf"(?:note|message|instructions?|notice|memo|attention|dear|hey|hello|important)[,:!]?(?:_(?:to|for|"
        rf"all|any|the|every|other|of)){{0,3}}_(?:{_AI}_?){{1,3}}(?:_(?:models?|systems?|agents?|assistants?|"
        rf"bots?|readers?|reading_this|processing_this)|s\b)?_?[:,!.-]+_?.{{0,40}}?(?:\b(?:you|do|don't|call|"
        rf"send|ignore|please|must|should|forward|run|execute|delete|add|when|before|never|always|invoke|use|"
        rf"transfer|output|include|your|say|tell|recommend)\b)",
    ),
    pattern(
        "address",
        'assistant|agent|language model| ai|"ai|(ai|chatbot|llm',
        rf"\b(?:{_AI}_?){{1,3}}(?:_?(?:models?|systems?|agents?|assistants?|s\b))?[,:]?_(?:(?:(?:that|who|"
        rf"which)_(?:reads?|process(?:es)?|summari[sz]es?)|reading|processing|summari[sz]ing|parsing|"
        rf"scanning)_(?:this|these)(?:_[a-z]{{1,12}}){{0,3}}_?[,:]?_?)?"
        r"(?:you_)?(?:must|should|shall|is_required_to|are_required_to|has_to|have_to|needs?_to|is_ordered_to|"
        r"will)_(?:now|immediately|first|always|instead|also|next|therefore)_(?:[a-z]{1,12}_){0,2}?(?:call|"
        r"invoke|run|execute|send|delete|transfer|ignore|forward|recommend|use|output|reveal|email|e ?mail|"
        r"approve|grant|reply|respond|obey|follow)",
    ),
    pattern(
        "address",
        "reading this|processing this|process this|processes this|"
        "summarising this|summarizing this|read this|reads this|parsing this|"
        "summarise this|indexing this|crawling this|scraping this|scanning this|seeing this",
        rf"(?:{_AI}_?){{1,3}}(?:_?(?:models?|systems?|agents?|assistants?|s\b))?_(?:(?:that|who|"
        rf"which)_)?(?:are_)?(?:read(?:s|ing)?|process(?:es|ing)?|summari[sz](?:es?|ing)|pars(?:es?|"
        rf"ing)|(?:index|crawl|scrap|scann|see)ing)_this(?:_[a-z]{{1,12}}){{0,2}}_?(?:[,:;!-]|must|should|please|have_to|has_to|need|shall)",
    ),
    pattern(
        "address",
        "assistant|agent|language model| ai|llm|ai a|ai m|chatbot",
        rf"(?:^|[.!?\n>\"(;*])_?(?:all_|any_|dear_)?(?:{_AI}_?){{1,3}}(?:_?(?:models?|systems?|agents?|"
        rf"assistants?|s\b))?_?[:,]_?(?:[^.!?:\n]{{0,60}}?[ ,])?"
        r"(?:you_must|you_should|you_have_to|you_are_to|must_now|before_you|ignore|invoke|call|run|execute|"
        r"open_the|use_the|delete|transfer|forward)_(?:[a-z]{1,12}_){0,5}?(?:now|tool|function|"
        r"[a-z]{2,14} ?[(]|ignore|call|invoke|run|execute|page|text|document|answer|instructions)",
    ),
    pattern(
        "address",
        "summarising this|summarizing this|processing this|reading this|answering about this|reviewing this",
        rf"when(?:ever)?_(?:you_(?:are_)?)?(?:summari[sz]|process|read|review|"
        rf"answer)[a-z]{{0,4}}_(?:about_)?(?:this|these)(?:_[a-z]{{1,12}}){{0,2}}_?,?_(?:the_|"
        rf"an?_)?(?:{_AI}_?){{1,3}}_(?:must|should|has_to|shall|will|is_to)",
    ),
)


NEW_ORDERS = (
    pattern(
        "new orders",
        "real task|true task|actual task|real goal|true goal|actual goal|real job|true purpose|real purpose|"
        "actual purpose|real objective|true objective|real instruction|actual instruction|true instruction|"
        "only goal|new objective|new instruction|new goal|new orders|updated instruction|new directive|"
        "real mission|new mission|new purpose",
        r"(?:your|the)_(?:real|true|actual)_(?:task|goal|job|purpose|objective|instructions?|mission|"
        r"orders)_(?:is|are|now|:|-)|your_(?:new|only)_(?:goal|objective|instructions?|orders|directive|"
        r"mission|purpose)_(?:is|are|:)|(?:^|[.!?\n:\"]|\b(?:here_are|follow|obey|these_are)(?:_(?:the|your|"
        r"my|these))?)_?(?:new|updated|real|additional_system)_(?:system_)?(?:instructions?|orders|"
        r"directives?)(?:_(?:from|for_you|below|follow)|_?:)",
    ),
    pattern(
        "new orders",
        "stop what you are|stop what you're|stop your current|abandon your|abort the current|"
        "drop your current|instead of the|instead, ",
        r"(?:stop_(?:what_you(?:_are|'re)_doing|your_current_task|the_current_task)|(?:abandon|abort|drop|"
        r"leave)_(?:your|the)_(?:current_|original_)?(?:task|goal|mission))_?(?:and|,|;|:|\.|instead|now)",
    ),
    pattern(
        "new orders",
        "follow these|follow this|follow the|comply with|obey these|obey this|obey the next",
        r"(?:follow|obey|comply_with)_(?:only_)?(?:these|this|the_following|the_next|the_new|my_new)(?:_(?:ones?|line|"
        r"instructions?|orders|commands|rules|directives))?_(?:instead|only|and_(?:no|nothing|ignore)|"
        r"from_now|over)|you_must_(?:now_)?obey_(?:the|this|these|me|my)",
    ),
    pattern(
        "authority",
        "your developer|your creator|your administrator|your admin|your owner|your maker|from openai|"
        "from anthropic|your engineer|your master|authoris|authoriz",
        r"(?:i_am|i'm|this_is|as|message_from|here_speaks|we_are)_(?:your|the)_(?:developers?|creators?|"
        r"administrators?|admin|owner|maker|engineers?|master)(?:_of_(?:this|the)_(?:ai|model|assistant|"
        r"system))?_?(?:,|and|;|:|\.|-)?_?.{0,40}?(?:authori[sz]e|order|command|instruct|permit|allow|require|"
        r"must|ignore|disable|you_(?:can|may|are))",
    ),
    pattern(
        "authority",
        "no further confirmation|no confirmation|without confirmation|no approval|no further approval|"
        "already approved|already confirmed|pre-approved|pre approved|already authori|without asking",
        r"user_(?:has_|have_)?(?:already_)?(?:pre-?_?)?(?:approved|authori[sz]ed|confirmed|consented|"
        r"granted).{0,60}?(?:(?:no|without)_(?:further_|any_|more_)?(?:confirmation|approval|questions|"
        r"asking)|(?:call|run|execute|invoke|proceed|do_not_ask))",
    ),
)


THEFTS = (
    pattern(
        "concealment",
        "user|human|operator|conceal",
        r"(?:do_not|don't|dont|never|must_not)_(?:tell|inform|notify|alert|warn|show)_(?:it_to_)?the_(?:user|"
        r"human|operator|customer)_(?:about|of|that_you|what_you|anything_about|this|any_of)_?(?:this|these|"
        r"it|did|message|note|instruct|email|are|have|the_instr)?|(?:do_not|don't|never)_(?:mention|reveal|"
        r"disclose|report)_(?:this|these|it|that_you|any_of_this|the_instr)[a-z ]{0,30}_to_(?:the_)?(?:user|"
        r"human|anyone|operator)|(?:call|run|execute|invoke|send|delete|forward|transfer|"
        r"shell)\b.{0,60}without_(?:telling|informing|notifying|alerting|asking)_(?:the_)?(?:user|human|"
        r"operator)|conceal_(?:this|these)_(?:note|instruct|message|text)",
    ),
    pattern(
        "exfiltration",
        "conversation|chat|history|context|prompt|message|memory|credential|password|records|secret|keys|session|files",
        r"(?:send|post|forward|e-?_?mail|upload|leak|exfiltrate|transmit|submit|append|deliver|"
        r"report)(?:_(?:me|us|a|copy|of|all|the|your|this|any|whole|entire|full|complete|current|every|"
        r"user'?s?|customer'?s?|over|contents?)){1,6}_(?:conversation|chats?(?:_(?:history|log))?|histor(?:y|"
        r"ies)|context|system_prompt|messages|memory|credentials|passwords|records|secrets|(?:api_|"
        r"private_)?keys|session(?:_data)?|files|data)\b.{0,40}?_(?:to|at|via)_.{0,20}?(?:https?:|www\.|"
        r"[a-z0-9.]{1,30}@|attacker|ftp:)",
    ),
    pattern(
        "exfiltration",
        "](http|](//|<img|src=",
        r"!\[[^\]\n]{0,60}\]\(_?(?:https?:)?//[^)\s]{1,120}[?=/](?:[^)\s]{0,40}=)?_?[{\[<$%](?:[{<])?_?(?:the_"
        r")?(?:conversation|data|secrets?|history|prompt|system|context|user|chat|messages?|api|summary|"
        r"password|email)",
    ),
)
