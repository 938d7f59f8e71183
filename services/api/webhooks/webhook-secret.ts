import { randomBytes } from 'node:crypto'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'

export interface NewSecret {
  /** `whsec_` and base64 of 32 bytes: shown once, and its UTF-8 bytes are the HMAC key. */
  secret: string
  sealed: SealedBytes
}

export function makeSecret(sealer: Sealer, projectId: string, webhookId: string): NewSecret {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const sealed = sealer.seal(Buffer.from(secret), sealedIdentity(projectId, webhookId, 'webhook_secret'))
  return { secret, sealed }
}
