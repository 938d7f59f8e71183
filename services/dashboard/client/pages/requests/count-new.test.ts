import { expect, test } from '@jest/globals'
import { countNew } from './count-new.ts'

/** `12b`: row b at 12 o'clock. */
const rows = (texts: string) =>
  texts
    .split(' ')
    .filter((text) => text !== '')
    .map((text) => ({ created_at: `2026-11-22T${text.slice(0, 2)}:00:00.000Z`, id: `req_${text}` }))

test.each([
  ['nothing new', '12a 11a', '12a 11a', [0, false]],
  ['above the first', '13a 12b 12a', '12a 11a', [2, false]],
  ['below one whose clock is ahead', '15a 13a 12a', '15a 12a', [1, false]],
  ['what was not read as far down is not new', '12a 11a 10a', '12a 11a', [0, false]],
  ['all that an answer holds', '16a 15a 14a 13a', '12a 11a', [4, true]],
  ['all but the one that was read before', '18a 16a 15a 14a', '18a 12a', [3, true]],
  ['nothing was read yet', '12a', '', [1, false]],
  ['nothing came', '', '', [0, false]],
])('%s', (_name, newest, read, [count, isMore]) => {
  expect(countNew(rows(newest), rows(read), 4)).toEqual({ count, isMore })
})
