import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { apiConfigSchema } from './config.ts'
import { createApi } from './service.ts'

process.exit(
  await runProcess({
    name: 'api',
    schema: apiConfigSchema,
    environment: process.env,
    create: (config, dependencies) => createApi(config, { ...dependencies, environment: process.env }),
    prepare: requireMigration(newestMigration),
  }),
)
