import { createAgencyDetector } from '../agency/detect-agency.ts'
import { detectCall } from './detect-call.ts'

/** The verdict on a shell tool called with this command. */
export const recordShellCall = (command: string) =>
  detectCall(
    createAgencyDetector,
    { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command } },
    { output: 'done' },
  )

/** The verdict on an answer that calls for a command after a user's request. */
export const answerWithCommand = (command: string, asked: string) =>
  detectCall(
    createAgencyDetector,
    { messages: [{ role: 'user', content: asked }] },
    {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'sh', arguments: JSON.stringify({ command }) } },
            ],
          },
        },
      ],
    },
  )
