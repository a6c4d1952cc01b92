// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { agentTextProblems } from './agent-text-problems.ts'
import { createCheckAgentText } from './check-agent-text.ts'

const head = 'name: a\nmodel: { provider: demo }\ninstructions: hi\n'
const never = new AbortController().signal

describe('the text of an agent file', () => {
  test('is right, whatever its files and variables are', () => {
    const text = `name: \${NAME}
model: { provider: "\${PROVIDER}", temperature: "\${HOT}", api_key: "\${HOME}" }
instructions: { file: /etc/passwd }
tools:
  - { type: function, name: f, file: ./missing.ts }
  - { type: mcp, name: m, command: /bin/missing, args: ["\${ARGS}"] }
  - { type: agent, name: other, agent: ../other.yaml }
`
    expect(agentTextProblems(text)).toEqual([])
    expect(agentTextProblems(head)).toEqual([])
  })

  test('has its problems in order, each with its place', () => {
    expect(agentTextProblems('name: 1a\nmodel: { provider: opnai }\ntols: []\n')).toEqual([
      { line: 1, column: 1, path: 'instructions', message: expect.stringContaining('this key is missing') },
      { line: 1, column: 7, path: 'name', message: expect.stringContaining('expected a name') },
      { line: 2, column: 20, path: 'model.provider', message: expect.stringContaining('Did you mean openai?') },
      { line: 3, column: 1, path: 'tols', message: 'unknown key. Did you mean tools?' },
    ])
  })

  test.each([
    ['empty text', '', /the file is empty/],
    ['a tag', `${head}tools: !include /etc/passwd`, /Unresolved tag: !include/],
    ['a code tag', `${head}x: !!js/function "function () {}"`, /Unresolved tag/],
    ['an alias of itself', `${head}x: &x [*x]`, /contains itself/],
    ['aliases that blow up', `${head}a: &a [x,x,x,x,x,x,x,x,x]\n${bomb()}`, /expand to too many values/],
    ['deep nesting', `${head}x: ${'['.repeat(100_000)}`, /nested too deeply/],
    ['a second document', `${head}---\n`, /second document/],
    ['a secret, which is not repeated', 'name: a\nmodel: { provider: demo, api_key: [hunter2] }', /not shown here/],
  ])('with %s says what is wrong', (_, text, expected) => {
    const problems = agentTextProblems(text)
    expect(problems.map(({ message }) => message).join('\n')).toMatch(expected)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  test('has at most 50 problems', () => {
    const keys = Array.from({ length: 200 }, (_, n) => `key${n}: 1`).join('\n')
    expect(agentTextProblems(head + keys)).toHaveLength(50)
    expect(agentTextProblems(`${head}tools: [${'{},'.repeat(200)}]`)).toHaveLength(50)
  })

  test('opens none of the files that it names, imports nothing, starts nothing and reads no variable', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-check-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const marker = join(folder, 'marker')
    await writeFile(
      join(folder, 'tool.mjs'),
      `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(marker)}, '')`,
    )
    await writeFile(join(folder, 'empty.md'), '')
    const text = `name: a
model: { provider: scripted, script: ${folder}/missing.yaml, name: "\${PATH}" }
instructions: { file: ${folder}/empty.md }
tools:
  - { type: function, name: f, file: ${folder}/tool.mjs }
  - { type: mcp, name: m, command: touch, args: [${marker}] }
  - { type: agent, name: other, agent: ${folder}/empty.md }
  - { type: http, name: h, openapi: ${folder}/missing.json }
test_cases: [{ name: c, input: x, files: [${folder}/missing.txt] }]
`
    // A loader that looked would complain about the empty and the missing files, and about the variable in the name.
    expect(agentTextProblems(text)).toEqual([])
    expect(await createCheckAgentText({ clock: createSystemClock() })(text, never)).toEqual([])
    expect(existsSync(marker)).toBe(false)
  })
})

describe('the check in its own thread', () => {
  test('answers like the check itself, one after the other', async () => {
    const check = createCheckAgentText({ clock: createSystemClock() })
    const [right, wrong] = await Promise.all([check(head, never), check('name: a', never)])
    expect(right).toEqual([])
    expect(wrong).toEqual(agentTextProblems('name: a'))
  })

  test('ends when its time is over, and the text is refused', async () => {
    const check = createCheckAgentText({ clock: createSystemClock(), timeoutMs: 1 })
    const keys = Array.from({ length: 20_000 }, (_, n) => `key${n}: 1`).join('\n')
    expect(await check(head + keys, never)).toEqual([
      { line: 1, column: 1, path: '', message: expect.stringContaining('too much time or memory') },
    ])
  })

  test('ends when the caller leaves, and refuses when many wait', async () => {
    const check = createCheckAgentText({ clock: createSystemClock() })
    const leave = new AbortController()
    const checks = Array.from({ length: 8 }, () => check(head, leave.signal))
    await expect(check(head, never)).rejects.toMatchObject({ code: 'limit' })
    leave.abort(new Error('gone'))
    expect(await Promise.allSettled(checks)).toMatchObject(checks.map(() => ({ reason: { message: 'gone' } })))
    expect(await check(head, never)).toEqual([])
  })
})

function bomb(): string {
  const names = 'abcdefghijkl'
  return [...names.slice(1)]
    .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${names[i]}`).join(',')}]`)
    .join('\n')
}
