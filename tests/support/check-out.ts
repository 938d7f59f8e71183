import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '#runtime/errors.ts'
import { CannotRun, root } from '../platform/platform-part.ts'

const run = promisify(execFile)

interface Lock {
  packages: Record<string, { version?: string }>
}

/**
 * The folder in `cache` with a commit's files and the packages of its lock, made once. Throws {@link
 * CannotRun}.
 */
export async function checkOut(commit: string, cache: string): Promise<string> {
  const folder = join(cache, `released-${commit}`)
  if (!existsSync(folder)) {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).catch(() => {
      throw new CannotRun(`this clone has no commit ${commit}: git fetch --unshallow brings it`)
    })
    const unpacked = await mkdtemp(join(cache, 'released-'))
    const tarball = join(unpacked, 'files.tar')
    await run('git', ['archive', '-o', tarball, commit], { cwd: root })
    await run('tar', ['-xf', tarball, '-C', unpacked])
    await rm(tarball)
    await rename(unpacked, folder)
  }
  await providePackages(folder)
  return folder
}

/** This tree's packages where they are of the same versions, else those that npm installs. */
async function providePackages(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  const marker = join(modules, '.package-lock.json')
  const [theirs, ours] = [await readLock(folder), await readLock(root)]
  const isSame = Object.entries(theirs.packages).every(
    ([path, { version }]) => path === '' || ours.packages[path]?.version === version,
  )
  // A link of an earlier run, when this tree's packages may have been others. A real folder stays.
  await rm(modules, { force: true }).catch(() => undefined)
  if (isSame && !existsSync(modules)) await symlink(join(root, 'node_modules'), modules)
  if (isSame || existsSync(marker)) return
  await run('npm', ['ci', '--prefer-offline', '--no-audit'], { cwd: folder }).catch((error: unknown) => {
    throw new CannotRun(`npm ci of the released version failed: ${messageOf(error).slice(0, 500)}`)
  })
}

async function readLock(folder: string): Promise<Lock> {
  return JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as Lock
}
