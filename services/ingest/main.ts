import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { ingestConfigSchema } from './config.ts'
import { createIngest } from './service.ts'

process.exit(
  await runProcess({
    name: 'ingest',
    schema: ingestConfigSchema,
    environment: process.env,
    create: createIngest,
    prepare: requireMigration(newestMigration),
  }),
)
