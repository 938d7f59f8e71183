const { statSync } = require('node:fs')

/**
 * The slowest test files, slowest first, with some that mostly wait among those that compute. Started late,
 * they would end alone. Unlisted files in tests/chaos itself come before them, because they break whole
 * systems for minutes. All others follow by size.
 */
const longest = [
  'tests/chaos/whole-system.test.ts',
  'tests/chaos/kill-consumers.test.ts',
  'services/sink/failures.integration.test.ts',
  'services/notifier/notifier.integration.test.ts',
  'tests/chaos/broker-loss.test.ts',
  'tests/dashboard/pages.test.ts',
  'tests/chaos/notifier.test.ts',
  'tests/e2e/replay.test.ts',
  'tests/chaos/kill-gateway.test.ts',
  'tests/e2e/restore.test.ts',
  'tests/e2e/scripts-up.test.ts',
  'tests/dashboard/tasks.test.ts',
  'services/redteam/command-line.integration.test.ts',
  'services/scorer/judge.integration.test.ts',
  'infra/embedded/embedded-parts.integration.test.ts',
  'services/redteam/redteam.integration.test.ts',
  'services/notifier/isolation.integration.test.ts',
  'runtime/kafka/consumers.integration.test.ts',
  'services/scorer/load.integration.test.ts',
  'services/api/openapi.integration.test.ts',
  'tests/chaos/kill-ingest.test.ts',
  'tests/chaos/broker-outage.test.ts',
  'runtime/kafka/consumer-crashes.integration.test.ts',
  'tests/e2e/zero-retention.test.ts',
  'tests/e2e/kafka-users.test.ts',
  'services/sink/calls.integration.test.ts',
  'tests/simulation/simulation.test.ts',
  'scripts/examine/doctor.integration.test.ts',
  'services/api/people.integration.test.ts',
  'services/ingest/outages.integration.test.ts',
  'tests/documentation/alerts.test.ts',
  'services/notifier/outage.integration.test.ts',
  'tests/e2e/one-call-all-the-way.test.ts',
  'tests/e2e/recording-fetch.test.ts',
  'tests/e2e/sdk-session.test.ts',
  'tests/chaos/full-disk.test.ts',
  'tests/chaos/registry-outage.test.ts',
]

/** Order of test files: long ones first, short ones fill the gaps. */
module.exports = class LongestFirst {
  sort(tests) {
    return [...tests].sort(
      (a, b) => rank(a.path) - rank(b.path) || statSync(b.path).size - statSync(a.path).size,
    )
  }

  shard(tests, { shardIndex, shardCount }) {
    return this.sort(tests).filter((_, index) => index % shardCount === shardIndex - 1)
  }

  allFailedTests(tests) {
    return tests
  }

  /** Nothing is cached between runs. */
  cacheResults() {}
}

function rank(path) {
  const place = longest.findIndex((name) => path.endsWith(`/${name}`))
  if (place >= 0) return place
  return /\/tests\/chaos\/[^/]+$/.test(path) ? -1 : longest.length
}
