import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { startTemporary } from '#infra/embedded/start-temporary.ts'
import { findRunning } from './find-running.ts'

const repository = join(import.meta.dirname, '..', '..')
const keptRunning = join(repository, '.cache', 'test-infra.json')

/**
 * Kafka, registry and Postgres for a benchmark: those of SLUICE_TEST_INFRA or scripts/test-infra if they
 * answer, else embedded ones. Returns the function that stops them.
 */
export async function openBenchmark(): Promise<() => Promise<void>> {
  process.env['SLUICE_TEST_RUN'] = 'bench'
  const file = process.env['SLUICE_TEST_INFRA'] ?? keptRunning
  if ((await findRunning(file)) !== undefined) {
    process.env['SLUICE_TEST_INFRA'] = file
    return () => Promise.resolve()
  }
  const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  const started = await startTemporary(join(repository, '.cache'), console.log)
  const { brokers, registryUrl, postgresUrl } = started
  const written = join(directory, 'infra.json')
  await writeFile(written, JSON.stringify({ brokers, registryUrl, postgresUrl }))
  process.env['SLUICE_TEST_INFRA'] = written
  return async () => {
    await started.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Rounded to three decimals. */
export function ratio(one: number, other: number): number {
  return Number((one / other).toFixed(3))
}

/** The last line of every benchmark, for programs. */
export function printFigures(bench: string, figures: Readonly<Record<string, number>>): void {
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model,
    memory_gb: Math.round(totalmem() / 2 ** 30),
  }
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repository }).toString().trim()
  console.log(JSON.stringify({ bench, figures, machine, commit }))
}
