import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { definitionOf, services, type ServiceName } from '#schemas/services.ts'
import { topics } from '#schemas/topics.ts'
import { marker, type Change, type Changes } from './changes.ts'
import { serviceFiles } from './service-files.ts'

/** What a consumer service of that name consists of. Throws CannotStart on a name that cannot be one. */
export function serviceChanges(name: string, reads = 'eventRaised'): Changes {
  if (!/^[a-z]{3,20}$/.test(name)) throw new CannotStart('the name of a service is of 3 to 20 letters a to z')
  if (name in services) throw new CannotStart(`${name} is a service already`)
  if (!isTopic(reads))
    throw new CannotStart(`--reads takes a key of schemas/topics.ts: ${Object.keys(topics).join(', ')}`)
  const topic = topics[reads]
  const taken = (Object.keys(services) as ServiceName[]).map((one) => definitionOf(one).operationsPort)
  const port = Math.max(...taken.filter((one) => one < 9_050)) + 1
  const title = name.slice(0, 1).toUpperCase() + name.slice(1)
  const files = serviceFiles({ name, title, port, reads, topic: topic.name, schema: topic.schema })
  return {
    changes: [...files, ...rowsOf(name, title, port, reads), ...placesOf(name, port)],
    next: `  1. Fill in what \`git grep --untracked -n "${marker}" services schemas\` shows.
  2. UPDATE_DOCS=1 npm run jest -- infra/helm/made-files --selectProjects unit
  3. UPDATE_DOCS=1 npm run jest -- tests/documentation --selectProjects integration
  4. scripts/check`,
  }
}

function isTopic(key: string): key is keyof typeof topics {
  return key in topics
}

function rowsOf(name: string, title: string, port: number, reads: keyof typeof topics): Change[] {
  const { name: topic, readBy } = topics[reads]
  const isRead = readBy !== ''
  const maker = `  ${name}: (dependencies) => create${title}(read(${name}Config), dependencies),\n`
  const imports = `import { ${name}Config } from '#services/${name}/config.ts'
import { create${title} } from '#services/${name}/service.ts'\n`
  return [
    {
      file: 'schemas/services.ts',
      before: '  ingest: {',
      insert: `  ${name}: {
    purpose: '${marker}',
    operationsPort: ${port},
    database: 'login',
    kafka: { groups: { ${name}: [topics.${reads}] }, writes: [] },
    scaledBy: ['${name}'],
  },\n`,
    },
    {
      file: 'schemas/topics.ts',
      replace: new RegExp(String.raw`(name: '${topic.replaceAll('.', '\\.')}',[^}]*?readBy: )'([^']*)'`),
      by: `$1'$2${isRead ? ', ' : ''}${name}'`,
    },
    { file: 'tests/support/declared-metrics.ts', before: 'import { notifierConfig }', insert: imports },
    { file: 'tests/support/declared-metrics.ts', before: '  notifier: (dependencies)', insert: maker },
  ]
}

/** Where an installation starts, watches and scales it. */
function placesOf(name: string, port: number): Change[] {
  return [
    {
      file: 'docker-compose.kafka.yml',
      before: '  first-project:',
      insert: `  ${name}:
    <<: *service
    healthcheck: *healthcheck
    command: [services/${name}/main.ts]
    environment: { <<: *environment, OPS_PORT: ${port} }
    depends_on: { <<: *after-migration }\n\n`,
    },
    {
      file: 'infra/prometheus/prometheus.yml',
      before: '',
      insert: `      - { targets: ['${name}:${port}'], labels: { service: ${name} } }\n`,
    },
    {
      file: 'infra/helm/values.yaml',
      before: 'ingress:',
      insert: `${name}:
  enabled: true
  replicas: 2
  secretName: ''
  env: {}
  terminationGracePeriodSeconds: 40
  resources: { requests: { cpu: 100m, memory: 256Mi }, limits: { memory: 512Mi } }
  autoscaling: { enabled: true, min: 2, max: 6, lag: 500, authenticationRef: {} }\n\n`,
    },
    {
      file: 'infra/helm/values.schema.json',
      before: '    "migrate": {',
      insert: `    "${name}": { "$ref": "#/definitions/consumer" },\n`,
    },
  ]
}
