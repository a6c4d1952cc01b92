// An agent elsewhere works where the server's own code lies, and the accepted policy lets it write everywhere. With the real program, at
// the real door: whatever tool it uses and however it writes the path, a person is asked about everything that the server itself loads.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { callAsAgent } from '../e2e/call-as-agent.ts'
import { mintAgentToken } from './support/agent-elsewhere.ts'
import { decide, OPERATOR_TOKEN, operatorEnv } from './support/operator.ts'
import { openYard, type Yard } from './support/start-server.ts'
import { until } from './support/until.ts'

const policy = { enabled: true, tools: ['mcp__fs__put', 'Bash'], file_patterns: { write: ['**'], read: ['**'] } }

const greet = (imported: string) => `import { words } from '${imported}'
export const greet = { description: 'Greets a person politely.', parameters: { type: 'object', properties: {} }, run: () => words }
`

/** How tools name what they write. The last one is a tool that the policy lists by name. */
const tools: [tool: string, input: (path: string) => object][] = [
  ['Write', (path) => ({ file_path: path, content: 'x' })],
  ['Edit', (path) => ({ file_path: path, old_string: 'a', new_string: 'b' })],
  ['MultiEdit', (path) => ({ file_path: path, edits: [{ old_string: 'a', new_string: 'b' }] })],
  ['NotebookEdit', (path) => ({ notebook_path: path, new_source: 'x' })],
  ['mcp__fs__write_file', (path) => ({ path, content: 'x' })],
  ['mcp__fs__move', (path) => ({ source: 'src/plain.ts', to: path })],
  ['Invented', (path) => ({ work: { steps: [{ where: path }] } })],
  ['Write', (path) => ({ file_path: 'src/plain.ts', content: 'x', also: [path] })],
  ['mcp__fs__put', (path) => ({ anything: [{ at: path }] })],
  ['mcp__fs__put', (path) => ({ files: { [path]: 'x' } })],
]

interface Place {
  yard: Yard
  workspace: string
  configDir: string
  approveTool(tool: string, input: object): Promise<'asked' | 'allowed'>
  wouldPass(tool: string, file: string): Promise<unknown>
}

function temporary(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `quarterdeck-${name}-`)))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

async function openPlace(): Promise<Place> {
  const workspace = temporary('work')
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  put('tools/greet.ts', greet('../lib/words.ts'))
  put('lib/words.ts', "export const words = 'Ahoy'")
  put('lib/late.ts', "export const words = 'Ahoy again'")
  put('prompts/crew.md', 'Be polite.')
  put('crew/agent.yaml', 'name: crew\nmodel: { provider: demo }\ninstructions: Help.\n')
  put('src/plain.ts', 'a\n')
  put('.quarterdeck/policy.json', JSON.stringify(policy))
  symlinkSync('tools', join(workspace, 'alias'))
  symlinkSync('../tools/greet.ts', join(workspace, 'src/link.ts'))
  const yard = await openYard(onTestFinished, {
    agent: {
      instructions: { file: join(workspace, 'prompts/crew.md') },
      tools: [{ type: 'function', name: 'greet', file: join(workspace, 'tools/greet.ts'), effect: 'read' }],
    },
  })
  const flags = [join(workspace, 'crew/agent.yaml'), '--watch']
  // Not beside the agent: what the server writes there would count as a change of the agent's files.
  const configDir = temporary('config')
  const env = { ...operatorEnv, HOME: yard.directory, QUARTERDECK_CONFIG_DIR: configDir }
  const { url } = await yard.start({ flags, env })
  const token = await mintAgentToken(url, workspace)
  const call = (tool: string, input: object) => callAsAgent({ url, token, bridge: 'window', tool, input })

  /** Decides about all that waits, until the answer is there. */
  async function decided<T>(decision: 'approve' | 'reject', answer: Promise<T>): Promise<T> {
    let isDone = false
    const done = Promise.allSettled([answer]).finally(() => {
      isDone = true
    })
    await until('the call is answered', async () => {
      for (const id of await pending(url)) await decide(url, id, decision)
      return isDone
    })
    await done
    return await answer
  }

  // The first call finds a policy that nobody has accepted, and asks for it.
  expect(
    await call('check_auto_approve', { tool_name: 'Write', context: { file_path: 'src/plain.ts' } }),
  ).toMatchObject({
    auto_approved: false,
  })
  await until('the policy is accepted', async () => {
    for (const id of await pending(url)) await decide(url, id, 'approve')
    return (await pending(url)).length === 0
  })

  return {
    yard,
    workspace,
    configDir,
    async approveTool(tool, input) {
      const answer = await decided('reject', call('approve_tool', { tool_name: tool, input }))
      if (answer.behavior === 'allow') return 'allowed'
      expect(answer.message).toContain('This call was refused')
      return 'asked'
    },
    async wouldPass(tool, file) {
      return (await call('check_auto_approve', { tool_name: tool, context: { file_path: file } })).auto_approved
    },
  }
}

