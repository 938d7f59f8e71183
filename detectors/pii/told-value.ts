/** A value given for a password, a key or a token: ASCII without blanks, quotes and brackets. */
export const valueClass = String.raw`[!#$%&*+\-./0-9:=?@A-Z\\^_a-z~]`

/** Placeholders in documentation. */
const placeholder =
  /^(?:\$(?:[A-Za-z_]{3}|[({])|%[sdv(]|<|\{|\[|\(|x{3,}|\*{3,}|\.{3}|…|(?:your|my|some|the)[_-]?|replace|insert|change[_-]?me|redacted|dummy|fake|mock|example|todo)|^(?:user(?:name)?|pass(?:word|wd)?|pwd|root|admin|secret|token|guest|test(?:ing)?|foo|bar|baz|postgres|mysql|changeme|example|dbpass(?:word)?)\d?$/i
/** Published examples of weak passwords: nobody's. */
const wornOut =
  /^(?:p[a@4]s{2}w[o0]rd\W?\d{0,4}\W?|s[e3]cr[e3]t\d{0,4}\W?|hunter2|letmein\d{0,3}|(?:abc|abcd|test|user|admin|root|demo|foo|bar|login)_?\d{1,4}\W?|qwerty\d{0,6}|1q2w3e\w{0,4}|(?:test|my|user|admin|db|new|old)[_-]?(?:pass(?:word)?|secret|token|key|pwd)_?\d{0,4}\W?)$/i
/** A reference in code: `process.env.PASSWORD1`, `settings.API_KEY2`. */
const codePath = /^[A-Za-z_$][A-Za-z_$]*\d{0,2}(?:\??\.[A-Za-z_$]+\d{0,2}){1,6}$/
/** Algorithms, versions, dates, times, sizes, tickets, hosts and files are not passwords. */
const otherThing =
  /^(?:(?:sha|md|aes|des|rsa|utf|base|bcrypt|scrypt|argon|pbkdf|hmac|rfc|oauth|saml|tls|ssl|http|ipv|win|es|python|php|node|v)-?\d[\w.-]{0,16}|\d+(?:st|nd|rd|th|px|ms|s|m|h|d|kb|mb|gb|bits?|bytes?|chars?|characters?|digits?|days?|min|hours?)?|\d[\d.,:/-]*|\d+-\w{1,12}|[A-Z]{2,8}-\d{1,6}|(?:[\w-]{1,63}\.){1,6}[a-z]{2,10}(?:[:/]\S*)?|[\w./~-]{1,120}\.[a-z]{1,5}|~?\/\S*|\w{2,12}:\/\/\S*|\S{1,64}@\S{1,64}\.[a-z]{2,12}|0x\w+|\w+\(\)?|(?:\d{1,3}\.){3}\d{1,3}\S*)$/i

export function isPlaceholder(value: string): boolean {
  return placeholder.test(value) || wornOut.test(value)
}

/** True for a reference of code, which holds no secret itself. */
export function isCodePath(value: string): boolean {
  return codePath.test(value)
}

/**
 * How much a value looks like a password. `weak`: letters and digits, as in `harbour42`. `strong`: eight
 * characters or more, with a special character or capitals inside. Null: a word or a placeholder.
 */
export function passwordStrength(value: string): 'weak' | 'strong' | null {
  if (value.length < 6 || value.length > 128 || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return null
  if (isPlaceholder(value) || codePath.test(value) || otherThing.test(value)) return null
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value)
  const hasSpecial = /[!#$%&*+?@^~]/.test(value)
  return value.length >= 8 && (isMixed || hasSpecial) ? 'strong' : 'weak'
}

const minEntropyBits = 3

/** True for a value of at least two kinds of characters, one a digit, that is no word. */
export function isRandom(value: string): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((pattern) => pattern.test(value)).length
  return classes >= 2 && /\d/.test(value) && entropyBits(value) >= minEntropyBits
}

/** Shannon entropy per character. */
function entropyBits(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** Without the signs that end a sentence or a quotation. */
export function withoutEnding(value: string): string {
  return value.replace(/[.,:;!?)\]}"'…]+$/, '')
}
