import { runProcess } from '#runtime/run-process.ts'
import { dashboardConfigSchema } from './config.ts'
import { createDashboard } from './service.ts'

process.exit(
  await runProcess({
    name: 'dashboard',
    schema: dashboardConfigSchema,
    environment: process.env,
    create: (config, dependencies) =>
      createDashboard(config, { ...dependencies, print: (text) => process.stdout.write(text) }),
  }),
)
