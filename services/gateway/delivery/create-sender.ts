import { join } from 'node:path'
import type { Dispatcher } from 'undici'
import type { GatewayConfig } from '../config.ts'
import { withoutBodies } from '../recording/without-bodies.ts'
import { postingCredential } from '../traffic/create-callers.ts'
import { createPostRecords } from './post-records.ts'
import { createRejectedRecords } from './rejected-records.ts'
import { Sender, type SenderDependencies } from './sender.ts'

const rejectedMaxBytes = 64 * 1024 * 1024

/** What carries records to the API service. Wiring only. */
export function createSender(
  config: GatewayConfig,
  backend: Dispatcher,
  dependencies: Omit<SenderDependencies, 'post' | 'rejected'>,
): Sender {
  const { log, clock } = dependencies
  return new Sender({
    ...dependencies,
    post: createPostRecords({
      dispatcher: backend,
      url: config.API_BACKEND_URL,
      credential: postingCredential(config),
    }),
    rejected: createRejectedRecords({
      directory: join(config.SPOOL_DIR, 'rejected'),
      key: config.SPOOL_KEY,
      maxBytes: rejectedMaxBytes,
      stripBodies: withoutBodies,
      now: () => clock.now(),
      log,
    }),
  })
}
