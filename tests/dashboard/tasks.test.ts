import { afterAll, beforeAll, describe, jest } from '@jest/globals'
import { costTasks } from './cost-tasks.ts'
import { destinationTasks } from './destination-tasks.ts'
import { findingTasks } from './finding-tasks.ts'
import { judgingTasks } from './judging-tasks.ts'
import { keyboardTasks } from './keyboard-tasks.ts'
import { operatingTasks } from './operating-tasks.ts'
import { settingUpTasks } from './setting-up-tasks.ts'
import { searchTasks } from './search-tasks.ts'
import { setTaskFixture, type TaskFixture } from './task-fixture.ts'
import { watchingTasks } from './watching-tasks.ts'

// Only ends what hangs.
jest.setTimeout(300_000)

let set: TaskFixture
const fixture = () => set

beforeAll(async () => {
  set = await setTaskFixture()
}, 600_000)
afterAll(() => set.stop())

describe('watching', () => watchingTasks(fixture))
describe('costs', () => costTasks(fixture))
describe('setting up', () => settingUpTasks(fixture))
describe('by keyboard', () => keyboardTasks(fixture))
describe('operating', () => operatingTasks(fixture))
describe('findings and rules', () => findingTasks(fixture))
describe('searching', () => searchTasks(fixture))
describe('destinations', () => destinationTasks(fixture))
// Last, because one of these stops the scorer.
describe('judging', () => judgingTasks(fixture))
