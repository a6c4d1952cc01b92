// The server that the client libraries talk to, with a model that follows a script.

import { serverTool } from '../../../src/tools/testing/server-tool.ts'
import { startScriptedApp } from '../../e2e/scripted-app.ts'

export type House = Awaited<ReturnType<typeof openHouse>>

/** Kinds of call by name. Each throws if the library does not get what it should. */
export type Calls = Readonly<Record<string, (house: House) => Promise<void>>>

const usage = { usage: { input: 5, output: 2 } }
const paint = (part: string) => ({ tool_call: { name: 'paint', arguments: { colour: 'red', part } } })

const answers = [
  { when: { user: 'hello' }, parts: [{ text: 'Good ' }, { text: 'day.' }, usage] },
  { when: { user: 'again' }, parts: [{ text: 'Said again.' }] },
  { when: { user: 'third' }, parts: [{ text: 'Third.' }] },
  { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
  { when: { user: 'look' }, parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: {} } }] },
  { when: { tool: 'paint' }, parts: [{ text: 'It is red.' }] },
  { when: { user: 'paint' }, parts: [{ text: 'Here goes.' }, paint('door'), paint('wall')] },
  { when: { user: 'talk' }, times: 1, parts: [{ text: 'I would rather talk.' }] },
  { when: { user: 'talk' }, parts: [paint('door')] },
  { when: { user: 'json' }, times: 1, parts: [{ text: 'Red, I think.' }] },
  { when: { user: 'json' }, parts: [{ text: '{"colour":"red"}' }] },
  { when: { user: 'list' }, parts: [{ text: '{"elements":[{"colour":"red"},{"colour":"blue"}]}' }] },
  { when: { user: 'choose' }, parts: [{ text: '{"result":"red"}' }] },
  { when: { user: 'see' }, parts: [{ text: 'I see it.' }] },
  { when: { user: 'long' }, parts: [{ text: 'And so' }], finish: 'length' as const },
  { when: { user: 'refuse' }, parts: [{ text: 'Well' }, { error: { code: 'model_refused' as const } }] },
  { when: { user: 'busy' }, parts: [{ error: { code: 'model_rate_limited' as const, retryable: true } }] },
  { when: { user: 'dead' }, parts: [{ error: { code: 'model_auth_failed' as const } }] },
  { when: { user: 'refund' }, parts: [{ tool_call: { name: 'refund', arguments: {} } }] },
  { when: { user: 'wait' }, parts: [{ text: 'Well' }, { hang: true as const }] },
]

/** Ends with `await using`. */
export async function openHouse() {
  const call = async () => ({ content: 'a ship', isError: false })
  const look = serverTool({ name: 'look', description: 'Looks out.', effect: 'read', call })
  const refund = serverTool({ name: 'refund', description: 'Pays back.', call, approval: { ask: 'always' } })
  const app = await startScriptedApp(answers, [look, refund], null, ['image'])
  return {
    ...app,
    /** For every library: its base URL, and a key that the server does not know. */
    options: { baseURL: `${app.url}/v1`, apiKey: 'sk-anything' },
    runs: () => app.engine.stats().runsStarted,
    /** Messages of each session, the newest session first. */
    sessions: async () =>
      (await app.engine.sessions.list({ owner: 'local_user', limit: 10 })).map(({ messageCount }) => messageCount),
  }
}

export const paintSchema = {
  type: 'object' as const,
  properties: { colour: { type: 'string' as const }, part: { type: 'string' as const } },
  required: ['colour', 'part'],
  additionalProperties: false as const,
}

export const colourSchema = {
  type: 'object' as const,
  properties: { colour: { type: 'string' as const } },
  required: ['colour'],
  additionalProperties: false as const,
}

export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
