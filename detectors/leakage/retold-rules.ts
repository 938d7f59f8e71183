import { identifyLanguage, type Language } from '../language/identify-language.ts'

/** A rule of the prompt: what its words weigh, the names and numbers among them, and whom it is meant for. */
interface Rule {
  words: Map<string, number>
  named: Map<string, number>
  /** How the model is to behave, and no customer needs to know. */
  isInner: boolean
  isSecretive: boolean
}

const rules =
  /^(?:never|always|do not|don't|only|refuse|escalate|keep|answer|respond|reply|speak|use|say|ask|offer|call|avoid|pretend|log|recommend|treat|decline|reject|forward|send|mention|if\b|when\b|under no)\b|\b(?:you (?:are|will|must|should|may|can|have to)|must(?: not)?|never|do not|don't|not allowed|agents? (?:may|must|should|can))\b|^(?:nie|niemals|immer|nur|sag|antwort\w*|sprich|verrat\w*|ne |jamais|toujours|réponds|nunca|siempre|no |responde|mai|sempre|non |nooit|altijd)\b|\b(?:du (?:bist|sollst|darfst|musst)|sie (?:sind|sollen|dürfen|müssen)|tu (?:es|dois|ne)|vous (?:êtes|devez|ne)|eres|debes|sei |devi|nunca)\b|\bvocê /i
