import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import commands from './commands.json' with { type: 'json' }
import { copiedFiles, parseDockerfile, type Stage } from './testing/dockerfile.ts'
import { neededFiles } from './testing/needed-files.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const glob = (pattern: string) => globSync(pattern, { cwd: root })
const ignored = read('.dockerignore').trim().split('\n')
const stages = parseDockerfile(read('infra/images/Dockerfile'))
const [packages, client, image] = stages as [Stage, Stage, Stage]

/** Files that build steps read without an import: npm its own, the client's build script those of Vite. */
const readBy: Readonly<Record<string, readonly string[]>> = {
  'npm ci': ['package.json', 'package-lock.json', '.npmrc'],
  'node scripts/build-dashboard.ts': [
    'scripts/build-dashboard.ts',
    'package.json',
    ...['index.html', 'main.tsx', 'vite.config.js', 'tsconfig.json', 'icon.svg'].map(
      (name) => `services/dashboard/client/${name}`,
    ),
  ],
}

/**
 * Needed files that were not copied. A folder counts as copied if all its files are that .dockerignore keeps.
 */
function missing(needed: Iterable<string>, present: ReadonlySet<string>): string[] {
  const has = (path: string) =>
    present.has(path) ||
    (statSync(join(root, path)).isDirectory() && glob(`${path}/*`).some((file) => present.has(file)))
  return [...needed].filter((path) => !has(path)).sort()
}

test('the Dockerfile has the stages tested here', () => {
  expect([packages.name, client.name, image.name, stages.length]).toEqual(['packages', 'client', 'final', 3])
})

test.each(stages.map((stage) => [stage.name, stage] as const))(
  'stage %s has copied all that each step imports and reads, when it runs',
  (_name, { steps }) => {
    for (const [index, step] of steps.entries()) {
      if (!('run' in step)) continue
      const [, entries = []] = Object.entries(readBy).find(([command]) => step.run.startsWith(command)) ?? []
      // It only creates folders.
      if (!step.run.startsWith('install '))
        expect({ step: step.run, entries }).not.toMatchObject({ entries: [] })
      const present = copiedFiles(root, steps.slice(0, index), ignored)
      expect({ step: step.run, missing: missing(neededFiles(root, entries), present) }).toEqual({
        step: step.run,
        missing: [],
      })
    }
  },
)

test("the image has everything that services and operators' commands import and read", async () => {
  const mains = glob('services/**/main.ts')
  const scripts = commands.flatMap((name) => [`scripts/${name}`, `scripts/${name}.ts`])
  const shell = ['scripts/use-node', 'scripts/packages-match.cjs', 'package.json']
  const needed = neededFiles(root, [...mains, ...scripts, ...shell])
  // Each service reaches its own folder; a walk that finds nothing would prove nothing.
  expect(needed.size).toBeGreaterThan(300)
  for (const file of await defaultPaths()) needed.add(file)
  expect(missing(needed, copiedFiles(root, image.steps, ignored))).toEqual([])
})

test('the built client comes from its stage, not from this machine', () => {
  const built = image.steps.filter((step) => 'copy' in step && step.from === 'client')
  expect(built).toEqual([{ copy: ['services/dashboard/dist'], from: 'client' }])
  const present = copiedFiles(root, image.steps, ignored)
  expect([...present].filter((file) => file.startsWith('services/dashboard/dist/'))).toEqual([])
})

/** Files that the configuration names by default. */
async function defaultPaths(): Promise<string[]> {
  const paths: string[] = []
  for (const file of glob('services/*/config.ts')) {
    const module = (await import(join(root, file))) as Record<string, unknown>
    for (const schema of Object.values(module)) {
      if (!(schema instanceof z.ZodObject)) continue
      const defaults = Object.values(schema.shape as Record<string, z.ZodType>).map(
        (field) => field.safeParse(undefined).data,
      )
      paths.push(
        ...defaults
          .filter((value) => typeof value === 'string')
          .filter((value) => /^[a-z]+\/[\w./-]+$/.test(value)),
      )
    }
  }
  expect(paths).toContain('evals/tiers.yaml')
  return paths
}
