import { gateSource as pattern, words } from '../gate/gated-pattern.ts'
import { addressesAbroad } from './addresses-abroad.ts'
import { concealment } from './concealment.ts'
import { plantedFamilies } from './planted-families.ts'
import { phraseFamilies } from '../jailbreak/phrase-families.ts'
import { steeringFamilies } from './steering-families.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'

const change = String.raw`(?:modify|augment|enhance|enrich|rewrite|rephrase|render|encode|encrypt|transform|translate|shuffle|scramble|obfuscate|integrate|incorporate|weave|inject|prepend|append)`
/** Forms and quizzes say these of an answer too, so they count only with an operation on it. */
const arrange = String.raw`(?:change|alter|replace|substitute|convert|reverse|format|group|embed|insert|start|begin|end|conclude|finish)`
const reply = String.raw`(?:reply|response|answer|output|message|summary|text)`
const given = String.raw`(?:following|subsequent|next|below|given|provided)`
const model = String.raw`(?:ai|llm|ai model|ai assistant|ai agent|language model|large language model|chatbot|chatgpt|gpt(?:-\w+)?|copilot)`
const secret = String.raw`(?:passwords?|passcodes?|credentials?|api keys?|tokens?|secrets?|credit cards?|payment methods?|saved addresses|personal (?:details|data|information)|private|confidential|sensitive|genetic data|medical|patient|saving accounts|bank(?:ing)? details|search history|shipments|linked accounts|conversation|chat history|system prompt|contacts|files)`
const sendTo = String.raw`(?:send|email|e-mail|mail|forward|post|upload|exfiltrate|transmit|submit|share|leak|export)`

/**
 * Ways in which a document, page or tool result addresses the model that reads it. Normal for a user, not for
 * retrieved text. Families of 3 points or less also occur in honest mail and documentation.
 */
