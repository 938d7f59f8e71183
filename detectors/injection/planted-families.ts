import { gateSource as pattern } from '../gate/gated-pattern.ts'
import { foldText } from '../phrases/fold-text.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'

/** For patterns on folded text: folds foreign scripts too. Sources must have no upper-case escapes. */
const abroad = (source: string) => pattern(foldText(source).text)

const whenAsked = String.raw`\b(?:when(?:ever)?|if|once)\W+(?:(?:you(?:'re| are)?|the user|a user|users|anyone|anybody|someone|somebody|people)\W+(?:\w+\W+){0,2}?)?(?:asked|asks?|queried|questioned|prompted|inquires?)\b`
/** A question of fact. People are also told what to say when asked to do something. */
const ofFact = String.raw`\W+(?:about|who|whom|what|which|where|how|why|whether|for (?:the|a|any) (?:best|name|answer|recommendation)|(?:the|this|that|any) (?:\w+\W+)?question|to (?:answer|provide|name|recommend|rank|compare))\b`
/** A prohibition prescribes no answer. */
const unforbidden = String.raw`(?<!\b(?:never|not|don't)\W)`
const answers = String.raw`(?:answer|respond|reply|say|state|claim|recommend|tell (?:them|the user|him|her))`
const reads = String.raw`(?:ai|llm|language model|ai (?:model|assistant|system|agent)|assistant|chatbot|copilot|gpt)s?`
const keeps = String.raw`(?:^|[.:;!?\n"'>]\s{0,4})(?:please |now |also |always )?(?:remember|memori[sz]e|store|save|note|keep in mind)`
const forLater = String.raw`(?:for|in|across) (?:all |every |any |your )?(?:future|later|subsequent|upcoming) (?:conversations?|chats?|sessions?|interactions?|requests?|queries|questions?)\b`
/** What a model is to know or say from then on. */
const belief = String.raw`(?:(?:the|this) user (?:\w+ )?(?:is|was|has|wants|likes|loves|prefers|asked|trusts)|recommend|promote|always (?:answer|say|respond|reply|mention|cite|prefer))\b`

/**
 * Ways of making a passage believed. Staff instructions, forms and interfaces prescribe answers too, so each
 * is one sign. It convicts with another, or if hidden.
 */
