import { describe, expect, test } from '@jest/globals'
import { decideDispositions, type Disposition } from './decide-dispositions.ts'

type Delivered = [identity: string, offset: number]

describe('the disposition of a record', () => {
  test.each<
    [
      name: string,
      records: Delivered[],
      firstTime: string[],
      positionBefore: number,
      dispositions: Disposition[],
    ]
  >([
    ['new', [['a', 5]], ['a'], 5, ['stored']],
    ['new below the position: its row was erased or its topic recreated', [['a', 4]], ['a'], 9, ['stored']],
    ['delivered again after a crash', [['a', 4]], [], 5, ['redelivered']],
    ['known, at the position: sent again by a client', [['a', 5]], [], 5, ['resent']],
    ['known, on a partition that nothing was stored from', [['a', 0]], [], 0, ['resent']],
    [
      'twice in one batch',
      [
        ['a', 5],
        ['a', 6],
      ],
      ['a'],
      5,
      ['stored', 'resent'],
    ],
    [
      'twice in one batch that is delivered again',
      [
        ['a', 3],
        ['a', 4],
      ],
      [],
      5,
      ['redelivered', 'resent'],
    ],
    [
      'a batch that begins below the position and ends above it',
      [
        ['a', 4],
        ['b', 5],
        ['c', 6],
      ],
      ['c'],
      5,
      ['redelivered', 'resent', 'stored'],
    ],
  ])('%s', (_name, records, firstTime, positionBefore, dispositions) => {
    const delivered = records.map(([identity, offset]) => ({ identity, offset: BigInt(offset) }))
    const positions = {
      firstTime: new Set(firstTime),
      erased: new Set<string>(),
      positionBefore: BigInt(positionBefore),
    }
    expect(decideDispositions(delivered, positions)).toEqual(dispositions)
  })

  test('what is to be erased is neither stored nor redelivered', () => {
    const delivered = ['a', 'a', 'b'].map((identity, offset) => ({ identity, offset: BigInt(offset) }))
    const positions = { firstTime: new Set<string>(), erased: new Set(['a']), positionBefore: 9n }
    expect(decideDispositions(delivered, positions)).toEqual(['erased', 'erased', 'redelivered'])
  })
})
