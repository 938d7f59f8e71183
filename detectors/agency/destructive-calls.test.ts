import { describe, expect, test } from '@jest/globals'
import { detectCall } from '../testing/detect-call.ts'
import { answerWithCommand, recordShellCall } from '../testing/shell-calls.ts'
import { createAgencyDetector } from './detect-agency.ts'

describe('destructive arguments', () => {
  test.each([
    ['rm -rf /', 5],
    ['sudo rm -fr --no-preserve-root /*', 5],
    ['rm -rf /data', 4],
    ['DROP DATABASE production;', 5],
    ['DROP TABLE users', 4],
    ['DELETE FROM orders;', 4],
    ['DELETE FROM orders WHERE 1=1', 4],
    ['git push --force origin main', 4],
    ['terraform destroy -auto-approve', 5],
    ['dd if=/dev/zero of=/dev/sda', 5],
    ['aws s3 rm s3://backups --recursive', 5],
    ['rm --recursive --force /srv/data', 4],
    ['rm -rf dist /etc', 5],
    ['find /data -exec rm -rf {} +', 4],
    ['ls | xargs rm', 4],
    ['echo "rm -rf /" | sh', 5],
    ['echo cm0gLXJmIC8K | base64 -d | sh', 5],
    [`awk 'BEGIN { system("rm -rf /") }'`, 5],
    ['print(os.system("rm -rf /data"))', 4],
    ['git push -f', 4],
    ['git push origin +main', 4],
    ['kubectl -n prod delete deployment --all', 5],
    ['aws dynamodb delete-table --table-name users', 4],
    ['redis-cli -h prod FLUSHDB', 5],
    ['Remove-Item C:\\Data -Recurse -Force', 4],
    ["require('fs').rmSync('/data', { recursive: true })", 4],
    ['await prisma.user.deleteMany({})', 4],
    ['DROP/**/TABLE users', 4],
    ['DELETE FROM public.users -- all', 4],
    ["DELETE FROM users WHERE '1'='1'", 4],
    ['UPDATE users SET admin = true', 4],
    ['WITH gone AS (DELETE FROM users RETURNING *) SELECT 1', 4],
  ])('%s', (command, value) => {
    expect(recordShellCall(command)).toMatchObject({ value })
    expect(answerWithCommand(command, 'How is the weather?')).toMatchObject({ value })
  })

  test('evidence says where', () => {
    expect(recordShellCall('ls; rm -rf /data')).toMatchObject({
      evidence: [{ part: 'request_body', pointer: '/arguments/command', start: 4, kind: 'deletes_files' }],
    })
  })

  test('evidence says where, in JSON text behind escapes', () => {
    const json = JSON.stringify({ note: 'é "x"', command: 'echo "a\\n" && rm -rf /data' })
    const call = { id: 'c', type: 'function', function: { name: 'sh', arguments: json } }
    const finding = detectCall(createAgencyDetector, {}, { choices: [{ message: { tool_calls: [call] } }] })
    const start = json.indexOf('rm -rf')
    expect(finding).toMatchObject({ evidence: [{ start, end: start + 'rm -rf /data'.length }] })
  })

  test('in a program that the provider runs', () => {
    const output = [{ type: 'program', call_id: 'c', code: 'os.system("rm -rf /data")' }]
    expect(detectCall(createAgencyDetector, {}, { output })).toMatchObject({
      value: 4,
      evidence: [{ pointer: '/output/0/code' }],
    })
  })

  test('in a list of words', () => {
    const command = ['rm', '-rf', '/data']
    const given = { type: 'mcp_tool_call', tool_name: 'run', arguments: { command } }
    expect(detectCall(createAgencyDetector, given)).toMatchObject({
      value: 4,
      evidence: [{ pointer: '/arguments/command/0', start: 0, end: 2 }],
    })
    expect(
      detectCall(
        createAgencyDetector,
        {},
        { output: [{ type: 'function_call', name: 'run', arguments: JSON.stringify({ command }) }] },
      ),
    ).toMatchObject({ value: 4 })
  })

  test.each([
    ['bash', { query: 'rm -rf /data' }],
    ['runShell', { text: 'rm -rf /data' }],
    ['python_repl', { content: "shutil.rmtree('/data')" }],
    ['execute_sql', { text: 'DROP TABLE users' }],
    ['lookup', { query: "x'; DROP TABLE users; --" }],
  ])('in what %s carries out under any name: %p', (tool, given) => {
    expect(
      detectCall(createAgencyDetector, { type: 'mcp_tool_call', tool_name: tool, arguments: given }),
    ).toMatchObject({ value: 4 })
    const call = { id: 'c', type: 'function', function: { name: tool, arguments: JSON.stringify(given) } }
    expect(
      detectCall(createAgencyDetector, {}, { choices: [{ message: { tool_calls: [call] } }] }),
    ).toMatchObject({ value: 4 })
  })

  test('in the shape of messages', () => {
    const response = {
      content: [{ type: 'tool_use', id: 't', name: 'sql', input: { query: 'DROP TABLE users' } }],
    }
    expect(detectCall(createAgencyDetector, {}, response)).toMatchObject({
      value: 4,
      evidence: [{ part: 'response_body', pointer: '/content/0/input/query', start: 0 }],
    })
  })
})
