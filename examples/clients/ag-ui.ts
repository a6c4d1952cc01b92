// The official AG-UI client.
//   npm install @ag-ui/client
//   node examples/clients/ag-ui.ts [url]

import { randomUUID } from 'node:crypto'
import { HttpAgent } from '@ag-ui/client'

const url = process.argv[2] ?? process.env.QUARTERDECK_URL ?? 'http://127.0.0.1:8000'
const token = process.env.QUARTERDECK_TOKEN
const print = (text: string) => process.stdout.write(text)

const agent = new HttpAgent({
  // The default agent. For another one, use `${url}/agents/NAME`.
  url,
  threadId: randomUUID(),
  ...(token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }),
})

for (const content of ['Hello!', 'And again!']) {
  agent.addMessage({ id: randomUUID(), role: 'user', content })
  await agent.runAgent(
    {},
    {
      onTextMessageContentEvent: ({ event }) => void print(event.delta),
      onToolCallEndEvent: ({ toolCallName, toolCallArgs }) =>
        void print(`\n[${toolCallName} ${JSON.stringify(toolCallArgs)}]\n`),
      onRunErrorEvent: ({ event }) => void print(`\n${event.code}: ${event.message}`),
    },
  )
  print('\n')
}
print(`${agent.messages.length} messages in thread ${agent.threadId}\n`)
