import { runProcess } from '#runtime/run-process.ts'
import { redteamConfig } from './config.ts'
import { createRedteam } from './service.ts'

process.exit(
  await runProcess({
    name: 'redteam',
    schema: redteamConfig,
    environment: process.env,
    create: createRedteam,
  }),
)
