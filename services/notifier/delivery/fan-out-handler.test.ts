import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { newId } from '#schemas/ids.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { LeftToDo } from './begin-delivery.ts'
import { createEndpointLimiter } from '../limits/endpoint-limiter.ts'
import { createFanOutHandler, type FanOutDependencies } from './fan-out-handler.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { createJoinEvent } from '../steps/open-event.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { raisedEvent, webhook } from '../testing/sample-records.ts'

const projectId = newId('project')

function handlerWith(webhooks: readonly Webhook[], given: Partial<FanOutDependencies>) {
  const handle = createFanOutHandler({
    webhooks: {
      ofProject: (id: string) => Promise.resolve(webhooks.filter((one) => one.projectId === id)),
      noteExpressionFailures: () => Promise.resolve(),
    } as unknown as FanOutDependencies['webhooks'],
    deliveries: { insert: () => Promise.resolve() } as unknown as FanOutDependencies['deliveries'],
    publisher: { publish: () => Promise.resolve() },
    begin: () => Promise.resolve('nothing'),
    limiter: createEndpointLimiter({ perEndpoint: 1, total: 8 }),
    joinEvent: createJoinEvent(createSealer([])),
    expressions: { evaluate: () => true },
    metrics: createNotifierMetrics(createMetrics()),
    ...given,
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
  const slow = Promise.withResolvers<LeftToDo>()
  const [one, other] = [webhook({ projectId }), webhook({ projectId })]
  const handle = handlerWith([one, other], {
    begin: (_delivery, { id }) =>
      id === one.id ? Promise.reject(new TransientError('AWAY', 'away')) : slow.promise,
  })
  let isOver = false
  const ending = handle(raisedEvent({ project_id: projectId })).finally(() => (isOver = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  slow.resolve('nothing')
  await expect(ending).rejects.toThrow('away')
})

test('what cannot be begun is written first, then asked for, those of several events together', async () => {
  const told: string[] = []
  const handle = handlerWith([webhook({ projectId })], {
    begin: () => Promise.resolve('ask'),
    deliveries: {
      insert: (chunk: readonly unknown[]) => Promise.resolve(void told.push(`insert ${chunk.length}`)),
    } as unknown as FanOutDependencies['deliveries'],
    publisher: {
      publish: (placed) =>
        Promise.resolve(void told.push(`publish ${placed.map(({ topic }) => topic).join()}`)),
    },
  })
  await Promise.all([
    handle(raisedEvent({ project_id: projectId })),
    handle(raisedEvent({ project_id: projectId })),
  ])
  expect(told).toEqual(['insert 2', 'publish deliveryDue,deliveryDue'])
})

test('what a slow endpoint has no place for is written as waiting, those of several events together, and goes before what comes later', async () => {
  const told: string[] = []
  const limiter = createEndpointLimiter({ perEndpoint: 1, total: 8 })
  const endpoint = webhook({ projectId })
  const handle = handlerWith([endpoint], {
    begin: () => Promise.resolve('wait'),
    limiter,
    deliveries: {
      insertWaiting: (chunk: readonly unknown[]) => {
        told.push(`wait ${chunk.length}`)
        return Promise.resolve(chunk.map(() => true))
      },
    } as unknown as FanOutDependencies['deliveries'],
    publisher: { publish: () => Promise.reject(new Error('nothing is asked for')) },
  })
  const raise = () => handle(raisedEvent({ project_id: projectId }))
  await Promise.all([raise(), raise()])
  expect(told).toEqual(['wait 2'])
  expect(limiter.heldBack()).toEqual([expect.objectContaining({ webhook_id: endpoint.id })])
})

test('what does not wait after all, because somebody else writes it, is asked for', async () => {
  const asked: string[] = []
  const event = raisedEvent({ project_id: projectId })
  const handle = handlerWith([webhook({ projectId })], {
    begin: () => Promise.resolve('wait'),
    deliveries: {
      insertWaiting: () => Promise.resolve([false]),
      insert: () => Promise.resolve(),
    } as unknown as FanOutDependencies['deliveries'],
    publisher: {
      publish: (placed) =>
        Promise.resolve(void asked.push(...placed.map(({ delivery }) => delivery.event.id))),
    },
  })
  await handle(event)
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
  const begin = (_delivery: unknown, { id }: Webhook) =>
    Promise.reject(id === one.id ? new PermanentError('BAD', 'for good') : new TransientError('AWAY', 'away'))
  const event = raisedEvent({ project_id: projectId })
  await expect(handlerWith([one, other], { begin })(event)).rejects.toThrow('away')
  await expect(handlerWith([one], { begin })(event)).rejects.toThrow('for good')
})

test('events for many webhooks are told one after the other, others beside them', async () => {
  const begun: string[] = []
  const ending = Promise.withResolvers<LeftToDo>()
  const small = newId('project')
  const many = Array.from({ length: 101 }, () => webhook({ projectId }))
  const handle = handlerWith([...many, webhook({ projectId: small })], {
    begin: ({ event }) => {
      begun.push(event.id)
      return ending.promise
    },
  })
  const [first, second, third] = [projectId, projectId, small].map((id) => raisedEvent({ project_id: id }))
  const told = [first, second, third].map((event) => handle(event as RaisedEvent))
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun.toSorted()).toEqual([...Array<string | undefined>(101).fill(first?.id), third?.id].toSorted())
  ending.resolve('nothing')
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
