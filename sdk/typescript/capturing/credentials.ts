/** Replacement for a credential. */
const notRecorded = '[not recorded]'

/** Names of credentials in headers, and in class instances such as provider clients and their settings. */
const credential =
  /^_{0,3}(?:[\w-]*api[-_]?key|(?:[a-z\d]+[-_])*(?:authorization|(?:auth|access|refresh|bearer|session|security|id)[-_]?token|(?:(?:client|webhook)[-_]?)?secret|secret[-_]?(?:access[-_]?)?key|(?:admin|service|private|signing)[-_]?key|password|(?:signed)?cookies?))$/i
/** Further header names, such as `private-token` and `x-functions-key`. */
const credentialHeader = /[-_](?:token|key|secret|credentials?)$/i
/** No credential has a longer name, and matching long names is slow. */
const maxNameLength = 100

/** Matches `dbPassword` like `db_password`. */
function namesCredential(name: string, isHeader: boolean): boolean {
  if (name.length > maxNameLength) return false
  const parted = partedName(name)
  return credential.test(parted) || (isHeader && credentialHeader.test(parted))
}

function partedName(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1-$2')
}

/** Model tokens have such names too, but they are short and rarely contain digits. */
const ofToken = /(?:^|[-_])token$/i
const opaque = /^(?=\D*\d)[\w.~+/=|-]{16,}$/

/** Unambiguous header names. In other data credentials usually have other names. */
const ofHeader = /-|^(?:authorization|cookie)$/i
/** Names that most headers include and other data rarely does. */
const commonHeaders =
  /^(?:host|connection|user-agent|accept-encoding|content-(?:type|length)|transfer-encoding|etag)$/i
const token = /^:?[\w!#$%&'*+.^`|~-]+$/

/**
 * Where a value is located. In plain data a credential is an argument that detectors should see; in headers
 * and class instances it is not recorded.
 */
export interface Surroundings {
  above: readonly object[]
  /** Whether an enclosing field is named like headers. */
  isInHeaders: boolean
}

export function namesHeaders(name: string): boolean {
  return /headers(?:distinct|list|map)?$/i.test(name)
}

function mayHoldCredentials({ above, isInHeaders }: Surroundings): boolean {
  return isInHeaders || above.some(isOfClass)
}

function isOfClass(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && !Array.isArray(value) && Object.getPrototypeOf(prototype) !== null
}

/** Whether names look like headers. Computed once, when it matters. */
export type AreHeaders = () => boolean

export function areHeaders(names: readonly unknown[]): AreHeaders {
  let are: boolean | undefined
  return () => (are ??= names.some((name) => typeof name === 'string' && commonHeaders.test(name)))
}

/** Whether `name` is a credential, given its neighbours. */
function isCredential(name: unknown, others: AreHeaders, around: Surroundings): boolean {
  if (typeof name !== 'string') return false
  if (mayHoldCredentials(around)) return namesCredential(name, around.isInHeaders || others())
  return ofHeader.test(name) && namesCredential(name, true) && others()
}

interface Field {
  name: string
  others: AreHeaders
  read: () => unknown
}

/** The value of a field. A credential is not even read. */
export function fieldToRecord({ name, others, read }: Field, around: Surroundings): unknown {
  if (isCredential(name, others, around)) return notRecorded
  const value = read()
  if (typeof value !== 'string' || !mayHoldCredentials(around)) return value
  // Node's requests take `user:password` as `auth`.
  if (name === 'auth' || (ofToken.test(partedName(name)) && opaque.test(value))) return notRecorded
  return addressName.test(name) ? withoutCredentials(value) : value
}

/**
 * Entries of a list or map without credentials, which are pairs with their names, or follow them as in
 * `rawHeaders`.
 */
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

/** In other data, a pair of `cookie` and `chocolate` is no credential, nor is prose under `authorization`. */
function isCredentialPair(
  [name, value]: readonly [unknown, unknown],
  others: AreHeaders,
  around: Surroundings,
): boolean {
  if (typeof name !== 'string') return false
  const isHeader = name.includes('-') || (typeof value === 'string' && scheme.test(value))
  return isCredential(name, isHeader ? () => true : others, around)
}

/** The start of an `Authorization` value. */
const scheme = /^(?:Bearer|Basic) \S+$/i

function isPair(entry: unknown): entry is readonly [unknown, unknown] {
  return Array.isArray(entry) && entry.length === 2
}

/** Alternating names and values. */
function areAlternating(list: readonly unknown[]): boolean {
  if (list.length % 2 === 1) return false
  return list.every((entry, at) => typeof entry === 'string' && (at % 2 === 1 || token.test(entry)))
}

const startLine = /^(?:[A-Z]+ \S+ HTTP\/\d\.\d|HTTP\/\d\.\d \d{3}[^\r\n]*)\r\n/
const headerLine = /^[\w-]+:[^\r\n]*\r\n/

/** The text without credentials, if it is the head of an HTTP message. */
export function textToRecord(text: string, { isInHeaders }: Surroundings): string {
  const begins = startLine.test(text)
  if (!begins && !(isInHeaders && headerLine.test(text))) return text
  const end = text.indexOf('\r\n\r\n')
  const [head, rest] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end)]
  const lines = head.split('\r\n').map((line, at) => {
    if (begins && at === 0) return line.split(' ').map(withoutCredentials).join(' ')
    const name = line.slice(0, Math.max(0, line.indexOf(':')))
    return namesCredential(name, true) ? `${name}: ${notRecorded}` : line
  })
  return lines.join('\r\n') + rest
}

const addressName = /(?:ur[il]|href|path|search|query|_raw|location|referr?er|connection[-_]?string|dsn)$/i
const userInfo = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i
const parameter = /(^|[?&;#])([^=&;?#/]+)=([^&;#]*)/g
const credentialParameter = /^(?:[^=]*[-_])?(?:key|token|sig|signature|secret)$/i

/** A URL, path or query without credentials. */
export function withoutCredentials(address: string): string {
  if (/\s/.test(address)) return address
  return address.replace(userInfo, `$1${notRecorded}@`).replace(parameter, withoutValue)
}

function withoutValue(whole: string, before: string, name: string): string {
  return credentialParameter.test(partedName(name)) || namesCredential(name, false)
    ? `${before}${name}=${notRecorded}`
    : whole
}

// For relative addresses, and several in one word. Bounded, so that a long text is scanned once.
const userInWords = /\b([a-z][a-z\d+.-]{0,20}:\/\/)[^\s/?#"<>]*@/gi
const parameterInWords = /([?&;#])([^\s=&;?#/"'<>]{1,100})=([^\s&;#"'<>]+)/g
/** A scheme followed by a field (`realm="…"`) is a server's challenge without a credential. */
const schemeInWords = /\b(Bearer|Basic) (?![a-z_]+="\w)([\w.~+/=|-]{8,})/gi
/** In this message fetch quotes a key that contains a line break. */
const headerValue = /"[^"]*"(?= is an invalid header value)/g

/** An error message without credentials: clients quote the requested address with its key. */
export function wordsToRecord(words: string): string {
  return words
    .replace(headerValue, `"${notRecorded}"`)
    .replace(userInWords, `$1${notRecorded}@`)
    .replace(parameterInWords, withoutValue)
    .replace(schemeInWords, (whole, named: string, given: string) =>
      isToken(given) ? `${named} ${notRecorded}` : whole,
    )
}

/** `Bearer authentication failed` contains no token. */
function isToken(given: string): boolean {
  return /[\d=]/.test(given) || /^[ -~]*:[ -~]*$/.test(Buffer.from(given, 'base64').toString('latin1'))
}
