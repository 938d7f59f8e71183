import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { redteamConfig } from './config.ts'
import { createRedteam } from './service.ts'

process.exit(
  await runProcess({
    name: 'redteam',
    schema: redteamConfig,
    environment: process.env,
    create: createRedteam,
    prepare: requireMigration(newestMigration),
  }),
)
