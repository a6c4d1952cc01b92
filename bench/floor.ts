// The floor: the cost of only translating. No sessions, no log, no checks: the obvious node:http program, with one write per read.
// (One write per event would cost it a third more and make every ratio look better.)
//   node bench/floor.ts --model http://127.0.0.1:9199/v1 [--port 9198]

import { randomUUID } from 'node:crypto'
import { Agent, createServer, request, type Server } from 'node:http'
import { parseArgs } from 'node:util'
import { listen } from './listen.ts'

export function createFloor(modelUrl: string): Server {
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }

  const server = createServer((req, res) => {
    const parts: Buffer[] = []
    req.on('data', (part: Buffer) => parts.push(part))
    req.on('end', () => {
      const input = JSON.parse(Buffer.concat(parts).toString())
      const { threadId, runId } = input
      const messageId = randomUUID()
      const sse = (event: object) => `data: ${JSON.stringify(event)}\n\n`

      res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
      res.write(sse({ type: 'RUN_STARTED', threadId, runId }))
      const call = request(`${modelUrl}/chat/completions`, { method: 'POST', agent, headers }, (answer) => {
        let rest = ''
        res.write(sse({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }))
        answer.setEncoding('utf8')
        answer.on('data', (text: string) => {
          const frames = (rest + text).split('\n\n')
          rest = frames.pop() ?? ''
          let out = ''
          for (const frame of frames) {
            const data = frame.slice('data: '.length)
            if (data === '[DONE]') continue
            const delta = JSON.parse(data).choices[0]?.delta.content
            if (delta) out += sse({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
          }
          if (out) res.write(out)
        })
        answer.on('end', () => {
          res.end(sse({ type: 'TEXT_MESSAGE_END', messageId }) + sse({ type: 'RUN_FINISHED', threadId, runId }))
        })
      })
      call.on('error', (error) => res.end(sse({ type: 'RUN_ERROR', message: error.message })))
      call.end(JSON.stringify({ model: 'fake', stream: true, messages: input.messages }))
      res.on('close', () => call.destroy())
    })
  })
  return server.on('close', () => agent.destroy())
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '9198' }, model: { type: 'string' } } })
  if (values.model === undefined) throw new Error('Name the model server: --model http://127.0.0.1:9199/v1')
  process.stdout.write(`${JSON.stringify({ port: await listen(createFloor(values.model), Number(values.port)) })}\n`)
}
