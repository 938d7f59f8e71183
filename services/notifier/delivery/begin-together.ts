import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { openedOr } from './begin-delivery.ts'
import type { LetGoOn } from './delivery-handler.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import { Flight, type Landed, type PlacedDelivery } from './flight.ts'
import { claimLeaseMs, patienceMs, receiverTimeoutMs, type MakeAttempt } from './make-attempt.ts'
import type { SendMessage } from '../sending/send-message.ts'
import type { Message } from '../steps/open-message.ts'
import type { OpenSecrets } from '../steps/open-secrets.ts'
import type { SigningKeys } from '../steps/sign-delivery.ts'
import type { DeliveryStore, FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { attemptName, type UnwrittenAttempts } from './unwritten-attempts.ts'

export interface BeginTogetherDependencies {
  deliveries: DeliveryStore
  openSecrets: OpenSecrets
  limiter: EndpointLimiter
  sendMessage: SendMessage
  making: MakeAttempt
  unwritten: UnwrittenAttempts
  letGoOn: LetGoOn
  clock: Clock
  log: Log
}

export interface FirstDelivery {
  eventIndex: number
  delivery: WebhookDelivery
  webhook: Webhook
  message: Omit<Message, 'keys'>
}

export interface BeginTogether {
  /** Places for all deliveries of an event; undefined: one of them has to be begun by itself. */
  place(firsts: readonly FirstDelivery[]): PlacedDelivery[] | undefined
  /**
   * Writes them with their claims, makes the attempts and writes how they ended, those of slow receivers later. `onEnd` hears of each as soon as
   * it is over.
   */
  begin(placed: readonly PlacedDelivery[], onEnd: OnEnd): Promise<void>
}

/** Throws nothing. `isMade` is false where a delivery was not begun, or how its attempt ended could not be written: its event is tried again. */
export type OnEnd = (placed: PlacedDelivery, isMade: boolean) => void

/** What has landed after so long is written whatever becomes of the others: until then a crash would have it sent again. */
const writeAfterMs = 50

/** As `begin-delivery.ts`, in steps that many take together (docs/decisions/0093). */
export function createBeginTogether(dependencies: BeginTogetherDependencies): BeginTogether {
  const { deliveries, openSecrets, limiter, sendMessage, unwritten, clock } = dependencies
  const keysOf = ({ delivery, webhook }: FirstDelivery): SigningKeys | undefined =>
    unwritten.find(attemptName(delivery)) === undefined ? openedOr(webhook, openSecrets) : undefined
  const ends = createEnds(dependencies)
  return {
    place(firsts) {
      // Before the first place is taken: what this throws keeps none.
      const allKeys = firsts.map(keysOf)
      const placed: PlacedDelivery[] = []
      for (const [index, { message, ...first }] of firsts.entries()) {
        const keys = allKeys[index]
        const release = keys && limiter.acquireNow(first.delivery)
        if (keys === undefined || release === undefined) {
          for (const one of placed) one.release()
          return undefined
        }
        placed.push({ ...first, message: { ...message, keys }, release })
      }
      return placed
    },
    async begin(placed, onEnd) {
      const untilMs = clock.now() + claimLeaseMs
      const answers = await deliveries.beginAll(placed)
      // One statement waits for the others: whoever has waited too long leaves his claim to whoever comes after it.
      const isInTime = clock.now() < untilMs - receiverTimeoutMs
      const [ours, others] = split(placed, (_one, index) => isInTime && answers[index] === true)
      for (const { release } of others) release()
      const flight = new Flight(ours, sendMessage)
      for (const one of [...others, ...flight.unsent]) onEnd(one, false)
      const ending: Promise<unknown>[] = []
      // Not waited for: what follows a failure may wait for Kafka, and the others' time goes on.
      for (const withinMs of [writeAfterMs, patienceMs - writeAfterMs])
        ending.push(ends.write(await flight.takeLanded(withinMs), untilMs, onEnd))
      ending.push(ends.letGo(flight, untilMs, onEnd))
      await Promise.all(ending)
    },
  }
}

function createEnds({ deliveries, making, unwritten, letGoOn, log }: BeginTogetherDependencies) {
  const makeOnceLanded = async (
    { delivery, webhook }: PlacedDelivery,
    landing: Promise<FinishedAttempt>,
    untilMs: number,
  ) => making.make({ delivery, webhook, what: await landing, untilMs }, { isAlone: () => true })
  const writePlain = async (landed: readonly Landed[], onEnd: OnEnd): Promise<void> => {
    const ended = landed.map(({ placed: { delivery }, attempt }) => ({ delivery, attempt }))
    for (const { delivery, attempt } of ended) unwritten.add(attemptName(delivery), attempt)
    const answers = await deliveries.finishAll(ended)
    for (const [index, { placed }] of landed.entries()) {
      const isWritten = answers[index] === null
      if (isWritten) unwritten.remove(attemptName(placed.delivery))
      onEnd(placed, isWritten)
    }
  }
  const tellEnd = async (placed: PlacedDelivery, work: Promise<unknown>, onEnd: OnEnd): Promise<void> => {
    let isMade = true
    try {
      await work
    } catch (error) {
      // It comes again where the event is by itself, and is dealt with there.
      log.debug({ err: error, delivery_id: placed.delivery.delivery_id }, 'not written together')
      isMade = false
    }
    onEnd(placed, isMade)
  }
  return {
    async write(landed: readonly Landed[], untilMs: number, onEnd: OnEnd): Promise<void> {
      const [plain, others] = split(landed, isPlain)
      const follow = others.map(({ placed, attempt: what }) => {
        const { delivery, webhook } = placed
        return tellEnd(placed, making.make({ delivery, webhook, what, untilMs }, {}), onEnd)
      })
      await Promise.all([writePlain(plain, onEnd), ...follow])
    },
    /** Attempts at slow receivers go on by themselves. */
    async letGo(flight: Flight, untilMs: number, onEnd: OnEnd): Promise<void> {
      const going = flight
        .letGo()
        .map(({ placed, landing }) =>
          tellEnd(placed, letGoOn(placed.delivery, makeOnceLanded(placed, landing, untilMs)), onEnd),
        )
      await Promise.all(going)
    },
  }
}

/** Nothing follows but a row. */
function isPlain({ placed, attempt }: Landed): boolean {
  return attempt.error === null && !placed.webhook.isFailing
}

function split<T>(all: readonly T[], isFirst: (one: T, index: number) => boolean): [T[], T[]] {
  const parts: [T[], T[]] = [[], []]
  all.forEach((one, index) => parts[isFirst(one, index) ? 0 : 1].push(one))
  return parts
}
