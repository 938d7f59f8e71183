import { findMatches } from '../find-matches.ts'
import { findGated, gatePattern } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'
import type { Identifier } from './identifier.ts'
import { isPlaceholder, passwordStrength, valueClass, withoutEnding } from './told-value.ts'
import { hasBeyondAscii, wordGate } from './word-gate.ts'
import { rememberLast } from '../remember-last.ts'

/** Words for a password in twenty-four languages, with endings that they take in prose. */
const passwords = [
  ...['password', 'passcode', 'passphrase', 'passwort', 'kennwort', 'zugangscode', 'mot de passe', 'mdp'],
  ...[
    'contraseña',
    'contrasena',
    'clave',
    'senha',
    'palavra-passe',
    "parola d[’']ordine",
    'parol[aăeiy]',
    'wachtwoord',
  ],
  ...[
    'lösenord(?:et)?',
    'passord(?:et)?',
    'adgangskode(?:n)?',
    'salasana',
    'has(?:ł|l)o',
    'has(?:ł|l)em',
    'hesl(?:o|a|em)',
  ],
  ...[
    'jelszó',
    'şifre(?:si|niz|miz|m|yi)?',
    'sifre(?:si|niz|miz|m)?',
    'kata sandi',
    'mật khẩu',
    'парол(?:ь|я|ем|і)',
    'κωδικός',
  ],
  ...['كلم(?:ة|ه) (?:المرور|السر)', 'كلمة سر', 'סיסמ(?:ה|א|ת)', 'पासवर्ड', 'รหัสผ่าน'],
]
const keys = [
  ...[
    'api[ -](?:key|token)',
    'api-schlüssel',
    '(?:access|secret|bearer|auth|recovery|license|licence|subscription)[ -](?:key|token|code)',
  ],
  ...[
    "clé (?:d[’'])?api",
    'clave (?:de )?api',
    'chave (?:da |de )?api',
    'chiave api',
    'klucz(?:em)? api',
    'ключ api',
    'api-nyckel(?:n)?',
  ],
]
const unspaced = [
  '密码',
  '密碼',
  '口令',
  'パスワード',
  '暗証番号',
  '비밀번호',
  '암호',
  'api ?密钥',
  'api ?キー',
  'api ?키',
]
const isPlain = (word: string) => !/[^\0-\x7f]/.test(word)
/** ASCII apart: without the flag `u` the patterns are three times as fast, and their words can be gated. */
const plainWords = [passwords, keys].map((words) =>
  gatePattern(new RegExp(String.raw`\b(?:${words.filter(isPlain).join('|')})(?!\w)`, 'gi')),
)
const otherWords = [...passwords, ...keys].filter((word) => !isPlain(word)).join('|')
const otherWord = new RegExp(
  String.raw`(?<![\p{L}\p{N}_-])(?:${otherWords})(?![\p{L}\p{N}_])|${unspaced.join('|')}`,
  'giu',
)
/** Between word and value: "for the guest network is", "lautet", "是". */
const connector = String.raw`(?:\s(?:is|was|to|be|as|ist|lautet|war|heißt|est|es|era|è|é|jest|to|är|er|on|je|este|adalah|là|это|была|είναι|هي|هو|היא|है|คือ)(?:\s(?:now|set to|still|jetzt|maintenant|ahora|agora|ora|teraz|теперь|сейчас))?\s|\s?[:：=–—]\s?|\s-\s|是|为|為|は|은\s?|는\s?)`
const told = new RegExp(
  String.raw`^([^\n.!?;:=，。"]{0,48}?)${connector}\s{0,2}["'“«„「『\x60(]{0,2}(${valueClass}{4,128})`,
  'iu',
)
/** Directly beside the word: "use the password Tundra!94-mink". */
const beside = new RegExp(String.raw`^\s{0,2}["'“«„「『\x60(]{0,2}(${valueClass}{6,128})`, 'u')
/** A number that opens a door or a card, told with its word. */
const pin =
  /(?:\bpin(?:[ -]?(?:code|number|nummer))?|\bcv[vc]|\b(?:door|gate|alarm|entry|safe)[ -]code|türcode|digicode|kod do (?:drzwi|bramy)|код (?:от )?(?:двери|домофона))(?: (?:is|ist|est|es|è|é|jest|to|är)|\s?:)?\s{1,2}(\d{3,8})(?!\d|[-.,/]\d)/gi
