import { expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createProjectDirectory } from './project-directory.ts'
import { CredentialRefused, type AskProject } from './ask-project.ts'
import type { OwnProject } from './own-project.ts'

test('what the API said last holds while it does not answer, and that is said once', async () => {
  const settings = { projectId: 'prj_1', tier: 'team', isEphemeral: false } as const
  const ask = jest.fn<AskProject>().mockResolvedValue(settings)
  const log = createLog('gateway-test', 'silent')
  const warn = jest.spyOn(log, 'warn')
  let nowMs = 0
  const find = createProjectDirectory({ own: undefined, ask, now: () => nowMs, log })
  const findLater = () => {
    nowMs += 60_000
    return find('prj_1')
  }
  expect(await find('prj_1')).toEqual(settings)

  const away = new Error('away')
  ask.mockRejectedValue(away)
  await expect(find('prj_2')).rejects.toBe(away)
  expect(warn).not.toHaveBeenCalled()
  expect([await findLater(), await findLater()]).toEqual([settings, settings])
  expect(warn.mock.calls).toEqual([[{ err: away }, expect.stringContaining('cached project settings')]])

  ask.mockResolvedValue(null)
  expect(await findLater()).toBeNull()
  ask.mockRejectedValue(away)
  expect(await findLater()).toBeNull()
  expect(warn).toHaveBeenCalledTimes(2)
})

const settings = { projectId: 'prj_1', tier: 'enterprise', isEphemeral: false } as const

test('what it said holds for an hour', async () => {
  const ask = jest.fn<AskProject>().mockResolvedValue(settings)
  let nowMs = 0
  const log = createLog('gateway-test', 'silent')
  const find = createProjectDirectory({ own: undefined, ask, now: () => nowMs, log })
  const findAt = (ms: number) => {
    nowMs = ms
    return find('prj_1')
  }
  await findAt(0)
  ask.mockRejectedValue(new Error('away'))
  expect(await findAt(60_000)).toEqual(settings)
  expect(await findAt(3_599_999)).toEqual(settings)
  await expect(findAt(3_660_000)).rejects.toThrow('away')

  ask.mockResolvedValue(settings)
  expect(await findAt(3_700_000)).toEqual(settings)
})

test('once it refuses the credential nothing holds that it said of any project, until it takes it again', async () => {
  const ask = jest.fn<AskProject>().mockResolvedValue(settings)
  let nowMs = 0
  const log = createLog('gateway-test', 'silent')
  const find = createProjectDirectory({ own: undefined, ask, now: () => nowMs, log })
  const names = ['prj_1', 'prj_2', 'prj_3']
  for (const name of names) await find(name)

  // One request is pending while another is rejected.
  nowMs = 60_000
  const underWay = Promise.withResolvers<never>()
  ask.mockReturnValueOnce(underWay.promise)
  const slow = find('prj_1')
  ask.mockRejectedValueOnce(new CredentialRefused('refused'))
  await expect(find('prj_2')).rejects.toThrow('refused')
  underWay.reject(new Error('away'))
  await expect(slow).rejects.toThrow('away')
  ask.mockRejectedValue(new Error('away'))
  for (const name of names) await expect(find(name)).rejects.toThrow('away')

  ask.mockResolvedValue(settings)
  for (const name of names) expect(await find(name)).toEqual(settings)
})

test("by the settings of the gateway's own project nothing is published while there is a problem with them", async () => {
  let problem: string | null = null
  const own = { settings: () => settings, problem: () => problem } as OwnProject
  const ask = () => Promise.reject(new Error('not asked'))
  const log = createLog('gateway-test', 'silent')
  const find = createProjectDirectory({ own, ask, now: () => 0, log })
  expect(await find(undefined)).toEqual(settings)
  problem = 'refused'
  await expect(find(undefined)).rejects.toThrow('refused')
  await expect(find('prj_1')).rejects.toThrow('refused')
})
