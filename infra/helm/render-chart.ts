import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Cache for the tools of the chart's checks. */
export const cachedTools = join(import.meta.dirname, '..', '..', '.cache', 'bin')

/** The path of `helm`: under .cache/bin, where fetch-helm.ts puts it, or on `searchPath`. */
export function findHelm(searchPath = ''): string | undefined {
  return [cachedTools, ...searchPath.split(delimiter)]
    .map((directory) => join(directory, 'helm'))
    .find((path) => existsSync(path))
}

/** Helm's output for files of values, with additional settings (`a.b=c`). */
export async function renderChart(
  helm: string,
  settings: readonly string[] = [],
  files: readonly string[] = ['example-values.yaml'],
): Promise<string> {
  const chart = import.meta.dirname
  // A Helm built by Go assumes an ancient cluster by default.
  const place = ['--namespace', 'sluice', '--kube-version', '1.34.0']
  const values = files.flatMap((file) => ['-f', join(chart, file)])
  const options = { maxBuffer: 16 * 1024 * 1024 }
  const more = settings.flatMap((setting) => ['--set', setting])
  const { stdout } = await run(helm, ['template', 'sluice', chart, ...place, ...values, ...more], options)
  return stdout
}
