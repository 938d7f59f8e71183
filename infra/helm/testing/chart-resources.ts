import { parseAllDocuments } from 'yaml'

export type Labels = Record<string, string>
interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string; key: string; optional: boolean } }
}
interface Container {
  args: string[]
  image: string
  env: Variable[]
  ports?: { name: string; containerPort: number }[]
  resources: { requests: object; limits: { memory: string } }
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
  startupProbe?: object
  livenessProbe?: object
  readinessProbe?: object
}
interface Pod {
  metadata: { labels: Labels; annotations?: Labels }
  spec: {
    automountServiceAccountToken: boolean
    terminationGracePeriodSeconds?: number
    securityContext: object
    containers: [Container]
    volumes: { name: string; configMap?: { name: string } }[]
  }
}
export interface Resource {
  kind: string
  metadata: { name: string; annotations?: Labels }
  spec: {
    template: Pod
    selector: Labels & { matchLabels?: Labels }
    podSelector: { matchLabels: Labels }
    egress: { ports?: { port: number }[] }[]
    maxReplicaCount: number
    triggers: { metadata: { topic: string; consumerGroup: string } }[]
    secretTargetRef: { name: string }[]
    volumeClaimTemplates?: { metadata: { name: string } }[]
  }
}

/** Resources that Helm rendered. */
export function parseResources(rendered: string): Resource[] {
  return parseAllDocuments(rendered).map((document) => document.toJS() as Resource)
}

/** Workloads by process name. */
export function workloadsOf(resources: readonly Resource[]) {
  const isWorkload = ({ kind }: Resource) => ['Deployment', 'StatefulSet', 'Job'].includes(kind)
  return resources.filter(isWorkload).map(({ metadata, spec }) => {
    const { template, volumeClaimTemplates = [] } = spec
    const volumes = [
      ...template.spec.volumes,
      ...volumeClaimTemplates.map((claim) => ({ name: claim.metadata.name })),
    ]
    const [container] = template.spec.containers
    return {
      name: metadata.name.replace('sluice-', ''),
      labels: template.metadata.labels,
      annotations: template.metadata.annotations,
      pod: template.spec,
      container,
      volumes,
    }
  })
}
