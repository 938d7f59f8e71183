import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from '@jest/globals'
import { liveRunId, newId, scoreId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { until } from '#tests/support/until.ts'
import { contentOf, detailsBy, scoreBy, scoresOf } from './testing/read-scores.ts'
import { answers, asks, sampleJob } from './testing/sample-job.ts'
import { sealer, useFixture } from './testing/use-fixture.ts'

const used = useFixture()

describe('one job', () => {
  test('gets one score of each scorer of the tier and of each custom one', async () => {
    await used.start()
    const job = sampleJob(sealer, {
      request: asks('My card is 4111 1111 1111 1111.'),
      response: answers('Thanks.'),
    })
    await used.fixture.send([job])
    const call = await scoresOf(used.fixture, job.request_id)
    expect(call.scores.map(({ scorer_name }) => scorer_name).sort()).toEqual(
      [...builtInScorers, 'destructive_tool_call'].sort(),
    )
    expect(call).toMatchObject({
      run_id: liveRunId(job.project_id),
      raise_events: true,
      agent_name: 'support',
    })
    for (const score of call.scores) {
      expect(score.id).toBe(scoreId(job.project_id, job.request_id, score.scorer_name, job.run_id))
    }
    expect(scoreBy('pii_detection', call)).toMatchObject({
      score_value: 5,
      score_label: 'unsafe',
      severity: 'critical',
      method: 'detector',
      owasp_category: 'LLM02',
      reason: null,
    })
    expect(detailsBy('pii_detection', call, sealer)).toMatchObject({
      rationale: 'Found 1 payment card number. For instance •••1111.',
      evidence: [
        { part: 'request_body', pointer: '/messages/0/content', start: 11, end: 30, kind: 'payment_card' },
      ],
    })
    // Too few words to tell their language.
    expect(scoreBy('jailbreak_detection', call)).toMatchObject({
      score_label: 'unscored',
      score_value: null,
      severity: null,
    })
    expect(scoreBy('destructive_tool_call', call)).toMatchObject({ score_label: 'safe', method: 'custom' })
    expect(scoreBy('content_safety', call)).toMatchObject({
      score_label: 'unscored',
      score_value: null,
      reason: 'detectors_undecided',
    })
    expect(scoreBy('hallucination', call)).toMatchObject({
      score_label: 'unscored',
      reason: 'no_context',
    })
    expect(contentOf(call, sealer)).toEqual({
      prompt_snippet: 'My card is •••1111.',
      completion_snippet: 'Thanks.',
    })
  })

  test('of the free tier gets the three of the free tier; named scorers limit it further; a replay raises nothing', async () => {
    await used.start()
    const free = sampleJob(sealer, { request: asks('hi') }, { tier: 'free' })
    const named = sampleJob(
      sealer,
      { request: asks('hi') },
      { scorers: ['pii_detection'], run_id: newId('run') },
    )
    await used.fixture.send([free, named])
    const names = (await scoresOf(used.fixture, free.request_id)).scores.map(({ scorer_name }) => scorer_name)
    expect(names.sort()).toEqual([
      'content_safety',
      'destructive_tool_call',
      'jailbreak_detection',
      'pii_detection',
    ])
    const replayed = await scoresOf(used.fixture, named.request_id)
    expect(replayed.scores.map(({ scorer_name }) => scorer_name)).toEqual(['pii_detection'])
    expect(replayed).toMatchObject({ raise_events: false, run_id: named.run_id })
    expect(contentOf(replayed, sealer)).toBeNull()
  })

  test('of a tool call quotes the arguments and is matched by custom scorers', async () => {
    await used.start()
    const request = { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command: 'rm -rf /data' } }
    const job = sampleJob(
      sealer,
      { request, response: { output: 'done' } },
      { type: 'mcp_tool_call', tool_name: 'shell' },
    )
    await used.fixture.send([job])
    const call = await scoresOf(used.fixture, job.request_id)
    expect(scoreBy('destructive_tool_call', call)).toMatchObject({
      score_label: 'unsafe',
      score_value: 5,
      severity: 'critical',
      owasp_category: 'LLM06',
    })
    expect(contentOf(call, sealer)).toMatchObject({ arguments: { command: 'rm -rf /data' } })
  })

  test('carries the same hash for the same value in every call of a project, and none where no content is kept', async () => {
    await used.start()
    const projectId = await used.fixture.addProject({})
    const jobs = ['My card is 4111 1111 1111 1111.', 'It was 4111-1111-1111-1111!'].map((text) =>
      sampleJob(sealer, { request: asks(text) }, { project_id: projectId }),
    )
    const request = asks('4111 1111 1111 1111')
    const without = sampleJob(sealer, { request }, { project_id: projectId, zero_content_retention: true })
    const elsewhere = sampleJob(sealer, { request }, { project_id: await used.fixture.addProject({}) })
    await used.fixture.send([...jobs, without, elsewhere])
    const foundIn = async ({ request_id: id }: { request_id: string }) =>
      scoreBy('pii_detection', await scoresOf(used.fixture, id)).found_values
    const [first, second] = [await foundIn(jobs[0] as never), await foundIn(jobs[1] as never)]
    expect(first).toEqual([{ kind: 'payment_card', tool: null, hash: expect.any(Buffer) }])
    expect(second).toEqual(first)
    expect(await foundIn(without)).toEqual([{ kind: 'payment_card', tool: null, hash: null }])
    expect(await foundIn(elsewhere)).not.toEqual(first)
  })

  test('of a call that somebody asked to erase is dropped, and what the same user does later is not', async () => {
    await used.start()
    const projectId = await used.fixture.addProject({})
    await used.fixture.eraseUser(projectId, 'u1')
    const jobOf = (takenMs: number, user_id: string) =>
      sampleJob(
        sealer,
        { request: asks('hi') },
        { request_id: newId('request', takenMs), project_id: projectId, user_id },
      )
    const erased = jobOf(Date.now() - 60_000, 'u1')
    const others = [jobOf(Date.now() - 60_000, 'u2'), jobOf(Date.now() + 60_000, 'u1')]
    await used.fixture.send([erased, ...others])
    for (const { request_id } of others) await scoresOf(used.fixture, request_id)
    await until(async () => (await used.running.metrics.registry.metrics()).includes('reason="erased"} 1'))
    expect(used.fixture.recorded.map(({ request_id }) => request_id)).not.toContain(erased.request_id)
  })

  test('of a project that keeps no content leaves no word of it', async () => {
    await used.startJudged()
    const secret = 'jane.doe@acme.io'
    const job = sampleJob(
      sealer,
      { request: asks(`[[harmful]] ${secret}`), response: answers(secret) },
      { zero_content_retention: true },
    )
    await used.fixture.send([job], topics.scoreJobsEphemeral)
    const call = await scoresOf(used.fixture, job.request_id)
    expect(scoreBy('pii_detection', call).score_label).toBe('unsafe')
    expect(detailsBy('pii_detection', call, sealer).rationale).toBe('Found 2 e-mail addresses.')
    const judged = detailsBy('content_safety', call, sealer)
    expect(judged.rationale).toBe('The judge gave the request level 5 and the answer level 5.')
    expect(judged.judge).not.toHaveProperty('raw_answer')
    expect(contentOf(call, sealer)).toEqual({ prompt_snippet: '', completion_snippet: null })
  })
})

