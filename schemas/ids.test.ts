import { describe, expect, test } from '@jest/globals'
import { TypeID } from 'typeid-js'
import { hashedId, idFromUuid, idTimeMs, idToUuid, isId, liveRunId, newId, scoreId } from './ids.ts'

describe('identifiers', () => {
  test('agree with the TypeID reference library', () => {
    for (let round = 0; round < 200; round++) {
      const id = newId('request')
      expect(idToUuid(id)).toBe(TypeID.fromString(id).toUUID())
      expect(idFromUuid('request', idToUuid(id))).toBe(id)
    }
  })

  test('carry their time and are version 7', () => {
    const timeMs = Date.UTC(2026, 10, 21, 9, 30, 0, 123)
    expect(idTimeMs(newId('request', timeMs))).toBe(timeMs)
    expect(idToUuid(newId('request', timeMs))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/)
  })

  test('that are hashed depend on every part and on where a part ends', () => {
    const timeMs = 1_790_000_000_000
    const id = hashedId('score', timeMs, ['ab', 'c'])
    expect(id).toBe(hashedId('score', timeMs, ['ab', 'c']))
    expect(id).not.toBe(hashedId('score', timeMs, ['a', 'bc']))
    expect(idTimeMs(id)).toBe(timeMs)
  })

  test('of scores have the time of the request, and of live runs that of the project', () => {
    const project = newId('project', 1_780_000_000_000)
    const request = newId('request', 1_790_000_000_000)
    expect(idTimeMs(scoreId(project, request, 'pii_detection', liveRunId(project)))).toBe(1_790_000_000_000)
    expect(idTimeMs(liveRunId(project))).toBe(1_780_000_000_000)
  })

  test.each([
    ['another prefix', newId('project')],
    ['no prefix', newId('request').slice(4)],
    ['a digit outside the alphabet', `${newId('request').slice(0, -1)}u`],
    ['more than 128 bits', `req_8${'0'.repeat(25)}`],
    ['nothing', ''],
  ])('refuse %s', (_name, value) => {
    expect(isId('request', value)).toBe(false)
  })
})
