import { expect, test } from '@jest/globals'
import { startWithUndo, type Undo } from './undo.ts'

const failing = (message: string) => () => Promise.reject(new Error(message))

test('runs cleanup once, in reverse order, and completely even if a step fails', async () => {
  const ended: string[] = []
  const started = await startWithUndo((undo) => {
    undo.push(
      () => ended.push('database'),
      failing('the broker is away'),
      () => ended.push('browser'),
    )
    return Promise.resolve({ url: 'http://localhost' })
  })
  expect(started.url).toBe('http://localhost')
  await expect(started.stop()).rejects.toThrow('not ended: the broker is away')
  expect(ended).toEqual(['browser', 'database'])
  await started.stop()
  expect(ended).toHaveLength(2)
})

test.each<[string, Undo, string]>([
  ['what had started ends', [], 'no browser'],
  [
    'what had started does not end',
    [failing('the broker is away')],
    'no browser (and then not ended: the broker is away)',
  ],
])('a start that fails says why: %s', async (_name, others, message) => {
  const ended: string[] = []
  const starting = startWithUndo((undo) => {
    undo.push(() => ended.push('api'), ...others)
    return Promise.reject(new Error('no browser'))
  })
  await expect(starting).rejects.toThrow(new Error(message))
  expect(ended).toEqual(['api'])
})
