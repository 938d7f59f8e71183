import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { notifierConfig } from './config.ts'
import { createNotifier } from './service.ts'

process.exit(
  await runProcess({
    name: 'notifier',
    schema: notifierConfig,
    environment: process.env,
    create: createNotifier,
    prepare: requireMigration(newestMigration),
  }),
)
