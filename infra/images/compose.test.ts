import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, jest, test } from '@jest/globals'
import { parse } from 'yaml'
import { z } from 'zod'
import { definitionOf, processNames } from '#schemas/services.ts'
import { secretNames } from '#scripts/stack/secret-files.ts'
import { apiConfigSchema } from '#services/api/config.ts'
import { dashboardConfigSchema } from '#services/dashboard/config.ts'
import { gatewayConfigSchema } from '#services/gateway/config.ts'

// Takes 10 s and more next to five other test processes on two cores.
jest.setTimeout(120_000)

interface Container {
  image: string
  command?: string[]
  restart?: string
  environment?: Record<string, string | number>
  ports?: string[]
  read_only?: boolean
  cap_drop?: string[]
  mem_limit?: string
  healthcheck?: object
  stop_grace_period?: string
  volumes?: string[]
}

const root = join(import.meta.dirname, '..', '..')
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const compose = parse(read('docker-compose.kafka.yml'), { merge: true }) as {
  services: Record<string, Container>
  volumes: Record<string, unknown>
}
const containers = Object.entries(compose.services)
const own = processNames
/** Containers that exit when done. */
const once = containers.filter(([, { restart }]) => restart === 'no').map(([name]) => name)

function containerOf(name: string): Container {
  const container = compose.services[name]
  if (container === undefined) throw new Error(`docker-compose.kafka.yml has no ${name}`)
  return container
}

/** The value of a variable if nothing it refers to is set. */
function unsetValue(text: string): string {
  return text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
}

/** NAME of NAME_FILE or of NAME. */
function nameOf(variable: string): string {
  return variable.replace(/_FILE$/, '')
}

test('every service runs, with its options for Node', () => {
  for (const name of own) {
    const { nodeOptions } = definitionOf(name)
    const command = [nodeOptions, `services/${name}/main.ts`].filter((argument) => argument !== undefined)
    expect({ name, command: containerOf(name).command }).toEqual({ name, command })
  }
})

test.each(own)(
  '%s is given variables that it knows, with values that it takes, and all that it needs',
  async (name) => {
    const module = (await import(join(root, 'services', name, 'config.ts'))) as Record<string, unknown>
    const schema = Object.values(module).find((value) => value instanceof z.ZodObject)
    if (schema === undefined) throw new Error(`services/${name}/config.ts exports no schema`)
    const fields = schema.shape as Record<string, z.ZodType>
    const { environment = {}, stop_grace_period: grace } = containerOf(name)
    const given = Object.keys(environment).map(nameOf)
    for (const [variable, text] of Object.entries(environment)) {
      // Shared variables apply to most of them, not to each.
      if (fields[nameOf(variable)] === undefined) {
        expect(Object.keys(containerOf('sink').environment ?? {})).toContain(variable)
        continue
      }
      const value = unsetValue(String(text))
      const isFile = fields[variable] === undefined
      if (isFile || value === '') continue
      expect({ variable, value, taken: fields[variable]?.safeParse(value).success }).toEqual({
        variable,
        value,
        taken: true,
      })
    }
    const needed = Object.keys(fields).filter((key) => fields[key]?.safeParse(undefined).success === false)
    expect(needed.filter((key) => !given.includes(key))).toEqual([])
    expect(environment['OPS_PORT']).toBe(fields['OPS_PORT']?.parse(undefined))
    const drainMs = fields['DRAIN_DEADLINE_MS']?.parse(undefined) as number
    expect(Number.parseInt(grace ?? '', 10)).toBeGreaterThan(drainMs / 1000)
  },
)

test.each([
  ['gateway', gatewayConfigSchema, /^UPSTREAM_(A|CLIENT|TOKEN)/],
  ['dashboard', dashboardConfigSchema, /^OIDC_/],
  ['api', apiConfigSchema, /^(STRIPE|PAYMENT)_/],
] as const)('%s can be given all of %3$s', (name, { shape }, wanted) => {
  const given = Object.keys(containerOf(name).environment ?? {})
  const names = Object.keys(shape).filter((variable) => wanted.test(variable))
  expect(names.length).toBeGreaterThan(2)
  expect(given).toEqual(expect.arrayContaining(names))
})

