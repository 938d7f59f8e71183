import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTemporary } from '#infra/embedded/start-temporary.ts'
import commands from '#infra/images/commands.json' with { type: 'json' }
import { ensureFirstProject } from '#scripts/stack/first-project.ts'
import { ensureBaseImage } from '../engine/base-image.ts'
import { root, textOf, type PlatformContext, type PlatformPart } from '../platform-part.ts'
import { createContainers, type Containers } from './containers.ts'
import { planContainers, type ContainerPlan, type ImagePlan } from './plan-containers.ts'

const imageName = 'sluice:platform'

export const imagePart: PlatformPart = {
  about: 'builds the image, and starts every service and command from it as Compose and the chart do',
  async run(context) {
    const { report, undo } = context
    await buildImage(context)
    const parts = await report.need('Kafka, the registry and Postgres start on this host', () =>
      startTemporary(context.jars, context.say),
    )
    undo.push(parts.stop)
    const plan = await planContainers(parts)
    const containers = await createContainers(await context.engine(), imageName, undo)
    await report.need('scripts/migrate.ts brings them up to date', () =>
      containers.runOnce(['scripts/migrate.ts'], plan.shared),
    )
    const services = await startServices(context, containers, plan)
    await askServices(context, plan)
    await runCommands(context, containers, plan, services)
    for (const { name } of services.toReversed())
      await report.check(`${name} stops cleanly on SIGTERM`, () => containers.stop(name))
  },
}

async function buildImage(context: PlatformContext): Promise<void> {
  const engine = await context.engine()
  await ensureBaseImage(context)
  const args = ['build', '--network', 'host', '-f', 'infra/images/Dockerfile', '-t', imageName, '.']
  const logFile = join(context.cache, 'image-build.log')
  const options = { cwd: root, timeoutMs: 1_800_000, logFile }
  await context.report.need('the image is built', () => engine.docker(args, options))
}

async function startServices(
  { report, undo }: PlatformContext,
  containers: Containers,
  plan: ImagePlan,
): Promise<ContainerPlan[]> {
  for (const service of plan.services)
    await report.need(`${service.name} is ready`, () => containers.start(service))
  const directory = await mkdtemp(join(tmpdir(), 'sluice-platform-'))
  undo.push(() => rm(directory, { recursive: true }))
  const project = await ensureFirstProject(plan.api, plan.secrets.operator, join(directory, 'project.json'))
  const gateway = plan.gateway(project.api_key)
  await report.need('gateway is ready', () => containers.start(gateway))
  return [...plan.services, gateway]
}

/** Checks that need an answer: the built client, the API's documentation pages, a call. */
async function askServices({ report }: PlatformContext, plan: ImagePlan): Promise<void> {
  await report.check('the dashboard serves its client', async () => {
    const page = await textOf(plan.dashboardUrl)
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1]
    if (script === undefined) throw new Error(`there is no script in ${page.slice(0, 200)}`)
    await textOf(plan.dashboardUrl + script)
  })
  for (const path of ['/docs', '/openapi.json'])
    await report.check(`the API serves ${path}`, () => textOf(plan.api + path))
  await report.check('a call through the gateway is answered', () =>
    textOf(`${plan.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plan.secrets.proxyKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
    }),
  )
}

async function runCommands(
  { report }: PlatformContext,
  containers: Containers,
  { shared }: ImagePlan,
  services: readonly ContainerPlan[],
): Promise<void> {
  const named = services.flatMap(({ name, operationsUrl }) =>
    operationsUrl === undefined ? [] : ['--service', `${name}=${operationsUrl}`],
  )
  await report.check('scripts/doctor finds nothing wrong', () =>
    containers.runCommand('doctor', named, shared),
  )
  await report.check('scripts/migrate --status', () => containers.runCommand('migrate', ['--status'], shared))
  for (const name of commands)
    await report.check(`scripts/${name} --help`, () => containers.runCommand(name, ['--help'], {}))
}
