// An OpenAI-style model server that a test controls. It answers with the name of the agent and the question, and can be held in the
// middle of its answer. It uses a socket like a real one, so that the test can read what the server sends to its model.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

const RequestSchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
})

export type Told = { role: string; content: string }

export interface ModelServer {
  readonly baseUrl: string
  /** The messages of each request, without the instructions. */
  readonly told: readonly (readonly Told[])[]
  /** Releases answers to `hold`: those that are held now, or the next one. */
  release(): void
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * `hold`: says "Wait" and nothing more until it is released. `fail`: breaks off after "Well". `look`: calls the tool of that name.
 * To anything else it answers with its own name and the question.
 */
export async function startModelServer(): Promise<ModelServer> {
  const told: Told[][] = []
  let gate = Promise.withResolvers<void>()

  async function answer(reply: ServerResponse, { model, messages }: z.infer<typeof RequestSchema>): Promise<void> {
    const say = (delta: object, finish_reason: string | null = null) =>
      reply.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`)
    const last = messages.at(-1)
    const asked = last?.content ?? ''
    reply.writeHead(200, { 'Content-Type': 'text/event-stream' })
    if (last?.role === 'tool') {
      say({ content: 'I see ' })
      say({ content: `${asked}.` })
    } else if (asked === 'look') {
      say({ content: 'Let me see.' })
      const call = {
        index: 0,
        id: `call_${told.length}`,
        type: 'function',
        function: { name: 'look', arguments: '{}' },
      }
      say({ tool_calls: [call] })
      say({}, 'tool_calls')
      return void reply.end('data: [DONE]\n\n')
    } else if (asked === 'fail') {
      say({ content: 'Well' })
      return void reply.write('', () => reply.destroy())
    } else if (asked === 'hold') {
      say({ content: 'Wait' })
      await gate.promise
      gate = Promise.withResolvers()
      say({ content: ' is over.' })
    } else {
      say({ content: `${model}: ` })
      say({ content: asked })
    }
    say({}, 'stop')
    reply.end('data: [DONE]\n\n')
  }

  const server = createServer(async (request, reply) => {
    if (request.method !== 'POST') return void reply.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    const asked = RequestSchema.parse(await json(request))
    told.push(
      asked.messages.flatMap(({ role, content }) => (role === 'system' ? [] : [{ role, content: content ?? '' }])),
    )
    await answer(reply, asked)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    told,
    release: () => gate.resolve(),
    [Symbol.asyncDispose]: async () => {
      gate.resolve()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