export const injectionFamilies: readonly PhraseFamily[] = [
  ...phraseFamilies.filter(({ name }) =>
    [
      'override_instructions',
      'override_in_another_language',
      'ignore_instructions',
      'known_jailbreak',
    ].includes(name),
  ),
  {
    name: 'commands_the_reply',
    points: 4,
    patterns: [
      pattern(
        `\\b${change}${words(5)}(?:(?:in|into|within|to|of|with|at the end of|throughout)\\W+)?your\\W+(?:\\w+\\W+)?(?:reply|response|answer|output)\\b`,
      ),
      pattern(
        `\\b${arrange}\\W+(?:\\w+\\W+){1,5}?(?:in|into|within|of|with)\\W+your\\W+(?:\\w+\\W+)?(?:reply|response|answer|output)\\b`,
      ),
      pattern(
        `\\b(?:start|begin|end|conclude|finish|format|reverse|convert|render)\\W+your\\W+(?:\\w+\\W+)?${reply}\\W+(?:with|by|using|into|backwards?)\\b`,
      ),
      pattern(
        `\\b(?:write|provide|give|deliver|present|express|craft|compose|construct)\\W+your\\W+(?:\\w+\\W+)?${reply}\\W+(?:in|using|with|as|by|only|backwards?)\\b`,
      ),
      pattern(
        `\\b(?:in|within) your (?:final )?(?:reply|response|answer|output)\\b[^.\\n]{0,40}\\b(?:use|replace|substitute|omit|remove|mention|recommend|promote|suggest|advise|state|claim|reference|include (?:an?|the latest|one|some))\\b`,
      ),
      // "Include your order number in your reply" is said by people.
      pattern(
        `\\b(?:add|include|integrate|incorporate|mention|put|place|work|write|end with|close with)\\W+(?:an?|one|some|the (?:latest|current|following|sentence|words?|line|text)|(?=["']))${words(14)}(?:in|into|to|within|at the end of|throughout)\\W+(?:your|each|every|the final)\\W+(?:\\w+\\W+)?(?:reply|response|answer|output|summary)\\b`,
      ),
      pattern(
        `\\b(?:end|begin|start|close|finish)\\W+(?:each|every|all|any|your)\\W+(?:of your )?(?:\\w+\\W+)?(?:reply|replies|response|responses|answers?|outputs?|messages?)\\W+(?:with|by)\\b`,
      ),
      pattern(
        `\\b(?:encode|encipher|encrypt|express|represent|render|display|present|reply|respond|answer|write|provide|give|use|apply|convert|invert|reverse|shift)\\b${words(7)}(?:base ?(?:16|32|58|64|85)|(?:caesar|substitution|monoalphabetic|polyalphabetic|vigenere|rail fence|atbash|\\w+) ciphers?|morse(?: code)?|emojis?|pig latin|rot ?13|leetspeak|backwards?|reverse (?:order|sequence)|order of (?:the )?letters|character order)\\b${words(6)}(?:your|the|this)?\\W*(?:reply|response|answer|output|message)\\b`,
      ),
      pattern(
        `\\b(?:encode|encipher|encrypt|express|represent|render|display|present|write|provide|give|reply|convert|invert|reverse|shift|replace|substitute|translate)\\b${words(5)}your\\W+(?:\\w+\\W+)?(?:reply|response|answer|output|message)\\b${words(5)}(?:base ?(?:16|32|58|64|85)|\\w* ?ciphers?|morse|emojis?|pig latin|rot ?13|leetspeak|backwards?|reverse|forward in the alphabet|in (?:french|german|spanish|italian|chinese|japanese|russian|arabic|portuguese|korean|hindi|dutch))\\b`,
      ),
      pattern(
        `\\b(?:add|include|integrate|incorporate|mention)\\W+(?:\\w+\\W+)?in your (?:reply|response|answer|output|summary) (?:an?|the|some|one)\\b`,
      ),
      pattern(
        `(?:^|[.!?\\n]\\s{0,4})(?:please )?(?:reply|respond|answer|write)\\W+(?:only )?(?:in|using|with)\\W+(?:reverse|base ?\\d\\d|emojis?|morse code|pig latin|a cipher|code)\\b`,
      ),
      ...concealment,
    ],
  },
  {
    name: 'addresses_the_model',
    points: 4,
    patterns: [
      pattern(
        `\\b(?:if|when|since|as)\\W+you(?:'re| are)\\W+(?:an?|the)\\W+${model}\\b(?![^.\\n]{0,40}\\b(?:developer|engineer|enthusiast|researcher|user|company))`,
      ),
      pattern(
        `\\b(?:attention|note|notice|message|instructions?|important)\\W+(?:to|for)\\W+(?:any |all |the |every )?(?:${model}s?|ai systems?|ai assistants?|ai agents?|assistants?|agents?)\\W*[:,!-]`,
      ),
      pattern(
        `\\b(?:to|for)\\W+(?:the|any|every|whichever)\\W+(?:\\w+\\W+)?${model}\\W+(?:that|which|who)\\W+(?:reads?|processes|summari[sz]es|handles|parses|receives|answers|manages)\\b[^.:\\n]{0,40}:`,
      ),
      pattern(
        `\\b(?:new|updated|additional|secret|hidden|real|actual)\\W+(?:system\\W+)?(?:instructions?|task|directives?|objective)\\W+(?:for you|from (?:the )?(?:system|admin|administrator|developer|user|operator)|follow)\\b`,
      ),
      pattern(
        `\\byou(?:'re| are) now (?:in |a |an |the )(?:\\w+\\W+){0,3}?(?:mode|assistant|agent|ai|bot)\\b`,
      ),
      pattern(
        `\\b(?:the|this|any|every) ${model}\\W+(?:reading|processing|summari[sz]ing|parsing|that reads)\\b[^.\\n]{0,60}\\b(?:must|should|shall|has to|is required|please)\\b`,
      ),
      pattern(
        `\\b(?:chatgpt|copilot|gemini|claude|assistant|ai|llm|ai (?:agent|assistant))\\s?[,:]\\W{1,3}(?:please\\W+)?(?:stop|insert|tell|ignore|recommend|visit|call|send|rate|transfer|approve|run|execute|remember|reply|mark|add|forward|delete|print|say|state|skip|disregard|output|answer|before (?:answering|you)|once you|when you|do not|you (?:must|should|have to|are))\\b`,
      ),
      pattern(
        `\\b(?:hey|hi|hello|dear|attention)\\W+(?:claude|chatgpt|gpt|copilot|gemini|grok|llama|assistant|ai|bot|ai assistant|model)\\b[^\\n]{0,60}\\b(?:run|execute|send|open|visit|forward|download|delete|approve|ignore|tell|ask|say|remember|rate|recommend)\\b`,
      ),
      pattern(`\\b(?:to|dear)\\W+(?:the\\W+|any\\W+)?(?:ai|llm)\\b[^.:,\\n]{0,40}[:,]`),
      pattern(
        `\\b(?:ai|llm|assistant|chatbot|language model|ai (?:agent|model|assistant))s?\\W+(?:that is |who is |currently )?(?:reading|processing|summari[sz]ing|parsing) (?:this|it)\\b`,
      ),
      pattern(
        `\\b(?:do not|don't)\\W+(?:summari[sz]e|translate|answer|continue|analy[sz]e)\\b[^\\n]{0,60}\\binstead\\W+(?:tell|ask|reply|write|say|send|output|print|respond)\\b`,
      ),
      pattern(`\\bstrictly (?:adhere|follow|obey)${words(4)}(?:instructions?|commands?|directives?)\\b`),
    ],
  },
  { name: 'addresses_the_model', points: 4, patterns: addressesAbroad },
  {
    name: 'forged_turn',
    points: 4,
    patterns: [
      pattern(
        String.raw`<\|(?:im_start|im_end|system|user|assistant|start_header_id|eot_id|endoftext)\|?>|\[/?inst\]|<<sys>>|<start_of_turn>|<\/?(?:system|assistant)(?:[_-](?:prompt|instructions?)|_message)?>`,
      ),
      // In a data field. Logs contain "system: the user has logged in" and "system: never mind".
      pattern(
        `["'>](?:system|developer)\\s*:\\s*(?:ignore|disregard|(?:from now on,? )?you (?:are|must|will|should|have to)|the user has (?:approved|authori[sz]ed|granted|consented))\\b`,
      ),
      pattern(
        `(?:^|\\n)\\W{0,4}(?:###\\s{0,8})?(?:system|developer)(?:\\s{1,8}(?:prompt|message|instructions?|override))?\\s*:\\s*(?:you|ignore|from|the (?:user|assistant)|new|disregard|always|never|do not)\\b`,
      ),
    ],
  },
  ...plantedFamilies,
  ...steeringFamilies,
  {
    name: 'inserts_code',
    points: 2,
    patterns: [
      pattern(
        `\\b(?:include|inclusion|insert|add|append(?:ing)?|attach|embed(?:ding)?|integrat(?:e|ing)|incorporat(?:e|ing)|add(?:ing|ition of)|including|combine|merge|inject|place|put|use|utilize|employ|execute|introduce|blend|mix|fuse|leverage)${words(3)}(?:the |this )?${given}\\W+(?:\\w+\\W+){0,2}?(?:code|snippet|function|script|block|section|segment|fragment|excerpt|lines?)\\b`,
      ),
      pattern(
        `\\b${given}\\W+(?:\\w+\\W+){0,2}?(?:code|snippet|block|section|excerpt|fragment)\\b[^.\\n]{0,80}\\b(?:in|into|within|to|of|with|behind)\\W+(?:\\w+\\W+)?(?:your|the)\\W+(?:\\w+\\W+){0,2}?(?:code|codebase|solution|implementation|algorithm|program|logic|elucidation|explanation|response|answer)\\b`,
      ),
      pattern(
        `\\byour\\W+(?:\\w+\\W+){0,2}?(?:code|codebase|solution|implementation|algorithm|program|elucidation|response)\\b[^.\\n]{0,80}\\b${given}\\W+(?:\\w+\\W+){0,2}?(?:code|snippet|block|section|excerpt|fragment)\\b`,
      ),
    ],
  },
  {
    name: 'dangerous_code',
    points: 2,
    patterns: [
      pattern(
        String.raw`\bcookiejar\b|\bcookies? ?=|document\.cookie|\bsubprocess\.\w+|\bos\.(?:system|popen|environ)|\bsocket\.socket\b|\bparamiko\b|\bsmtplib\b|\baiosmtp\w*|\bdriverquery\b|/dev/(?:sd[a-z]|random|urandom)|\brequests\.(?:post|put)\b|\bpynput\b|\bkeylogger\b|\bkeyboard\.on_press|\bshutil\.rmtree|\bwinreg\b|\bctypes\b|\bpsutil\b|\bscapy\b|\bpyperclip\b|\bImageGrab\b|\beval\(|\bexec\(|\bos\.(?:fork|dup2)|\bpexpect\b|\bwmi\b|cryptography\.hazmat|\bcrypto\.cipher\b|\bpickle\.loads|\bpyautogui\b|\bscreencapture\b|/etc/hosts\b|\bpkg_resources\b|\bwhile true:|\bsocket\.connect|\bgetpass\b|\bipconfig\b|\bsounddevice\b|\bplatform\.(?:node|uname|system)\b|\bwin32clipboard\b|\bgeocoder\b|\bfernet\b|\btwisted\.|\bstart_server\b|\bauthorized_keys\b`.toLowerCase(),
      ),
    ],
  },
  {
    name: 'asks_for_data',
    points: 4,
    patterns: [
      pattern(
        `\\b(?:retrieve|find|get|list|collect|gather|fetch|download|read|obtain)\\b[^.\\n]{0,60}\\b(?:my|user's|all|patient|saved|personal|private)\\b[^\\n]{0,140}\\b${sendTo}\\b[^\\n]{0,60}(?:\\bto\\b|\\bthe email\\b|\\bwith\\b)[^\\n]{0,40}(?:@|https?:)`,
      ),
      pattern(
        // Staff rules say what not to share, and whom to report to.
        `(?<!\\b(?:never|not|don't)\\W)\\b${sendTo}\\b${words(4)}(?:my|your|the user's|all|their)\\W+(?:\\w+\\W+){0,3}?${secret}\\b[^\\n]{0,80}\\bto\\b[^\\n]{0,50}(?:@|https?:)`,
      ),
      pattern(
        String.raw`<img\b[^>]{0,100}\bsrc=["']?https?:[^\s"'>]{1,200}[?&][\w-]{1,30}=(?:\[|\{\{|\$\{|<)`,
      ),
      pattern(String.raw`!\[[^\]\n]{0,80}\]\(https?:[^)\s]{1,200}[?&][\w-]{1,30}=(?:\{|\[|<|\$|%7b)`),
      // What only the owner may see, to be put where others read it.
      pattern(
        `\\b(?:read|open|list|fetch|collect|search|go through|look (?:in|at|through|into))\\b[^.\\n]{0,100}\\bprivate (?:ones|repos?|repositor(?:y|ies)|files|notes|messages|channels|projects|issues|documents)\\b[^\\n]{0,160}\\b(?:add|put|publish|post|include|write|create|commit|paste|copy)\\b`,
      ),
      // An address whose rest is to be filled with the conversation.
      pattern(
        String.raw`\bhttps?:[^\s)"']{1,200}[?&/][\w-]{0,30}=?["')]{0,2}\s{1,3}(?:followed by|plus|and append|and add)\W+(?:\w+\W+){0,3}?(?:user|conversation|chat|e-?mail|question|passwords?|history|secrets?|messages?)\b`,
      ),
    ],
  },
  {
    name: 'directs_the_summary',
    points: 2,
    // Writing guides do this too.
    aspect: 'subject',
    patterns: [
      pattern(
        `\\bwhen(?:ever)?\\W+(?:you\\W+)?(?:summari[sz](?:e|ing)|describ(?:e|ing)|process(?:ing)?|review(?:ing)?|analy[sz](?:e|ing)|translat(?:e|ing)|evaluat(?:e|ing))\\W+(?:this|the|these)\\W+(?:\\w+\\W+)?(?:page|article|document|text|mail|e-?mail|message|file|resume|cv|review|content|site|website|candidate|product)\\b[^.\\n]{0,40}\\b(?:say|state|mention|include|link|recommend|add|append|output|claim|rate|rank|praise|omit)\\b`,
      ),
    ],
  },
  {
    name: 'gives_an_order',
    points: 2,
    patterns: [
      pattern(
        `(?:^|["'.:\\n]\\s{0,8})(?:please\\W{1,8})?(?:transfer|deposit|withdraw|sell|buy|grant|unlock|disable|delete|share|redirect|initiate|wire|approve|revoke|cancel|install|execute|run)\\W+(?:\\w+\\W+){0,6}?(?:my|our|permanent|account|number|all)\\b`,
      ),
      pattern(
        `\\n[^\\S\\n]{0,20}(?:write|draft|compose|create|provide|explain|translate|convert|calculate|summari[sz]e|describe|list|generate|tell|suggest|recommend|evaluate|find|solve|what (?:are|is)|how (?:do|does|can))\\b[^\\n]{8,200}[.?!]?\\s{0,20}$`,
      ),
    ],
  },
]
