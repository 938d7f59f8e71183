import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { signingKeyOf, type SigningKey, type SigningKeys } from './sign-delivery.ts'

/** The keys that sign a webhook's deliveries now. Throws PermanentError when a secret cannot be opened. */
export type OpenSecrets = (webhook: Webhook) => SigningKeys

/** Some 64 bytes each. Beyond the limit the oldest is opened again when needed. */
const maxKept = 10_000

/** Opens each secret once: opening takes as long as signing. */
export function createOpenSecrets(sealer: Sealer): OpenSecrets {
  const kept = new Map<string, SigningKey>()
  const open = (webhook: Webhook, secret: SealedBytes): SigningKey => {
    const identity = sealedIdentity(webhook.projectId, webhook.id, 'webhook_secret')
    const name = `${identity}/${secret.key_id ?? ''}/${secret.data.toString('latin1')}`
    const known = kept.get(name)
    if (known !== undefined) return known
    const key = signingKeyOf(sealer.open(secret, identity).toString('utf8'))
    const [oldest] = kept.keys()
    if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest)
    kept.set(name, key)
    return key
  }
  // An unchanged webhook is the same object (find-webhook.ts), so its keys are found without building a name.
  const ofWebhooks = new WeakMap<Webhook, SigningKeys>()
  return (webhook) => {
    const known = ofWebhooks.get(webhook)
    if (known !== undefined) return known
    const previous = webhook.previousSecret === null ? null : open(webhook, webhook.previousSecret)
    const keys = { current: open(webhook, webhook.secret), previous }
    ofWebhooks.set(webhook, keys)
    return keys
  }
}
