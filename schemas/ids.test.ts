import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { TypeID } from 'typeid-js'
import { hashedId, idFromUuid, idTimeMs, idToUuid, isId, liveRunId, newId, scoreId } from './ids.ts'

describe('identifiers', () => {
  test('agree with the TypeID reference library, whatever their bits', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        const id = idFromUuid('request', uuid)
        expect(id).toBe(TypeID.fromUUID('req', uuid).toString())
        expect([isId('request', id), isId('project', id), idToUuid(id)]).toEqual([true, false, uuid])
      }),
    )
  })

  test('are new each time, with their time, which orders them', () => {
    const times = fc.integer({ min: 0, max: 2 ** 48 - 1 })
    fc.assert(
      fc.property(times, times, (one, other) => {
        const [id, later] = [one, other].toSorted((a, b) => a - b).map((time) => newId('request', time))
        expect([id, later].map((made) => idTimeMs(made ?? ''))).toEqual(
          [one, other].toSorted((a, b) => a - b),
        )
        expect(id).not.toBe(later)
        if (one !== other) expect([later, id].toSorted()).toEqual([id, later])
      }),
    )
  })

  test('of which a character was changed are refused or another', () => {
    const digits = fc.constantFrom(...Array.from('0123456789abcdefghjkmnpqrstvwxyz'))
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 4, max: 29 }), digits, (uuid, at, digit) => {
        const id = idFromUuid('request', uuid)
        const changed = id.slice(0, at) + digit + id.slice(at + 1)
        if (isId('request', changed)) expect(idToUuid(changed) === uuid).toBe(changed === id)
      }),
    )
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
