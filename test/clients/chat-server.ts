// The server that the clients talk to: an agent with a scripted model, a tool that has to be allowed, and one that works until the
// test lets it go.

import { serverTool } from '../../src/tools/testing/server-tool.ts'
import { startAgentFiles } from '../e2e/agent-files-app.ts'

const filesWith = (tools: string) => ({
  'agent.yaml': `
name: clerk
description: Notes things.
model: { provider: scripted, script: script.json }
instructions: Note.
approval: { by: owner }
${tools}
`,
  'script.json': {
    answers: [
      { when: { tool: 'note' }, parts: [{ text: 'That is settled.' }] },
      { when: { tool: 'set_background' }, parts: [{ text: 'I have painted it.' }] },
      { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
      { when: { user: 'hello' }, parts: [{ text: 'Good ' }, { text: 'day.' }] },
      { when: { user: 'first question' }, parts: [{ text: 'First answer.' }] },
      { when: { user: 'second question' }, parts: [{ text: 'Second answer.' }] },
      { when: { user: 'better question' }, parts: [{ text: 'Better answer.' }] },
      { when: { user: 'note it' }, parts: [{ tool_call: { name: 'note', arguments: { to: 'bob' } } }] },
      { when: { user: 'look out' }, parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look' } }] },
      { when: { user: 'paint' }, parts: [{ tool_call: { name: 'set_background', arguments: { color: 'teal' } } }] },
      { when: { user: 'talk on' }, parts: [{ text: 'Once upon a time' }, { hang: true }] },
      { when: { user: 'what is this' }, parts: [{ text: 'A dot.' }] },
      {
        when: { user: 'fail' },
        parts: [{ error: { code: 'model_failed', message: 'The provider is out of order.' } }],
      },
    ],
  },
})

/** `tools`: lines of the agent's file, for clients that bring no tools of their own. */
export async function startChatServer(flags: Readonly<Record<string, string>> = {}, tools = '') {
  const noted: string[] = []
  const ship = Promise.withResolvers<string>()
  const note = serverTool({
    name: 'note',
    description: 'Notes something down.',
    parameters: { type: 'object', properties: { to: { type: 'string' } } },
    risk: 'low',
    approval: { ask: 'always' },
    call: async ({ arguments: { to } }) => {
      noted.push(String(to))
      return { content: `noted ${to}`, isError: false }
    },
  })
  const look = serverTool({
    name: 'look',
    description: 'Looks out.',
    effect: 'read',
    call: async ({ voice }) => {
      voice.activity('watch', 'watch', { side: 'starboard' })
      return { content: await ship.promise, isError: false }
    },
  })
  const app = await startAgentFiles(filesWith(tools), { tools: [note, look], flags })
  const made = await fetch(`${app.url}/tokens`, {
    method: 'POST',
    headers: { ...app.asOperator, 'Content-Type': 'application/json' },
    body: JSON.stringify({ role: 'user' }),
  })
  const { token } = (await made.json()) as { token: string }
  return {
    ...app,
    /** What the person at the page has been given. */
    userToken: token,
    /** What the tool `note` has done. */
    noted,
    /** Lets the tool `look` come to its end. */
    showShip: () => ship.resolve('a ship'),
  }
}
