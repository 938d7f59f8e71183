/** What stands in the place of a credential. */
const notRecorded = '[not recorded]'

/** What an object of a class, a provider's client for instance, or the settings in it hold to prove themselves, and headers that do. */
const credential =
  /^_{0,3}(?:[\w-]*api[-_]?key|(?:[a-z\d]+[-_])*(?:authorization|(?:auth|access|refresh|bearer|session|security|id)[-_]?token|(?:(?:client|webhook)[-_]?)?secret|secret[-_]?(?:access[-_]?)?key|(?:admin|service|private|signing)[-_]?key|password|(?:signed)?cookies?))$/i
/** Headers are called many ways: `private-token`, `x-functions-key`. */
const credentialHeader = /[-_](?:token|key|secret|credentials?)$/i
/** No credential has a longer name, and to look through one takes the longer. */
const longestName = 100

/** `dbPassword` is one as `db_password` is. */
function namesCredential(name: string, isHeader: boolean): boolean {
  if (name.length > longestName) return false
  const parted = partedName(name)
  return credential.test(parted) || (isHeader && credentialHeader.test(parted))
}

function partedName(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1-$2')
}

/** Models speak in tokens too, which are short and seldom have digits. */
const ofToken = /(?:^|[-_])token$/i
const opaque = /^(?=\D*\d)[\w.~+/=|-]{16,}$/

/** What is called so is a header, whatever it stands in: credentials in other data are mostly called otherwise. */
const ofHeader = /-|^(?:authorization|cookie)$/i
/** What hardly a request or an answer is without, and hardly anything else has. */
const beside =
  /^(?:host|connection|user-agent|accept-encoding|content-(?:type|length)|transfer-encoding|etag)$/i
const token = /^:?[\w!#$%&'*+.^`|~-]+$/

/** Where something stands. In plain data a credential is what a function was given, and detectors are to see it; in these it is not. */
export interface Surroundings {
  above: readonly object[]
  /** Whether something above is called so. */
  isInHeaders: boolean
}

export function namesHeaders(name: string): boolean {
  return /headers(?:distinct|list|map)?$/i.test(name)
}

function mayProve({ above, isInHeaders }: Surroundings): boolean {
  return isInHeaders || above.some(isOfClass)
}

function isOfClass(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && !Array.isArray(value) && Object.getPrototypeOf(prototype) !== null
}

/** Whether names are those of headers; looked at once, and only where that decides. */
export type AreHeaders = () => boolean

export function areHeaders(names: readonly unknown[]): AreHeaders {
  let are: boolean | undefined
  return () => (are ??= names.some((name) => typeof name === 'string' && beside.test(name)))
}

/** Whether what is called `name` is one, beside others. */
function isCredential(name: unknown, others: AreHeaders, around: Surroundings): boolean {
  if (typeof name !== 'string') return false
  if (mayProve(around)) return namesCredential(name, around.isInHeaders || others())
  return ofHeader.test(name) && namesCredential(name, true) && others()
}

interface Field {
  name: string
  others: AreHeaders
  read: () => unknown
}

/** What a field holds; it is not read where that is a credential. */
export function fieldToRecord({ name, others, read }: Field, around: Surroundings): unknown {
  if (isCredential(name, others, around)) return notRecorded
  const value = read()
  if (typeof value !== 'string' || !mayProve(around)) return value
  // Node's requests are told `user:password`.
  if (name === 'auth' || (ofToken.test(partedName(name)) && opaque.test(value))) return notRecorded
  return addressName.test(name) ? withoutProof(value) : value
}

/** A list, or what a map has, without the credentials in it: they stand in pairs with their names, or behind these, as in `rawHeaders`. */
export function entriesToRecord(list: readonly unknown[], around: Surroundings): readonly unknown[] {
  if (list.every(isPair)) {
    const others = areHeaders(list.map(([name]) => name))
    return list.map((pair) => (isCredentialPair(pair, others, around) ? [pair[0], notRecorded] : pair))
  }
  if (!areAlternating(list)) return list
  const others = areHeaders(list.filter((_entry, at) => at % 2 === 0))
  if (!around.isInHeaders && !others()) return list
  return list.map((entry, at) =>
    at % 2 === 1 && isCredential(list[at - 1], others, around) ? notRecorded : entry,
  )
}

/** Somewhere in a program's data a pair of `cookie` and `chocolate` is none, and words that somebody authorised are words. */
function isCredentialPair(
  [name, value]: readonly [unknown, unknown],
  others: AreHeaders,
  around: Surroundings,
): boolean {
  if (typeof name !== 'string') return false
  const isHeader = name.includes('-') || (typeof value === 'string' && scheme.test(value))
  return isCredential(name, isHeader ? () => true : others, around)
}

/** What `Authorization` begins with. */
const scheme = /^(?:Bearer|Basic) \S+$/i

function isPair(entry: unknown): entry is readonly [unknown, unknown] {
  return Array.isArray(entry) && entry.length === 2
}

/** Names and values by turns. */
function areAlternating(list: readonly unknown[]): boolean {
  if (list.length % 2 === 1) return false
  return list.every((entry, at) => typeof entry === 'string' && (at % 2 === 1 || token.test(entry)))
}

const startLine = /^(?:[A-Z]+ \S+ HTTP\/\d\.\d|HTTP\/\d\.\d \d{3}[^\r\n]*)\r\n/
const headerLine = /^[\w-]+:[^\r\n]*\r\n/

/** A text without the credentials in it, if it is the head of a message as that goes over the wire. */
export function textToRecord(text: string, { isInHeaders }: Surroundings): string {
  const begins = startLine.test(text)
  if (!begins && !(isInHeaders && headerLine.test(text))) return text
  const end = text.indexOf('\r\n\r\n')
  const [head, rest] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end)]
  const lines = head.split('\r\n').map((line, at) => {
    if (begins && at === 0) return line.split(' ').map(withoutProof).join(' ')
    const name = line.slice(0, Math.max(0, line.indexOf(':')))
    return namesCredential(name, true) ? `${name}: ${notRecorded}` : line
  })
  return lines.join('\r\n') + rest
}

