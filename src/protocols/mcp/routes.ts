import { ServerError } from '../../domain/errors.ts'
import type { Route } from '../../http/route.ts'
import { describeDelete, describeGet, describeMoved, describePost } from './describe.ts'
import type { McpDoor } from './mcp-door.ts'

export function createMcpRoutes({ door }: { door: Pick<McpDoor, 'handle'> }): Route[] {
  const mcp = { path: '/mcp', door: 'mcp', role: 'agent', handle: door.handle } as const
  return [
    { ...mcp, method: 'POST', body: 'files', summary: 'MCP: send a message', describe: describePost },
    { ...mcp, method: 'GET', body: 'none', summary: 'MCP: open or resume a stream', describe: describeGet },
    { ...mcp, method: 'DELETE', body: 'none', summary: 'MCP: end a session', describe: describeDelete },
    ...['/sse', '/messages'].flatMap((path) => [moved('GET', path), moved('POST', path)]),
  ]
}

/** The transport of 2024. A client that still tries it learns where to go. */
function moved(method: 'GET' | 'POST', path: string): Route {
  return {
    method,
    path,
    door: 'mcp',
    role: 'public',
    body: 'none',
    summary: 'MCP: a transport of 2024 that is not served',
    describe: describeMoved,
    async handle() {
      throw new ServerError(
        'route_moved',
        `${path} belongs to the HTTP+SSE transport of 2024, which is not served. Use Streamable HTTP at /mcp.`,
        { details: { location: '/mcp' } },
      )
    },
  }
}
