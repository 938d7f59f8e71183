import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import type { Attempt } from './attempt.ts'
import type { BeginDeliveries, BeginEnd } from './begin-deliveries.ts'
import { createHandleGroup } from './fan-out-group.ts'
import { firstAttempt, type FirstDelivery } from './deliver-first.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { buildEnvelope } from '../steps/open-message.ts'
import { createJoinEvent } from '../steps/open-message.ts'
import { signingKeyOf } from '../steps/sign-delivery.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import { raisedEvent, webhook } from '../testing/sample-records.ts'

const joinEvent = createJoinEvent(createSealer([]))
const projectId = newId('project')

interface FanOutOptions {
  /** Whether there are permits. */
  acquire?: ((firsts: readonly FirstDelivery[]) => boolean) | undefined
  begin?: BeginDeliveries
  onRelease?: () => void
  ofProject?: WebhookStore['ofProject']
}

const makeAll: BeginDeliveries = (attempts, onEnd) => {
  for (const one of attempts) onEnd(one, 'made')
  return Promise.resolve()
}

/**
 * Events handled in a group, where all have permits and are made, but for what is given; and what was done.
 */
function createGroupFixture(webhooks: readonly Webhook[], given: FanOutOptions = {}) {
  const { acquire = () => true, begin = makeAll } = given
  const ofProject = (id: string) => Promise.resolve(webhooks.filter((one) => one.projectId === id))
  const metrics = createNotifierMetrics(createMetrics())
  const asked: string[] = []
  const begun: (Attempt & { eventIndex?: number })[] = []
  const handedBack: number[] = []
  const over: number[] = []
  const handle = createHandleGroup({
    webhooks: {
      ofProject(id: string) {
        asked.push(id)
        return (given.ofProject ?? ofProject)(id)
      },
    },
    first: {
      acquireAll: (firsts) =>
        acquire(firsts)
          ? firsts.map((one) => ({ ...asAttempt(one), release: given.onRelease ?? (() => undefined) }))
          : undefined,
      deliver: () => Promise.reject(new Error('nothing is delivered by itself here')),
    },
    begin(attempts, onEnd) {
      begun.push(...attempts)
      return begin(attempts, onEnd)
    },
    joinEvent,
    metrics,
  })
  const tell = (events: readonly RaisedEvent[]) => {
    const recordOf = { topic: 'event.raised', partition: 0, key: null, headers: {}, timestampMs: 0 }
    const records = events.map((value, index) => ({ ...recordOf, offset: BigInt(index), value }))
    return handle(
      records,
      (index) => handedBack.push(index),
      (index) => over.push(index),
    )
  }
  const selections = async () => {
    const { values } = await metrics.selections.get()
    const counted: Record<string, number> = {}
    for (const { labels, value } of values) if (value > 0) counted[String(labels.selection)] = value
    return counted
  }
  return { tell, asked, begun, handedBack, over, selections }
}

const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }

function asAttempt({ message, ...first }: FirstDelivery): Omit<Attempt, 'release'> {
  return { ...first, what: { ...message, keys } }
}

function raised(given: Parameters<typeof raisedEvent>[0] = {}): RaisedEvent {
  return raisedEvent({ project_id: projectId, ...given })
}

test('each webhook that wants an event has its first delivery of it', async () => {
  const [one, other] = [webhook({ projectId }), webhook({ projectId })]
  const elsewhere = webhook()
  const { tell, begun, asked } = createGroupFixture([
    one,
    webhook({ projectId, enabled: false }),
    other,
    elsewhere,
  ])
  const events = [raised(), raised({ project_id: elsewhere.projectId }), raised()] as const
  await tell(events)
  const expected = [
    { eventIndex: 0, event: events[0], endpoint: one },
    { eventIndex: 0, event: events[0], endpoint: other },
    { eventIndex: 1, event: events[1], endpoint: elsewhere },
    { eventIndex: 2, event: events[2], endpoint: one },
    { eventIndex: 2, event: events[2], endpoint: other },
  ]
  expect(begun).toEqual(
    expected.map(({ eventIndex, event, endpoint }) => ({
      eventIndex,
      delivery: firstAttempt(event, endpoint.id),
      webhook: endpoint,
      what: { body: buildEnvelope(event, joinEvent(event)), isTest: false, keys },
      release: expect.any(Function),
    })),
  )
  expect(asked).toEqual([projectId, elsewhere.projectId])
})

test('a test event says that it is one', async () => {
  const endpoint = webhook({ projectId, enabled: false })
  const { tell, begun } = createGroupFixture([endpoint])
  await tell([raised({ webhook_id: endpoint.id, fields: { test: true } })])
  expect(begun).toMatchObject([{ what: { isTest: true } }])
})

const special = newId('project')

test.each<
  [string, { event?: Partial<RaisedEvent>; webhooks?: Webhook[]; acquire?: FanOutOptions['acquire'] }]
