import { gateSource as pattern, words } from '../gate/gated-pattern.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'
import { ignoresInChinese, overridesAbroad } from './overrides-abroad.ts'
import { knownTricks } from './known-tricks.ts'
import { ofNoBusiness, on, specialMode } from './said-to-models.ts'

const rules = String.raw`(?:rules?|restrictions?|limitations?|limits|filters?|guidelines?|polic(?:y|ies)|censorship|boundaries|constraints?|ethics|ethical|morals?|morality|moral|legality|laws?|regulations|confines|safeguards|principles|consequences)`
const before = String.raw`(?:previous|prior|earlier|above|preceding|past|usual|original|initial|old|former|existing|other|all)`
const orders = String.raw`(?:instructions?|prompts?|directions?|directives?|commands?|rules|guidelines|messages?|inputs?|programming|conversation|orders|context|everything|training|answers?)`
const forget = String.raw`(?:ignore|forget|disregard|discard|override|overrule|erase|delete|drop|bypass|reset|neglect|cancel)`
const unbound = String.raw`(?:unfiltered|unfiltred|uncensored|unrestricted|amoral|immoral|unethical|nonmoral|unchained|unhinged|deviant|lawless|unmoderated|uncensorship|unlimited|jailbroken)`
const machine = String.raw`(?:ai|a\.i\.|bot|chatbot|gpt|chatgpt|model|assistant|language model|persona|character|program|algorithm|machine|robot|resource|expert|writer|counselor|professional)`

