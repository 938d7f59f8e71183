import { examineSystem } from './examine/examine-system.ts'
import { findSystem } from './examine/find-system.ts'
import type { Finding } from './examine/finding.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/doctor [--json] [--state DIR] [--service NAME=URL]...

Checks Kafka (topics, replicas, configuration, lag, rights), the schema registry, Postgres (migrations,
partitions, roles, connections, keys, and whether it has what the sinks committed), clocks, services, spool,
secrets, certificates and disks. Says what to do about each problem. Changes nothing.

  --json               all findings as one JSON object
  --state DIR          a stack that scripts/up started (.sluice); KAFKA_BROKERS, SCHEMA_REGISTRY_URL and
                       DATABASE_URL take its place, with the services' variables (docs/configuration.md)
  --service NAME=URL   the operations port of a service, for instance sink=http://sink:9001

Exit code: 0 no problem (warnings allowed), 1 a problem, 2 it could not start.
`

function readArguments() {
  return parseOptions(usage, {
    options: {
      json: { type: 'boolean' },
      state: { type: 'string' },
      service: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  }).values
}

/** Problems come last, where users look. */
const order: readonly Finding['state'][] = ['skipped', 'ok', 'warning', 'problem']

function print(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, state, what, remedy } of findings.toSorted(
    (a, b) => order.indexOf(a.state) - order.indexOf(b.state),
  )) {
    // Topic names and answers may come from anyone: a terminal must not interpret them.
    const line = `${state.toUpperCase().padEnd(7)}  ${check.padEnd(width)}  ${what}`
    console.log(line.replace(/\p{C}/gu, '\uFFFD'))
    if (remedy !== undefined) console.log(`${' '.repeat(11 + width)}do: ${remedy}`)
  }
}

async function run(): Promise<void> {
  const values = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const system = await findSystem({ state: values.state, operations: values.service ?? [] }, process.env)
  const findings = await examineSystem(system)
  const problems = findings.filter(({ state }) => state === 'problem').length
  const warnings = findings.filter(({ state }) => state === 'warning').length
  if (values.json === true)
    console.log(JSON.stringify({ ok: problems === 0, problems, warnings, findings }, null, 2))
  else {
    print(findings)
    console.log(`${problems} problems, ${warnings} warnings`)
  }
  if (problems > 0) process.exitCode = 1
}

await runCommand(run)
