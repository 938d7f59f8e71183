import { randomFillSync } from 'node:crypto'

/** The nonce size of AES-GCM. */
export const nonceBytes = 12

/** Drawn in bulk: a separate draw is a third of the cost of sealing a short text (2.0 of 6.4 µs). */
const nonces = Buffer.allocUnsafe(nonceBytes * 256)
let used = nonces.length

/** A new random nonce. Copy it before the next call. */
export function nextNonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces)
    used = 0
  }
  used += nonceBytes
  return nonces.subarray(used - nonceBytes, used)
}
