import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { createProgress } from './progress.ts'

test('nothing is shown until it is known of how many', async () => {
  const output = new PassThrough()
  const progress = createProgress(output as unknown as NodeJS.WriteStream)
  progress.show('sent', 0, null)
  progress.show('sent', 0, 4)
  progress.end()
  output.end()
  expect(await text(output)).toBe(`[${'-'.repeat(30)}] sent: 0 of 4, 0/s\n`)
})
