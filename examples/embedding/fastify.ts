// Quarterdeck inside a Fastify app, under /agent.
//   node examples/embedding/fastify.ts

import { join } from 'node:path'
import fastify, { type RouteHandlerMethod } from 'fastify'
// In your own project: from 'quarterdeck'
import { createQuarterdeck, type QuarterdeckOptions } from '../../src/index.ts'

export async function serve(port: number, options: QuarterdeckOptions = {}) {
  const quarterdeck = createQuarterdeck({
    agent: join(import.meta.dirname, 'agent.yaml'),
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

if (import.meta.main) {
  const { close } = await serve(3000)
  process.once('SIGTERM', close)
}