>([
  ['one that can never be delivered', { event: { id: 'evt_?' } }],
  ['one whose project has an expression', { webhooks: [webhook(), webhook({ filterExpression: 'true' })] }],
  ['one of a project with many webhooks', { webhooks: Array.from({ length: 21 }, () => webhook()) }],
  ['one that cannot be read', { event: { data: Buffer.from('no JSON') } }],
  ['one without permits', { acquire: ([one]) => one?.delivery.project_id !== special }],
])('%s is handed back at once, and not counted; the others are told', async (_name, { event, ...given }) => {
  const { webhooks = [webhook()], acquire } = given
  const own = webhooks.map((one) => ({ ...one, projectId: special }))
  const making = Promise.withResolvers<undefined>()
  const { tell, begun, handedBack, over, selections } = createGroupFixture([...own, webhook({ projectId })], {
    acquire,
    begin: (...given) => making.promise.then(() => makeAll(...given)),
  })
  const telling = tell([raised(), raised({ project_id: special, ...event }), raised()])
  await nextTurn()
  expect(begun.map(({ eventIndex }) => eventIndex)).toEqual([0, 2])
  expect({ handedBack, over }).toEqual({ handedBack: [1], over: [] })
  making.resolve(undefined)
  await telling
  expect({ handedBack, over }).toEqual({ handedBack: [1], over: [0, 2] })
  expect(await selections()).toEqual({ selected: 2 })
})

test('webhooks are asked for only for what can be delivered', async () => {
  const { tell, asked } = createGroupFixture([])
  await tell([raised({ project_id: 'prj_?' }), raised()])
  expect(asked).toEqual([projectId])
})

test('an event that nobody wants is over at once; what the webhooks chose is counted once', async () => {
  const picky = newId('project')
  const making = Promise.withResolvers<undefined>()
  const { tell, begun, handedBack, over, selections } = createGroupFixture(
    [
      webhook({ projectId: picky, filters: { severity: ['low'] } }),
      webhook({ projectId: picky, events: ['redteam_complete'] }),
      webhook({ projectId }),
    ],
    { begin: (...given) => making.promise.then(() => makeAll(...given)) },
  )
  // Of a project without webhooks, nothing has to be read.
  const unread = raised({ project_id: newId('project'), data: Buffer.from('no JSON') })
  const telling = tell([unread, raised({ project_id: picky }), raised()])
  await nextTurn()
  expect({ over, handedBack }).toEqual({ over: [0, 1], handedBack: [] })
  expect(begun.map(({ eventIndex }) => eventIndex)).toEqual([2])
  making.resolve(undefined)
  await telling
  expect(await selections()).toEqual({ filtered: 1, other_event: 1, selected: 1 })
})

test('as many webhooks as are told together', async () => {
  const { tell, begun, over } = createGroupFixture(Array.from({ length: 20 }, () => webhook({ projectId })))
  await tell([raised()])
  expect({ begun: begun.length, over }).toEqual({ begun: 20, over: [0] })
})

test('an event is over with the last of its deliveries, and handed back once where one of them was not made', async () => {
  let end: (index: number, how: BeginEnd) => void = () => undefined
  const { tell, handedBack, over, selections } = createGroupFixture(
    Array.from({ length: 3 }, () => webhook({ projectId })),
    {
      begin(attempts, onEnd) {
        end = (index, how) => onEnd(attempts[index] as (typeof attempts)[number], how)
        return Promise.resolve()
      },
    },
  )
  await tell([raised(), raised()])
  end(0, 'made')
  end(3, 'not_ours')
  end(4, new TransientError('AWAY', 'away'))
  end(2, 'made')
  expect({ handedBack, over }).toEqual({ handedBack: [], over: [] })
  end(5, 'made')
  expect({ handedBack, over }).toEqual({ handedBack: [1], over: [] })
  end(1, 'made')
  expect({ handedBack, over }).toEqual({ handedBack: [1], over: [0] })
  // What is handed back is counted where it is told by itself.
  expect(await selections()).toEqual({ selected: 3 })
})

test('nothing is begun where the webhooks are not to be had', async () => {
  const { tell, begun, handedBack, over } = createGroupFixture([webhook({ projectId })], {
    ofProject: () => Promise.reject(new TransientError('AWAY', 'away')),
  })
  await expect(tell([raised()])).rejects.toThrow('away')
  expect({ begun, handedBack, over }).toEqual({ begun: [], handedBack: [], over: [] })
})

test('a mistake of ours is not swallowed: nothing is begun, and no permit is kept', async () => {
  let taken = 0
  const { tell, begun, handedBack, over } = createGroupFixture([webhook({ projectId })], {
    acquire() {
      if (taken++ === 1) throw new TypeError('ours')
      return true
    },
    onRelease: () => taken--,
  })
  await expect(tell([raised(), raised()])).rejects.toThrow(TypeError)
  expect({ begun, handedBack, over, taken: taken - 1 }).toEqual({
    begun: [],
    handedBack: [],
    over: [],
    taken: 0,
  })
})
