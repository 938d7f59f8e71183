import { expect, test } from '@jest/globals'
import { createLeftOut } from './left-out.ts'

test('calls have running numbers by project; beyond a thousand projects the rest share one', () => {
  let counted = 0
  const leftOut = createLeftOut(() => counted++)
  for (let project = 0; project < 1_100; project++) leftOut.count(`prj_${project}`, 'key_capture_none')
  leftOut.count('prj_0', 'key_capture_none')
  const counts = leftOut.counts()
  expect([counted, Object.keys(counts).length]).toEqual([1_101, 1_001])
  expect([counts['prj_0'], counts['']]).toEqual([{ key_capture_none: 2 }, { key_capture_none: 100 }])
})
