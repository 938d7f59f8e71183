import { runProcess } from '#runtime/run-process.ts'
import { sinkConfig } from './config.ts'
import { createSink } from './service.ts'

process.exit(
  await runProcess({ name: 'sink', schema: sinkConfig, environment: process.env, create: createSink }),
)
