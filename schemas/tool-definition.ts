/** What an MCP server says of one of its tools. */
export interface ToolDefinition {
  /** The server's name among the gateway's upstreams. */
  server: string
  tool: string
  /** SHA-256 of name, description, schemas and annotations. */
  hash: string
}

export const toolDefinitionAvro = {
  type: 'record',
  name: 'ToolDefinition',
  namespace: 'sluice',
  fields: [
    { name: 'server', type: 'string' },
    { name: 'tool', type: 'string' },
    { name: 'hash', type: 'string' },
  ],
} as const
