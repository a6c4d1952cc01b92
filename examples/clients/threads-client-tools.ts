// The threads protocol with tools that run here, at the client. The stream asks for a tool, the client sends the result in a POST,
// and the same stream continues. Such tools are in agent.yaml with `type: client`.
//   node examples/clients/threads-client-tools.ts [url]

import { hostname } from 'node:os'

const url = process.argv[2] ?? process.env.QUARTERDECK_URL ?? 'http://127.0.0.1:8000'
const message = process.argv[3] ?? 'What is this machine called?'
const token = process.env.QUARTERDECK_TOKEN
const print = (text: string) => process.stdout.write(text)

type ThreadEvent =
  | { event: 'token'; token: string }
  | { event: 'tool_start'; tool_name: string; arguments: Record<string, unknown> }
  | { event: 'tool_end'; tool_name: string; result: string | null; error?: string }
  | ToolExecutionRequest
  | { event: 'tool_execution_complete'; execution_id: string }
  | { event: 'message_complete'; thread_id: string; status?: 'waiting' }
  | { event: 'error'; error_type: string; error_message: string }

interface ToolExecutionRequest {
  event: 'tool_execution_request'
  execution_id: string
  tool_name: string
  arguments: Record<string, unknown>
}

/** The tools of this client. A Map, because the names come from the server: "__proto__" must be an ordinary key. */
const tools = new Map<string, (args: Record<string, unknown>) => unknown>([
  ['hostname', () => hostname()],
  ['local_time', () => new Date().toISOString()],
])

const post = (path: string, body: unknown, accept: string) =>
  fetch(url + path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: accept,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })

async function execute({ execution_id, tool_name, arguments: args }: ToolExecutionRequest): Promise<void> {
  const began = performance.now()
  let outcome: { result: unknown } | { error: string }
  try {
    const tool = tools.get(tool_name)
    if (tool === undefined) throw new Error(`This client has no tool ${tool_name}.`)
    outcome = { result: await tool(args) }
  } catch (error) {
    outcome = { error: error instanceof Error ? error.message : String(error) }
  }
  print(`[${tool_name} ran here: ${JSON.stringify(outcome)}]\n`)
  const execution_time_ms = Math.round(performance.now() - began)
  const answer = await post('/tool_result', { execution_id, ...outcome, execution_time_ms }, 'application/json')
  // 409: somebody else sent a result first. 410: the server stopped waiting. The stream shows how the run continues.
  if (!answer.ok) print(`[the result was refused: ${await answer.text()}]\n`)
}

async function* events(response: Response): AsyncGenerator<ThreadEvent> {
  let buffer = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    const frames = buffer.split('\n\n')
    buffer = frames.pop() ?? ''
    for (const frame of frames) {
      const data = frame.split('\n').find((line) => line.startsWith('data: '))
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length))
    }
  }
}

const response = await post('/chat', { message, stream: true }, 'text/event-stream')
if (!response.ok) throw new Error(await response.text())

for await (const event of events(response)) {
  switch (event.event) {
    case 'token':
      print(event.token)
      break
    case 'tool_start':
      print(`[${event.tool_name} runs at the server]\n`)
      break
    case 'tool_end':
      print(`[${event.tool_name}: ${event.error ?? event.result}]\n`)
      break
    case 'tool_execution_request':
      // Not awaited, because the stream goes on and a step may ask for several tools at once.
      execute(event).catch((error: unknown) => print(`[${event.tool_name}: ${String(error)}]\n`))
      break
    case 'tool_execution_complete':
      break
    case 'message_complete':
      print(event.status === 'waiting' ? '\nthe run waits for a person\n' : `\nthread ${event.thread_id} is complete\n`)
      break
    case 'error':
      print(`\n${event.error_type}: ${event.error_message}\n`)
      process.exitCode = 1
      break
  }
}
