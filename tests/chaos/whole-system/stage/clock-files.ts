import { writeFileSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { until } from '../../../support/until.ts'

/** The wall clocks of services, each by a file that its process looks at. */
export interface ServiceClocks {
  /** What Node has to be started with (`NODE_OPTIONS`) for the service's clock to be one of these. */
  optionOf(name: string): string
  /** Sets the clock so far before (negative) or after the real one; resolves when the service goes by it. */
  step(name: string, offsetMs: number): Promise<void>
}

const patienceMs = 120_000

export function createServiceClocks(directory: string): ServiceClocks {
  const fileOf = (name: string) => join(directory, `${name}.clock`)
  return {
    optionOf(name) {
      writeFileSync(fileOf(name), '0')
      const preloaded = pathToFileURL(join(import.meta.dirname, 'stepped-clock.ts'))
      preloaded.searchParams.set('file', fileOf(name))
      return `--import=${preloaded.href}`
    },
    async step(name, offsetMs) {
      const file = fileOf(name)
      await writeFile(`${file}.new`, String(offsetMs))
      await rename(`${file}.new`, file)
      // Missing until the process has begun.
      const inForce = () => readFile(`${file}.in-force`, 'utf8').catch(() => 'nothing')
      await until(
        async () => (await inForce()) === String(offsetMs),
        patienceMs,
        async () => `${name} goes by ${await inForce()} ms, not ${offsetMs}`,
      )
    },
  }
}
