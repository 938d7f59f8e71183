import { expect, test } from '@jest/globals'
import { createLog } from './log.ts'
import type { Health } from './service.ts'
import { runTogether, type Part } from './run-together.ts'

const log = createLog('test', 'silent')

function recordingPart(name: string, events: string[], changes: Partial<Part> = {}): Part {
  return {
    start: () => Promise.resolve(void events.push(`start ${name}`)),
    stop: () => Promise.resolve(void events.push(`stop ${name}`)),
    ...changes,
  }
}

test('starts in order, stops in the opposite one, and only once', async () => {
  const events: string[] = []
  const service = runTogether([recordingPart('a', events), recordingPart('b', events)], log)
  await Promise.all([service.start(), service.start()])
  await Promise.all([service.stop(), service.stop()])
  await service.done
  expect(events).toEqual(['start a', 'start b', 'stop b', 'stop a'])
})

test('a part that fails makes the whole fail, and the others are stopped even when one cannot be', async () => {
  const events: string[] = []
  const failed = Promise.withResolvers<undefined>()
  const broken = recordingPart('b', events, {
    done: failed.promise,
    stop: () => Promise.reject(new Error('stuck')),
  })
  const service = runTogether([recordingPart('a', events), broken, recordingPart('c', events)], log)
  await service.start()
  failed.reject(new Error('lost'))
  await expect(service.done).rejects.toThrow('lost')
  await service.stop()
  expect(events).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop a'])
})

test('a part that cannot start keeps those behind it from starting', async () => {
  const events: string[] = []
  const broken = recordingPart('b', events, { start: () => Promise.reject(new Error('no port')) })
  const service = runTogether([recordingPart('a', events), broken, recordingPart('c', events)], log)
  await expect(service.start()).rejects.toThrow('no port')
  await service.stop()
  await service.done
  expect(events).toEqual(['start a', 'stop c', 'stop b', 'stop a'])
})

test('what is stopped while it starts begins nothing more', async () => {
  const events: string[] = []
  const beginning = Promise.withResolvers<undefined>()
  const slow = recordingPart('a', events, { start: () => beginning.promise })
  const service = runTogether([slow, recordingPart('b', events)], log)
  const starting = service.start()
  const stopping = service.stop()
  beginning.resolve(undefined)
  await Promise.all([starting, stopping])
  expect(events).toEqual(['stop b', 'stop a'])
})

test('a part that cannot be stopped makes the whole fail', async () => {
  const broken = recordingPart('a', [], { stop: () => Promise.reject(new Error('stuck')) })
  const service = runTogether([broken], log)
  await service.start()
  await service.stop()
  await expect(service.done).rejects.toThrow('stuck')
})

test('parts of a list are stopped at once: their patience is not added up', async () => {
  const events: string[] = []
  const both = Promise.withResolvers<undefined>()
  const waiting = (name: string) =>
    recordingPart(name, events, {
      stop: () => {
        if (events.push(`stop ${name}`) === 5) both.resolve(undefined)
        return both.promise
      },
    })
  const service = runTogether([recordingPart('a', events), [waiting('b'), waiting('c')]], log)
  await service.start()
  await service.stop()
  expect(events).toEqual(['start a', 'start b', 'start c', 'stop b', 'stop c', 'stop a'])
})

test.each<[name: string, healths: Health[], expected: Health]>([
  ['all well', [{ status: 'ok' }, { status: 'ok' }], { status: 'ok' }],
  [
    'one retries',
    [{ status: 'degraded', problems: { relay: 'away' } }, { status: 'ok' }],
    { status: 'degraded', problems: { relay: 'away' } },
  ],
  ['one has not started', [{ status: 'ok' }, { status: 'starting' }], { status: 'starting' }],
  ['one failed', [{ status: 'failed' }, { status: 'stopping' }], { status: 'failed' }],
])('health when %s', (_name, healths, expected) => {
  const parts = healths.map((health) => recordingPart('x', [], { health: () => health }))
  expect(runTogether(parts, log).health()).toEqual(expected)
})
