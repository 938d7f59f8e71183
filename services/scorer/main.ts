import { runProcess } from '#runtime/run-process.ts'
import { scorerConfig } from './config.ts'
import { createScorer } from './service.ts'

process.exit(
  await runProcess({ name: 'scorer', schema: scorerConfig, environment: process.env, create: createScorer }),
)
