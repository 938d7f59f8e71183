import { findMatches } from '../find-matches.ts'
import { findGated, gatePattern } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'
import type { Identifier } from './identifier.ts'
import { isPlaceholder, passwordStrength, valueClass, withoutEnding } from './told-value.ts'
import { wordGate } from './word-gate.ts'

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
    'api[ -]?(?:key|token|schlüssel)',
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
const spaced = [...passwords, ...keys]
/** ASCII apart: without the flag `u` the pattern is three times as fast, and its words can be gated. */
const plainWord = gatePattern(
  new RegExp(String.raw`(?<![\w-])(?:${spaced.filter(isPlain).join('|')})(?!\w)`, 'gi'),
)
const otherWord = new RegExp(
  String.raw`(?<![\p{L}\p{N}_-])(?:${spaced.filter((word) => !isPlain(word)).join('|')})(?![\p{L}\p{N}_])|${unspaced.join('|')}`,
  'giu',
)
const beyondAscii = /[^\0-\x7f]/

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
  /(?<![\p{L}\p{N}_-])(?:(?:my|his|her|their|our|your|the|meine?|mon|mi|il mio|minha?|moj|mój|mijn|мой) (?:[\p{L}]{1,12} ){0,2}(?:pin(?:[ -]?(?:code|number|nummer))?|cvv|cvc)|(?:door|gate|alarm|entry|safe)[ -]code|türcode|digicode|kod do (?:drzwi|bramy)|код (?:от )?(?:двери|домофона))(?: (?:is|ist|est|es|è|é|jest|to|är)|\s?:)?\s{1,2}(\d{3,8})(?!\d|[-.,/]\d)/giu
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
    const end = match.index + match[0].length
    const length = match[1]?.length ?? 0
    yield { kind: 'secret', start: end - length, end }
  }
}

function wordsIn(text: string): readonly RegExpExecArray[] {
  const plain = findGated(text, wordStartsOf(text), plainWord, maxWords)
  return beyondAscii.test(text) ? [...plain, ...findMatches(text, otherWord, maxWords)] : plain
}

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
