import { afterAll, beforeAll, describe, jest } from '@jest/globals'
import { judgingTasks } from './judging-tasks.ts'
import { keyboardTasks } from './keyboard-tasks.ts'
import { operatingTasks } from './operating-tasks.ts'
import { settingUpTasks } from './setting-up-tasks.ts'
import { setTaskStage, type TaskStage } from './task-stage.ts'
import { watchingTasks } from './watching-tasks.ts'

// Ends what hangs.
jest.setTimeout(300_000)

let set: TaskStage
const stage = () => set

beforeAll(async () => {
  set = await setTaskStage()
}, 600_000)
afterAll(() => set.stop())

describe('watching', () => watchingTasks(stage))
describe('setting up', () => settingUpTasks(stage))
describe('by keyboard', () => keyboardTasks(stage))
describe('operating', () => operatingTasks(stage))
// The last of these stops the scorer.
describe('judging', () => judgingTasks(stage))
