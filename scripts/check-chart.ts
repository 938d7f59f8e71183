import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchHelm } from '#infra/helm/fetch-helm.ts'
import { cachedTools, renderChart } from '#infra/helm/render-chart.ts'

/**
 * `scripts/check-chart [--write]`: helm lint and template, then kubeconform against Kubernetes's own
 * definitions. Go fetches both from its module proxy (once; minutes of CPU). --write stores Helm's output for
 * example-values.yaml as rendered.yaml.
 */
const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const chart = join(root, 'infra', 'helm')
const cache = join(root, '.cache', 'chart')
const kubernetes = 'v1.34.1'
const kubeconformModule = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0'
/**
 * Kinds in the chart, by the file that defines them. Resources of KEDA and the Prometheus operator are not
 * checked.
 */
const kinds: Readonly<Record<string, readonly string[]>> = {
  api__v1: ['Service', 'Secret', 'ConfigMap'],
  apis__apps__v1: ['Deployment', 'StatefulSet'],
  apis__batch__v1: ['Job'],
  apis__policy__v1: ['PodDisruptionBudget'],
  'apis__networking.k8s.io__v1': ['NetworkPolicy', 'Ingress'],
}

type Schema = Record<string, unknown>

async function installKubeconform(): Promise<string> {
  await run('go', ['install', kubeconformModule], { env: { ...process.env, GOBIN: cachedTools } })
  return join(cachedTools, 'kubeconform')
}

/** One file per kind, without additional properties: a field unknown to Kubernetes is an error. */
async function writeSchemas(): Promise<string> {
  await mkdir(cache, { recursive: true })
  const { stdout } = await run('go', ['mod', 'download', '-json', `k8s.io/kubernetes@${kubernetes}`], {
    cwd: cache,
  })
  const { Dir: source } = JSON.parse(stdout) as { Dir: string }
  for (const [file, wanted] of Object.entries(kinds)) {
    const text = await readFile(join(source, 'api', 'openapi-spec', 'v3', `${file}_openapi.json`), 'utf8')
    const { schemas } = (JSON.parse(text) as { components: { schemas: Record<string, Schema> } }).components
    for (const [name, schema] of Object.entries(schemas)) schemas[name] = closed(name, schema)
    for (const kind of wanted) {
      const name = Object.keys(schemas).find((one) => one.endsWith(`.v1.${kind}`))
      if (name === undefined) throw new Error(`${file} defines no ${kind}`)
      const whole = { $ref: `#/components/schemas/${name}`, components: { schemas } }
      await writeFile(join(cache, `${kind.toLowerCase()}.json`), JSON.stringify(whole))
    }
  }
  return join(cache, '{{.ResourceKind}}.json')
}

function closed(name: string, schema: Schema): Schema {
  if (/\.(IntOrString|Quantity)$/.test(name)) return { type: ['string', 'integer', 'number'] }
  return schema['properties'] === undefined ? schema : { ...schema, additionalProperties: false }
}

const helm = await fetchHelm(process.env['PATH'])
const kubeconform = await installKubeconform()
const { stdout } = await run(helm, ['lint', '--strict', chart, '-f', join(chart, 'example-values.yaml')])
console.log(stdout.trim())
const rendered = await renderChart(helm)
const file = join(cache, 'rendered.yaml')
const location = await writeSchemas()
await writeFile(file, rendered)
const skipped = 'ScaledObject,TriggerAuthentication,PodMonitor,PrometheusRule'
const checked = await run(kubeconform, [
  '-strict',
  '-summary',
  '-skip',
  skipped,
  '-schema-location',
  location,
  file,
])
console.log(checked.stdout.trim())
if (process.argv.includes('--write')) await writeFile(join(chart, 'rendered.yaml'), rendered)
