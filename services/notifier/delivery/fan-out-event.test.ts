import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { newId } from '#schemas/ids.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { createSealer } from '#runtime/sealing.ts'
import { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import type { DeliverFirst } from './deliver-first.ts'
import { createFanOut, type FanOutDependencies } from './fan-out.ts'
import { createHandOver, type HandOverDependencies } from './hand-over.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { createJoinEvent } from '../steps/open-message.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { raisedEvent, webhook } from '../testing/sample-records.ts'

const projectId = newId('project')

interface HandlerOptions {
  deliver?: DeliverFirst['deliver']
  expressions?: FanOutDependencies['expressions']
}

function handlerWith(webhooks: readonly Webhook[], given: HandlerOptions) {
  const { handle } = createFanOut({
    webhooks: {
      ofProject: (id: string) => Promise.resolve(webhooks.filter((one) => one.projectId === id)),
      noteExpressionFailures: () => Promise.resolve(),
    },
    first: { deliver: given.deliver ?? (() => Promise.resolve()), acquireAll: () => undefined },
    begin: () => Promise.reject(new Error('nothing is begun in a group here')),
    joinEvent: createJoinEvent(createSealer([])),
    expressions: given.expressions ?? { evaluate: () => true },
    metrics: createNotifierMetrics(createMetrics()),
  })
  return (event: RaisedEvent, partition = 0, signal = new AbortController().signal) =>
    handle(
      {
        topic: 'event.raised',
        partition,
        offset: 0n,
        key: null,
        value: event,
        headers: {},
        timestampMs: 0,
      },
      signal,
    )
}

test('an event is over when all of its attempts are, whatever became of one', async () => {
  const slow = Promise.withResolvers<undefined>()
  const [one, other] = [webhook({ projectId }), webhook({ projectId })]
  const handle = handlerWith([one, other], {
    deliver: ({ webhook: { id } }) =>
      id === one.id ? Promise.reject(new TransientError('AWAY', 'away')) : slow.promise,
  })
  let isOver = false
  const ending = handle(raisedEvent({ project_id: projectId })).finally(() => (isOver = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  slow.resolve(undefined)
  await expect(ending).rejects.toThrow('away')
})

function handOverWith(
  given: Partial<HandOverDependencies['deliveries']>,
  publisher: HandOverDependencies['publisher'],
) {
  const deliveries = {
    insert: () => Promise.resolve(),
    insertWaiting: (all: readonly unknown[]) => Promise.resolve(all.map(() => true)),
    ...given,
  }
  const limiter = new EndpointLimiter({ perEndpoint: 1, total: 8 })
  const metrics = createNotifierMetrics(createMetrics())
  const handOver = createHandOver({ deliveries, publisher, limiter, metrics })
  const webhooks = [webhook({ projectId })]
  return {
    limiter,
    endpoint: webhooks[0],
    waits: handlerWith(webhooks, { deliver: ({ delivery }) => handOver.wait(delivery) }),
    asks: handlerWith(webhooks, { deliver: ({ delivery }) => handOver.publish(delivery) }),
  }
}

const raise = () => raisedEvent({ project_id: projectId })

test('what cannot be begun is written first, then asked for, those of several events together', async () => {
  const told: string[] = []
  const { asks } = handOverWith(
    { insert: (chunk) => Promise.resolve(void told.push(`insert ${chunk.length}`)) },
    {
      publish: (placed) =>
        Promise.resolve(void told.push(`publish ${placed.map(({ topic }) => topic).join()}`)),
    },
  )
  await Promise.all([asks(raise()), asks(raise())])
  expect(told).toEqual(['insert 2', 'publish deliveryDue,deliveryDue'])
})

test('what a slow endpoint has no place for is written as waiting, those of several events together, and goes before what comes later', async () => {
  const told: string[] = []
  const { waits, limiter, endpoint } = handOverWith(
    {
      insertWaiting: (chunk) => {
        told.push(`wait ${chunk.length}`)
        return Promise.resolve(chunk.map(() => true))
      },
    },
    { publish: () => Promise.reject(new Error('nothing is asked for')) },
  )
  await Promise.all([waits(raise()), waits(raise())])
  expect(told).toEqual(['wait 2'])
  expect(limiter.heldBack()).toEqual([expect.objectContaining({ webhook_id: endpoint?.id })])
})

test('what does not wait after all, because somebody else writes it, is asked for', async () => {
  const asked: string[] = []
  const event = raise()
  const { waits } = handOverWith(
    { insertWaiting: () => Promise.resolve([false]) },
    {
      publish: (placed) =>
        Promise.resolve(void asked.push(...placed.map(({ delivery }) => delivery.event.id))),
    },
  )
  await waits(event)
  expect(asked).toEqual([event.id])
})

test('expressions of a partition take turns; who has none, or another partition, does not wait for them', async () => {
  const ended: string[] = []
  const projects = new Map(['first', 'second', 'beside', 'plain'].map((name) => [name, newId('project')]))
  const webhooks = [...projects].flatMap(([name, id]) =>
    ['a', 'b', 'c'].map((letter) =>
      webhook({ projectId: id, filterExpression: name === 'plain' ? null : `${name} ${letter}` }),
    ),
  )
  const handle = handlerWith(webhooks, {
    expressions: {
      evaluate: (source: string) => {
        // Longer than a turn lasts.
        for (const since = performance.now(); performance.now() - since < 12;);
        ended.push(source.slice(0, -2))
        return true
      },
    },
  })
  const raise = async (name: string, partition = 0) => {
    await handle(raisedEvent({ project_id: projects.get(name) ?? '' }), partition)
    if (name === 'plain') ended.push(name)
  }
  await Promise.all([raise('first'), raise('second'), raise('beside', 1), raise('plain')])
  const own = ended.filter((name) => name === 'first' || name === 'second')
  expect(own).toEqual([...Array<string>(3).fill('first'), ...Array<string>(3).fill('second')])
  expect(ended.indexOf('beside')).toBeLessThan(ended.indexOf('second'))
  expect(ended.indexOf('plain')).toBeLessThan(ended.indexOf('second'))
})

test('an event that fails for good for one webhook is tried again for another, before it is set aside', async () => {
  const [one, other] = [webhook({ projectId }), webhook({ projectId })]
  const deliver: DeliverFirst['deliver'] = ({ webhook: { id } }) =>
    Promise.reject(id === one.id ? new PermanentError('BAD', 'for good') : new TransientError('AWAY', 'away'))
  const event = raisedEvent({ project_id: projectId })
  await expect(handlerWith([one, other], { deliver })(event)).rejects.toThrow('away')
  await expect(handlerWith([one], { deliver })(event)).rejects.toThrow('for good')
})

test('events for many webhooks are told one after the other, others beside them', async () => {
  const begun: string[] = []
  const ending = Promise.withResolvers<undefined>()
  const small = newId('project')
  const many = Array.from({ length: 101 }, () => webhook({ projectId }))
  const handle = handlerWith([...many, webhook({ projectId: small })], {
    deliver: ({ delivery: { event } }) => {
      begun.push(event.id)
      return ending.promise
    },
  })
  const [first, second, third] = [projectId, projectId, small].map((id) => raisedEvent({ project_id: id }))
  const told = [first, second, third].map((event) => handle(event as RaisedEvent))
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun.toSorted()).toEqual([...Array<string | undefined>(101).fill(first?.id), third?.id].toSorted())
  ending.resolve(undefined)
  await Promise.all(told)
  expect(begun).toHaveLength(203)
})

test('what waits for its turn is given up with its partition', async () => {
  const evaluated: string[] = []
  const lost = new AbortController()
  const handle = handlerWith([webhook({ projectId, filterExpression: 'one' })], {
    expressions: {
      evaluate: (source) => {
        evaluated.push(source)
        lost.abort()
        return true
      },
    },
  })
  const raise = () => handle(raisedEvent({ project_id: projectId }), 0, lost.signal)
  const ends = await Promise.allSettled([raise(), raise(), raise()])
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(evaluated).toHaveLength(1)
})
