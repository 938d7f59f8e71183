import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { topics } from '#schemas/topics.ts'
import { exporterOf } from '../../platform/otel/exporter-of.ts'
import { installJavascript } from '../../platform/otel/install-javascript.ts'
import { root, type PlatformContext, type PlatformPart } from '../../platform/platform-part.ts'
import { installPython } from '../../platform/python/python-venv.ts'
import { startInfrastructure } from '../../platform/start-infrastructure.ts'
import { startApi, type RunningApi } from '../../support/start-api.ts'
import { proxyKey, startGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import { checkDeclared } from './check-declared.ts'
import { compare } from './compare.ts'
import { conversations } from './conversations.ts'
import { doors } from './doors.ts'
import { haveConversations, type Recorded } from './have-conversations.ts'
import { protocols, startProvider } from './start-provider.ts'

type Door = (typeof doors)[number]

/** What all doors use. */
interface House {
  api: RunningApi
  providerUrl: string
  directory: string
  /** By what the door is, as packages differ. */
  commands: Record<Door['source'], Record<Door['program'], readonly string[]>>
  references: Map<string, Promise<Recorded>>
}

export const doorsPart: PlatformPart = {
  about: 'the same conversations by every SDK and instrumentation, compared with the gateway',
  async run(context) {
    const { report, undo } = context
    const commands = await report.need('Python and Node have the packages', () => installAll(context))
    const directory = await mkdtemp(join(tmpdir(), 'sluice-doors-'))
    undo.push(() => rm(directory, { recursive: true, force: true }))
    const api = await report.need('Kafka, the registry, Postgres and the API start', async () => {
      await startInfrastructure(context, directory)
      // No program here sends log records, so spans need not wait for them.
      return startApi({ SPAN_WAIT_MS: '0' })
    })
    undo.push(() => api.stop())
    const provider = await startProvider()
    undo.push(() => provider.stop())
    const references = new Map<string, Promise<Recorded>>()
    const house = { api, providerUrl: provider.url, directory, commands, references }
    for (const door of doors)
      await report.check(`${door.title}: its records differ from the gateway's as declared`, () =>
        checkDoor(house, door),
      )
  },
}

async function installAll({ cache, say }: PlatformContext): Promise<House['commands']> {
  const requirements = (part: string) => join(root, 'tests', 'platform', part, 'requirements.txt')
  const program = join(import.meta.dirname, 'calls.py')
  const script = join(import.meta.dirname, 'calls.js')
  return {
    sdk: {
      python: [await installPython(cache, requirements('python'), say), program],
      javascript: [process.execPath, script],
    },
    otel: {
      python: [await installPython(cache, requirements('otel'), say), program],
      javascript: [process.execPath, await installJavascript(cache, say, script)],
    },
  }
}

async function checkDoor(house: House, door: Door): Promise<void> {
  const key = [door.source, door.program, door.client].join(' ')
  const reference = house.references.get(key) ?? recordedByGateway(house, door)
  house.references.set(key, reference)
  checkDeclared(door, compare(await reference, await recordedByDoor(house, door), door))
}

async function recordedByGateway(house: House, door: Door): Promise<Recorded> {
  const { projectId, key } = await house.api.createProject()
  const gateway = await startGateway({
    UPSTREAM_URL: house.providerUrl,
    API_BACKEND_URL: house.api.baseUrl,
    SERVICE_API_KEY: key,
    GATEWAY_RECORD_OTHER: 'true',
  })
  try {
    const command = await commandOf(house, door, 'gateway')
    return await haveConversations(command, { DOOR_URL: gateway.url, DOOR_KEY: proxyKey }, async () => {
      // It sends them in the background.
      await until(async () => (await recordsOf(house, projectId)).length >= conversations.length)
      return recordsOf(house, projectId)
    })
  } finally {
    await gateway.stop()
  }
}

async function recordedByDoor(house: House, door: Door): Promise<Recorded> {
  const { projectId, key } = await house.api.createProject()
  const { api, providerUrl } = house
  const isSdk = door.source === 'sdk'
  const env = {
    DOOR_URL: providerUrl,
    DOOR_KEY: 'k',
    OTEL_SERVICE_NAME: 'tester',
    ...door.environment,
    ...(isSdk ? { SERVICE_API_KEY: key, SERVICE_BASE_URL: api.baseUrl } : exporterOf(api.baseUrl, key)),
    ...(isSdk && { SLUICE_SDK: join(root, 'sdk', 'typescript', 'index.ts') }),
    ...(isSdk && { PYTHONPATH: join(root, 'sdk', 'python', 'src'), PYTHONDONTWRITEBYTECODE: '1' }),
  }
  const command = await commandOf(house, door, door.by)
  return haveConversations(command, env, () => recordsOf(house, projectId))
}

async function recordsOf({ api }: House, projectId: string) {
  return (await api.readTopic(topics.requestLogged)).filter((record) => record.project_id === projectId)
}

async function commandOf({ directory, commands }: House, door: Door, by: string): Promise<string[]> {
  const file = join(directory, `${door.protocol}.json`)
  const given = conversations.map((one) => ({
    name: one.name,
    isStream: one.isStream === true,
    asked: protocols[door.protocol].request(one),
  }))
  await writeFile(file, JSON.stringify(given))
  return [...commands[door.source][door.program], door.client, by, file]
}
