import { createHash } from 'node:crypto'

/** `svc_`, an optional label and `_`, 48 hexadecimal digits. The digits are the secret, the label is only for people. */
const keyPattern = /^svc_(?:[A-Za-z0-9_-]{1,32}_)?([0-9A-Fa-f]{48})$/

/** SHA-256 of the 48 digits (lower case) of a key, which is all that is stored of it. Undefined: not a key at all. */
export function hashOfKey(key: string): Buffer | undefined {
  const digits = keyPattern.exec(key)?.[1]
  return digits === undefined ? undefined : sha256(digits.toLowerCase())
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
