import { expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createProjectDirectory } from './project-directory.ts'
import type { AskProject } from './ask-project.ts'

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
  expect(warn.mock.calls).toEqual([[{ err: away }, expect.stringContaining('projects')]])

  ask.mockResolvedValue(null)
  expect(await findLater()).toBeNull()
  ask.mockRejectedValue(away)
  expect(await findLater()).toBeNull()
  expect(warn).toHaveBeenCalledTimes(2)
})
