import { writeSecretFiles } from './stack/secret-files.ts'
import { runCommand } from './stack/run-command.ts'

/** Run by docker-compose.kafka.yml before everything else. Its two folders are volumes. */
const [services = '/var/lib/sluice/secrets', gateway = '/var/lib/sluice/gateway'] = process.argv.slice(2)

await runCommand(async () => {
  await writeSecretFiles({ services, gateway }, process.env)
  console.log('secrets are written')
})
