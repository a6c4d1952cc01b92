// Where the links in messages to operators lead. Until there is a web console, the page says where to answer. It holds no data: whoever
// has the link learns nothing from it.

import { z } from 'zod'
import { parseUuid } from '../../../domain/ids.ts'
import type { Route } from '../../route.ts'
import type { RouteDescription } from '../../route-description.ts'

export function createAnswerElsewhereRoutes(): Route[] {
  const shared = { method: 'GET', body: 'none', door: null, role: 'public', describe } as const
  return [
    {
      ...shared,
      path: '/console/inbox',
      summary: 'Says where to see and answer what waits for a person',
      handle: async (_request, reply) => reply.text(200, textFor(null), 'text/plain; charset=utf-8'),
    },
    {
      ...shared,
      path: '/console/inbox/:id',
      summary: 'Says where to see and answer one thing that waits for a person',
      handle: async (request, reply) => reply.text(200, textFor(request.params.id ?? ''), 'text/plain; charset=utf-8'),
    },
  ]
}

function textFor(given: string | null): string {
  const id = given === null ? null : parseUuid(given)
  return [
    id === null ? 'Something waits for a person.' : `This waits for a person: ${id}`,
    '',
    'There is no web console yet. On the machine of the server:',
    '',
    `  npx quarterdeck ctl ${id === null ? 'list' : `show ${id}`}`,
    `  npx quarterdeck ctl ${id === null ? 'watch' : `approve ${id}`}`,
    '',
    'Or answer where you were told of it, if you can, or over HTTP: GET /inbox.',
    '',
  ].join('\n')
}

const describe: RouteDescription = {
  params: { id: z.string().describe('Id of the record.') },
  errors: [],
  tag: 'Pages',
  description: 'The links in messages to operators lead here. It holds no data.',
  responses: {
    200: { description: 'A short text.', content: { 'text/plain; charset=utf-8': { schema: z.string() } } },
  },
}
