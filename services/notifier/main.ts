import { runProcess } from '#runtime/run-process.ts'
import { notifierConfig } from './config.ts'
import { createNotifier } from './service.ts'

process.exit(
  await runProcess({
    name: 'notifier',
    schema: notifierConfig,
    environment: process.env,
    create: createNotifier,
  }),
)