test('every image has a version, every container a memory limit, and every service a health check', () => {
  for (const [name, { image, mem_limit: memory, healthcheck }] of containers) {
    expect({ name, image }).not.toEqual({ name, image: expect.stringMatching(/:latest$|^[^:]+$/) })
    expect({ name, memory }).toEqual({ name, memory: expect.stringMatching(/^\d+[gm]$/) })
    expect({ name, watched: healthcheck !== undefined }).toEqual({ name, watched: !once.includes(name) })
  }
})

test('our containers run unprivileged on a read-only file system, and no port is open to other hosts', () => {
  for (const name of [...own, ...once, 'demo-upstream'])
    expect(containerOf(name)).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  const ports = containers.flatMap(([, container]) => container.ports ?? [])
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
})

test('nothing must be set, and each secret is a file written for the container that reads it', () => {
  expect(read('docker-compose.kafka.yml')).not.toMatch(/\$\{\w+:?\?/)
  const places = {
    '/var/lib/sluice/secrets': ['secrets', secretNames.services],
    '/run/secrets': ['secrets', secretNames.services],
    // The last one is written after the project has been created.
    '/var/lib/sluice/gateway': ['gateway', [...secretNames.gateway, 'SERVICE_API_KEY']],
  } as const
  const readers = new Set<string>()
  for (const [name, { environment = {}, volumes = [] }] of containers) {
    for (const [variable, file] of Object.entries(environment)) {
      if (!variable.endsWith('_FILE')) continue
      const [volume, written] = places[dirname(String(file)) as keyof typeof places]
      expect(written).toContain(basename(String(file)))
      expect({ name, volumes }).toMatchObject({
        volumes: expect.arrayContaining([
          expect.stringMatching(`^${volume}:${dirname(String(file))}(:ro)?$`),
        ]) as unknown,
      })
      readers.add(name)
    }
  }
  expect([...readers]).toEqual(expect.arrayContaining([...own, 'postgres', 'migrate', 'first-project']))
  expect(containerOf('gateway').volumes?.join()).not.toContain('secrets:')
})

test('volumes are declared, and mounted files exist', () => {
  const sources = containers.flatMap(([, { volumes = [] }]) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  )
  for (const source of sources)
    expect({
      source,
      exists: source.startsWith('.') ? existsSync(join(root, source)) : source in compose.volumes,
    }).toEqual({
      source,
      exists: true,
    })
})

test('the image has existing files and bases with a version, and does not run as root', () => {
  const lines = read('infra', 'images', 'Dockerfile').split('\n')
  const copied = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(' ').slice(1, -1))
  expect(copied.filter((file) => !existsSync(join(root, file)))).toEqual([])
  const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1] ?? '')
  for (const base of bases) expect(base).toMatch(/^node:24-/)
  expect(lines).toContain('USER node')
})

test('commands run in the image with its own Node, and install nothing there', async () => {
  expect(read('infra', 'images', 'Dockerfile').split('FROM ').at(-1)).not.toContain('package-lock.json')
  const image = await mkdtemp(join(tmpdir(), 'image-'))
  try {
    await mkdir(join(image, 'node_modules'))
    for (const file of ['scripts/use-node', 'scripts/packages-match.cjs', 'scripts/doctor'])
      await cp(join(root, file), join(image, file))
    await writeFile(join(image, 'scripts', 'doctor.ts'), 'console.log(process.execPath, process.argv[2])')
    const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
    const { stdout } = await promisify(execFile)(join(image, 'scripts', 'doctor'), ['--json'], {
      env: { PATH },
    })
    expect(stdout.trim()).toBe(`${process.execPath} --json`)
  } finally {
    await rm(image, { recursive: true })
  }
})
