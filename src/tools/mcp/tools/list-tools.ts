import type { Logger } from '../../../domain/logger.ts'
import { type McpConnection, NO_TIMEOUT_MS } from '../connection/mcp-connection.ts'
import { type ListedTool, readListedTool, toolPageSchema } from './listed-tool.ts'

const MAX_TOOLS = 500
const MAX_PAGES = 100
const SHOWN_PROBLEMS = 10

/** The wanted of what the server offers now, up to a bound: every tool costs the model something. */
export async function listTools(
  connection: McpConnection,
  wanted: (name: string) => boolean,
  log: Logger,
  signal: AbortSignal,
): Promise<ListedTool[]> {
  const tools: ListedTool[] = []
  const broken: string[] = []
  let tooMany = false
  for await (const listed of offered(connection, signal)) {
    const tool = readListedTool(listed)
    if (!wanted(tool.name)) continue
    tooMany = tools.length === MAX_TOOLS
    if (tooMany) break
    if ('problem' in tool) broken.push(`${tool.name}: ${tool.problem}`)
    else tools.push(tool)
  }
  if (tooMany) {
    log.warn(
      `The MCP server has more than ${MAX_TOOLS} tools; the rest is left out. Choose with \`allow\` and \`deny\`.`,
    )
  }
  if (broken.length > 0) {
    log.warn('Some tools of the MCP server cannot be used and are left out.', {
      count: broken.length,
      problems: broken.slice(0, SHOWN_PROBLEMS),
    })
  }
  return tools
}

async function* offered(connection: McpConnection, signal: AbortSignal): AsyncIterable<unknown> {
  if (connection.capabilities.tools === undefined) return
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // Not the SDK's listTools: that refuses the whole list for one bad tool, and a list without end.
    const answer = await connection.client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      toolPageSchema,
      { signal, timeout: NO_TIMEOUT_MS },
    )
    yield* answer.tools
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) return
    cursor = answer.nextCursor
  }
}
