import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { sinkConfig } from './config.ts'
import { createSink } from './service.ts'

process.exit(
  await runProcess({
    name: 'sink',
    schema: sinkConfig,
    environment: process.env,
    create: createSink,
    prepare: requireMigration(newestMigration),
  }),
)
