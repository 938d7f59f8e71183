import { access, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { realpath } from 'node:fs/promises'
import { delimiter } from 'node:path'
import type { PlatformContext } from '../platform-part.ts'
import { firstThere } from '../../support/first-there.ts'
import { runProgram } from './run-program.ts'
import { unpackPackages } from './unpack-packages.ts'
import { ensureImage } from './ensure-image.ts'

const baseImage = 'node:24-bookworm-slim'
const bundle = '/etc/ssl/certs/ca-certificates.crt'

/**
 * The base image of infra/images/Dockerfile. Its stand-in is Debian's smallest system with this Node, npm,
 * and this host's certificate authorities.
 */
export function ensureBaseImage(context: PlatformContext): Promise<void> {
  return ensureImage(context, baseImage, async (name) => {
    const root = join(context.cache, `base.${process.pid}`)
    try {
      await bootstrap(context.cache, root)
      await addNode(root)
      const hasBundle = await addAuthorities(root)
      await importImage(context, root, name, hasBundle)
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  })
}

async function bootstrap(cache: string, root: string): Promise<void> {
  const tool = await unpackPackages(cache, ['debootstrap'])
  const env = { ...process.env, DEBOOTSTRAP_DIR: join(tool, 'usr', 'share', 'debootstrap') }
  const program = join(tool, 'usr', 'sbin', 'debootstrap')
  await runProgram(program, ['--variant=minbase', 'bookworm', root], { env, timeoutMs: 1_200_000 })
  await runProgram('chroot', [root, 'useradd', '--create-home', '--uid', '1000', '--user-group', 'node'])
}

async function addNode(root: string): Promise<void> {
  const local = join(root, 'usr', 'local')
  const npm = await firstThere(
    (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'npm')),
  )
  if (npm === undefined) throw new Error('npm is not on PATH')
  await mkdir(join(local, 'lib', 'node_modules'), { recursive: true })
  await cp(process.execPath, join(local, 'bin', 'node'))
  await cp(resolve(await realpath(npm), '..', '..'), join(local, 'lib', 'node_modules', 'npm'), {
    recursive: true,
  })
  for (const name of ['npm', 'npx'])
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
}

/** Returns whether there are any. */
async function addAuthorities(root: string): Promise<boolean> {
  const source = process.env['NODE_EXTRA_CA_CERTS'] || bundle
  const isThere = await access(source).then(
    () => true,
    () => false,
  )
  if (isThere) await cp(source, join(root, bundle), { dereference: true, force: true })
  return isThere
}

async function importImage(
  { engine }: PlatformContext,
  root: string,
  name: string,
  hasBundle: boolean,
): Promise<void> {
  const { environment } = await engine()
  const left = ['./var/cache/apt', './var/lib/apt/lists'].map((path) => `--exclude=${path}/*`)
  const changes = [
    'CMD ["node"]',
    'LABEL sluice.stand-in=true',
    ...(hasBundle ? [`ENV NODE_EXTRA_CA_CERTS=${bundle}`] : []),
  ]
  const tar = spawn('tar', ['-C', root, '-c', ...left, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const options = changes.flatMap((change) => ['--change', change])
  const load = spawn('docker', ['import', ...options, '-', name], {
    env: environment,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  tar.stdout.pipe(load.stdin)
  const [code] = (await once(load, 'close')) as [number]
  if (code !== 0) throw new Error(`docker import ended with ${code}`)
}
