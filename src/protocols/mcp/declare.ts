import type { DeclaredDoor } from '../../domain/settings/door.ts'

export const mcp = {
  name: 'mcp',
  title: 'MCP',
  home: ['POST /mcp', 'MCP, for coding agents that you supervise'],
  banner({ url, program, dataDirFlag, hasOperator }) {
    // Without an operator nobody can connect an agent, or answer it.
    if (!hasOperator) return []
    return [
      `${url}/mcp`,
      `to connect a coding agent: ${program} connect claude --url ${url}`,
      `to answer it: ${program} ctl watch${dataDirFlag}`,
    ]
  },
} as const satisfies DeclaredDoor
