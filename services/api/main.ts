import { runProcess } from '#runtime/run-process.ts'
import { apiConfigSchema } from './config.ts'
import { createApi } from './service.ts'

process.exit(
  await runProcess({ name: 'api', schema: apiConfigSchema, environment: process.env, create: createApi }),
)
