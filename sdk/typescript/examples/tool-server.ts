import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

/** A server of two tools over standard input and output. `read_level` fails for an unknown gate. */
const levels: Readonly<Record<string, number>> = { 'upper gate': 3.2, 'lower gate': 1.1 }

const server = new McpServer({ name: 'gates', version: '1.0.0' })
server.registerTool(
  'read_level',
  { description: 'The water level at a gate, in metres', inputSchema: { gate: z.string() } },
  ({ gate }) => {
    const level = levels[gate]
    if (level === undefined) throw new Error(`there is no gate ${gate}`)
    return { content: [{ type: 'text', text: `${level} m` }] }
  },
)
server.registerTool('list_gates', { description: 'The names of all gates' }, () => ({
  content: [{ type: 'text', text: Object.keys(levels).join(', ') }],
}))
await server.connect(new StdioServerTransport())
