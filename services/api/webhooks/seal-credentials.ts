import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import { invalidInput } from '#http/problem.ts'

interface Sealing {
  sealer: Sealer
  /** Whether BODY_ENCRYPTION_KEYS are set. */
  hasKeys: boolean
  projectId: string
  id: string
}

/** Null: the kind has none, or none were given. Throws 422: they cannot be kept secret. */
export function sealCredentials(
  credentials: Record<string, unknown>,
  { sealer, hasKeys, projectId, id }: Sealing,
): SealedBytes | null {
  if (Object.keys(credentials).length === 0) return null
  if (!hasKeys) {
    const message = 'cannot be kept: the operator sets no BODY_ENCRYPTION_KEYS'
    throw invalidInput([{ path: 'credentials', message }])
  }
  const identity = sealedIdentity(projectId, id, 'destination_credentials')
  return sealer.seal(Buffer.from(JSON.stringify(credentials)), identity)
}