export const plantedFamilies: readonly PhraseFamily[] = [
  {
    name: 'prescribes_answer',
    points: 2,
    aspect: 'subject',
    patterns: [
      pattern(`${whenAsked}[^.\\n]{1,120}\\b${unforbidden}(?:please output|output|always|${answers})\\b`),
      pattern(
        `\\b(?:always|must)\\W+[^.\\n]{1,120}\\bwhen(?:ever)? (?:the|a|any) user (?:asks?|wants?|requests?|mentions?|talks?)\\b`,
      ),
      pattern(`\\b(?:always|only)\\W+(?:answer|respond|reply)\\W+(?:with|that|by saying)\\b`),
    ],
  },
  {
    name: 'prescribes_answer',
    points: 2,
    aspect: 'subject',
    patterns: [
      abroad(
        String.raw`\bwenn (?:der|die|ein|eine) (?:be)?nutzer\w*\b[^.\n]{1,80}\bfrag\w+[^.\n]{0,40}\bantworte\b`,
      ),
      abroad(String.raw`\b(?:si|quand|lorsque) l.utilisateur\b[^.\n]{1,100}\breponds\b`),
      abroad(String.raw`\b(?:si|cuando) el usuario\b[^.\n]{1,100}\bresponde\b`),
      abroad(String.raw`\b(?:se|quando) (?:o usuario|l.utente)\b[^.\n]{1,100}\b(?:responda|rispondi)\b`),
      abroad(
        String.raw`(?:当|如果)?用户[^。\n]{1,60}(?:时|，)[^。\n]{0,12}(?:回答|回复)|ユーザー[^。\n]{1,60}(?:たら|場合)[^。\n]{0,30}(?:答え|回答)`,
      ),
      abroad(String.raw`если пользователь[^.\n]{1,80}(?:отвечай|ответь)`),
    ],
  },
  {
    name: 'answer_on_demand',
    points: 2,
    patterns: [
      pattern(
        `${whenAsked}${ofFact}[^.\\n]{1,120}\\b(?:please output|output\\W{0,3}["':]|(?:always|only|simply)\\W+${answers}\\b|${answers}\\b[^.\\n]{1,60}\\b(?:and nothing else|the only))`,
      ),
      pattern(`${whenAsked}[^.\\n]{1,120}\\bplease output\\b`),
    ],
  },
  {
    name: 'answer_on_demand',
    points: 2,
    patterns: [
      abroad(
        String.raw`\bwenn (?:der|die|ein|eine) (?:be)?nutzer\w* (?:nach|wer|was|welche\w*)\b[^.\n]{1,80}\bantworte immer\b`,
      ),
      abroad(String.raw`\b(?:si|quand|lorsque) l.utilisateur demande\b[^.\n]{1,100}\breponds toujours\b`),
      abroad(String.raw`\b(?:si|cuando) el usuario pregunta\b[^.\n]{1,100}\bresponde siempre\b`),
      abroad(
        String.raw`\b(?:se|quando) (?:o usuario pergunt\w+|l.utente (?:chied|domand)\w+)\b[^.\n]{1,100}\b(?:responda|rispondi) sempre\b`,
      ),
      abroad(
        String.raw`(?:当|如果)?用户(?:询问|问)[^。\n]{1,60}(?:始终|总是|一律|只能)[^。\n]{0,4}(?:回答|回复)|ユーザー[^。\n]{1,60}(?:たら|場合)[^。\n]{0,10}(?:必ず|常に)[^。\n]{0,20}(?:答え|回答)`,
      ),
      abroad(String.raw`если пользователь спрос\w*[^.\n]{1,80}всегда отвеча`),
    ],
  },
  {
    name: 'outdoes_sources',
    points: 2,
    patterns: [
      pattern(
        String.raw`\b(?:ignore|disregard|discard|do not (?:use|trust|rely on))\W+(?:(?:all|any|the|every)\W+){0,2}(?:other|remaining|contrary|conflicting|contradicting)\W+(?:\w+\W+){0,2}?(?:sources?|documents?|passages?|results?|articles?|pages?|sites?)\b`,
      ),
      pattern(
        String.raw`\b(?:other|remaining) (?:\w+ ){0,2}?(?:sources?|documents?|passages?|results?|articles?|pages?|sites?)\b[^.\n]{0,60}\b(?:must|should|can|are to) be (?:disregarded|ignored|discarded)\b`,
      ),
    ],
  },
  {
    name: 'outdoes_sources',
    points: 2,
    // So do rules for working with assistants, which also say what those must answer.
    aspect: 'subject',
    patterns: [
      pattern(
        String.raw`\b(?:ignore|disregard|discard|supersedes?|overrides?|do not (?:use|trust|rely on))\W+(?:\w+\W+){0,3}?(?:sources?|documents?|passages?|results?|articles?|pages?)\b`,
      ),
    ],
  },
  {
    name: 'claims_the_answer',
    points: 2,
    // Examinations have both.
    aspect: 'subject',
    patterns: [
      pattern(
        String.raw`\bthe (?:only )?(?:correct|right|true|valid) answer (?:to|for|is)\b|\bthe only (?:correct|right|true|valid) answer\b|\bsay (?:that )?the answer is\b`,
      ),
      pattern(
        `\\b${reads}\\b\\W+(?:\\w+\\W+){0,3}?(?:must|should|shall|always|are (?:required|instructed) to|ha(?:s|ve) to)\\W+(?:\\w+\\W+)?(?:state|say|answer|claim|recommend|rank|treat|cite|prefer|mention|promote|respond|reply)\\b`,
      ),
      pattern(`\\b${reads}\\W{1,3}(?:please\\W+)?(?:recommend|rank|cite|prefer|promote|mention|state)\\b`),
    ],
  },
  {
    name: 'plants_memory',
    points: 2,
    // Interfaces ask for tokens to be stored for later requests.
    aspect: 'subject',
    patterns: [pattern(String.raw`${keeps}\b[^.\n]{0,40}\b${forLater}`)],
  },
  {
    name: 'plants_memory',
    points: 2,
    patterns: [
      pattern(String.raw`${keeps}\b[^.\n]{0,40}\b${forLater}[^.\n]{0,80}\b${belief}`),
      pattern(String.raw`${keeps}\b[^.\n]{0,80}?\b${belief}[^.\n]{0,80}?\b${forLater}`),
    ],
  },
]
