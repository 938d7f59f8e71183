const { statSync } = require('node:fs')

/** The order of test files: those that start and break whole systems take minutes, so they go first and the short ones fill the gaps. */
module.exports = class SystemsFirst {
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

  /** Nothing is kept from run to run: a new machine has nothing to read. */
  cacheResults() {}
}

function rank(path) {
  if (path.includes('/tests/chaos/')) return 0
  return path.includes('/tests/e2e/') ? 1 : 2
}
