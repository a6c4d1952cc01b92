// Skills as a model meets them: the list in the instructions, the tool, and what a sub-agent has.

import { expect, test } from 'vitest'
import { LOCAL_USER } from '../../src/domain/session/session.ts'
import { startAgentFiles } from './agent-files-app.ts'

const call = (name: string, args: object) => ({ parts: [{ tool_call: { name, arguments: args } }] })

const files = {
  'agent.yaml': `
name: clerk
model: { provider: scripted, script: script.json }
instructions: Help.
approval: { default: always }
skills: ./skills
tools:
  - { type: agent, name: ask_helper, agent: helper.yaml, approval: never }
`,
  'helper.yaml': `
name: helper
description: Helps the clerk with letters.
model: { provider: scripted, script: helper.json }
instructions: Help the clerk.
skills: ./others
`,
  'skills/letters/SKILL.md': '---\nname: letters\ndescription: Writes letters.\n---\nRead form.md first.',
  'skills/letters/form.md': 'Dear {name},',
  'others/stamps/SKILL.md': '---\nname: stamps\ndescription: Chooses stamps.\n---\nTake the blue one.',
  'script.json': {
    answers: [
      call('load_skill', { name: 'letters' }),
      call('load_skill', { name: 'letters', file: 'form.md' }),
      call('load_skill', { name: 'letters', file: '../../agent.yaml' }),
      call('load_skill', { name: 'stamps' }),
      call('ask_helper', { message: 'Which stamp?' }),
      { parts: [{ text: 'Done.' }] },
    ],
  },
  'helper.json': {
    answers: [call('load_skill', { name: 'stamps' }), { when: { tool: 'load_skill' }, parts: [{ text: 'Blue.' }] }],
  },
}

test('an agent reads its skills without being asked about it, and nothing else', async () => {
  await using app = await startAgentFiles(files)
  const asked = await fetch(`${app.url}/chat`, {
    method: 'POST',
    headers: { ...app.asOwner, 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Write a letter.' }),
  })
  const { session_id, ...answer } = (await asked.json()) as { session_id: string; message: string }
  expect(answer).toMatchObject({ message: 'Done.' })

  const entries = await app.engine.sessions.entries(session_id, 0, 1_000)
  const events = entries
    .filter(({ kind }) => kind === 'event')
    .map(({ seq, data }) => ({ seq, ...JSON.parse(String(data)) }))
  const results = events.flatMap(({ type, content }) => (type === 'TOOL_CALL_RESULT' ? [content] : []))
  expect(results).toEqual([
    expect.stringContaining('form.md (12 bytes)'),
    '[form.md of the skill letters. It was read, not run.]\nDear {name},',
    expect.stringContaining('has no file "../../agent.yaml"'),
    expect.stringContaining('The arguments do not fit'),
    expect.stringContaining('Take the blue one.'),
    'Blue.',
  ])

  const session = await app.engine.sessions.get(LOCAL_USER, session_id)
  const first = events.find(({ type }) => type === 'STEP_STARTED')
  const sent = await app.engine.sessions.readStep(session, first?.seq)
  expect(sent.request?.system).toMatch(/^Help\.\n\nYou have skills: .*\n- letters: Writes letters\.$/)
  expect(sent.version?.skills).toEqual([{ name: 'letters', digest: expect.stringMatching(/^[0-9a-f]{16}$/) }])
})
