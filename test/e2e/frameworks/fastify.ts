// Quarterdeck inside a Fastify app, under /agent. docs/do/embed-in-your-server.md shows it.

import { join } from 'node:path'
import fastify, { type RouteHandlerMethod } from 'fastify'
import { createQuarterdeck, type QuarterdeckOptions } from 'quarterdeck'

export async function serve(port: number, options: QuarterdeckOptions = {}) {
  const quarterdeck = createQuarterdeck({
    agent: join(import.meta.dirname, '../../../examples/express/agent.yaml'),
    basePath: '/agent',
    ...options,
  })
  await quarterdeck.ready()

  const app = fastify()
  await app.register(async (scope) => {
    // Quarterdeck reads its bodies itself.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    const answer: RouteHandlerMethod = (request, reply) => {
      reply.hijack()
      quarterdeck.handler(request.raw, reply.raw)
    }
    scope.all('/agent', answer)
    scope.all('/agent/*', answer)
  })
  app.get('/', async () => 'The agent is at /agent/')
  await app.listen({ port, host: '127.0.0.1' })

  async function close(): Promise<void> {
    await quarterdeck.close()
    await app.close()
  }
  return { server: app.server, close }
}
