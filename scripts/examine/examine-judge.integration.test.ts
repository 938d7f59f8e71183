import { expect, test } from '@jest/globals'
import { examineJudge } from './examine-judge.ts'
import { useClient } from './testing/use-client.ts'

const openClient = useClient()

const note = (isConfigured: boolean, age: string) =>
  openClient().query(
    `insert into judge_status values ($1, now() - $2::interval)
     on conflict (is_configured) do update set seen_at = excluded.seen_at`,
    [isConfigured, age],
  )

test('one line while the scorers that run have no judge, and none otherwise', async () => {
  expect(await examineJudge(openClient())).toEqual([])
  await note(true, '1 hour')
  await note(false, '1 minute')
  expect(await examineJudge(openClient())).toEqual([
    {
      check: 'judge',
      state: 'warning',
      what: expect.stringContaining('never say safe for content_safety, hallucination') as unknown,
      remedy: expect.stringMatching(/OPENAI_API_KEY.*OPENAI_BASE_URL/) as unknown,
    },
  ])
  // One scorer of several has it.
  await note(true, '1 minute')
  expect(await examineJudge(openClient())).toEqual([])
  await note(true, '1 hour')
  await note(false, '1 hour')
  expect(await examineJudge(openClient())).toEqual([])
})
