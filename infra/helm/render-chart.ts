import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Where what the chart's checks need is kept. */
export const cachedTools = join(import.meta.dirname, '..', '..', '.cache', 'bin')

/** Where `helm` is: under .cache/bin, where fetch-helm.ts puts it, or on `searchPath`. */
export function findHelm(searchPath = ''): string | undefined {
  return [cachedTools, ...searchPath.split(delimiter)]
    .map((directory) => join(directory, 'helm'))
    .find((path) => existsSync(path))
}

/** What Helm makes of example-values.yaml, with these settings (`a.b=c`) besides. */
export async function renderChart(helm: string, settings: readonly string[] = []): Promise<string> {
  const chart = import.meta.dirname
  // A Helm that Go built itself takes the cluster for an ancient one unless told.
  const place = ['--namespace', 'sluice', '--kube-version', '1.34.0']
  const values = join(chart, 'example-values.yaml')
  const options = { maxBuffer: 16 * 1024 * 1024 }
  const more = settings.flatMap((setting) => ['--set', setting])
  const { stdout } = await run(helm, ['template', 'sluice', chart, ...place, '-f', values, ...more], options)
  return stdout
}
