import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { webhook } from '../testing/sample-records.ts'
import { createOpenSecrets } from './open-secrets.ts'

const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }])
const known = webhook()
const seal = (secret: string, webhookId = known.id) =>
  sealer.seal(Buffer.from(secret), sealedIdentity(known.projectId, webhookId, 'webhook_secret'))

test('a rotated secret is another from then on, and the old one signs for its overlap', () => {
  const openSecrets = createOpenSecrets(sealer)
  const before = { ...known, secret: seal('whsec_b25l') }
  const { current } = openSecrets(before)
  expect(current.service.export().toString()).toBe('whsec_b25l')
  expect(current.standard.export().toString()).toBe('one')
  expect(openSecrets(before).current).toBe(current)
  const after = openSecrets({ ...before, secret: seal('whsec_dHdv'), previousSecret: before.secret })
  expect(after.current.standard.export().toString()).toBe('two')
  expect(after.previous).toBe(current)
})

test('a secret that was sealed for another webhook does not open', () => {
  const openSecrets = createOpenSecrets(sealer)
  expect(() => openSecrets({ ...known, secret: seal('whsec_b25l', webhook().id) })).toThrow(
    'cannot be opened',
  )
})
