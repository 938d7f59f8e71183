import { afterAll, beforeEach, expect, jest, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import type { ProjectSettings } from '../projects/ask-project.ts'
import type { FindProject } from '../projects/project-directory.ts'
import { createMasking, createMaskRecords } from './mask-records.ts'

const maskKey = Buffer.alloc(32, 9)
const own: ProjectSettings = { projectId: 'prj_own', tier: 'team', isEphemeral: false }
const masked = jest.fn()
const masking = createMasking({
  clock: systemClock,
  log: createLog('gateway-test', 'silent'),
  metrics: { masked },
})
afterAll(() => masking.stop())
beforeEach(() => void masked.mockClear())

const record = (projectId?: string) =>
  Buffer.from(
    JSON.stringify({ id: 'req_1', project_id: projectId, request_body: { prompt: 'ask jane.roe@acme.org' } }),
  )
const away: FindProject = () => Promise.reject(new Error('away'))

test('records of projects that do not mask are passed on at once, as they are', () => {
  const mask = createMaskRecords({ ownSettings: () => own, findOther: undefined, masking })
  const records = [record(), record('prj_own')]
  const kept = mask(records)
  expect(kept).not.toBeInstanceOf(Promise)
  expect((kept as Buffer[]).every((one, at) => one === records[at])).toBe(true)
  expect(masked).not.toHaveBeenCalled()
})

test.each<[string, ProjectSettings | undefined, FindProject | undefined, string | undefined, boolean]>([
  ['its own project masks', { ...own, masks: true, maskKey }, undefined, undefined, true],
  ['its own project masks, named', { ...own, masks: true, maskKey }, undefined, 'prj_own', true],
  ['another project masks', own, () => Promise.resolve({ ...own, masks: true, maskKey }), 'prj_b', true],
  ['another project does not', { ...own, masks: true, maskKey }, () => Promise.resolve(own), 'prj_b', false],
  ['its own project is unknown', undefined, undefined, undefined, true],
  ['another project is unknown', own, away, 'prj_b', true],
  ['there is no such project', own, () => Promise.resolve(null), 'prj_b', true],
  ['nobody can be asked', own, undefined, 'prj_b', true],
])('%s', async (_name, settings, findOther, projectId, isMasked) => {
  const mask = createMaskRecords({ ownSettings: () => settings, findOther, masking })
  const given = record(projectId)
  const [kept] = await mask([given])
  expect(kept?.toString().includes('jane.roe@acme.org')).toBe(!isMasked)
  expect(kept?.toString().includes('[EMAIL_ADDRESS:')).toBe(isMasked)
  // Sent again, it is not masked again.
  expect((await mask([given]))[0]).toBe(kept)
  expect(masked.mock.calls).toEqual(isMasked ? [['masked']] : [])
})

test('once the setting is known, what waited goes by it', async () => {
  let settings: ProjectSettings | undefined
  const mask = createMaskRecords({ ownSettings: () => settings, findOther: undefined, masking })
  const given = record()
  const [unknown] = await mask([given])
  settings = { ...own, masks: true, maskKey }
  const [known] = await mask([given])
  expect(known?.toString()).toContain('[EMAIL_ADDRESS:')
  expect(known?.toString()).not.toBe(unknown?.toString())
  settings = own
  expect((await mask([given]))[0]).toBe(given)
})
