import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Problem } from '#http/problem.ts'
import { splitBatch } from './split-batch.ts'

const split = (json: string) => splitBatch(Buffer.from(json)).map((record) => record.toString())
const bomb = '{},'.repeat(600_000)

describe('a batch', () => {
  test('is split into its records as they stand there', () => {
    expect(split(' {"a": [{}], "records" : [ {"n": 1.0} , "x",[1,2] ,-1] , "b":{}} ')).toEqual([
      '{"n": 1.0}',
      '"x"',
      '[1,2]',
      '-1',
    ])
    expect(split('{"records":[0],"records":[{"last":true}]}')).toEqual(['{"last":true}'])
  })

  test.each<[string, string, number, string]>([
    ['two million records', `{"records":[${bomb}{}]}`, 422, 'records'],
    ['too much beside its records', `{"records":[{}],"a":[${bomb}{}]}`, 422, ''],
    ['a thousand members', `{${'"a":0,'.repeat(1_000)}"records":[{}]}`, 422, ''],
    ['no records', '{"records":[]}', 422, 'records'],
    ['no list of them', '{"records":{}}', 422, 'records'],
    ['a list for a batch', '[{"records":[{}]}]', 422, 'records'],
    ['a list with a name', '["records":[{}]]', 400, ''],
    ['a comma too few', '{"records":[{}{}]}', 400, ''],
    ['a bracket too many', '{"records":[}]}', 400, ''],
    ['something behind it', '{"records":[{}]}}', 400, ''],
    ['nothing in it', '', 400, ''],
  ])('with %s is refused', (_name, json, status, path) => {
    let problem: unknown
    try {
      split(json)
    } catch (error) {
      problem = error
    }
    expect(problem).toBeInstanceOf(Problem)
    const { status: answered, errors } = problem as Problem
    expect([answered, errors?.[0]?.path ?? '']).toEqual([status, path])
  })

  test('that is broken anywhere is not taken: what is left of it is no JSON, or one of its records is none', () => {
    const broken = fc
      .tuple(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '0', ' ', '\\'),
      )
      .map(([records, at, put]) => {
        const json = JSON.stringify({ records })
        const cut = at % json.length
        return json.slice(0, cut) + put + json.slice(cut + 1)
      })
    fc.assert(
      fc.property(broken, (json) => {
        const whole = (value: unknown) => JSON.stringify(value)
        let taken: string | undefined
        try {
          taken = whole(split(json).map((record) => JSON.parse(record) as unknown))
        } catch (error) {
          if (error instanceof Problem || error instanceof SyntaxError) return
          throw error
        }
        expect(taken).toBe(whole((JSON.parse(json) as { records: unknown }).records))
      }),
    )
  })
})
