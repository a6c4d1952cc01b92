// The agent of the replicas: it talks, it does something that must not happen twice, and it asks before it does it.

import type { YardOptions } from '../../crash/support/start-server.ts'

const source = `
import { appendFileSync } from 'node:fs'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function write(name: string, context: { callId: string; session: string }) {
  await pause(100)
  appendFileSync('ledger', context.callId + ' ' + context.session + ' ' + process.pid + '\\n')
  await pause(100)
  return name + ' is done.'
}

export const charge = (_: object, context: { callId: string; session: string }) => write('The charge', context)
export const pay = (_: object, context: { callId: string; session: string }) => {
  appendFileSync('begun', process.pid + '\\n')
  return write('The payment', context)
}
`

const tool = {
  type: 'function',
  file: 'ledger.ts',
  description: 'Writes a line into the ledger: an effect that must not come twice.',
  parameters: {},
  effect: 'once',
  timeout: '60s',
}

const TOKENS = { text: 'tok ', repeat: 25, delay_ms: 80 }

export const workshop: YardOptions = {
  files: { 'ledger.ts': source },
  agent: {
    tools: [
      { ...tool, name: 'charge', approval: 'never' },
      { ...tool, name: 'pay', approval: 'always' },
    ],
  },
  answers: [
    {
      when: 'Please charge',
      parts: [{ text: 'I will. ', repeat: 5, delay_ms: 50 }, { tool_call: { name: 'charge' } }],
    },
    { when: 'Please pay', parts: [{ text: 'I ask. ', repeat: 5, delay_ms: 50 }, { tool_call: { name: 'pay' } }] },
    { parts: [TOKENS] },
  ],
}
