// What the app of an MCP server asks for, when our own pages show it. AG-UI clients ask through `ag-ui/wire/answer-app.ts`.

import { ServerError } from '../../../domain/errors.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { starterOf, viewerOf } from '../../shared/request/caller.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { idOf, sessionParams, sessionTag } from './decode.ts'
import type { LogRoutesDeps } from './log-routes.ts'
import { AppAnswerSchema, AppRequestSchema } from './schema.ts'

export function createAppRoutes({ engine, oversight }: Pick<LogRoutesDeps, 'engine' | 'oversight'>): Route[] {
  async function ask(request: Request, reply: Reply): Promise<void> {
    const sent = validBody(AppRequestSchema, await request.json(), 'The request of the app cannot be used.')
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    // An operator may look at what others were shown, and does nothing in their name.
    if (sent.method === 'tools/call' && session.owner !== request.principal.owner) {
      throw new ServerError('forbidden', 'Only the owner of the session may let its apps call tools.')
    }
    reply.json(200, { result: await engine.apps.request(session, { ...sent, by: starterOf(request.principal) }) })
  }

  return [
    {
      ...routeHeads(null, 'user').post,
      path: '/sessions/:id/apps',
      summary: 'Ask for what an app of an MCP server needs',
      describe: () => ({
        tag: sessionTag,
        description:
          'For pages that show apps: `app` is the message id of an activity `mcp-apps`. Reads resources at `ui://`, and calls tools of the same server that are for apps, if no person has to approve. Calls are for the owner of the session.',
        params: sessionParams,
        body: {
          schema: AppRequestSchema,
          examples: {
            page: { app: 'call_1_app', method: 'resources/read', params: { uri: 'ui://weather/view.html' } },
            call: {
              app: 'call_1_app',
              method: 'tools/call',
              params: { name: 'refresh', arguments: { city: 'Hamburg' } },
            },
          },
        },
        responses: { 200: answer('What the MCP server answered.', AppAnswerSchema) },
        errors: [
          'invalid_request',
          'malformed_id',
          'session_not_found',
          'session_supervised',
          'message_not_found',
          'forbidden',
          'not_approved',
          'tool_unavailable',
          'tool_failed',
          'rate_limited',
          'storage_full',
          'storage_failed',
        ],
      }),
      handle: ask,
    },
  ]
}
