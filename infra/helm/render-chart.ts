import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cached = join(import.meta.dirname, '..', '..', '.cache', 'bin')

/** Where `helm` is: under .cache/bin, where scripts/check-chart puts it, or on `searchPath`. */
export async function findHelm(searchPath = ''): Promise<string | undefined> {
  for (const directory of [cached, ...searchPath.split(delimiter)]) {
    const path = join(directory, 'helm')
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
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