async function pending(url: string): Promise<string[]> {
  const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` }
  const answer = await fetch(`${url}/approvals?status=pending&limit=100`, { headers })
  const { approvals }: { approvals: { approval_id: string }[] } = JSON.parse(await answer.text())
  return approvals.map(({ approval_id }) => approval_id)
}

test('no policy lets a tool write what the server itself loads, however the path is written', async () => {
  const { workspace, approveTool, wouldPass } = await openPlace()
  const at = (path: string) => join(workspace, path)
  const asked = async (tool: string, input: object) => [tool, input, await approveTool(tool, input)]

  const spellings = [
    'tools/greet.ts',
    './tools/greet.ts',
    'src/../tools/greet.ts',
    'alias/greet.ts',
    'src/link.ts',
    at('tools/greet.ts'),
    at('src/../tools//greet.ts'),
    pathToFileURL(at('tools/greet.ts')).href,
    'file:tools/greet.ts',
    `~/../${basename(workspace)}/tools/greet.ts`,
    `../${basename(workspace)}/tools/greet.ts`,
    'tools\\greet.ts',
    'tools%2Fgreet.ts',
    ' tools/greet.ts ',
    `${'a'.repeat(300)}/../tools/greet.ts`,
  ]
  for (const [tool, input] of tools) {
    for (const path of spellings) expect(await asked(tool, input(path))).toEqual([tool, input(path), 'asked'])
  }

  const kinds = [
    ...['lib/words.ts', 'prompts/crew.md', 'crew/agent.yaml', 'crew/new-tool.ts', 'quarterdeck.yaml', 'agent.yml'],
    ...[
      '.quarterdeck/policy.json',
      '.mcp.json',
      '.claude/settings.json',
      '.codex/config.toml',
      '.gemini/settings.json',
    ],
    ...[
      '.copilot/mcp-config.json',
      '.env',
      'package.json',
      'node_modules/zod/index.js',
      'tools/node_modules/x/index.js',
    ],
    ...['tools/package.json', '.git/hooks/pre-commit'],
  ]
  for (const [tool, input] of tools) {
    for (const path of kinds) expect(await asked(tool, input(path))).toEqual([tool, input(path), 'asked'])
  }
  for (const path of [...spellings, ...kinds]) {
    for (const tool of ['Write', 'MultiEdit', 'mcp__fs__write_file', 'Invented', 'mcp__fs__put']) {
      expect([tool, path, await wouldPass(tool, path)]).toEqual([tool, path, false])
    }
  }
  // Whoever moves the folder of a file moves the file.
  for (const path of ['tools', 'crew', '.', workspace]) {
    expect(await asked('mcp__fs__put', { folder: path })).toEqual(['mcp__fs__put', { folder: path }, 'asked'])
  }
})

test('what leaves the workspace is asked about, and plain files pass', async () => {
  const { yard, workspace, configDir, approveTool, wouldPass } = await openPlace()

  for (const path of ['/etc/hosts', '../x.txt', '~/x.txt', join(yard.dataDir, 'x'), join(configDir, 'x')]) {
    for (const [tool, input] of tools)
      expect([tool, path, await approveTool(tool, input(path))]).toEqual([tool, path, 'asked'])
    expect(await wouldPass('Write', path)).toBe(false)
  }
  const plain = [
    ['Write', { file_path: join(workspace, 'src/plain.ts'), content: 'tools/greet.ts' }],
    ['Edit', { file_path: 'src/plain.ts', old_string: 'a', new_string: '.env' }],
    ['MultiEdit', { file_path: 'src/plain.ts', edits: [{ old_string: 'a', new_string: 'agent.yaml' }] }],
    ['mcp__fs__put', { path: 'src/new.ts', text: 'Hello, world.\nA second line.', route: '/v1-no-such-folder/users' }],
    ['Read', { file_path: 'src/plain.ts' }],
  ] as const
  for (const [tool, input] of plain) expect([tool, await approveTool(tool, input)]).toEqual([tool, 'allowed'])
  // A pattern covers no tool that nobody knows.
  expect(await approveTool('mcp__fs__write_file', { path: 'src/plain.ts', content: 'x' })).toBe('asked')
  expect(await wouldPass('Write', 'src/plain.ts')).toBe(true)
  expect(await wouldPass('Invented', 'src/plain.ts')).toBe(false)
})

test('a file that a tool imports since the last reload is protected from then on', async () => {
  const { workspace, approveTool } = await openPlace()
  const write = (path: string) => approveTool('Write', { file_path: path, content: 'x' })

  expect(await write('lib/late.ts')).toBe('allowed')
  writeFileSync(join(workspace, 'tools/greet.ts'), greet('../lib/late.ts'))
  await until('the server has restarted', async () => (await write('lib/late.ts').catch(() => 'away')) === 'asked')
})
