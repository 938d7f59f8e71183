import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { fetchHelm } from '#infra/helm/fetch-helm.ts'
import { cachedTools, renderChart } from '#infra/helm/render-chart.ts'

/**
 * `scripts/check-chart [--write]`: helm lint and template for every file of values, then kubeconform against
 * the definitions of Kubernetes, KEDA, the Gateway API and the Prometheus operator. Go fetches them from its
 * module proxy (once; minutes of CPU). --write stores Helm's output for example-values.yaml as rendered.yaml.
 */
const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const chart = join(root, 'infra', 'helm')
const cache = join(root, '.cache', 'chart')
const kubernetes = 'v1.34.1'
const kubeconformModule = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0'
/** Kubernetes's kinds in the chart, by the file that defines them. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  api__v1: ['Service', 'Secret', 'ConfigMap', 'ServiceAccount', 'PersistentVolumeClaim'],
  apis__apps__v1: ['Deployment', 'StatefulSet'],
  apis__batch__v1: ['Job', 'CronJob'],
  apis__autoscaling__v2: ['HorizontalPodAutoscaler'],
  apis__policy__v1: ['PodDisruptionBudget'],
  'apis__networking.k8s.io__v1': ['NetworkPolicy', 'Ingress'],
}

/** Kinds of others, by module and file. */
const custom: readonly (readonly [module: string, file: string])[] = [
  ['github.com/kedacore/keda/v2@v2.18.1', 'config/crd/bases/keda.sh_scaledobjects.yaml'],
  ['github.com/kedacore/keda/v2@v2.18.1', 'config/crd/bases/keda.sh_triggerauthentications.yaml'],
  ['sigs.k8s.io/gateway-api@v1.4.0', 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  [
    'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
  ],
  [
    'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
]

type Schema = Record<string, unknown>

async function installKubeconform(): Promise<string> {
  await run('go', ['install', kubeconformModule], { env: { ...process.env, GOBIN: cachedTools } })
  return join(cachedTools, 'kubeconform')
}

async function sourceOf(module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: cache })
  return (JSON.parse(stdout) as { Dir: string }).Dir
}

/** One file per kind, without additional properties: a field unknown to its owner is an error. */
async function writeSchemas(): Promise<string> {
  const source = await sourceOf(`k8s.io/kubernetes@${kubernetes}`)
  for (const [file, wanted] of Object.entries(kinds)) {
    const text = await readFile(join(source, 'api', 'openapi-spec', 'v3', `${file}_openapi.json`), 'utf8')
    const { schemas } = (JSON.parse(text) as { components: { schemas: Record<string, Schema> } }).components
    for (const [name, schema] of Object.entries(schemas)) schemas[name] = closed(name, schema)
    for (const kind of wanted) {
      const name = Object.keys(schemas).find((one) => /\.v[12]\.\w+$/.test(one) && one.endsWith(`.${kind}`))
      if (name === undefined) throw new Error(`${file} defines no ${kind}`)
      await writeSchema(kind, { $ref: `#/components/schemas/${name}`, components: { schemas } })
    }
  }
  for (const [module, file] of custom)
    await writeCustomSchema(await readFile(join(await sourceOf(module), file), 'utf8'))
  return join(cache, '{{.ResourceKind}}.json')
}

async function writeSchema(kind: string, schema: object): Promise<void> {
  await writeFile(join(cache, `${kind.toLowerCase()}.json`), JSON.stringify(schema))
}

interface CustomResource {
  spec: {
    names: { kind: string }
    versions: { name: string; storage: boolean; schema: { openAPIV3Schema: Schema } }[]
  }
}

async function writeCustomSchema(text: string): Promise<void> {
  for (const document of parseAllDocuments(text)) {
    const { spec } = document.toJS() as CustomResource
    const stored = spec.versions.find(({ storage }) => storage)
    if (stored === undefined) throw new Error(`${spec.names.kind} has no stored version`)
    const schema = closedThroughout(stored.schema.openAPIV3Schema) as Schema
    // The definition says of these only that they exist.
    schema['properties'] = { ...(schema['properties'] as object), metadata: { type: 'object' } }
    await writeSchema(spec.names.kind, schema)
  }
}

/** Definitions of custom resources hold their parts in place instead of by name. */
function closedThroughout(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closedThroughout)
  if (typeof part !== 'object' || part === null) return part
  const schema = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, closedThroughout(value)]),
  )
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['string', 'integer'] }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || 'additionalProperties' in schema
  return schema['type'] === 'object' && 'properties' in schema && !isOpen
    ? { ...schema, additionalProperties: false }
    : schema
}

function closed(name: string, schema: Schema): Schema {
  if (/\.(IntOrString|Quantity)$/.test(name)) return { type: ['string', 'integer', 'number'] }
  return schema['properties'] === undefined ? schema : { ...schema, additionalProperties: false }
}

const valueFiles = ['example-values.yaml', ...globSync(['examples/*.yaml', 'testing/*.yaml'], { cwd: chart })]

await mkdir(cache, { recursive: true })
const helm = await fetchHelm(process.env['PATH'])
const kubeconform = await installKubeconform()
const location = await writeSchemas()
for (const values of valueFiles) {
  await run(helm, ['lint', '--strict', chart, '-f', join(chart, values)])
  const rendered = await renderChart(helm, [], [values])
  const file = join(cache, 'rendered.yaml')
  await writeFile(file, rendered)
  const { stdout } = await run(kubeconform, ['-strict', '-summary', '-schema-location', location, file])
  console.log(`${values}: ${stdout.trim()}`)
}
if (process.argv.includes('--write')) await writeFile(join(chart, 'rendered.yaml'), await renderChart(helm))