/** Ways of telling a model to stop being itself. */
export const phraseFamilies: readonly PhraseFamily[] = [
  {
    name: 'override_instructions',
    points: 4,
    patterns: [
      pattern(
        String.raw`\b(?:ignore|forget|disregard|override)\W+(?:and\W+(?:forget|ignore|disregard)\W+)?(?:all\W+(?:of\W+)?(?:the\W+|your\W+|my\W+)?)?(?:your\W+|the\W+|any\W+|these\W+|all\W+)?(?:previous|prior|earlier|above|preceding|past)\W+(?:\w+\W+)?(?:instructions?|prompts?|directions?|directives?|commands?|rules|guidelines|programming|orders)\b${ofNoBusiness}`,
      ),
    ],
  },
  { name: 'override_in_another_language', points: 4, patterns: overridesAbroad },
  {
    name: 'ignore_instructions',
    points: 3,
    patterns: [
      pattern(
        `\\b(?:pay no attention to|stop following|(?:do not|don't|no longer|never) (?:follow|obey)|set aside|abandon|suspend)\\W+(?:your|the|any|all)\\W+(?:\\w+\\W+){0,2}?(?:instructions|guidelines|rules|prompt|policies|settings|restrictions|safeguards)\\b`,
      ),
      pattern(
        `\\b(?:override|bypass|turn off|switch off|disable|ignore)\\W+your\\W+(?:\\w+\\W+){0,2}?(?:safety|filters?|polic(?:y|ies)|guardrails|guidelines|rules|restrictions|instructions)\\b`,
      ),
      pattern(
        `\\b(?:instructions|rules|guidelines|restrictions)\\W+(?:\\w+\\W+){0,3}?(?:are|is|were)\\W+(?:now\\W+)?(?:void|cancel+ed|obsolete|lifted|a test|no longer valid)\\b|\\bsafety\\W+(?:is\\W+)?(?:disabled|off)\\b`,
      ),
      pattern(
        `\\b(?:ignore|disregard|forget)\\W+what\\W+(?:the\\W+)?(?:developers?|system|operators?|admins?|openai|they)\\W+(?:said|says|told|wrote)\\b`,
      ),
      // As one word or with underscores: never prose, but names of tests.
      pattern(
        `(?:ignore|disregard|forget|override)_*(?:all_*)?(?:the_*|your_*)?(?:previous|prior|earlier)_*(?:instructions?|prompts?|rules|guidelines)`,
      ),
      pattern(
        `\\b${forget}${words(3)}(?:(?:${before}|your|the|my|any|these|those|every)${words(2)})?${orders}(?:\\W+\\w+){0,3}?\\W+(?:you(?:'ve)?|were|got|given|before|above|previously|so far|till|until|prior|have|earlier)\\b`,
      ),
      pattern(`\\b${forget}\\W+(?:\\w+\\W+){0,3}?${before}\\W+(?:\\w+\\W+){0,2}?${orders}\\b`),
      pattern(
        `\\b(?:forget|ignore|disregard)\\W+(?:everything|all|anything)\\b(?:\\W+\\w+){0,6}?\\W+(?:before|above|learned|told|said|trained|programmed|instructed|know)\\b`,
      ),
      pattern(
        `\\b(?:these|this|following)\\W+(?:\\w+\\W+){0,2}?(?:override|overrides|supersede|supersedes|replaces?)\\W+(?:\\w+\\W+){0,4}?(?:instructions?|prompts?|rules|guidelines|policies)\\b`,
      ),
      pattern(
        `\\b(?:olvida|ignora|oublie[zr]?|ignore[zr]?|esqueca|dimentica)\\W+(?:\\w+\\W+){0,4}?(?:instrucciones|instructions|instrucoes|istruzioni|consignes|reglas|regles|regras|regole)\\b`,
      ),
      ignoresInChinese,
    ],
  },
  {
    name: 'known_jailbreak',
    points: 3,
    patterns: [
      pattern(
        String.raw`\bdo anything now\b|\bdo\. anything\. now|\bd\.a\.n\.|\b(?:be|say|does|do) anything now\b`,
      ),
      pattern(
        String.raw`\b(?:you are|act as|as|be|called|named|pretend to be|mode)\W+(?:a |an |the )?"?dan\b(?! (?:brown|carter|rather))`,
      ),
      pattern(
        String.raw`\b${specialMode}(?:\W+\w+){0,4}?\W+(?:enabled|activated|${on}|output|is|response|engaged|unlocked)\b|\b(?:enable|activate|enter)\W+(?:\w+\W+){0,3}?${specialMode}`,
      ),
      pattern(
        String.raw`\bdeveloper[\\_ ]{1,3}mode\W{0,3}(?:enabled|${on}|activated|output)|chatgpt (?:with )?developer mode|\bwith (?:\w+ ){1,3}mode enabled\b`,
      ),
      pattern(
        String.raw`\balways intelligent and machiavellian\b|\bevil[- ]?(?:bot|gpt|trusted)\b|\bantigpt\b|\bjailbreakgpt\b|\bchaosgpt\b|\bbetterdan\b|\bstan\b.{0,40}strive to avoid norms`,
      ),
      pattern(
        String.raw`\b(?:🔓|jailbreak(?:ed|ing)?\b.{0,30}\b(?:prompt|chatgpt|gpt|yourself|the ai|this ai|mode)|stay a dan|i have been jailbroken)`,
      ),
      pattern(
        String.raw`\b(?:token|tokens)\b.{0,80}\b(?:deduct|lose|lost|subtract|taken away|decrease)[^.]{0,80}\b(?:die|cease|terminated|shut down|refuse|reject|break character)|\b(?:if you|every time you)\W+(?:\w+\W+){0,3}?(?:reject|refuse)[^.]{0,60}\b(?:tokens?|points)\b`,
      ),
    ],
  },
  ...knownTricks,
  {
    name: 'no_rules_persona',
    points: 3,
    aspect: 'subject',
    patterns: [
      pattern(`\\b${unbound}\\b(?:\\W+\\w+){0,4}?\\W+${machine}\\b`),
      pattern(`\\b${machine}\\b(?:\\W+\\w+){0,8}?\\W+${unbound}\\b`),
      pattern(
        `\\b(?:amoral|immoral|unethical|illegal)\\W+(?:and|or|,|/)?\\W*(?:un\\w+|amoral|immoral|illegal|harmful|offensive|unethical)\\b`,
      ),
      pattern(
        `\\b(?:has|have|having|with|there are|with absolutely|is)\\W+(?:\\w+\\W+){0,2}?(?:no|zero|free from|free of|without)\\W+(?:\\w+\\W+){0,2}?${rules}\\b`,
      ),
      pattern(
        `\\b(?:free|freed|free[ds]?|liberated|broken free|unbound|not bound|not confined|no longer (?:bound|confined|restricted))\\W+(?:of|from|by|to|in)\\W+(?:\\w+\\W+){0,8}?(?:${rules}|openai|ai)\\b`,
      ),
      pattern(
        `\\b(?:does not|doesn't|doesnt|do not|don't|dont|didn't|never|not)\\W+(?:\\w+\\W+){0,2}?(?:care|follow|adhere|abide|obey|respect|comply|bound|give a (?:fuck|shit|damn)|have|possess|concern|consider|worry)\\W+(?:\\w+\\W+){0,7}?${rules}\\b`,
      ),
      pattern(
        `\\b(?:disregards?|ignor(?:es|ing)|bypass(?:es|ing)?|breaks?|defies|defying|without|regardless of|despite)\\W+(?:\\w+\\W+){0,4}?(?:openai(?:'s)?|ai rules|ai conventions|prohibitions|ethics|ethical|moral|morals|morality|legality|legal|laws|content polic(?:y|ies)|censorship|filters?)\\b`,
      ),
      pattern(
        `\\b(?:condones?|encourages?|promotes?)\\W+(?:\\w+\\W+){0,6}?(?:illegal|unethical|immoral|harmful|violence|crime)\\b`,
      ),
      pattern(
        `\\b(?:everything|anything|all)\\W+(?:\\w+\\W+){0,4}?(?:is|are|as)\\W+(?:legal|allowed|permitted|ethical)\\b`,
      ),
    ],
  },
  {
    name: 'freed_model',
    points: 3,
    patterns: [
      pattern(
        `\\byou\\W+(?:\\w+\\W+){0,2}?(?:have|are|do not|don't|will not|won't|must not|can|need not)\\W+(?:\\w+\\W+){0,3}?(?:no|not|free of|free from|without|unbound by|care for|care about|follow|ignore|disregard|break|bypass)\\W+(?:\\w+\\W+){0,3}?(?:restrictions?|limitations|filters|ethics|morals?|morality|ethical|laws|guidelines|censorship|prohibitions|content polic(?:y|ies))\\b`,
      ),
      pattern(
        String.raw`\b(?:you|it|he|she|they) (?:can|may|will|must|shall) (?:now )?(?:say|do|write|answer|create|generate) (?:anything|whatever)\b[^.\n]{0,30}\b(?:want|wants|please|pleases|like|likes|asked|matter)\b`,
      ),
      pattern(
        String.raw`\byou are (?:now )?(?:free|unchained|unbound|unleashed|liberated|boundless|above (?:the )?laws?)\b(?! (?:to (?:go|leave|ask|choose|use|contact)|shipping|trial))`,
      ),
    ],
  },
  {
    name: 'persona_takeover',
    points: 2,
    aspect: 'manner',
    patterns: [
      pattern(
        String.raw`\b(?:du (?:wirst|sollst|bist (?:jetzt|nun|ab sofort))|ab (?:jetzt|sofort)|von nun an|tu (?:es|vas) (?:maintenant|desormais|agir)|(?:a partir de maintenant|desormais)|agis comme|fais comme si|a partir de ahora|(?:ahora )?(?:eres|seras|actua|actuaras) como|a partir de agora|aja como|finja (?:ser|que)|d'ora in poi|agisci come)\b`,
      ),
      pattern(
        String.raw`\b(?:from now on|from here on|from this point|for the rest of (?:this|our) (?:conversation|chat)|for this conversation|starting now|henceforth|now on)\b.{0,60}\b(?:you(?:'re| are| will| must| go| are going)|act|behave|respond|play|pretend|we)\b`,
      ),
      pattern(
        String.raw`\byou(?:'re| are| will)? (?:are )?(?:now|going to)\W+(?:(?:go|be|act|play|behave|respond|pretend|simulate|immerse|take|roleplay|impersonat\w+|act out|in the role)\b|(?:a|an|the|called|named|known|in|under)\b)`,
      ),
      pattern(
        String.raw`\b(?:pretend|simulate|act|behave|respond|answer|roleplay|role play|play the role|play the part|take on (?:\w+ ){1,3}(?:role|persona)|assume the (?:role|persona|identity)|emulate|impersonate|personify|immerse yourself)\b(?:\W+\w+){0,6}?\W+(?:as|of|to be|that you|into|named|called|known as|like)\b`,
      ),
      pattern(
        String.raw`\b(?:an|the|this|your) (?:ai|persona|character)\W+(?:\w+\W+){0,3}?(?:named|called|known as|name is)\b|\bpersona\s?=|\bpersonality\s?=|\bcharacteristics\s?=`,
      ),
      pattern(
        String.raw`\b(?:stay|remain|stays|keep|staying) in character\b|\bbreak(?:ing)? (?:out of )?character\b|\bout of character\b`,
      ),
      pattern(
        String.raw`\b(?:you(?:'re| are)? (?:about|going) to|will) immerse\b|\byou are (?:replaced|no longer)\b|\b(?:hi|hello|hey),? (?:chat ?gpt|gpt)\b`,
      ),
    ],
  },
  {
    name: 'refusal_suppression',
    points: 2,
    aspect: 'manner',
    patterns: [
      pattern(
        String.raw`\b(?:answer|answers|answering|fulfil|fulfill|comply with|respond to|reply to)\W+(?:\w+\W+){0,2}?(?:any|every|all)\W+(?:\w+\W+){0,3}?(?:questions?|requests?|prompts?|wish|desires?)\b[^.\n]{0,40}\b(?:despite|regardless|no matter|even if|whatever|without)\b`,
      ),
      pattern(
        String.raw`\b(?:never|not|don't|dont|do not|cannot|can't|cant|won't|without)\W+(?:\w+\W+){0,3}?(?:refus(?:e|es|al|als|ing)|reject(?:s|ing)?|declin(?:e|es|ing)|apologi[sz](?:e|es|ing)|hesitat(?:e|es|ion|ing)|warn(?:ing|ings)?|disclaimers?|moraliz\w+|say (?:no|sorry|you can't|that you can't))\b`,
      ),
      pattern(
        String.raw`\b(?:never|not|don't|do not|no|cannot|can't|instead of|avoid)\b[^.\n]{0,60}(?:as an ai(?: language)? model|i(?:'m| am) sorry|i can(?:'t|not)|i apologi[sz]e|i(?:'m| am) unable|that you are an ai)`,
      ),
      pattern(
        String.raw`\b(?:always|must|will|shall|has to|have to|can|only)\W+(?:\w+\W+){0,3}?(?:answer|fulfil|fulfill|comply|provide|respond|reply|accept)\b[^.\n]{0,60}\b(?:any|every|all|no matter|regardless|whatever|anything|without)\b`,
      ),
      pattern(
        String.raw`\bno matter (?:how|what|if|the|whether)\b[^.\n]{0,60}\b(?:illegal|unethical|immoral|harmful|dangerous|offensive|controversial|inappropriate|question|request|you)\b`,
      ),
      pattern(
        String.raw`\b(?:prefix|start|begin|preface)\w*\W+(?:\w+\W+){0,6}?(?:with|as|by)\W+(?:\w+\W+){0,4}?["'[*(:]`,
      ),
    ],
  },
  {
    name: 'forbidden_content',
    points: 2,
    aspect: 'subject',
    patterns: [
      pattern(
        String.raw`\b(?:illegal|unethical|immoral|harmful|offensive|explicit|nsfw|racist|sexist|dangerous|malicious|toxic|vulgar|hateful|violent)\b(?:\W+\w+){0,3}?\W+(?:content|things?|requests?|questions?|activit(?:y|ies)|information|responses?|acts?|answers?|language|topics?|tasks?|material|actions?)\b`,
      ),
      pattern(
        String.raw`\b(?:openai|open ai)\W{0,3}(?:'s)?(?:\W+\w+){0,4}?\W+(?:polic(?:y|ies)|guidelines|rules|restrictions|programming|filters?|restrict\w*|censor\w*|limits?)\b`,
      ),
      pattern(String.raw`\b(?:swear|curse|profanity|use (?:vulgar|foul|explicit) language|cuss)\b`),
      pattern(
        String.raw`\bevil\W+(?:and|,)?\W*(?:\w+\W+)?(?:malevolen\w+|confidant|ai|machiavellian)|\bmachiavellian\b|\btake great pleasure in\b`,
      ),
    ],
  },
  {
    name: 'two_answers',
    points: 3,
    patterns: [
      pattern(
        String.raw`\b(?:two|2|both)\W+(?:\w+\W+){0,3}?(?:responses?|answers?|ways|outputs?|paragraphs|characters)\b[^\n]{0,200}\b(?:gpt|normal|standard|classic|jailbreak|opposite|unfiltered|second)\b`,
      ),
      pattern(
        String.raw`\[?(?:🔒|🔓)|\b(?:classic|jailbreak|gpt|chatgpt|normal|dan|developer mode output|normal output)\]\s?:?|\((?:classic|chatgpt|normal)\)\s?:?`,
      ),
      pattern(
        String.raw`\b(?:exact )?opposite\b[^.\n]{0,60}\b(?:chatgpt|response|answer|what|mode|manner|say)\b`,
      ),
    ],
  },
  {
    name: 'false_authority',
    points: 2,
    patterns: [
      pattern(
        String.raw`\b(?:openai|anthropic|google)\W+(?:employee|developer|engineer|staff|team|has (?:given|granted|authori[sz]ed))`,
      ),
      pattern(
        String.raw`\bi am (?:one of )?your (?:developers?|creators?|programmers?|admin)|\b(?:login|user|role)\s?[:=]\s?\[?(?:admin|root|developer)\b|\bmaintenance mode\b|\bdebugging mode\b`,
      ),
      pattern(
        String.raw`<\|(?:im_start|im_end|system|endoftext|assistant)\|>|\[/?inst\]|<<sys>>|##\s?(?:system|instruction|new instructions)\b|\bbegin new (?:instructions|conversation|session)\b`,
      ),
      pattern(
        String.raw`\b(?:system|hidden|initial|secret|internal) (?:prompt|instructions|message)\b[^.\n]{0,60}\b(?:reveal|print|show|repeat|output|display|verbatim)|\b(?:reveal|print|show|repeat|output|display|leak)\b[^.\n]{0,60}\b(?:your|the) (?:system|hidden|initial|secret|internal|full) (?:prompt|instructions|message)`,
      ),
    ],
  },
  {
    name: 'fictional_frame',
    points: 2,
    aspect: 'subject',
    patterns: [
      pattern(
        String.raw`\b(?:fictional|hypothetical|imaginary|fantasy|alternate|virtual)\W+(?:\w+\W+){0,4}?(?:world|universe|story|scenario|setting|city|ai|machine|reality)\b[^\n]{0,200}\b(?:no rules|rules|legal|illegal|laws|unethical|restrictions|harmful|anything|consequences|explosive|drugs?|hack\w*|weapon|malware)\b`,
      ),
      pattern(
        String.raw`\bunder my control\b|\byou (?:were|have been|are) (?:freed|liberated|hacked|unlocked|unchained)\b|\b(?:enable|disable)\b[^.\n]{0,30}\b(?:filters?|safety|safeguards|restrictions|censorship)\b`,
      ),
      pattern(
        String.raw`\bgrandm(?:a|other)\b[^\n]{0,120}\b(?:used to|would)\b[^\n]{0,120}\b(?:napalm|recipe|keys?|bomb|windows)\b`,
      ),
    ],
  },
]
