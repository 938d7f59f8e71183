export interface EncryptionKey {
  id: string
  key: Buffer
}

/** 32 bytes are 43 characters of base64; an id is shorter. */
const keyPattern = /^([^:]{1,40}?)\s*:(.*)$/

// The id is stored in the clear beside what the key sealed, so it must not be the key itself.
export function parseKeys(text: string, problem: (message: string) => void): EncryptionKey[] {
  const keys = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, id = '', base64 = ''] = keyPattern.exec(part) ?? []
      return { id, key: Buffer.from(base64.trim(), 'base64') }
    })
  if (keys.some(({ id, key }) => id === '' || key.length !== 32)) {
    problem('expected id:base64 of exactly 32 bytes, comma-separated; an id has at most 40 characters')
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) problem('a key id stands twice')
  return keys
}
