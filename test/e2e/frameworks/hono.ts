// Quarterdeck inside a Hono app on Node, under /agent. docs/do/embed-in-your-server.md shows it.

import { join } from 'node:path'
import { type HttpBindings, serve as serveHono } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { createQuarterdeck, type QuarterdeckOptions } from 'quarterdeck'

export async function serve(port: number, options: QuarterdeckOptions = {}) {
  const quarterdeck = createQuarterdeck({
    agent: join(import.meta.dirname, '../../../examples/express/agent.yaml'),
    basePath: '/agent',
    ...options,
  })
  await quarterdeck.ready()

  const app = new Hono<{ Bindings: HttpBindings }>()
  const answer = (context: Context<{ Bindings: HttpBindings }>) => {
    quarterdeck.handler(context.env.incoming, context.env.outgoing)
    return RESPONSE_ALREADY_SENT
  }
  app.all('/agent', answer)
  app.all('/agent/*', answer)
  app.get('/', (context) => context.text('The agent is at /agent/'))
  const server = await new Promise<ReturnType<typeof serveHono>>((resolve) => {
    const listening = serveHono({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => resolve(listening))
  })

  async function close(): Promise<void> {
    await quarterdeck.close()
    server.close()
  }
  return { server, close }
}
