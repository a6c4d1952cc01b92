// Quarterdeck inside an Express app, under /agent, with a tool in code.

import { join } from 'node:path'
import express from 'express'
import { codeTool, createQuarterdeck, createRedaction, type QuarterdeckOptions } from 'quarterdeck'
import { z } from 'zod'

const bookRoom = codeTool({
  name: 'book_room',
  description: 'Books a meeting room for a day. Use it when somebody asks for a room.',
  parameters: z.object({ room: z.string(), day: z.iso.date() }),
  // It has a real effect, so a person is asked first, and it never runs twice.
  effect: 'once',
  approval: 'always',
  run({ room, day }, { user }) {
    return `${room} is booked for ${user} on ${day}.`
  },
})

export async function serve(port: number, options: QuarterdeckOptions = {}) {
  const quarterdeck = createQuarterdeck({
    agent: join(import.meta.dirname, 'agent.yaml'),
    basePath: '/agent',
    tools: [bookRoom],
    middleware: [createRedaction([/sk-\w+/])],
    ...options,
  })
  // Start now, so that a mistake in the agent's file ends the program and does not fail the first request.
  await quarterdeck.ready()

  const app = express()
  // Before express.json(): Quarterdeck reads its bodies itself.
  app.use(quarterdeck.handler)
  app.use(express.json())
  app.get('/', (_request, response) => void response.send('The agent is at /agent/'))
  const server = app.listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))

  async function close(): Promise<void> {
    await quarterdeck.close()
    server.close()
  }
  return { server, close }
}

if (import.meta.main) {
  const port = Number(process.env.PORT ?? 3000)
  const { close } = await serve(port)
  process.once('SIGTERM', close)
  process.stdout.write(`The agent is at http://127.0.0.1:${port}/agent/\n`)
}
