import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { codeOf } from '#runtime/errors.ts'

const root = join(import.meta.dirname, '..')
const dashboard = join(root, 'services', 'dashboard')
/** Of 11: the last two levels take four times as long for 2% less. */
const quality = 9

/**
 * Builds the dashboard's client with compressed copies of its files, and replaces the previous build
 * atomically.
 */
async function build(): Promise<number> {
  const fresh = join(dashboard, `dist.${process.pid}`)
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const options = ['build', join(dashboard, 'client'), '--outDir', fresh, '--logLevel', 'warn']
  try {
    // Always production: with NODE_ENV=test it would contain React's development build, half as large again
    // and twice as slow.
    const env = { ...process.env, NODE_ENV: 'production' }
    const { status } = spawnSync(process.execPath, [vite, ...options], { stdio: 'inherit', env })
    if (status !== 0) return status ?? 1
    const names = globSync('assets/*.{js,css,svg}', { cwd: fresh })
    await Promise.all(names.map((name) => compress(join(fresh, name))))
    await putInPlace(fresh, join(dashboard, 'dist'))
    return 0
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

async function compress(file: string): Promise<void> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file), { params }))
}

/** If two build at once, the second keeps the first's result: both have the same sources. */
async function putInPlace(fresh: string, place: string): Promise<void> {
  const last = `${fresh}.last`
  try {
    await rename(place, last).catch(unless('ENOENT'))
    await rename(fresh, place).catch(unless('ENOTEMPTY', 'EEXIST'))
  } finally {
    await rm(last, { recursive: true, force: true })
  }
}

function unless(...codes: string[]) {
  return (error: unknown) => {
    if (!codes.includes(codeOf(error))) throw error
  }
}

process.exitCode = await build()
