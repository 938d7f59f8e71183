import { runProcess } from '#runtime/run-process.ts'
import { ingestConfigSchema } from './config.ts'
import { createIngest } from './service.ts'

process.exit(
  await runProcess({
    name: 'ingest',
    schema: ingestConfigSchema,
    environment: process.env,
    create: createIngest,
  }),
)
