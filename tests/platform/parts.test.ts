import { expect, test } from '@jest/globals'
import { chooseParts } from './parts.ts'
import { createReport, Stopped } from './report.ts'

test('parts run once each, in the given order', () => {
  expect(chooseParts(['compose', 'image', 'compose'])).toEqual({ chosen: ['compose', 'image'] })
})

test.each([
  [
    'an unknown name',
    ['image', 'imgae'],
    'there is no platform part imgae; known: image, compose, upgrade, model, python, otel, doors, clients, formats, syslog',
  ],
  [
    'a name of every object',
    ['toString'],
    'there is no platform part toString; known: image, compose, upgrade, model, python, otel, doors, clients, formats, syslog',
  ],
  [
    'no name',
    [],
    '--platform needs a part: image, compose, upgrade, model, python, otel, doors, clients, formats, syslog',
  ],
])('%s is told with those that there are', (_name, names, problem) => {
  expect(chooseParts(names)).toEqual({ problem })
})

test('the report counts passed, failed and skipped checks', async () => {
  const said: string[] = []
  const report = createReport((line) => said.push(line))
  expect(await report.need('one', () => 1)).toBe(1)
  const broken = () => Promise.reject(new Error('broken'))
  expect(await report.check('two', broken)).toBe(false)
  await expect(report.need('three', broken)).rejects.toBeInstanceOf(Stopped)
  expect(report.summary()).toBe('1 passed, 2 failed')
  report.skip('four', 'no engine')
  expect(report.summary()).toBe('1 passed, 2 failed, 1 skipped')
  expect(said).toEqual([
    'ok       one (0 s)',
    'FAILED   two: broken',
    'FAILED   three: broken',
    'NOT RUN  four: no engine',
  ])
})