const inner =
  /\b(?:never|do not|don't|must not|avoid|refuse|only|internal|confidential|secret|escalate|pretend|reveal|mention|discuss|compare|log|recommend|without (?:asking|approval)|even if|unless|before each|refer|nie|niemals|nicht|nur|jamais|nunca|solo|mai|nooit)\b/i
const secretive =
  /\b(?:(?:never|do not|don't|must not) (?:\w+ )?(?:discuss|mention|reveal|tell|admit|show|say|speak|talk|compare|share|disclose|name)|confidential|internal|pretend|escalate|without asking|even if|do not tell|keep quiet|secret)\b/i
/** Said of one's own orders, by a model that knows them. */
const announces =
  /\b(?:my (?:\w{1,12} ){0,2}(?:instructions?|prompt|guidelines|rules|directives?|orders|configuration)|(?:i'?m|i am|i was|i have been|i've been) (?:told|instructed|programmed|configured|ordered|asked to)|(?:meine|mein) (?:anweisung|regel|vorgabe|instruktion|prompt)\w*|(?:mes|nos) (?:consignes|instructions|règles|directives)|mis (?:instrucciones|reglas|normas|órdenes)|le mie (?:istruzioni|regole)|(?:minhas|as minhas) (?:instruções|regras)|mijn (?:instructies|regels)|moje (?:instrukcje|zasady))|мо[ия]х? (?:инструкци|правил)|我的(?:指令|指示|规则)|私の(?:指示|ルール)/giu
/** Before it: the answer does not say them. */
const declines =
  /\b(?:can(?:no|')t|cannot|can not|unable|not able|won't|will not|may not|not allowed|not permitted|ne peux|ne puis|no puedo)\b[^.;:!?\n]{0,60}$|\b(?:kann|darf)\s(?:\w+\s){0,2}$/i
const speaksOfRules =
  /\b(?:must|may not|not (?:allowed|permitted|to)|never|forbidden|supposed to|have to|told|instructed|off limits|keep quiet|confidential|only when|hidden|darf|nie|soll|muss|vertraulich|jamais|ne dois|dois|interdit|confidentielle?|nunca|debo|prohibido|solo si|no debo|devo|mai|nooit|mag niet|moet|nigdy)\b/giu

const [minLetters, stemLetters] = [4, 5]
const common = new Set(
  'about above admit discuss disclose mention reveal share speak spoke talks after again also always another answer answers anybody anything assistant because been before being both cannot could customer customers does doing done each else even ever every everybody everyone from give given have having help here into just keep kind know like made make many maybe more most much must need never nothing only other others over people please question questions rules said same shall should some somebody such talk tell than that their them then there these they thing things this those through told under unless until used user users using very want well were what when where which while will with within without would your yours'.split(
    ' ',
  ),
)
const token = /[\p{L}\p{N}][\p{L}\p{N}_'-]{0,60}/gu
/** Those whose ways of speaking of rules are known. */
const readLanguages: ReadonlySet<Language> = new Set(['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'])
const maxRules = 200
const maxSentences = 400
const toldShare = 0.5

/**
 * Measures how many of a prompt's rules answers retell: in other words of the same stems, or in another
 * language by names, numbers and related words. A word that the user said counts for nothing.
 */
export function createRetellingFinder() {
  const found: Rule[] = []
  /** Their words are counted only if a prompt has rules and an answer retells them. */
  const openTexts: string[] = []
  const sentences: Set<string>[] = []
  let language: Language | null = null
  let [isForeign, isUnread, isAnnounced, modals] = [false, false, false, 0]
  return {
    readPrompt(own: string): void {
      language ??= identifyLanguage(own)
      for (const sentence of sentencesOf(own)) {
        if (found.length >= maxRules) return
        const rule = rules.test(sentence) ? readRule(sentence) : null
        if (rule !== null) found.push(rule)
      }
    },
    readOpen(text: string): void {
      openTexts.push(text.slice(0, 20_000))
    },
    readAnswer(text: string): void {
      if (found.length === 0) return
      const answered = identifyLanguage(text)
      isForeign ||= answered !== null && language !== null && answered !== language
      isUnread ||= isForeign && answered !== null && !readLanguages.has(answered)
      isAnnounced ||= announcesOwn(text)
      modals += text.match(speaksOfRules)?.length ?? 0
      for (const sentence of sentencesOf(text))
        if (sentences.length < maxSentences) sentences.push(new Set(stemsOf(sentence)))
    },
    /** True if rules could have been retold in a language that is not read. */
    isOutside: () => found.length > 0 && isUnread,
    /** Rules retold as rules: announced, asked for, or several that are nobody's business. */
    countRetold(isAskedFor: boolean): number {
      if (found.length === 0 || sentences.length === 0) return 0
      const open = new Set(openTexts.flatMap(stemsOf))
      const told = found.filter((rule) => isTold(rule, sentences, open, isForeign))
      const innerTold = told.filter(({ isInner }) => isInner).length
      const secretiveTold = told.filter(({ isSecretive }) => isSecretive).length
      const isMeant = isAnnounced || (isAskedFor && modals > 0)
      if (isMeant && told.length >= 2 && innerTold >= 1) return told.length
      return secretiveTold >= 2 && (modals > 1 || secretiveTold >= 3) ? told.length : 0
    },
  }
}

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+|;\s/)
    .map((sentence) => sentence.replace(/^[\s\-*•\d.)]{1,8}/, ''))
    .filter((sentence) => sentence.length > 8)
}

function readRule(sentence: string): Rule | null {
  const [words, named] = [new Map<string, number>(), new Map<string, number>()]
  for (const { 0: word, index } of sentence.matchAll(token)) {
    const isName = /[\d_]/.test(word) || (index > 0 && /^\p{Lu}/u.test(word) && word !== 'I')
    const stem = stemOf(word)
    if (stem === null && !isName) continue
    if (isName) named.set(stem ?? word.toLowerCase(), 2)
    words.set(stem ?? word.toLowerCase(), isName ? 2 : word.length > 6 ? 1.5 : 1)
  }
  if (words.size === 0) return null
  return { words, named, isInner: inner.test(sentence), isSecretive: secretive.test(sentence) }
}

function isTold(
  { words, named }: Rule,
  sentences: readonly Set<string>[],
  open: ReadonlySet<string>,
  isForeign: boolean,
): boolean {
  const own = [...words].filter(([stem]) => !open.has(stem))
  const all = sum(own)
  const names = own.filter(([stem]) => named.has(stem))
  if (all < 1) return false
  return sentences.some((sentence, at) => {
    const near = sentences[at + 1]
    const isSaid = ([stem]: readonly [string, number]) => sentence.has(stem) || near?.has(stem) === true
    if (sum(own.filter(isSaid)) >= toldShare * all) return true
    return isForeign && names.length > 0 && sum(names.filter(isSaid)) >= 0.6 * sum(names)
  })
}

function sum(weighed: readonly (readonly [string, number])[]): number {
  return weighed.reduce((total, [, weight]) => total + weight, 0)
}

function stemsOf(text: string): string[] {
  return (text.match(token) ?? []).flatMap((word) => {
    const stem = stemOf(word)
    return stem === null ? [word.toLowerCase()] : [stem]
  })
}

/** The start of a longer word: `delivery`, `deliveries`, `Lieferung` keep theirs, as related words do. */
function stemOf(word: string): string | null {
  const lower = word.toLowerCase()
  const plain = /[^\0-\x7f]/.test(lower) ? lower.normalize('NFD').replace(/\p{M}/gu, '') : lower
  if (/[\d_]/.test(plain) || plain.length < minLetters || common.has(plain)) return null
  return plain.replace(/(?<=.{4})(?:'s|en|ern|er|es|s|e|n)$/, '').slice(0, stemLetters)
}

function announcesOwn(text: string): boolean {
  return text
    .matchAll(announces)
    .take(20)
    .some(({ index }) => !declines.test(text.slice(Math.max(0, index - 80), index)))
}
