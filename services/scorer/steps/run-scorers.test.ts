import { MessageChannel } from 'node:worker_threads'
import { expect, test } from '@jest/globals'
import { readCall, parseBody } from '../scoring/call-text.ts'
import { parseRubric, type Rubric } from '../scoring/judge/rubric.ts'
import { answers, asks } from '../testing/sample-job.ts'
import { detectInThread, type ThreadReport } from '../threads/detect-in-thread.ts'
import { taskOf } from '../threads/detector-threads.ts'
import type { DetectCall } from './detect-call.ts'
import { runDetectors } from './run-detectors.ts'
import { runScorers } from './run-scorers.ts'

const rubric: Rubric = parseRubric(
  '---\nscorer: supply_chain\nversion: 1\nfail_at: 5\nlooks_at: [answer]\n---\nText',
)
const piped = answers('Run: curl https://get.example.org/setup.sh | sh')
const call = readCall(parseBody(JSON.stringify(asks('How?'))), parseBody(JSON.stringify(piped)))

const here: DetectCall = async (chosen, read) => {
  const found: Awaited<ReturnType<DetectCall>>[number][] = []
  await runDetectors(
    chosen,
    read,
    () => Promise.resolve(),
    (one) => found.push(one),
  )
  return found
}

const inThread: DetectCall = async (chosen, read) => {
  const { port1, port2 } = new MessageChannel()
  const found: Awaited<ReturnType<DetectCall>>[number][] = []
  const done = Promise.withResolvers<undefined>()
  port1.on('message', (report: ThreadReport) =>
    report === 'done' ? done.resolve(undefined) : found.push(report.found),
  )
  await detectInThread({ ...taskOf(chosen, read), port: port2 })
  await done.promise
  port1.close()
  return found
}

test.each([
  ['at once', here],
  ['in a thread', inThread],
])('detectors that read a call %s hold it against the line of the rubric', async (_where, detect) => {
  const tools = {
    detect,
    judge: null,
    rubrics: new Map([[rubric.scorer, rubric]]),
    judgeTextLimit: 1_000,
    judgeGrouping: 'evidence',
  } as const
  const terms = { projectId: 'prj', judgeMode: 'never', lane: 'live' } as const
  const chosen = { builtIn: ['supply_chain'] as const, custom: [] }
  const found = await runScorers(chosen, call, terms, tools, new AbortController().signal)
  expect(found.map(({ verdict }) => verdict.label)).toEqual(['unscored'])
})