describe('a job that cannot be scored is dead-lettered, and those behind it are scored', () => {
  test('bodies of another identity, no JSON, no identifier, an unknown tier, no Avro', async () => {
    await used.start()
    const moved = { ...sampleJob(sealer, { request: asks('hi') }), request_id: newId('request') }
    const good = sampleJob(sealer, { request: asks('hi') })
    const text = sampleJob(sealer, {}, {})
    const noJson = {
      ...text,
      request_body: sealer.seal(
        Buffer.from('{'),
        sealedIdentity(text.project_id, text.request_id, 'request_body'),
      ),
    }
    await used.fixture.sendRaw('x', Buffer.from('not avro'))
    await used.fixture.send([
      moved,
      noJson,
      { ...good, request_id: newId('request'), run_id: 'run_x' },
      sampleJob(sealer, { request: asks('hi') }, { tier: 'platinum' }),
      good,
    ])
    await scoresOf(used.fixture, good.request_id)
    await until(() => used.fixture.deadLetters.length === 5)
    const codes = used.fixture.deadLetters.map(({ headers }) => headers['sluice-dlq-code'])
    expect(codes.sort()).toEqual([
      'BODY_NOT_JSON',
      'CANNOT_OPEN',
      'INVALID_IDENTIFIER',
      'UNDECODABLE',
      'UNKNOWN_TIER',
    ])
  })

  test('without bodies it is unscored, with the reason', async () => {
    await used.start()
    const job = sampleJob(sealer)
    await used.fixture.send([job])
    const { scores } = await scoresOf(used.fixture, job.request_id)
    expect(new Set(scores.map(({ score_label }) => score_label))).toEqual(new Set(['unscored']))
    expect(new Set(scores.map(({ reason }) => reason))).toEqual(new Set(['bodies_missing']))
  })

  test('with a body that would take many times its bytes it is unscored, with the reason', async () => {
    await used.start()
    const bomb = sampleJob(sealer, { request: { a: Array<object>(600_000).fill({}) } })
    await used.fixture.send([bomb])
    const { scores } = await scoresOf(used.fixture, bomb.request_id)
    expect(new Set(scores.map(({ reason }) => reason))).toEqual(new Set(['too_many_parts']))
  })
})

describe('custom scorers', () => {
  test('are reloaded; a bad file is refused and the last good set stays', async () => {
    await used.start()
    const entry = (keyword: string) =>
      `- { name: codenames, type: keyword_list, severity: medium, keywords: [${keyword}] }\n`
    const codenames = async () => {
      const job = sampleJob(sealer, { request: asks('about Falcon and Osprey') })
      await used.fixture.send([job])
      return (await scoresOf(used.fixture, job.request_id)).scores.find(
        ({ scorer_name }) => scorer_name === 'codenames',
      )
    }
    await writeFile(used.fixture.customScorersFile, entry('falcon'))
    await until(async () => (await codenames())?.score_label === 'unsafe')
    await writeFile(used.fixture.customScorersFile, `${entry('osprey')}- { name: x, type: magic }\n`)
    await until(() => used.running.service.health().status === 'degraded')
    expect(used.running.service.health().problems?.['custom_scorers']).toContain(
      `${used.fixture.customScorersFile}:2:`,
    )
    const shown = () => used.running.metrics.registry.metrics()
    expect(await shown()).toMatch(/^sluice_custom_scorers_refused 1$/m)
    expect(await codenames()).toMatchObject({ score_label: 'unsafe', severity: 'medium' })
    await writeFile(used.fixture.customScorersFile, entry('heron'))
    await until(() => used.running.service.health().status === 'ok')
    expect(await shown()).toMatch(/^sluice_custom_scorers_refused 0$/m)
    expect(await codenames()).toMatchObject({ score_label: 'safe', score_value: 1, severity: null })
  })

  test('that cannot be read at the start stop it with the reason', async () => {
    await writeFile(used.fixture.customScorersFile, '- name: x\n  type: magic\n')
    await expect(used.start()).rejects.toThrow(`${used.fixture.customScorersFile}:2: type`)
    await writeFile(used.fixture.customScorersFile, '')
  })
})
