import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readUpstreamsFile } from './upstreams-file.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-upstreams-'))
  await writeFile(join(directory, 'secret'), 'from-file\n')
})
afterAll(() => rm(directory, { recursive: true }))

async function read(text: string, needsCredentials = false) {
  const file = join(directory, 'upstreams.yaml')
  await writeFile(file, text.replaceAll('DIR', directory))
  return readUpstreamsFile(file, { KEY: 'from-environment', EMPTY: '', BAD: 'a\nb' }, needsCredentials)
}

const entry = (more: string) =>
  `upstreams:\n  - name: one\n    url: https://one.example.com\n    hosts: [a]\n${more}`

test('secrets come from the environment or from files; JSON is read too', async () => {
  const text = JSON.stringify({
    upstreams: [
      { name: 'a', url: 'https://a.test', port: 1, credentials: { key: { env: 'KEY' }, header: 'api-key' } },
      {
        name: 'b',
        url: 'https://b.test/base',
        credentials: { token_url: 'https://t.test', client_id: 'i', client_secret: { file: 'DIR/secret' } },
      },
    ],
  })
  expect((await read(text, true)).map(({ credentials }) => credentials)).toEqual([
    { kind: 'key', key: 'from-environment', header: 'api-key' },
    { kind: 'client', url: 'https://t.test', clientId: 'i', clientSecret: 'from-file', scope: undefined },
  ])
})

test('an MCP server needs no credentials, under any GATEWAY_AUTH', async () => {
  const [server] = await read(entry('    kind: mcp'), true)
  expect(server).toMatchObject({ kind: 'mcp', credentials: undefined })
  await expect(read(entry('    kind: model'), true)).rejects.toThrow(/credentials: is needed/)
})

test.each([
  ['', /the file: .*expected object/],
  ['upstreams: []', /upstreams: /],
  ['{', /upstreams\.yaml: /],
  [entry('    conections: 5'), /upstreams\.0: .*conections/],
  [entry('    path_prefix: openai'), /upstreams\.0\.path_prefix: expected a path such as \/openai/],
  [entry('    path_prefix: /openai/'), /upstreams\.0\.path_prefix: expected a path/],
  [entry('    connections: 0'), /upstreams\.0\.connections: /],
  [entry('  - name: one\n    url: https://x.test'), /upstreams\.1\.name: one comes twice/],
  [
    'upstreams:\n  - {name: all, url: "https://x.test"}\n  - {name: b, url: "https://y.test", port: 1}',
    /upstreams\.0\.name: all matches every request/,
  ],
  ['upstreams: [{name: a, url: "https://u:p@x.test"}]', /upstreams\.0\.url: must not contain/],
  [
    'upstreams: [{name: a, url: "https://x.test", hosts: ["A:80"]}]',
    /upstreams\.0\.hosts\.0: expected a host/,
  ],
  [
    entry('    credentials: {key: {env: NONE}}'),
    /upstreams\.0\.credentials: expected in NONE .* found nothing/,
  ],
  [entry('    credentials: {key: {env: EMPTY}}'), /expected in EMPTY .* found nothing/],
  [entry('    credentials: {key: {env: BAD}}'), /expected in BAD a secret that a header may hold/],
  [entry('    credentials: {key: {file: DIR/none}}'), /upstreams\.0\.credentials: .*ENOENT/],
  [entry('    credentials: {key: written-here}'), /upstreams\.0\.credentials/],
])('%j is refused by the name of its fault', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message)
})

test("where callers use projects' keys, an upstream without credentials is refused", async () => {
  await expect(read(entry(''), true)).rejects.toThrow(/upstreams\.0\.credentials: is needed/)
  expect(await read(entry(''))).toHaveLength(1)
})
