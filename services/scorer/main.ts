import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { scorerConfig } from './config.ts'
import { createScorer } from './service.ts'

process.exit(
  await runProcess({
    name: 'scorer',
    schema: scorerConfig,
    environment: process.env,
    create: createScorer,
    prepare: requireMigration(newestMigration),
  }),
)