const addressName = /(?:ur[il]|href|path|search|query|_raw|location|referr?er|connection[-_]?string|dsn)$/i
const userInfo = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i
const parameter = /(^|[?&;#])([^=&;?#/]+)=([^&;#]*)/g
const proof = /^(?:[^=]*[-_])?(?:key|token|sig|signature|secret)$/i

/** A URL, or a path or query of one, without the credentials in it. */
export function withoutProof(address: string): string {
  if (/\s/.test(address)) return address
  return address.replace(userInfo, `$1${notRecorded}@`).replace(parameter, withoutValue)
}

function withoutValue(whole: string, before: string, name: string): string {
  return proof.test(partedName(name)) || namesCredential(name, false)
    ? `${before}${name}=${notRecorded}`
    : whole
}

// Addresses may be relative, or stand several in one word. Bounded, so that a long text without any is looked through once.
const userInWords = /\b([a-z][a-z\d+.-]{0,20}:\/\/)[^\s/?#"<>]*@/gi
const parameterInWords = /([?&;#])([^\s=&;?#/"'<>]{1,100})=([^\s&;#"'<>]+)/g
/** With no token but a field (`realm="…"`) what a server asks for. */
const schemeInWords = /\b(Bearer|Basic) (?![a-z_]+="\w)([\w.~+/=|-]{8,})/gi
/** In which fetch quotes a key with a line break in it. */
const headerValue = /"[^"]*"(?= is an invalid header value)/g

/** What an error says, without the credentials in it: clients name the address that they asked, with its key. */
export function wordsToRecord(words: string): string {
  return words
    .replace(headerValue, `"${notRecorded}"`)
    .replace(userInWords, `$1${notRecorded}@`)
    .replace(parameterInWords, withoutValue)
    .replace(schemeInWords, (whole, named: string, given: string) =>
      isToken(given) ? `${named} ${notRecorded}` : whole,
    )
}

/** `Bearer authentication failed` has none. */
function isToken(given: string): boolean {
  return /[\d=]/.test(given) || /^[ -~]*:[ -~]*$/.test(Buffer.from(given, 'base64').toString('latin1'))
}
