import { join } from 'node:path'
import type { Dispatcher } from 'undici'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { GatewayConfig } from '../config.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { createAskProject } from '../projects/ask-project.ts'
import type { OwnProject } from '../projects/own-project.ts'
import { createProjectDirectory } from '../projects/project-directory.ts'
import type { StripBodies } from '../spool/erase-bodies.ts'
import type { Spool } from '../spool/spool.ts'
import { keyCredential, secretCredential, type Credential } from './credentials.ts'
import { createKafkaDelivery, type KafkaDelivery } from './kafka-delivery.ts'
import { createKeptRecords, type KeptOptions } from './kept-records.ts'
import { createPostRecords, type PostRecords } from './post-records.ts'
import { rejectPoisonRecords } from './reject-poison-records.ts'
import { createRoutedDelivery, createRouteOf } from './route-records.ts'
import { createMasking, createMaskRecords } from '../masking/mask-records.ts'
import { Sender } from './sender.ts'

const keptMaxBytes = 64 * 1024 * 1024

interface SenderParts {
  spool: Spool
  metrics: GatewayMetrics
  backend: Dispatcher
  /** Undefined without SERVICE_API_KEY. */
  own: OwnProject | undefined
  stripBodies: StripBodies
}

/** Wires the sender to the API service or to Kafka. */
export function createSender(
  config: GatewayConfig,
  { spool, metrics, backend, own, stripBodies }: SenderParts,
  dependencies: ProcessDependencies,
): { sender: Sender; close: () => Promise<unknown> } {
  const { log, clock, tracing } = dependencies
  const kafkas: KafkaDelivery[] = []
  const masking = createMasking({ clock, log, metrics })
  const deliveryAs = (credential: Credential | undefined): PostRecords | undefined => {
    if (credential === undefined) return undefined
    const url = config.API_BACKEND_URL
    const now = () => clock.now()
    const post = rejectPoisonRecords(
      createPostRecords({ dispatcher: backend, url, credential, tracing, now }),
    )
    if (config.GATEWAY_DELIVERY === 'api') return post
    const ask = createAskProject(url, credential, backend)
    const findProject = createProjectDirectory({ own, ask, now, log })
    const kafka = createKafkaDelivery(config, { findProject, post }, dependencies)
    kafkas.push(kafka)
    return kafka.publish
  }
  const secret = secretCredential(config)
  const findOther =
    secret &&
    createProjectDirectory({
      own: undefined,
      ask: createAskProject(config.API_BACKEND_URL, secret, backend),
      now: () => clock.now(),
      log,
    })
  const routeOf = createRouteOf({
    ownProject: own && (() => own.settings()?.projectId),
    asOwn: deliveryAs(keyCredential(config)),
    asOperator: deliveryAs(secretCredential(config)),
  })
  const kept = (folder: string, onLost: KeptOptions['onLost']) =>
    createKeptRecords({
      directory: join(config.SPOOL_DIR, folder),
      key: config.SPOOL_KEY,
      maxBytes: keptMaxBytes,
      stripBodies,
      now: () => clock.now(),
      log,
      onLost,
    })
  const sender = new Sender({
    spool,
    metrics,
    log,
    clock,
    post: createRoutedDelivery(routeOf),
    mask: createMaskRecords({ ownSettings: own && (() => own.settings()), findOther, masking }),
    isSendable: (record) => routeOf(record) !== null,
    // Refusals are counted when they happen.
    rejected: kept('rejected', () => undefined),
    parked: kept('parked', (reason) => metrics.lost(reason, 1)),
  })
  return { sender, close: () => Promise.all([...kafkas.map((kafka) => kafka.stop()), masking.stop()]) }
}
