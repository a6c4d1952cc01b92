import type { ToolSettings } from '../domain/agent/tool-settings.ts'

/** Like `2 tools, 1 MCP server`. Only asking a server, or reading a document, would show how many tools it has. */
export function toolCount(tools: readonly ToolSettings[]): string {
  const servers = tools.filter(({ type }) => type === 'mcp').length
  const documents = tools.filter(({ type }) => type === 'openapi').length
  const single = tools.length - servers - documents
  const parts = [
    ...(single > 0 || tools.length === 0 ? [counted(single, 'tool')] : []),
    ...(servers > 0 ? [counted(servers, 'MCP server')] : []),
    ...(documents > 0 ? [counted(documents, 'OpenAPI file')] : []),
  ]
  return parts.join(', ')
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
