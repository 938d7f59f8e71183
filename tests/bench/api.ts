import { parseArgs } from 'node:util'
import { filledDatabase, startKeptPostgres } from '../support/filled-database.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    state: { type: 'string', default: '.cache/bench-api' },
    'fill-only': { type: 'boolean', default: false },
  },
})

const postgres = await startKeptPostgres(values.state)
try {
  for (const rows of [100_000, Number(values.rows)]) {
    const filled = await filledDatabase(postgres, rows, console.log)
    console.log(filled.url)
  }
} finally {
  await postgres.stop()
}
