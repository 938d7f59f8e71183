import { createAgencyDetector } from '../scoring/agency/detect-agency.ts'
import { detectCall } from './detect-call.ts'

/** What is said of a command that a shell's tool was called with. */
export const recordShellCall = (command: string) =>
  detectCall(
    createAgencyDetector,
    { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command } },
    { output: 'done' },
  )

/** What is said of a model's answer that calls for a command, after somebody asked for something. */
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
