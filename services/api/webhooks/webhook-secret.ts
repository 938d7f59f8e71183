import { randomBytes } from 'node:crypto'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'

export interface NewSecret {
  /** `whsec_` and base64 of 32 bytes: shown once, and its UTF-8 bytes are the HMAC key. */
  secret: string
  sealed: SealedBytes
}

export function makeSecret(sealer: Sealer, projectId: string, webhookId: string): NewSecret {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return { secret, sealed: sealSecret(sealer, secret, { projectId, webhookId }) }
}

interface Owner {
  projectId: string
  webhookId: string
}

export function sealSecret(sealer: Sealer, secret: string, { projectId, webhookId }: Owner): SealedBytes {
  return sealer.seal(Buffer.from(secret), sealedIdentity(projectId, webhookId, 'webhook_secret'))
}

/** Whether a stored secret is this one. False, too, if no key of BODY_ENCRYPTION_KEYS opens it any more. */
export function isSecret(sealer: Sealer, sealed: SealedBytes, secret: string, owner: Owner): boolean {
  try {
    const identity = sealedIdentity(owner.projectId, owner.webhookId, 'webhook_secret')
    return sealer.open(sealed, identity).equals(Buffer.from(secret))
  } catch (error) {
    if (error instanceof PermanentError) return false
    throw error
  }
}