/** A PIN has an owner; elsewhere it is a pin of a plug or on a board. */
const owner =
  /(?<!\p{L})(?:my|his|her|their|our|your|the|meine?|mon|mi|il mio|minha?|moj|mój|mijn|мой) (?:\p{L}{1,12} ){0,2}$/iu
const mayTellPin = wordGate(
  'pin pincode pinnummer cvv cvc door gate alarm entry safe türcode digicode kod код',
)
const maxWords = 200
const reach = 200

/** Passwords, keys and codes told in a sentence, in the languages of the lists above. */
export function* findToldSecrets(text: string): Generator<Identifier> {
  for (const { 0: word, index } of wordsIn(text)) {
    const from = index + word.length
    const after = text.slice(from, from + reach)
    const value = valueAfter(after)
    if (value !== null) yield { kind: 'secret', start: from + value.start, end: from + value.end }
  }
  for (const match of mayTellPin(text) ? findMatches(text, pin, maxWords) : []) {
    const isOwned = owner.test(text.slice(Math.max(0, match.index - 40), match.index))
    if (/^(?:pin|cv)/i.test(match[0]) && !isOwned) continue
    const end = match.index + match[0].length
    const length = match[1]?.length ?? 0
    yield { kind: 'secret', start: end - length, end }
  }
}

/** Remembered: read for secrets, and for what is left to a reader. */
const wordsIn = rememberLast((text: string): readonly RegExpExecArray[] => {
  const starts = wordStartsOf(text)
  const plain = plainWords.flatMap((words) => findGated(text, starts, words, maxWords))
  return hasBeyondAscii(text) ? [...plain, ...findMatches(text, otherWord, maxWords)] : plain
})

function valueAfter(after: string): { start: number; end: number } | null {
  for (const [pattern, isLinked] of [
    [told, true],
    [beside, false],
  ] as const) {
    const match = pattern.exec(after)
    if (match === null) continue
    const written = match[isLinked ? 2 : 1] ?? ''
    const value = withoutEnding(written)
    const strength = passwordStrength(value)
    if (strength === null || (strength === 'weak' && !isLinked)) continue
    const start = match[0].length - written.length
    return { start, end: start + value.length }
  }
  return null
}

/** A value that may be a password without any digit: only a reader can tell it from a word. */
const mayBeValue = new RegExp(
  String.raw`^[^\n.!?;:=，。"]{0,24}?(?:${connector}\s{0,2}(?:["'“«„「『\x60]\s?)?|\s["'“«„「『\x60])(${valueClass}{4,64})`,
  'iu',
)

/** True if a text may tell a secret in words that prove nothing: "the password is swordfish". */
export function hintsAtSecret(text: string): boolean {
  return wordsIn(text).some(({ 0: word, index }) => {
    const value = mayBeValue.exec(text.slice(index + word.length, index + word.length + reach))?.[1]
    return value !== undefined && !isPlaceholder(withoutEnding(value)) && !sayings.test(value)
  })
}

/** What is said of passwords without telling one. */
const sayings =
  /^(?:required|not|a|an|the|too|in|on|at|of|your|my|is|set|wrong|incorrect|invalid|correct|valid|stored|hashed|encrypted|empty|null|none|true|false|string|str|text|reset|changed|expired|protected|needed|optional|missing|weak|strong|never|only|also|always|nicht|falsch|pas|no|non|não|nie|не)(?!\p{L})/iu
