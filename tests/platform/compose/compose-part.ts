import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { assertPortFree } from '#infra/embedded/free-port.ts'
import { messageOf } from '#runtime/errors.ts'
import { ensureBaseImage } from '../engine/base-image.ts'
import { CannotRun, root, type PlatformContext, type PlatformPart } from '../platform-part.ts'
import { findCompose, type Compose } from './compose-tool.ts'
import { awaitScores, callModel, printedCalls } from './follow-call.ts'
import { ensureServiceImages } from './service-images.ts'
import { awaitHealth, awaitTargets } from './watch-services.ts'

const file = 'docker-compose.kafka.yml'
/** Works beside another project on the same engine. Reads neither .env nor variables of this shell. */
const options = ['-p', 'sluice-platform', '-f', file, '--env-file', '/dev/null']

interface Service {
  image: string
  build?: object
  restart?: string
  ports?: string[]
}

interface Wanted {
  name: string
  endsItself: boolean
}

export const composePart: PlatformPart = {
  about: 'runs docker-compose.kafka.yml with nothing set, and follows its first call to the scores',
  async run(context) {
    const { report, undo } = context
    if (!(await context.engine()).hasNetworks)
      throw new CannotRun('the engine here cannot give containers networks of their own')
    const services = await readServices()
    await requirePorts(services)
    const compose = await createCompose(context)
    const wanted = await prepareImages(context, services)
    undo.push(() => compose(['down', '--volumes', '--timeout', '60']))
    const up = async (...more: string[]) => {
      try {
        await compose(['up', '-d', ...more, ...wanted.map(({ name }) => name)])
      } catch (error) {
        // Compose names the failed container, but not the reason.
        const ended = wanted.filter(({ endsItself }) => endsItself).map(({ name }) => name)
        throw new Error(`${messageOf(error)}\n${await compose(['logs', '--tail', '20', ...ended])}`, {
          cause: error,
        })
      }
      await awaitHealth(compose, wanted)
    }
    await report.need('up builds the image; all are healthy, and what runs once has ended', () =>
      up('--build'),
    )
    const first = await report.need('first-project prints what to try', () => printedCalls(compose))
    await report.need('its first curl is answered through the gateway', () => callModel(first))
    await report.need('the call is stored, and found unsafe for the card in it', () => awaitScores(first))
    await report.check('Prometheus reaches every service', awaitTargets)
    const doctor = ['exec', '-T', 'api', 'scripts/doctor', '--service', 'sink=http://sink:9001']
    await report.check('scripts/doctor finds nothing wrong', () => compose(doctor))
    await report.need('down and up again', async () => {
      await compose(['down', '--timeout', '60'])
      await up()
    })
    await report.check('keys, project and the call are what they were', async () => {
      const again = await printedCalls(compose)
      if (again.call !== first.call || again.look !== first.look)
        throw new Error(Object.values(again).join('\n'))
      await awaitScores(again)
    })
  },
}

async function readServices(): Promise<Record<string, Service>> {
  const text = await readFile(join(root, file), 'utf8')
  return (parse(text, { merge: true }) as { services: Record<string, Service> }).services
}

/** Requires the ports of the file: the printed addresses are called. */
async function requirePorts(services: Readonly<Record<string, Service>>): Promise<void> {
  for (const [name, { ports = [] }] of Object.entries(services)) {
    for (const port of ports) {
      await assertPortFree(Number(port.split(':')[1]), `${name} of ${file}`).catch((error: unknown) => {
        throw new CannotRun(messageOf(error), { cause: error })
      })
    }
  }
}

async function createCompose(context: PlatformContext): Promise<Compose> {
  const tool = await findCompose(context)
  const { environment } = await context.engine()
  const isKept = ([name]: [string, unknown]) => /^(PATH|HOME|DOCKER_\w+|LD_LIBRARY_PATH)$/.test(name)
  const env = Object.fromEntries(Object.entries(environment).filter(isKept))
  const logFile = join(context.cache, 'compose.log')
  return (args) => tool([...options, ...args], { env, cwd: root, timeoutMs: 1_800_000, logFile })
}

/** Services that can run here; the others go into the report. */
async function prepareImages(
  context: PlatformContext,
  services: Readonly<Record<string, Service>>,
): Promise<Wanted[]> {
  await ensureBaseImage(context)
  const others = Object.entries(services).filter(([, { build }]) => build === undefined)
  const without = await ensureServiceImages(
    context,
    Object.fromEntries(others.map(([name, { image }]) => [name, image])),
  )
  for (const name of without)
    context.report.skip(name, 'its image cannot be pulled, and nothing stands in for it')
  return Object.entries(services)
    .filter(([name]) => !without.includes(name))
    .map(([name, { restart }]) => ({ name, endsItself: restart === 'no' }))
}
