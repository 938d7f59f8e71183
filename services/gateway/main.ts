import { runProcess } from '#runtime/run-process.ts'
import { gatewayConfigSchema } from './config.ts'
import { createGateway } from './service.ts'

process.exit(
  await runProcess({
    name: 'gateway',
    schema: gatewayConfigSchema,
    environment: process.env,
    create: createGateway,
  }),
)
