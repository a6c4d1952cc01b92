import type { McpServerSettings } from '../../../domain/agent/tool-settings.ts'

/** Settings of a server with all defaults. Its command does not exist. */
export function mcpSettings(changes: Partial<McpServerSettings> = {}): McpServerSettings {
  return {
    type: 'mcp',
    written: [],
    name: 'sample',
    connection: { kind: 'stdio', command: '/no/such/command', args: [], env: {}, directory: import.meta.dirname },
    allow: null,
    deny: [],
    prefix: '',
    trustHints: false,
    resources: false,
    prompts: false,
    tools: {},
    effect: 'once',
    risk: 'high',
    timeoutMs: 30_000,
    retries: 0,
    approval: null,
    predictState: [],
    ...changes,
  }
}
