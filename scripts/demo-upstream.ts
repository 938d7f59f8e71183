import { createDemoUpstream } from './stack/demo-upstream.ts'

const { PORT = '8090', HOST = '127.0.0.1' } = process.env

const server = createDemoUpstream()
server.listen(Number(PORT), HOST, () => {
  console.log(`the demonstration upstream listens on http://${HOST}:${PORT}`)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    server.close()
    server.closeIdleConnections()
  })
}
